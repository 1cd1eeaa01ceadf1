import type { Connection } from '../db/rows.ts';
import type { LedgerEntry, Line } from '../domain/entry.ts';
import { formatMoney, type Money, zero } from '../domain/money.ts';
import type { Split } from '../ledger/account-days.ts';
import { entryRecords } from '../ledger/journal/entry-records.ts';
import { type DateRange, entriesByDate } from '../ledger/journal/read-entries.ts';
import type { AccountNames } from '../mapping/account-names.ts';
import type { InstallationId } from '../terms.ts';
import { columnsOf, type Item, type Period } from './report-sections.ts';

/** Entries whose voucher numbers are read at once. */
const entriesAtOnce = 500;

const facts = columnsOf('date', 'voucher', 'number', 'text');
export const lineFacts = [...facts, ...columnsOf('running_balance')];
export const journalFacts = [...facts, ...columnsOf('account', 'name', 'department')];

/** A line as a report shows it. */
export interface LineFields {
  document: string;
  facts: Item['facts'];
  debit: Money;
  credit: Money;
}

interface AccountPart {
  account: string;
  split: Split | null;
  part: string | null;
  upToSeq: number | null;
  opening: Money;
  decimals: number;
}

/** The lines on an account in the order of dates, with one page of entries in memory. */
export async function* lineItems(
  db: Connection,
  installation: InstallationId,
  period: Period,
  { account, split, part, upToSeq, opening, decimals }: AccountPart,
): AsyncGenerator<LineFields> {
  let balance = opening;
  for await (const { entry, voucher } of withVouchers(db, installation, period, { account, upToSeq })) {
    for (const line of entry.lines) {
      if (line.account !== account || (split !== null && partOf(line, split) !== part)) continue;
      const fields = fieldsOf(entry, voucher, line);
      balance = balance.plus(fields.debit).minus(fields.credit);
      yield { ...fields, facts: { ...fields.facts, running_balance: formatMoney(balance, decimals) } };
    }
  }
}

/** Every line of the journal in the order of dates. */
export async function* journalItems(
  db: Connection,
  installation: InstallationId,
  period: Period,
  { names, upToSeq }: { names: AccountNames; upToSeq: number | null },
): AsyncGenerator<Item> {
  for await (const { entry, voucher } of withVouchers(db, installation, period, { upToSeq })) {
    for (const line of entry.lines) {
      const { document, facts: of, debit, credit } = fieldsOf(entry, voucher, line);
      const { account, role, departmentId: department } = line;
      yield {
        ...{ keys: {}, document, facts: { ...of, account, name: names.nameOf(account, role), department } },
        amounts: { debit, credit },
      };
    }
  }
}

function fieldsOf(entry: LedgerEntry, voucher: string | null, { side, amount }: Line): LineFields {
  return {
    document: `${entry.document.kind} ${entry.document.id}`,
    facts: { date: entry.date, voucher, number: numberOf(entry), text: entry.description },
    ...(side === 'debit' ? { debit: amount, credit: zero } : { debit: zero, credit: amount }),
  };
}

/** The number printed on the invoice whose receivable the entry opens or settles; null if there is none. */
export function numberOf({ lines }: Pick<LedgerEntry, 'lines'>): string | null {
  return lines.find(({ documentNumber }) => documentNumber !== null)?.documentNumber ?? null;
}

function partOf({ departmentId, dimensions }: Line, split: Split): string | null {
  if (split === 'department') return departmentId === null ? null : String(departmentId);
  return dimensions[Number(split.slice(-1)) - 1] ?? null;
}

async function* withVouchers(
  db: Connection,
  installation: InstallationId,
  { from, through }: Period,
  only: Pick<DateRange, 'account' | 'upToSeq'>,
): AsyncGenerator<{ entry: LedgerEntry; voucher: string | null }> {
  let page: LedgerEntry[] = [];
  const numbered = async () => {
    const records = await entryRecords(
      db,
      page.map(({ id }) => id),
    );
    return page.map((entry) => ({ entry, voucher: records.get(entry.id)?.voucher ?? null }));
  };
  for await (const entry of entriesByDate(db, installation, { from, to: through, ...only })) {
    page.push(entry);
    if (page.length < entriesAtOnce) continue;
    yield* await numbered();
    page = [];
  }
  yield* await numbered();
}
