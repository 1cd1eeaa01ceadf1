import { integer, json } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import { printedNumber } from '../records/printed-number.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';

/** The numbers printed on invoices, by id; invoices without a number are left out. */
export async function invoiceNumbers(
  db: Connection,
  { id, dialect }: { id: InstallationId; dialect: Dialect },
  invoices: readonly number[],
): Promise<Map<number, string>> {
  if (invoices.length === 0) return new Map();
  const found = await rows(
    db,
    { id: integer, raw: json },
    `select id, raw from mirror_record where installation = ? and kind = 'invoice' and id = any(?::bigint[])`,
    [id, invoices],
  );
  return new Map(
    found.flatMap(({ id: invoice, raw }) => {
      const number = printedNumber(readRecord('invoice', raw, dialect));
      return number === null ? [] : [[invoice, number] as const];
    }),
  );
}

/** The numbers printed on documents, by `kind/id`. A payment has the number of its invoice; a prepayment has none. */
export async function documentNumbers(
  db: Connection,
  installation: { id: InstallationId; dialect: Dialect },
  documents: readonly DocumentRef[],
): Promise<Map<string, string>> {
  const idsOf = (kind: DocumentRef['kind']) => documents.flatMap((each) => (each.kind === kind ? each.id : []));
  const payments = await rows(
    db,
    { id: integer, invoice: integer },
    `select id, parent_id as invoice from mirror_record
     where installation = ? and kind = 'payment' and id = any(?::bigint[]) and parent_id is not null`,
    [installation.id, idsOf('payment')],
  );
  const places = [
    ...idsOf('invoice').map((id) => ({ key: `invoice/${id}`, invoice: id })),
    ...payments.map(({ id, invoice }) => ({ key: `payment/${id}`, invoice })),
  ];
  const numbers = await invoiceNumbers(db, installation, [...new Set(places.map(({ invoice }) => invoice))]);
  return new Map(
    places.flatMap(({ key, invoice }): [string, string][] => {
      const number = numbers.get(invoice);
      return number === undefined ? [] : [[key, number]];
    }),
  );
}
