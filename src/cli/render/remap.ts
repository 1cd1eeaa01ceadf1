import { z } from 'zod';
import type { RemappedDocument } from '../../bookkeeping/preview.ts';
import { type DraftEntry, reversedLines, signed } from '../../domain/entry.ts';
import { formatMoney, type Money, zero } from '../../domain/money.ts';
import { declinedProblem } from '../../domain/problems.ts';
import { visible } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import { amountsOf } from '../../posting/entry-amounts.ts';
import type { RemapOutcome } from '../../posting/index.ts';
import * as answer from '../../queries/answer.ts';
import { remapTexts } from '../../texts/commands/mapping.ts';
import { resultTexts } from '../../texts/commands/results.ts';
import { problemCatalogue } from '../../texts/problems.ts';
import { count } from '../../wording/words.ts';
import {
  AccountTotals,
  type EntryView,
  entryAnswer,
  entryDocument,
  entryText,
  linesAnswer,
  linesDocument,
  linesText,
  withIds,
} from './entry.ts';
import type { ListItem } from './streamed-result.ts';
import { columns, heads } from './text.ts';

/** The effect of another mapping on the books: the changed documents and the sums. */
export const changesAnswer = z
  .strictObject({
    documents: z.array(
      z.strictObject({
        id: z.string(),
        document: z.string(),
        outcome: z.enum(['corrected', 'change_held', 'held', 'left']),
        /** The document’s date, and the client of its entry. */
        date: answer.date,
        client: z.string().nullable(),
        /** The change of total and VAT by the mapping; null if the mapping gives no entry. */
        amount: answer.amount.nullable(),
        vat: answer.amount.nullable(),
        in_force: entryAnswer,
        lines: linesAnswer.nullable(),
        entries: z.array(entryAnswer),
        problem: answer.plainError.nullable(),
      }),
    ),
    counts: z.strictObject({
      same: z.number(),
      corrected: z.number(),
      change_held: z.number(),
      held: z.number(),
      left: z.number(),
      /** Of `change_held`: corrections that the accountant declined for good. */
      left_as_posted: z.number(),
      entries: z.number(),
    }),
    /** The effect of the held corrections, by the month of the document; debits are positive. */
    closed_months: z.array(
      z.strictObject({ month: z.string(), documents: z.number(), account: z.string(), change: answer.amount }),
    ),
    accounts: z.array(
      z.strictObject({
        account: z.string(),
        name: z.string().nullable(),
        in_force: answer.amount,
        instead: answer.amount,
        change: answer.amount,
      }),
    ),
  })
  .meta({ id: 'changes' });

/** Lists the documents that a mapping posts differently, or cannot correct. Unchanged documents are only counted. */
export async function* changeItems(
  batches: AsyncIterable<RemappedDocument[]>,
  installation: number,
  view: EntryView,
  summary: RemapSummary,
): AsyncGenerator<ListItem[]> {
  for await (const batch of batches) {
    for (const one of batch) summary.add(one);
    yield batch.filter(({ remap }) => remap.outcome !== 'same').map((one) => changeItem(one, installation, view));
  }
}

function changeItem({ document, remap, entryIds }: RemappedDocument, installation: number, view: EntryView): ListItem {
  const { decision, required, outcome } = remap;
  const inForce = entryInForce(document);
  const entries = withIds(decision.entries, entryIds);
  const { problem } = decision;
  const todo = problem && problemCatalogue[problem.code].todo;
  const id = `${installation}/${document.kind}/${document.id}`;
  const texts = [remapTexts.inForce({ entry: entryText(inForce.id, inForce, view) })];
  const [reversal, successor] = entries;
  if (outcome === 'corrected' && reversal && successor) {
    texts.push(remapTexts.reversedBy({ reversal: reversal[0], date: reversal[1].date }));
    texts.push(entryText(...successor, view));
  } else {
    if (required) texts.push(remapTexts.gives({ lines: linesText(required.lines, view) }));
    if (outcome === 'left') texts.push(remapTexts.changedInSource);
    if (problem)
      texts.push(
        `${remapTexts.unchanged(problem)}\n    ${visible(shown(problem.message))}\n    ${resultTexts.todo({ todo: shown(todo ?? '') })}`,
      );
  }
  return {
    json: {
      id,
      document: `${document.kind} ${document.id}`,
      outcome,
      ...changedFigures(inForce, required, view.decimals),
      in_force: entryDocument(inForce.id, inForce, view),
      lines: required && linesDocument(required.lines, view),
      entries: entries.map(([entryId, entry]) => entryDocument(entryId, entry, view)),
      problem: problem && { code: problem.code, message: problem.message, todo },
    },
    text: `${id}\n${texts.join('\n').replace(/^/gm, '  ')}`,
  };
}

/** Date, client, and the change of total and VAT. */
function changedFigures(inForce: DraftEntry, required: DraftEntry | null, decimals: number) {
  const [was, is] = [amountsOf(inForce), required && amountsOf(required)];
  const party = inForce.lines.find((line) => line.party !== null)?.party ?? null;
  return {
    ...{ date: inForce.documentDate, client: party?.code ?? null },
    amount: is && formatMoney(is.amount.minus(was.amount), decimals),
    vat: is?.vat && was.vat ? formatMoney(is.vat.minus(was.vat), decimals) : null,
  };
}

function entryInForce({ kind, id, before }: RemappedDocument['document']): DraftEntry & { id: string } {
  if (before.inForce === null) throw new Error(`${kind} ${id} is compared with a mapping, but has no entry in force`);
  return before.inForce;
}

/** Counts the outcomes of a changed mapping, and adds up the amounts that it moves between accounts. */
export class RemapSummary {
  readonly #decimals: number;
  readonly #mode: 'preview' | 'posted';
  readonly #outcomes: Record<RemapOutcome, number> = { same: 0, corrected: 0, change_held: 0, held: 0, left: 0 };
  readonly #names: EntryView['names'];
  readonly #before = new AccountTotals();
  readonly #after = new AccountTotals();
  /** Number of documents by the cause that prevents their correction. */
  readonly #kept = new Map<string, number>();
  /** The held corrections that are not declined, by month. */
  readonly #months = new Map<string, { documents: number; effect: Map<string, Money> }>();
  #entries = 0;
  #declined = 0;

  constructor({ decimals, names }: EntryView, mode: 'preview' | 'posted') {
    this.#decimals = decimals;
    this.#names = names;
    this.#mode = mode;
  }

  add({ document, remap }: RemappedDocument): void {
    this.#outcomes[remap.outcome] += 1;
    if (remap.outcome === 'held') {
      const { problem } = remap.decision;
      for (const cause of problem?.causes ?? [problem?.code ?? 'unknown'])
        this.#kept.set(cause, (this.#kept.get(cause) ?? 0) + 1);
    }
    if (remap.outcome === 'change_held') this.#hold(document, remap);
    if (remap.outcome !== 'corrected') return;
    this.#entries += remap.decision.entries.length;
    this.#before.add(entryInForce(document).lines);
    if (remap.required) this.#after.add(remap.required.lines);
  }

  #hold(document: RemappedDocument['document'], { decision, required }: RemappedDocument['remap']): void {
    if (decision.problem?.code === declinedProblem) {
      this.#declined += 1;
      return;
    }
    const inForce = entryInForce(document);
    const month = inForce.documentDate.slice(0, 7);
    const of = this.#months.get(month) ?? { documents: 0, effect: new Map<string, Money>() };
    of.documents += 1;
    for (const line of [...reversedLines(inForce.lines), ...(required?.lines ?? [])])
      of.effect.set(line.account, (of.effect.get(line.account) ?? zero).plus(signed(line)));
    this.#months.set(month, of);
  }

  document() {
    return {
      counts: { ...this.#outcomes, entries: this.#entries, left_as_posted: this.#declined },
      closed_months: [...this.#months]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([month, of]) => this.#monthRows(month, of)),
      accounts: this.#moved(),
    };
  }

  #monthRows(month: string, { documents, effect }: { documents: number; effect: Map<string, Money> }) {
    return [...effect]
      .filter(([, change]) => !change.isZero())
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([account, change]) => ({ month, documents, account, change: formatMoney(change, this.#decimals) }));
  }

  /** Accounts whose balance changes, debits positive. */
  #moved(): { account: string; name: string | null; in_force: string; instead: string; change: string }[] {
    const [all, then] = [this.#before.all(), this.#after.all()];
    const before = new Map(all.map(({ account, balance }) => [account, balance]));
    const after = new Map(then.map(({ account, balance }) => [account, balance]));
    const names = new Map([...all, ...then].map(({ account, role }) => [account, this.#names.nameOf(account, role)]));
    const accounts = [...new Set([...before.keys(), ...after.keys()])].sort();
    return accounts.flatMap((account) => {
      const was = before.get(account) ?? zero;
      const is = after.get(account) ?? zero;
      if (was.equals(is)) return [];
      const text = (amount: Money) => formatMoney(amount, this.#decimals);
      const name = names.get(account) ?? null;
      return [{ account, name, in_force: text(was), instead: text(is), change: text(is.minus(was)) }];
    });
  }

  text(): string {
    const { same, corrected, change_held, held, left } = this.#outcomes;
    const isPreview = this.#mode === 'preview';
    const result = { documents: count(corrected, 'document'), entries: count(this.#entries, 'entry'), same };
    const lines = [isPreview ? remapTexts.wouldCorrect(result) : remapTexts.corrected(result)];
    const waiting = change_held - this.#declined;
    if (waiting > 0) {
      const corrections = count(waiting, 'correction');
      lines.push(isPreview ? remapTexts.wouldHold({ corrections }) : remapTexts.held({ corrections }));
    }
    const months = this.document().closed_months.map((each) => [
      ...[each.month, count(each.documents, 'document'), each.account, each.change],
    ]);
    if (months.length > 0) lines.push(remapTexts.closedMonths, ...columns(months, [3]).map((line) => `  ${line}`));
    if (this.#declined > 0) lines.push(remapTexts.declined({ corrections: count(this.#declined, 'correction') }));
    if (held > 0)
      lines.push(
        remapTexts.notPosted({ documents: count(held, 'document') }),
        ...columns(
          [...this.#kept].sort(([, a], [, b]) => b - a).map(([cause, n]) => [String(n), visible(cause)]),
          [0],
        ).map((line) => `  ${line}`),
      );
    if (left > 0)
      lines.push(
        [remapTexts.left({ documents: count(left, 'document') }), ...(isPreview ? [] : [remapTexts.detailsList])].join(
          ' ',
        ),
      );
    const moved = this.#moved().map(({ account, name, in_force, instead, change }) => [
      ...[account, name ?? '', in_force, instead, change],
    ]);
    if (moved.length > 0) {
      const table = columns([heads('account', 'name', 'in_force', 'instead', 'change'), ...moved], [2, 3, 4]);
      lines.push('', remapTexts.moved, ...table.map((line) => `  ${line}`));
    } else if (corrected > 0) lines.push(remapTexts.notMoved);
    return lines.join('\n');
  }
}
