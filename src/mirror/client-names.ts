import { integer, json } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { Dialect } from '../records/dialect.ts';
import type { InstallationId } from '../terms.ts';
import { readRecord } from './read.ts';

const pageSize = 500;

type Source = { id: InstallationId; dialect: Dialect };

/** The payer's name on the newest invoice of each of these clients. Looks through all invoices, since only these have names. */
export async function clientNames(
  db: Connection,
  { id: installation, dialect }: Source,
  clients: readonly number[],
): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  if (clients.length === 0) return names;
  const asked = new Set(clients);
  const found = pages(pageSize, (after: { id: number } | null) =>
    rows(
      db,
      { id: integer, raw: json },
      // The reference is an id, a URL, or an object with either. The record reader finds its client.
      `select id, raw from mirror_record where installation = ? and kind = 'invoice' and id < ?
         and raw #>> ?::text[] ~ ? order by id desc limit ?`,
      [
        ...[installation, after?.id ?? Number.MAX_SAFE_INTEGER, dialect.fields.invoice.client.split('.')],
        ...[`(^|[^0-9])(${[...asked].join('|')})([^0-9]|$)`, pageSize],
      ],
    ),
  );
  for await (const page of found) {
    for (const { raw } of page) {
      const { clientId, payer } = readRecord('invoice', raw, dialect);
      if (clientId === null || payer.name === null || !asked.has(clientId) || names.has(clientId)) continue;
      names.set(clientId, payer.name);
    }
    if (names.size === asked.size) break;
  }
  return names;
}

/** The payers' names on these invoices, by client. */
export async function namesOnInvoices(
  db: Connection,
  { id: installation, dialect }: Source,
  invoices: readonly number[],
): Promise<Map<number, string>> {
  if (invoices.length === 0) return new Map();
  const found = await rows(
    db,
    { raw: json },
    `select raw from mirror_record where installation = ? and kind = 'invoice' and id = any(?::bigint[]) order by id`,
    [installation, invoices],
  );
  const read = found.map(({ raw }) => readRecord('invoice', raw, dialect));
  return new Map(
    read.flatMap(({ clientId, payer: { name } }) => (clientId === null || name === null ? [] : [[clientId, name]])),
  );
}
