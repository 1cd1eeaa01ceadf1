import { eraseReasons } from '../actions/erase-reasons.ts';
import { type ActedBy, recordAction } from '../actions/record.ts';
import { integer, json, type RowOf } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, rows } from '../db/rows.ts';
import { eraseNames } from '../ledger/journal/erase-names.ts';
import { readRecord } from '../mirror/read.ts';
import { storeErased } from '../mirror/stored-records.ts';
import type { Dialect } from '../records/dialect.ts';
import { fieldMapOf, keptText } from '../records/field-map.ts';
import { canonicalJson, isJsonObject, type JsonObject, readJson, readVerbatim } from '../records/json.ts';
import type { RecordKind } from '../terms.ts';

/** How many records, names and reasons were erased. */
export interface Erased {
  records: number;
  versions: number;
  entries: number;
  /** Reasons of actions that contained all words of one of the client's names. */
  reasons: number;
}

/** Payer fields that the books need for VAT, besides the mapped ones. */
const needed = /^payer_(vat_number|register_number|country|country_code)$/;

/**
 * Erases a client's personal data in the mirror, in its versions, and in the books. Of the client's invoices, rows,
 * payments and prepayments it erases all fields that vetledger does not read, the payer's names, and the prepayment's
 * description. It also erases names in the entries' lines, and in reasons of actions. Amounts, client id, VAT number
 * and country stay, because the books need them; so does external_info, which is sent back complete. An action records
 * the erasure without the names. The content hash of a record stays, so that reading the same record again does not
 * restore a name.
 */
export async function eraseClient(
  db: Db,
  { id: installation, dialect }: { id: number; dialect: Dialect },
  client: number,
  by: ActedBy,
): Promise<Erased> {
  return db.transaction(async (trx) => {
    const erasing = new Erasing(trx, installation, dialect, client);
    const { records, versions, names } = await erasing.run();
    const inEntries = await eraseNames(trx, installation, `client:${client}`);
    const reasons = await eraseReasons(trx, installation, [...new Set([...names, ...inEntries])]);
    const erased = { records, versions, entries: inEntries.length };
    await recordAction(trx, {
      installation,
      kind: 'erase_client',
      by,
      input: { client },
      result: { ...erased, reasons },
    });
    return { ...erased, reasons: reasons.length };
  });
}

/**
 * Erases a client's personal data in the mirror, in its versions, and in the books. In the client's invoices, rows,
 * payments and prepayments, it erases the fields that vetledger does not read, the payer's names, and the prepayment's
 * description. It also erases names in the entries' lines, and in reasons of actions. Amounts, client id, VAT number
 * and country stay, because the books need them. external_info stays, because a write-back sends the whole field. An
 * action records the erasure without the names. The content hash of a record stays, so that reading the same record
 * again does not restore a name.
 */
const batchSize = 500;

const tables = ['mirror_record', 'mirror_version'] as const;
type MirrorTable = (typeof tables)[number];

const stored = { id: integer, version: integer, raw: json };
type Stored = RowOf<typeof stored>;

class Erasing {
  readonly #trx: Connection;
  readonly #installation: number;
  readonly #dialect: Dialect;
  readonly #client: number;
  readonly #erased = { mirror_record: 0, mirror_version: 0 };
  readonly #names = new Set<string>();

  constructor(trx: Connection, installation: number, dialect: Dialect, client: number) {
    this.#trx = trx;
    this.#installation = installation;
    this.#dialect = dialect;
    this.#client = client;
  }

  async run(): Promise<Pick<Erased, 'records' | 'versions'> & { names: Set<string> }> {
    const invoices = new Set<number>();
    for (const table of tables) for (const id of await this.#ofClient(table, 'invoice')) invoices.add(id);
    for (const table of tables) await this.#ofClient(table, 'prepayment');
    for (const kind of ['row', 'payment'] as const) await this.#ofInvoices(kind, [...invoices]);
    return { records: this.#erased.mirror_record, versions: this.#erased.mirror_version, names: this.#names };
  }

  /** Erases personal data in the records of a kind that name the client. Returns their ids. */
  async #ofClient(table: MirrorTable, kind: 'invoice' | 'prepayment'): Promise<Set<number>> {
    const field = this.#dialect.fields[kind].client;
    const ids = new Set<number>();
    for (let after: [number, number] = [-1, -1]; ; ) {
      const found = await rows(
        this.#trx,
        stored,
        // SQL cannot compare the reference: it is an id, a URL, or an object with either. The record reader finds its
        // client.
        `select id, version, raw from ${table}
         where installation = ? and kind = ? and (id, version) > (?::bigint, ?::int)
           and raw #>> ?::text[] ~ ? order by id, version limit ${batchSize} for update`,
        [this.#installation, kind, ...after, field.split('.'), `(^|[^0-9])${this.#client}([^0-9]|$)`],
      );
      for (const each of found) {
        if (readRecord(kind, each.raw, this.#dialect).clientId !== this.#client) continue;
        ids.add(each.id);
        await this.#erase(table, kind, each);
      }
      const last = found.at(-1);
      if (last === undefined || found.length < batchSize) return ids;
      after = [last.id, last.version];
    }
  }

  /** Erases personal data in the rows or payments of invoices, and in their versions. */
  async #ofInvoices(kind: 'row' | 'payment', invoices: readonly number[]): Promise<void> {
    for (let at = 0; at < invoices.length; at += batchSize) {
      const records = await rows(
        this.#trx,
        stored,
        `select id, version, raw from mirror_record where installation = ? and kind = ? and parent_id = any(?)
         order by id for update`,
        [this.#installation, kind, invoices.slice(at, at + batchSize)],
      );
      for (const each of records) await this.#erase('mirror_record', kind, each);
      const versions = await rows(
        this.#trx,
        stored,
        `select id, version, raw from mirror_version where installation = ? and kind = ? and id = any(?)
         order by id, version for update`,
        [this.#installation, kind, records.map(({ id }) => id)],
      );
      for (const each of versions) await this.#erase('mirror_version', kind, each);
    }
  }

  async #erase(table: MirrorTable, kind: RecordKind, { id, version, raw }: Stored): Promise<void> {
    const left = withoutPersonalData(kind, raw, this.#dialect);
    if (left === null) return;
    const { payer_name, payer_organization_name } = this.#dialect.fields.invoice;
    if (kind === 'invoice') {
      for (const field of [payer_name, payer_organization_name])
        this.#names.add(textAt(readJson(raw), field.split('.')));
    }
    this.#erased[table] += 1;
    await storeErased(this.#trx, table, { installation: this.#installation, kind, id, version }, left);
  }
}

/** The record without personal data; all other digits stay as they were written. Null if there is nothing to erase. */
function withoutPersonalData(kind: RecordKind, raw: string, dialect: Dialect): string | null {
  const record = readVerbatim(raw);
  const kept = readVerbatim(keptText(record, fieldMapOf(dialect, kind)));
  if (!isJsonObject(record) || !isJsonObject(kept)) return null;
  const more = kind === 'invoice' ? Object.entries(record).filter(([field]) => needed.test(field)) : [];
  const { invoice, prepayment } = dialect.fields;
  const personal = {
    ...{ row: [], payment: [] },
    ...{ invoice: [invoice.payer_name, invoice.payer_organization_name], prepayment: [prepayment.description] },
  };
  let left: JsonObject = { ...Object.fromEntries(more), ...kept };
  for (const field of personal[kind]) left = blanked(left, field.split('.'));
  const text = canonicalJson(left);
  return text === canonicalJson(record) ? null : text;
}

/** The text at a path of a record, or an empty text. */
function textAt(value: unknown, path: readonly string[]): string {
  const found = path.reduce<unknown>((at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : null), value);
  return typeof found === 'string' ? found : '';
}

/** The record with null at a path, if it has that path. */
function blanked(record: JsonObject, [key, ...path]: string[]): JsonObject {
  const value = key === undefined || !Object.hasOwn(record, key) ? null : record[key];
  if (key === undefined || value === null || value === '') return record;
  if (path.length === 0) return { ...record, [key]: null };
  return isJsonObject(value) ? { ...record, [key]: blanked(value, path) } : record;
}
