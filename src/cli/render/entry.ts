import { z } from 'zod';
import { type DraftEntry, type Line, signed } from '../../domain/entry.ts';
import { formatMoney, type Money, sum, zero } from '../../domain/money.ts';
import { visible } from '../../domain/text.ts';
import type { AccountNames } from '../../mapping/account-names.ts';
import * as answer from '../../queries/answer.ts';
import type { LineRole } from '../../terms.ts';
import { labels } from '../../texts/commands/labels.ts';
import { columns } from './text.ts';

export const linesAnswer = z.array(
  z.strictObject({
    account: z.string(),
    name: z.string().nullable(),
    role: z.string(),
    amount: answer.amount,
    rule: z.string(),
    mapped_by: z.string(),
    party: z.string().nullable(),
    department: z.number().nullable(),
    dimensions: z.array(z.string().nullable()).length(3),
    vat: z
      .strictObject({ group: z.string().nullable(), rate: z.string().nullable(), base: answer.amount.nullable() })
      .nullable(),
  }),
);

/** An entry that was or would be posted. */
export const entryAnswer = z
  .strictObject({
    id: z.string(),
    date: answer.date,
    document_date: answer.date,
    reason: z.string(),
    reverses: z.string().nullable(),
    original: z.strictObject({ kind: z.enum(['invoice', 'payment', 'prepayment']), id: z.number() }).nullable(),
    description: z.string(),
    lines: linesAnswer,
  })
  .meta({ id: 'entry' });

/** How the entries of an installation are shown. */
export interface EntryView {
  decimals: number;
  names: AccountNames;
}

/** The JSON of an entry. Amounts are texts, with debits positive. */
export function entryDocument(id: string, entry: DraftEntry, view: EntryView) {
  return {
    id,
    date: entry.date,
    document_date: entry.documentDate,
    reason: entry.reason,
    reverses: entry.reverses,
    original: entry.original,
    description: entry.description,
    lines: linesDocument(entry.lines, view),
  };
}

/** Pairs each entry with its id. */
export function withIds(entries: DraftEntry[], ids: string[]): [id: string, entry: DraftEntry][] {
  return entries.map((entry, index) => {
    const id = ids[index];
    if (id === undefined) throw new Error(`an entry of ${entry.document.kind} ${entry.document.id} has no id`);
    return [id, entry];
  });
}

export function linesDocument(lines: Line[], { decimals, names }: EntryView) {
  return lines.map((line) => ({
    account: line.account,
    name: names.nameOf(line.account, line.role),
    role: line.role,
    amount: formatMoney(signed(line), decimals),
    rule: line.rule,
    mapped_by: line.mappedBy,
    party: line.party?.code ?? null,
    department: line.departmentId,
    dimensions: line.dimensions,
    vat: line.vat && {
      group: line.vat.group,
      rate: line.vat.rate?.toFixed() ?? null,
      base: line.vat.base?.toFixed() ?? null,
    },
  }));
}

/** An entry as text: id, date and description, then its lines with columns for debit and credit. */
export function entryText(id: string, entry: DraftEntry, view: EntryView): string {
  const kept = entry.documentDate === entry.date ? '' : labels.documentDate({ date: entry.documentDate });
  return `${id}  ${entry.date}  ${visible(entry.description)}${kept}\n${linesText(entry.lines, view)}`;
}

export function linesText(lines: Line[], { decimals, names }: EntryView): string {
  const cells = lines.map((line) => {
    const amount = formatMoney(line.amount, decimals);
    const isDebit = line.side === 'debit';
    const tags = tagsOf(line, decimals);
    const name = names.nameOf(line.account, line.role) ?? '';
    return [
      isDebit ? labels.debit : labels.credit,
      line.account,
      name,
      line.role,
      isDebit ? amount : '',
      isDebit ? '' : amount,
      tags,
    ];
  });
  return columns(cells, [4, 5])
    .map((line) => `    ${line}`)
    .join('\n');
}

function tagsOf({ vat, dimensions, party }: Line, decimals: number): string {
  const tags = [party?.code ?? '', ...dimensions.map((dimension) => dimension ?? '')];
  if (vat) {
    const group = vat.group ?? labels.noVatGroup;
    const rate = vat.rate?.toFixed() ?? '';
    // If the name of the group contains the rate, the rate is not repeated.
    tags.push(group.includes(rate) ? group : labels.groupAt({ group, rate }));
  }
  if (vat?.base) tags.push(labels.base({ amount: formatMoney(vat.base, decimals) }));
  return tags.filter((tag) => tag !== '').join(', ');
}

/** The sums of debits and credits per account. */
export class AccountTotals {
  readonly #byAccount = new Map<string, { role: LineRole; debit: Money; credit: Money }>();

  add(lines: Line[]): void {
    for (const { account, role, side, amount } of lines) {
      const total = this.#byAccount.get(account) ?? { role, debit: zero, credit: zero };
      total[side] = total[side].plus(amount);
      this.#byAccount.set(account, total);
    }
  }

  /** Sorted by account; `balance` is debits less credits. */
  all(): { account: string; role: LineRole; debit: Money; credit: Money; balance: Money }[] {
    return [...this.#byAccount]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([account, { role, debit, credit }]) => ({
        ...{ account, role, debit, credit },
        balance: sum([debit, credit.negated()]),
      }));
  }
}
