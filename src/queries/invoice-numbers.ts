import { integer, json } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import type { InstallationId } from '../terms.ts';

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
      const { prefix, number } = readRecord('invoice', raw, dialect);
      const printed = [prefix, number].filter(Boolean).join('-');
      return printed === '' ? [] : [[invoice, printed] as const];
    }),
  );
}
