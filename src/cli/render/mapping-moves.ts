import { z } from 'zod';
import type { ComparedDocument } from '../../bookkeeping/preview.ts';
import type { Line } from '../../domain/entry.ts';
import { formatMoney, type Money, zero } from '../../domain/money.ts';
import type { AccountNames } from '../../mapping/account-names.ts';
import { type Remap, sameLines } from '../../posting/index.ts';
import { amount } from '../../queries/answer.ts';
import { mappingDiffTexts } from '../../texts/commands/mapping.ts';
import { problemCatalogue } from '../../texts/problems.ts';
import { accountName } from '../../wording/cells.ts';
import { AccountTotals } from './entry.ts';
import { columns, heads } from './text.ts';

const sides = ['old', 'new'] as const;
type SideOf = (typeof sides)[number];

export const movesAnswer = {
  counts: z.strictObject({
    documents: z.number(),
    same: z.number(),
    moved: z.number(),
    moved_closed: z.number(),
    held: z.number(),
  }),
  /** Documents in the books that a mapping alone would hold, by code. `amount` is the sum of their debits. */
  held: z.array(z.strictObject({ by: z.enum(sides), code: z.string(), documents: z.number(), amount })),
  /** Debits are positive. `closed`: the days of these entries are closed. */
  moves: z.array(
    z.strictObject({
      closed: z.boolean(),
      month: z.string(),
      account: z.string(),
      name: z.string().nullable(),
      old: amount,
      new: amount,
      change: amount,
    }),
  ),
};

interface Month {
  closed: boolean;
  month: string;
  old: AccountTotals;
  new: AccountTotals;
}

/** Adds up what a mapping would move against another one, per account, month and whether the day is closed. */
export class MappingMoves {
  readonly #decimals: number;
  readonly #months = new Map<string, Month>();
  readonly #held = new Map<string, { by: SideOf; code: string; documents: number; amount: Money }>();
  readonly #counts = { documents: 0, same: 0, moved: 0, moved_closed: 0, held: 0 };

  constructor(decimals: number) {
    this.#decimals = decimals;
  }

  add({ document, isClosed, older, newer }: ComparedDocument): void {
    this.#counts.documents += 1;
    const [before, after] = [postedLines(older), postedLines(newer)];
    if (before === null || after === null) {
      this.#addHeld(document.before.inForce?.lines ?? [], { older, newer });
      return;
    }
    if (sameLines(before, after)) {
      this.#counts.same += 1;
      return;
    }
    this.#counts.moved += 1;
    if (isClosed) this.#counts.moved_closed += 1;
    const month = (document.before.inForce?.date ?? document.before.documentDate ?? '').slice(0, 7);
    const key = `${isClosed} ${month}`;
    const found = this.#months.get(key) ?? {
      closed: isClosed,
      month,
      old: new AccountTotals(),
      new: new AccountTotals(),
    };
    this.#months.set(key, found);
    found.old.add(before);
    found.new.add(after);
  }

  #addHeld(lines: Line[], { older, newer }: Pick<ComparedDocument, 'older' | 'newer'>): void {
    this.#counts.held += 1;
    const isHeld = { old: postedLines(older) === null, new: postedLines(newer) === null };
    const by = isHeld.old === isHeld.new ? null : isHeld.old ? 'old' : 'new';
    if (by === null) return;
    const code = (by === 'old' ? older : newer).decision.problem?.code ?? 'held';
    const found = this.#held.get(`${by} ${code}`) ?? { by, code, documents: 0, amount: zero };
    found.documents += 1;
    for (const { side, amount: each } of lines) if (side === 'debit') found.amount = found.amount.plus(each);
    this.#held.set(`${by} ${code}`, found);
  }

  /** The JSON. An account that only the old mapping uses has the old mapping's name. */
  document(names: { older: AccountNames; newer: AccountNames }) {
    const text = (money: Money) => formatMoney(money, this.#decimals);
    const held = [...this.#held.values()].sort((a, b) => b.documents - a.documents);
    const months = [...this.#months].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, month]) => month);
    return {
      counts: { ...this.#counts },
      held: held.map(({ amount: sum, ...one }) => ({ ...one, amount: text(sum) })),
      moves: months.flatMap((month) => {
        const [before, after] = [balances(month.old), balances(month.new)];
        const accounts = [...new Set([...before.keys(), ...after.keys()])].sort();
        return accounts.flatMap((account) => {
          const [was, is] = [before.get(account)?.balance ?? zero, after.get(account)?.balance ?? zero];
          if (was.equals(is)) return [];
          const role = (after.get(account) ?? before.get(account))?.role ?? null;
          const name = names.newer.nameOf(account, null) ?? names.older.nameOf(account, role);
          const { closed, month: of } = month;
          const amounts = { old: text(was), new: text(is), change: text(is.minus(was)) };
          return [{ closed, month: of, account, name, ...amounts }];
        });
      }),
    };
  }
}

export function movesText({ counts, held, moves }: ReturnType<MappingMoves['document']>): string {
  const lines = [mappingDiffTexts.counts(counts)];
  for (const { by, code, documents, amount: sum } of held) {
    const todo = Object.hasOwn(problemCatalogue, code)
      ? problemCatalogue[code as keyof typeof problemCatalogue].todo
      : '';
    lines.push(mappingDiffTexts.held({ by, code, documents, amount: sum, todo }));
  }
  for (const closed of [false, true]) {
    const own = moves.filter((move) => move.closed === closed);
    if (own.length === 0) continue;
    const rows = own.map(({ month, account, name, change, ...each }) => [
      month,
      account,
      accountName(name ?? ''),
      each.old,
      each.new,
      change,
    ]);
    const table = columns([heads('month', 'account', 'name', 'old', 'new', 'change'), ...rows], [3, 4, 5]);
    lines.push('', closed ? mappingDiffTexts.closed : mappingDiffTexts.open, ...table.map((line) => `  ${line}`));
  }
  if (moves.length === 0 && counts.moved > 0) lines.push(mappingDiffTexts.noBalance);
  return lines.join('\n');
}

/** The lines that a mapping gives. Null if it holds the document. */
function postedLines({ outcome, required }: Remap): Line[] | null {
  return outcome === 'held' ? null : (required?.lines ?? []);
}

function balances(totals: AccountTotals) {
  return new Map(totals.all().map((total) => [total.account, total]));
}
