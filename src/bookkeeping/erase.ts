import { integer, json } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import type { Dialect } from '../records/dialect.ts';
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from '../records/json.ts';
import { parseRecord } from '../records/schema.ts';

/** How much of a client was erased. `keptEntries`: entries of older versions, whose names the hash chain covers. */
export interface Erased {
  records: number;
  versions: number;
  entries: number;
  keptEntries: number;
}

/** Fields of a payer that the books need: who is taxed where. Everything else of a payer is personal. */
const needed = /_(vat_number|register_number|country|country_code)$/;
const personal = /^(payer|client|customer|owner|patient)_/;

/**
 * Erases a client's names and addresses: in the mirror's invoices and their versions, and the names of the entries' lines. Amounts,
 * the client's id, VAT number and country stay, since the books need them. What was erased is recorded, without the names. The
 * content hash of a record stays: the same record, read again, changes nothing and brings no name back.
 */
export async function eraseClient(
  db: Db,
  { id: installation, dialect }: { id: number; dialect: Dialect },
  client: number,
  { reason, by }: { reason: string; by: string },
): Promise<Erased> {
  return db.transaction(async (trx) => {
    const records = await blankRecords(trx, 'mirror_record', installation, dialect, client);
    const versions = await blankRecords(trx, 'mirror_version', installation, dialect, client);
    const party = `client:${client}`;
    const { erased, kept } = await row(
      trx,
      { erased: integer, kept: integer },
      `with gone as (
         delete from entry_party_name n using entry e
         where n.party_code = ? and e.id = n.entry_id and e.installation = ? returning n.entry_id)
       select (select count(*) from gone) as erased,
         (select count(distinct l.entry_id) from entry_line l join entry e on e.id = l.entry_id
          where e.installation = ? and e.format = 1 and l.party_code = ? and l.party_name is not null) as kept`,
      [party, installation, installation, party],
    );
    await execute(
      trx,
      `insert into erasure (installation, client_id, reason, erased_by, records, versions, entries, kept_entries)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [installation, client, reason, by, records, versions, erased, kept],
    );
    return { records, versions, entries: erased, keptEntries: kept };
  });
}

/** Records per statement. */
const batchSize = 500;

async function blankRecords(
  trx: Connection,
  table: 'mirror_record' | 'mirror_version',
  installation: number,
  dialect: Dialect,
  client: number,
): Promise<number> {
  const fields = dialect.fields.invoice;
  const names = [fields.payer_name, fields.payer_organization_name];
  let blanked = 0;
  for (let after = [-1, -1]; ; ) {
    const found = await rows(
      trx,
      { id: integer, version: integer, raw: json },
      // A reference is an id, a URL with it, or an object with either: the reader says which client it is.
      `select id, version, raw from ${table}
       where installation = ? and kind = 'invoice' and (id, version) > (?::bigint, ?::int)
         and raw #>> ?::text[] ~ ? order by id, version limit ${batchSize} for update`,
      [installation, ...after, fields.client.split('.'), `(^|[^0-9])${client}([^0-9]|$)`],
    );
    for (const { id, version: found_version, raw } of found) {
      const left = withoutNames(raw, names, (record) => parseRecord('invoice', record, dialect).clientId === client);
      if (left === null) continue;
      blanked += 1;
      await execute(
        trx,
        `update ${table} set raw = ?::json where installation = ? and kind = 'invoice' and id = ? and version = ?`,
        [left, installation, id, found_version],
      );
    }
    const last = found.at(-1);
    if (last === undefined || found.length < batchSize) return blanked;
    after = [last.id, last.version];
  }
}

/** The record with null in its personal fields, every other digit as it was; null where nothing is to be erased. */
function withoutNames(
  raw: string,
  names: readonly string[],
  isOfClient: (record: JsonValue) => boolean,
): string | null {
  const record = parseJson(raw);
  if (!isJsonObject(record) || !isOfClient(record)) return null;
  const isPersonal = (field: string) => names.includes(field) || (personal.test(field) && !needed.test(field));
  const found = Object.entries(record).filter(([field, value]) => isPersonal(field) && value !== null && value !== '');
  if (found.length === 0) return null;
  return stringifyJson({ ...record, ...Object.fromEntries(found.map(([field]) => [field, null])) });
}
