import { UnexpectedResult } from '../db/rows.ts';
import { moneyOfDigits } from '../domain/money.ts';
import { type CalendarDate, type LineRole, lineRoles } from '../terms.ts';
import type { LedgerSum, LineInForce } from './reconciled-documents.ts';

/**
 * SQL expression: all entries of the mirrored record with this alias, in order and with their lines, as JSON; null
 * without any.
 */
export function entriesOf(record: string): string {
  return `(
  select json_agg(json_build_array(e.id, e.reverses, e.document_date, (
    select json_agg(json_build_array(l.account, l.role, l.invoice_id, l.party_code, l.payment_type, l.department_id, l.vat_group,
      l.vat_rate::text, l.row_ids, case l.side when 'debit' then l.amount else -l.amount end::text) order by l.line)
    from entry_line l where l.entry_id = e.id)) order by e.n)
  from entry e where e.installation = ${record}.installation and e.kind = ${record}.kind and e.document_id = ${record}.id)`;
}

type GatheredLine = [
  account: string,
  role: string,
  invoiceId: number | null,
  partyCode: string | null,
  paymentType: number | null,
  departmentId: number | null,
  vatGroup: string | null,
  vatRate: string | null,
  rowIds: number[],
  amount: string,
];
/** An entry as `entriesOf` returns it. */
export type GatheredEntry = [
  id: string,
  reverses: string | null,
  documentDate: CalendarDate,
  lines: GatheredLine[] | null,
];

/** A line with all compared fields. In `amount`, a debit is positive. */
type LedgerLine = LedgerSum & LineInForce;

export interface StoredEntry {
  id: string;
  reverses: string | null;
  lines: LedgerLine[];
}

export function readEntries(gathered: GatheredEntry[] | null): StoredEntry[] {
  return (gathered ?? []).map(([id, reverses, documentDate, lines]) => ({
    ...{ id, reverses },
    lines: (lines ?? []).map((line) => ledgerLine(line, documentDate)),
  }));
}

function ledgerLine(
  [account, role, invoiceId, partyCode, paymentType, departmentId, vatGroup, vatRate, rowIds, amount]: GatheredLine,
  documentDate: CalendarDate,
): LedgerLine {
  if (!isLineRole(role)) throw new UnexpectedResult(`a line has the unknown role ${role}`);
  return {
    ...{ account, role, invoiceId, partyCode, paymentType, departmentId, documentDate, vatGroup, rowIds },
    vatRate: vatRate === null ? null : moneyOfDigits(vatRate),
    amount: moneyOfDigits(amount),
  };
}

const knownRoles = new Set<string>(lineRoles);

function isLineRole(role: string): role is LineRole {
  return knownRoles.has(role);
}

/** The sums of a document's lines by their tags; sums of zero are left out. */
export function sumsByTags(entries: StoredEntry[]): LedgerSum[] {
  const sums = new Map<string, LedgerSum>();
  for (const line of entries.flatMap(({ lines }) => lines)) {
    const { account, role, invoiceId, partyCode, paymentType, departmentId, documentDate } = line;
    const party = partyCode === null ? 'none' : `code ${partyCode}`;
    const key = `${role} ${invoiceId} ${paymentType} ${departmentId} ${documentDate} ${party}\0${account}`;
    const before = sums.get(key);
    sums.set(key, before === undefined ? line : { ...line, amount: before.amount.plus(line.amount) });
  }
  return [...sums.values()].filter(({ amount }) => !amount.isZero());
}

/** The entries that no other entry reverses. A document has at most one such entry. */
export function entriesInForce(entries: StoredEntry[]): StoredEntry[] {
  const reversed = new Set(entries.map(({ reverses }) => reverses));
  return entries.filter(({ id, reverses }) => reverses === null && !reversed.has(id));
}
