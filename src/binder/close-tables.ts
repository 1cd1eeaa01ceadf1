import { localTimeOf } from '../domain/dates.ts';
import { Money } from '../domain/money.ts';
import type { RecordedClose } from '../ledger/close.ts';
import type { ClosedMonth } from '../ledger/close-of-month.ts';
import type { ClosingChecklist } from '../queries/closing.ts';
import { checklistAnswer } from '../queries/closing-answer.ts';
import { columnsOf, type Item, type Listing } from '../reports/report-sections.ts';
import { checkWords } from '../texts/commands/labels.ts';
import { binderTexts } from '../texts/reports/binder.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { checklistItems } from '../wording/checklist-items.ts';

/** The tables of a binder that show the close itself. */
export function closeTables({ close, closes, reopened }: ClosedMonth, timezone: string): Listing[] {
  const checklist = storedChecklist(close);
  return [
    checklistTable(checklist, timezone),
    openDocumentsTable(checklist),
    closesTable([...closes, ...(reopened === null ? [] : [reopened])], timezone),
  ];
}

/** The checklist that the close stored. Its times are texts, as the answers of commands have them. */
function storedChecklist({ checklist }: RecordedClose): ClosingChecklist | null {
  return checklistAnswer.safeParse(checklist).success ? (checklist as ClosingChecklist) : null;
}

function checklistTable(checklist: ClosingChecklist | null, timezone: string): Listing {
  const line = (state: string | null, detail: string): Item => ({
    ...{ keys: {}, document: '', facts: { state, detail }, amounts: {} },
  });
  const items =
    checklist === null
      ? [line(null, binderTexts.noChecklist)]
      : checklistItems(checklist, timezone).flatMap(({ ok, text, lines }) => [
          line(ok ? checkWords.ok : checkWords.look, text),
          ...lines.map((cells) => line(null, cells.filter((cell) => cell !== '').join(', '))),
        ]);
  const shape = { name: 'checklist', title: sectionTitles.checklist, keys: [], amounts: [] };
  return { shape: { ...shape, facts: columnsOf('state', 'detail') }, items, hasTotal: false };
}

/** The documents that the checklist names. It has the oldest of each list, and the number of all. */
function openDocumentsTable(checklist: ClosingChecklist | null): Listing {
  const lists =
    checklist === null ? [] : (['held', 'late', 'drafts'] as const).map((name) => [name, checklist[name]] as const);
  const items = lists.flatMap(([name, { count, documents }]): Item[] => {
    const list = binderTexts.lists[name];
    const omitted = count - documents.length;
    const named = documents.map(
      ({ document, amount, client_id: client, in_force: entry, code, date, age_days }): Item => ({
        ...{ keys: {}, document },
        facts: { list, date, code, age_days, customer: client === null ? null : `client:${client}`, entry },
        amounts: amount === null ? {} : { amount: new Money(amount) },
      }),
    );
    const more: Item = { keys: {}, document: binderTexts.more({ count: omitted }), facts: { list }, amounts: {} };
    return omitted > 0 ? [...named, more] : named;
  });
  const shape = { name: 'open_documents', title: sectionTitles.openDocuments, keys: [] };
  const facts = columnsOf('list', 'date', 'code', 'age_days', 'customer', 'entry');
  // Amounts of different lists and kinds of documents have no common total.
  return { shape: { ...shape, facts, amounts: columnsOf('amount') }, items, hasTotal: false };
}

function closesTable(closes: readonly RecordedClose[], timezone: string): Listing {
  const items = closes.map(
    ({ seq, kind, through, at, by = null, second = null, reason = null }): Item => ({
      ...{ keys: {}, document: '', amounts: {} },
      facts: {
        time: localTimeOf(at, timezone),
        action: binderTexts.kinds[kind],
        through,
        by,
        second,
        reason,
        link: seq,
      },
    }),
  );
  const shape = { name: 'closes', title: sectionTitles.closes, keys: [], amounts: [] };
  const facts = columnsOf('time', 'action', 'through', 'by', 'second', 'reason', 'link');
  return { shape: { ...shape, facts }, items, hasTotal: false };
}
