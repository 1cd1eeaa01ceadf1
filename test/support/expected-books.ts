// Computes the expected books from the sandbox's records with the simulation's oracle, and compares them with the
// tables by SQL. It uses nothing of src/posting, src/ledger or src/reconcile.

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Clinic } from '../../sandbox/src/clinic.ts';
import type { RecordBase } from '../../sandbox/src/records.ts';
import type { Table } from '../../sandbox/src/table.ts';
import { bool, date, integer, nullable, numeric, oneOf, text } from '../../src/db/columns.ts';
import { type Connection, rows } from '../../src/db/rows.ts';
import { type DocumentRef, sourceKinds } from '../../src/terms.ts';
import type { MappingData } from '../simulation/conditions.ts';
import { textOfExpected } from '../simulation/oracle.ts';
import { D } from '../simulation/oracle-cents.ts';
import { Rules } from '../simulation/oracle-rules.ts';
import type { SeenRecord, SourceView, Verdict } from '../simulation/oracle-terms.ts';

export interface BooksSetting {
  installation: number;
  timezone: string;
  decimals: number;
  /** The path of a mapping file. */
  mapping: string;
  startDate: string | null;
  /** Documents whose record, or a part of it, is wrong in answers or cannot be stored. They must be held. */
  culprits?: ReadonlySet<string>;
  /** Documents that may be held, because they depend on a held document or their period is closed. */
  mayBeHeld?: ReadonlySet<string>;
}

/** The maximum number of reported differences. */
const mostTold = 10;

/** The differences between the books and the source's records, except held documents; empty if there are none. */
export async function wrongBooks(db: Connection, clinic: Clinic, setting: BooksSetting): Promise<string[]> {
  const { installation, startDate } = setting;
  const { culprits, mayBeHeld } = { culprits: new Set<string>(), mayBeHeld: new Set<string>(), ...setting };
  const unmatched = await unmatchedUses(db, installation);
  const rules = new Rules({ ...viewOf(clinic), unmatched }, { ...setting, exposeVatGroup: true });
  const conditions = { mapping: mappingData(readFileSync(setting.mapping, 'utf8')), startDate };
  const booked = await entriesInForce(db, installation);
  const states = await statesOf(db, installation);
  const wrong: string[] = [];
  const balances = new Map<string, D>();
  const expect = (account: string, amount: D) =>
    balances.set(account, (balances.get(account) ?? new D(0)).plus(amount));
  for (const document of documentsOf(clinic)) {
    const key = keyOf(document);
    const entries = booked.get(key) ?? [];
    const asked = rules.verdict(document, conditions, null).verdict;
    const isHeld = states.get(key) === 'held' || entries.length === 1;
    const verdict: Verdict =
      culprits.has(key) ||
      (mayBeHeld.has(key) && isHeld && differences(key, asked, states.get(key), entries).length > 0)
        ? { state: 'held', why: 'hostile' }
        : asked;
    booked.delete(key);
    wrong.push(...differences(key, verdict, states.get(key), entries));
    if (verdict.state === 'posted') for (const { account, amount } of verdict.lines) expect(account, amount);
    else if (verdict.state === 'held')
      for (const { lines } of entries) for (const { account, signed } of lines) expect(account, signed);
  }
  for (const key of booked.keys()) wrong.push(`${key} is in the books, and no longer in the source`);
  const kept = await balancesOf(db, installation);
  for (const account of new Set([...balances.keys(), ...kept.keys()])) {
    const [asked, got] = [balances.get(account) ?? new D(0), kept.get(account) ?? new D(0)];
    if (!asked.equals(got))
      wrong.push(`account ${account} stands at ${got.toFixed()}, should stand at ${asked.toFixed()}`);
  }
  return wrong.length > mostTold ? [...wrong.slice(0, mostTold), `and ${wrong.length - mostTold} more`] : wrong;
}

function differences(key: string, verdict: Verdict, state: string | undefined, entries: EntryInForce[]): string[] {
  const [entry, ...more] = entries;
  if (more.length > 0) return [`${key} has ${entries.length} entries in force`];
  if (verdict.state === 'held') {
    // A posted document keeps its entry while it is held.
    const asked = entry ? 'posted' : 'held';
    return state === asked ? [] : [`${key} is ${state}, should be ${asked} (${verdict.why})`];
  }
  if (verdict.state !== 'posted') return entry ? [`${key} has ${entry.id} in force, should have nothing`] : [];
  if (!entry) return [`${key} is ${state}, and not in the books`];
  const asked = verdict.lines.map(textOfExpected).sort().join('\n');
  const got = entry.lines
    .map((line) => line.text)
    .sort()
    .join('\n');
  return [
    ...(entry.documentDate === verdict.date ? [] : [`${entry.id} is of ${entry.documentDate}, not ${verdict.date}`]),
    ...(asked === got ? [] : [`${entry.id} has\n${got}\nshould have\n${asked}`]),
  ];
}

/** The clinic's records as an installation sees them that has read all of them. */
export function viewOf({ invoices, invoiceRows, invoicePayments, prepayments }: Clinic): SourceView {
  const seen = <T extends RecordBase>(table: Table<T>) =>
    new Map(table.all().map((source): [number, SeenRecord<T>] => [source.id, { source, damage: null, gone: false }]));
  const rowSets = invoices.all().map(({ id }) => {
    const rows = invoiceRows.of(id).map((source) => ({ source, damage: null }));
    return [id, { rows, at: Number.POSITIVE_INFINITY }] as const;
  });
  return {
    invoices: seen(invoices),
    rowSets: new Map(rowSets),
    payments: seen(invoicePayments),
    prepayments: seen(prepayments),
  };
}

export function documentsOf({ invoices, invoicePayments, prepayments }: Clinic): DocumentRef[] {
  const tables = { invoice: invoices, payment: invoicePayments, prepayment: prepayments };
  return sourceKinds.flatMap((kind) => tables[kind].all().map(({ id }) => ({ kind, id })));
}

/** A mapping file's text as plain data, with the values that may be left out. */
export function mappingData(text: string): MappingData {
  const written = parse(text) as Partial<MappingData>;
  return {
    ...{
      roles: {},
      revenue_rules: [],
      revenue: {},
      vat: {},
      payment_types: {},
      cash_customer: null,
      counterparties: {},
    },
    ...written,
    policies: { locked_period: 'hold', follow_source_lock: false, oldest_months: 24, ...written.policies },
  };
}

export const keyOf = ({ kind, id }: DocumentRef) => `${kind}/${id}`;

interface EntryInForce {
  id: string;
  documentDate: string;
  lines: { account: string; signed: D; text: string }[];
}

const lineShape = {
  ...{ entry_id: text, kind: text, document_id: integer, document_date: date, line: integer },
  ...{ account: text, role: text, side: oneOf(['debit', 'credit']), amount: numeric },
  ...{ party_code: nullable(text), party_vat_number: nullable(text) },
  ...{ party_country_code: nullable(text), department_id: nullable(integer) },
  ...{ dimension_1: nullable(text), dimension_2: nullable(text), dimension_3: nullable(text) },
  ...{ internal_account: nullable(text), internal_dimension_1: nullable(text), internal_dimension_2: nullable(text) },
  ...{ invoice_id: nullable(integer), payment_type: nullable(integer), document_number: nullable(text) },
  ...{ due_date: nullable(date), bank_reference: nullable(text), has_vat: bool },
  ...{ vat_group: nullable(text), vat_rate: nullable(numeric), vat_base: nullable(numeric) },
};

/** The entries in force by document: no reversals, and not reversed. */
async function entriesInForce(db: Connection, installation: number): Promise<Map<string, EntryInForce[]>> {
  const found = await rows(
    db,
    lineShape,
    `select ${Object.keys(lineShape).join(', ')} from entry e join entry_line on entry_id = e.id
     where e.installation = ? and e.reverses is null and not exists (select from entry r where r.reverses = e.id)
     order by entry_id, line`,
    [installation],
  );
  const entries = new Map<string, EntryInForce & { document: string }>();
  for (const row of found) {
    const document = keyOf({ kind: row.kind as DocumentRef['kind'], id: row.document_id });
    const entry = entries.get(row.entry_id) ?? {
      document,
      id: row.entry_id,
      documentDate: row.document_date,
      lines: [],
    };
    entries.set(row.entry_id, entry);
    const amount = new D(row.amount);
    const signed = row.side === 'debit' ? amount : amount.negated();
    const isReceivable = row.role === 'receivable' || row.role === 'opening_receivable';
    const line = textOfExpected({
      ...{ role: row.role, account: row.account, amount: signed },
      party: row.party_code ?? '',
      snapshot: [row.party_vat_number, row.party_country_code],
      department: row.department_id ?? 0,
      tags: [
        ...[row.dimension_1, row.dimension_2, row.dimension_3],
        ...[row.internal_account, row.internal_dimension_1, row.internal_dimension_2],
      ],
      vat: row.has_vat ? { group: row.vat_group, rate: plain(row.vat_rate) ?? '', base: plain(row.vat_base) } : null,
      paymentType: row.payment_type,
      receivable: isReceivable ? [row.invoice_id, row.document_number, row.due_date, row.bank_reference] : null,
    });
    entry.lines.push({ account: row.account, signed, text: line });
  }
  return Map.groupBy(entries.values(), ({ document }) => document);
}

/** For payments with an undetermined prepayment, the party under whom the prepayment is posted. */
async function unmatchedUses(db: Connection, installation: number): Promise<Map<number, string>> {
  const found = await rows(
    db,
    { id: integer, party: text },
    `select r.id, l.party_code as party
     from document_report r join document d on d.installation = r.installation and d.kind = r.kind and d.id = r.id
     join entry_line l on l.entry_id = d.entry_id and l.role = 'prepayment_liability'
     where r.installation = ? and r.kind = 'payment' and r.code = 'prepayment_unmatched'`,
    [installation],
  );
  return new Map(found.map(({ id, party }) => [id, party]));
}

const plain = (amount: string | null) => (amount === null ? null : new D(amount).toFixed());

async function statesOf(db: Connection, installation: number): Promise<Map<string, string>> {
  const found = await rows(
    db,
    { document: text, state: text },
    `select kind || '/' || id as document, state from document where installation = ?`,
    [installation],
  );
  return new Map(found.map(({ document, state }) => [document, state]));
}

/** Balances over all lines ever posted, debit positive. */
async function balancesOf(db: Connection, installation: number): Promise<Map<string, D>> {
  const found = await rows(
    db,
    { account: text, balance: numeric },
    `select account, sum(case side when 'debit' then amount else -amount end) as balance
     from entry e join entry_line on entry_id = e.id where e.installation = ? group by account`,
    [installation],
  );
  return new Map(found.map(({ account, balance }) => [account, new D(balance)]));
}
