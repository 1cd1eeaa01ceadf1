import { date, integer, integers, nullable, numeric, oneOf, type RowOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { Money, zero } from '../domain/money.ts';
import { type DocumentKind, lineRoles } from '../terms.ts';
import type { ReconcileInput } from './reconcile-report.ts';
import type { LedgerSum, LineInForce } from './reconciled-documents.ts';

const entryShape = { id: text, document_id: integer, document_date: date, reverses: nullable(text) };

const lineShape = {
  entry_id: text,
  account: text,
  role: oneOf(lineRoles),
  invoice_id: nullable(integer),
  party_code: nullable(text),
  payment_type: nullable(integer),
  department_id: nullable(integer),
  vat_group: nullable(text),
  vat_rate: nullable(numeric),
  row_ids: integers,
  // Debit positive.
  amount: numeric,
};

/** An entry with its lines. */
export interface StoredEntry extends RowOf<typeof entryShape> {
  lines: RowOf<typeof lineShape>[];
}

/** All entries of the documents, by document, in their order. */
export async function entriesOf(
  db: Connection,
  { id: installation }: Pick<ReconcileInput, 'id'>,
  kind: DocumentKind,
  ids: number[],
): Promise<Map<number, StoredEntry[]>> {
  const entries = await rows(
    db,
    entryShape,
    `select id, document_id, document_date, reverses from entry
     where installation = ? and kind = ? and document_id = any(?::bigint[]) order by document_id, n`,
    [installation, kind, ids],
  );
  const lines = await rows(
    db,
    lineShape,
    `select entry_id, account, role, invoice_id, party_code, payment_type, department_id, vat_group, vat_rate, row_ids,
       case side when 'debit' then amount else -amount end as amount
     from entry_line where entry_id = any(?::text[]) order by entry_id, line`,
    [entries.map(({ id }) => id)],
  );
  const byEntry = Map.groupBy(lines, (line) => line.entry_id);
  return Map.groupBy(
    entries.map((entry) => ({ ...entry, lines: byEntry.get(entry.id) ?? [] })),
    (entry) => entry.document_id,
  );
}

/** The sums of a document's lines by their tags; sums of zero are left out. */
export function sumsByTags(entries: StoredEntry[]): LedgerSum[] {
  const sums = new Map<string, LedgerSum>();
  for (const { document_date: documentDate, lines } of entries) {
    for (const line of lines) {
      const tags = {
        account: line.account,
        role: line.role,
        invoiceId: line.invoice_id,
        partyCode: line.party_code,
        paymentType: line.payment_type,
        departmentId: line.department_id,
        documentDate,
      };
      const key = JSON.stringify(tags);
      sums.set(key, { ...tags, amount: (sums.get(key)?.amount ?? zero).plus(line.amount) });
    }
  }
  return [...sums.values()].filter(({ amount }) => !amount.isZero());
}

/** The lines of the entry in force, or null. */
export function linesInForce(entries: StoredEntry[]): LineInForce[] | null {
  const reversed = new Set(entries.map(({ reverses }) => reverses));
  const inForce = entries.filter(({ id, reverses }) => reverses === null && !reversed.has(id));
  if (inForce.length === 0) return null;
  return inForce.flatMap(({ document_date: documentDate, lines }) =>
    lines.map((line) => ({
      account: line.account,
      role: line.role,
      partyCode: line.party_code,
      vatGroup: line.vat_group,
      vatRate: line.vat_rate === null ? null : new Money(line.vat_rate),
      documentDate,
      rowIds: line.row_ids,
      amount: new Money(line.amount),
    })),
  );
}
