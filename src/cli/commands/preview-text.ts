import type { PreviewedDocument } from '../../bookkeeping/preview.ts';
import { declinedProblem } from '../../domain/problems.ts';
import { visible } from '../../domain/text.ts';
import { type VatPeriodLength, vatPeriodOf } from '../../domain/vat-period.ts';
import { shown } from '../../languages/language.ts';
import type { DocumentRef } from '../../terms.ts';
import { previewTexts } from '../../texts/commands/preview.ts';
import { resultTexts } from '../../texts/commands/results.ts';
import { problemCatalogue } from '../../texts/problems.ts';
import { codeWord, count } from '../../wording/words.ts';
import { AccountTotals, type EntryView, entryDocument, entryText, withIds } from '../render/entry.ts';
import { numbered } from '../render/problems.ts';
import type { ListItem } from '../render/streamed-result.ts';
import { columns, heads } from '../render/text.ts';

interface PostingView extends EntryView {
  /** The printed numbers of documents by `kind/id`. */
  numbersOf(documents: readonly DocumentRef[]): Promise<ReadonlyMap<string, string>>;
}

/** Lists the documents that the next window would post or hold. The others are only counted. */
export async function* postingItems(
  batches: AsyncIterable<PreviewedDocument[]>,
  installation: number,
  view: PostingView,
  summary: PostingSummary,
): AsyncGenerator<ListItem[]> {
  for await (const batch of batches) {
    for (const one of batch) summary.add(one);
    const shown = batch.filter(
      ({ decision, awaitsParts }) => decision.entries.length > 0 || decision.problem !== null || awaitsParts,
    );
    const numbers = await view.numbersOf(shown.map(({ document }) => document));
    yield shown.map((one) => {
      const { kind, id } = one.document;
      return postingItem(one, installation, view, numbers.get(`${kind}/${id}`) ?? null);
    });
  }
}

function postingItem(
  { document, decision, entryIds, awaitsParts }: PreviewedDocument,
  installation: number,
  view: EntryView,
  number: string | null,
): ListItem {
  const id = `${installation}/${document.kind}/${document.id}`;
  const label = numbered(id, number);
  const { problem } = decision;
  const todo = problem && problemCatalogue[problem.code].todo;
  const entries = withIds(decision.entries, entryIds);
  const texts = entries.map(([entryId, entry]) => entryText(entryId, entry, view));
  if (problem) {
    const stays = document.before.inForce ? previewTexts.wouldStay({ entry: document.before.inForce.id }) : '';
    const held = `${previewTexts.wouldBeHeld({ id: label, code: problem.code })}${stays}`;
    texts.push(`${held}\n    ${visible(shown(problem.message))}\n    ${resultTexts.todo({ todo: shown(todo ?? '') })}`);
  }
  if (awaitsParts) texts.push(previewTexts.partsFirst({ id: label }));
  return {
    json: {
      id,
      document: `${document.kind} ${document.id}`,
      number,
      state: decision.state,
      entries: entries.map(([entryId, entry]) => entryDocument(entryId, entry, view)),
      problem: problem && { code: problem.code, message: problem.message, todo },
      fetched_again_first: awaitsParts,
    },
    text: texts.join('\n'),
  };
}

/** Counts the documents and entries that would be posted, and adds up the amounts per account. */
export class PostingSummary {
  readonly #decimals: number;
  readonly #vatPeriod: VatPeriodLength;
  readonly #names: EntryView['names'];
  readonly #accounts = new AccountTotals();
  /** Key: month of the entry date and VAT period of the document date. */
  readonly #periods = new Map<string, { month: string; vatPeriod: string; accounts: AccountTotals }>();
  readonly #states = new Map<string, number>();
  readonly #problems = new Map<string, number>();
  #documents = 0;
  #entries = 0;
  #reversals = 0;
  #fetchedAgain = 0;
  /** Number of judged documents that would be held, that have a problem now, and that would have one. */
  #held = 0;
  #withProblemNow = 0;
  #withProblem = 0;

  constructor({ decimals, names }: EntryView, vatPeriod: VatPeriodLength) {
    this.#decimals = decimals;
    this.#names = names;
    this.#vatPeriod = vatPeriod;
  }

  add({ document, decision, awaitsParts }: PreviewedDocument): void {
    const { entries, state, problem } = decision;
    this.#documents += 1;
    this.#entries += entries.length;
    this.#reversals += entries.filter(({ reverses }) => reverses !== null).length;
    if (awaitsParts) this.#fetchedAgain += 1;
    if (state === 'held') this.#held += 1;
    if (document.hasProblem) this.#withProblemNow += 1;
    if (problem && problem.code !== declinedProblem) this.#withProblem += 1;
    this.#states.set(state, (this.#states.get(state) ?? 0) + 1);
    if (problem) this.#problems.set(problem.code, (this.#problems.get(problem.code) ?? 0) + 1);
    for (const { lines, date, documentDate } of entries) {
      this.#accounts.add(lines);
      this.#accountsOf(date.slice(0, 7), vatPeriodOf(documentDate, this.#vatPeriod)).add(lines);
    }
  }

  #accountsOf(month: string, vatPeriod: string): AccountTotals {
    const key = `${month} ${vatPeriod}`;
    const found = this.#periods.get(key) ?? { month, vatPeriod, accounts: new AccountTotals() };
    this.#periods.set(key, found);
    return found.accounts;
  }

  /** The JSON. `heldBefore` is the number of all documents with a problem now, judged here or not. */
  document(heldBefore: number) {
    return {
      counts: {
        documents: this.#documents,
        entries: this.#entries,
        reversals: this.#reversals,
        held: this.#held,
        held_in_all: heldBefore - this.#withProblemNow + this.#withProblem,
        fetched_again_first: this.#fetchedAgain,
        states: Object.fromEntries(this.#states),
        problems: Object.fromEntries(this.#problems),
      },
      accounts: this.#accounts.all().map(({ account, role, debit, credit }) => ({
        ...{ account, name: this.#names.nameOf(account, role) },
        debit: debit.toFixed(this.#decimals),
        credit: credit.toFixed(this.#decimals),
      })),
      periods: [...this.#periods]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, { month, vatPeriod, accounts }]) =>
          accounts.all().map(({ account, role, debit, credit }) => ({
            ...{ month, vat_period: vatPeriod, account, name: this.#names.nameOf(account, role) },
            debit: debit.toFixed(this.#decimals),
            credit: credit.toFixed(this.#decimals),
          })),
        ),
    };
  }

  text(heldBefore: number): string {
    const { counts, accounts, periods } = this.document(heldBefore);
    if (counts.documents === 0) {
      return `${previewTexts.nothing}${stillHeld(counts.held_in_all)}`;
    }
    const posted = previewTexts.wouldBePosted({ entries: count(counts.entries, 'entry') });
    const reversals = previewTexts.amongThem({ reversals: count(counts.reversals, 'reversal') });
    const parts = [`${posted}${counts.reversals > 0 ? reversals : ''}`];
    const problems = Object.entries(counts.problems).map(([code, n]) => `${n} ${code}`);
    if (problems.length > 0) parts.push(previewTexts.keptBack({ problems: problems.join(', ') }));
    if (counts.fetched_again_first > 0)
      parts.push(previewTexts.fetchedFirst({ documents: counts.fetched_again_first }));
    const states = Object.entries(counts.states).map(([state, n]) => `${n} ${codeWord(state).replaceAll('_', ' ')}`);
    const lines = [
      `${count(counts.documents, 'documentWaits')}: ${parts.join('; ')}.`,
      `${previewTexts.states({ states: states.join(', ') })}${stillHeld(counts.held_in_all)}`,
    ];
    if (accounts.length > 0) {
      const rows = accounts.map(({ account, name, debit, credit }) => [account, name ?? '', debit, credit]);
      lines.push(
        '',
        ...columns([heads('account', 'name', 'debit', 'credit'), ...rows], [2, 3]).map((line) => `  ${line}`),
      );
    }
    if (periods.length > 0) {
      const rows = periods.map(({ month, vat_period, account, name, debit, credit }) => [
        ...[month, vat_period, account, name ?? '', debit, credit],
      ]);
      const table = columns([heads('month', 'period', 'account', 'name', 'debit', 'credit'), ...rows], [4, 5]);
      lines.push('', ...table.map((line) => `  ${line}`));
    }
    return lines.join('\n');
  }
}

function stillHeld(held: number): string {
  return held === 0 ? '' : previewTexts.held({ documents: count(held, 'document') });
}
