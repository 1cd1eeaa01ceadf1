import { z } from 'zod';
import type { RemappedDocument } from '../../bookkeeping/preview.ts';
import type { DraftEntry } from '../../domain/entry.ts';
import { formatMoney, type Money, zero } from '../../domain/money.ts';
import { visible } from '../../domain/text.ts';
import type { RemapOutcome } from '../../posting/index.ts';
import { remapTexts } from '../../texts/commands/mapping.ts';
import { problemCatalogue } from '../../texts/problems.ts';
import * as answer from '../answer.ts';
import {
  AccountTotals,
  entryAnswer,
  entryDocument,
  entryText,
  linesAnswer,
  linesDocument,
  linesText,
  withIds,
} from './entry.ts';
import type { ListItem } from './streamed-result.ts';
import { columns, count } from './text.ts';

/** The effect of another mapping on the books: the changed documents and the sums. */
export const changesAnswer = z
  .strictObject({
    documents: z.array(
      z.strictObject({
        id: z.string(),
        document: z.string(),
        outcome: z.enum(['corrected', 'change_held', 'held', 'left']),
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
      entries: z.number(),
    }),
    accounts: z.array(
      z.strictObject({
        account: z.string(),
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
  decimals: number,
  summary: RemapSummary,
): AsyncGenerator<ListItem[]> {
  for await (const batch of batches) {
    for (const one of batch) summary.add(one);
    yield batch.filter(({ remap }) => remap.outcome !== 'same').map((one) => changeItem(one, installation, decimals));
  }
}

function changeItem({ document, remap, entryIds }: RemappedDocument, installation: number, decimals: number): ListItem {
  const { decision, required, outcome } = remap;
  const inForce = entryInForce(document);
  const entries = withIds(decision.entries, entryIds);
  const { problem } = decision;
  const todo = problem && problemCatalogue[problem.code].todo;
  const id = `${installation}/${document.kind}/${document.id}`;
  const texts = [`in force: ${entryText(inForce.id, inForce, decimals)}`];
  const [reversal, successor] = entries;
  if (outcome === 'corrected' && reversal && successor) {
    texts.push(remapTexts.reversedBy({ reversal: reversal[0], date: reversal[1].date }));
    texts.push(entryText(...successor, decimals));
  } else {
    if (required) texts.push(`this mapping gives:\n${linesText(required.lines, decimals)}`);
    if (outcome === 'left') texts.push(remapTexts.changedInSource);
    if (problem)
      texts.push(`${remapTexts.unchanged(problem)}\n    ${visible(problem.message)}\n    what to do: ${todo}`);
  }
  return {
    json: {
      id,
      document: `${document.kind} ${document.id}`,
      outcome,
      in_force: entryDocument(inForce.id, inForce, decimals),
      lines: required && linesDocument(required.lines, decimals),
      entries: entries.map(([entryId, entry]) => entryDocument(entryId, entry, decimals)),
      problem: problem && { code: problem.code, message: problem.message, todo },
    },
    text: `${id}\n${texts.join('\n').replace(/^/gm, '  ')}`,
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
  readonly #before = new AccountTotals();
  readonly #after = new AccountTotals();
  /** Number of documents by the cause that prevents their correction. */
  readonly #kept = new Map<string, number>();
  #entries = 0;

  constructor(decimals: number, mode: 'preview' | 'posted') {
    this.#decimals = decimals;
    this.#mode = mode;
  }

  add({ document, remap }: RemappedDocument): void {
    this.#outcomes[remap.outcome] += 1;
    if (remap.outcome === 'held') {
      const { problem } = remap.decision;
      for (const cause of problem?.causes ?? [problem?.code ?? 'unknown'])
        this.#kept.set(cause, (this.#kept.get(cause) ?? 0) + 1);
    }
    if (remap.outcome !== 'corrected') return;
    this.#entries += remap.decision.entries.length;
    this.#before.add(entryInForce(document).lines);
    if (remap.required) this.#after.add(remap.required.lines);
  }

  document() {
    return { counts: { ...this.#outcomes, entries: this.#entries }, accounts: this.#moved() };
  }

  /** Accounts whose balance changes, debits positive. */
  #moved(): { account: string; in_force: string; instead: string; change: string }[] {
    const before = new Map(this.#before.all().map(({ account, balance }) => [account, balance]));
    const after = new Map(this.#after.all().map(({ account, balance }) => [account, balance]));
    const accounts = [...new Set([...before.keys(), ...after.keys()])].sort();
    return accounts.flatMap((account) => {
      const was = before.get(account) ?? zero;
      const is = after.get(account) ?? zero;
      if (was.equals(is)) return [];
      const text = (amount: Money) => formatMoney(amount, this.#decimals);
      return [{ account, in_force: text(was), instead: text(is), change: text(is.minus(was)) }];
    });
  }

  text(): string {
    const { same, corrected, change_held, held, left } = this.#outcomes;
    const isPreview = this.#mode === 'preview';
    const result = { documents: count(corrected, 'document'), entries: count(this.#entries, 'entry', 'entries'), same };
    const lines = [isPreview ? remapTexts.wouldCorrect(result) : remapTexts.corrected(result)];
    if (change_held > 0) {
      const corrections = count(change_held, 'correction');
      lines.push(isPreview ? remapTexts.wouldHold({ corrections }) : remapTexts.held({ corrections }));
    }
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
    const moved = this.#moved().map(({ account, in_force, instead, change }) => [account, in_force, instead, change]);
    if (moved.length > 0) {
      const table = columns([['account', 'in force', 'instead', 'change'], ...moved], [1, 2, 3]);
      lines.push('', remapTexts.moved, ...table.map((line) => `  ${line}`));
    } else if (corrected > 0) lines.push(remapTexts.notMoved);
    return lines.join('\n');
  }
}
