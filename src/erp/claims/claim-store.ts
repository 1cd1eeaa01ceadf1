import { rowsAsArrays } from '../../db/bulk.ts';
import { bool, date, instant, integer, nullable, oneOf, type RowOf, text } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, row, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import { deliveryFindings } from '../../texts/findings/delivery.ts';
import type { KeyedEntry } from '../port.ts';

/**
 * SQL of the tables `erp_claim` and `erp_keyed_entry`. They record whether this database owns an installation's entries
 * in a company, and which entries there it has not sent.
 */

export interface ClaimOf {
  company: string;
  installation: InstallationId;
}

const claimShape = { isClaimed: bool, sentAgoMs: nullable(integer) };

/** `sentAgoMs`: milliseconds since our first entry was seen in the ERP; null if none was. */
export type Claim = RowOf<typeof claimShape>;

/** The ERP has confirmed the unit. */
const isInErp = `u.state in ('delivered', 'drafted')`;

/** Reads the claim, and creates it if there is none. */
export async function openClaim(trx: Connection, { company, installation }: ClaimOf): Promise<Claim> {
  await execute(trx, 'insert into erp_claim (company, installation) values (?, ?) on conflict do nothing', [
    company,
    installation,
  ]);
  const read = () =>
    row(
      trx,
      claimShape,
      `select is_claimed as "isClaimed",
         (extract(epoch from clock_timestamp() - first_sent_at) * 1000)::bigint as "sentAgoMs"
       from erp_claim where company = ? and installation = ?`,
      [company, installation],
    );
  const claim = await read();
  if (claim.isClaimed || claim.sentAgoMs !== null) return claim;
  const noted = await execute(
    trx,
    `update erp_claim set first_sent_at = clock_timestamp() where company = ? and installation = ? and exists (
       select from erp_unit u where u.company = ? and u.installation = ? and ${isInErp})`,
    [company, installation, company, installation],
  );
  return noted === 0 ? claim : read();
}

/** When the last complete search for other databases' entries began; null if there was none. */
export async function lastSearch(db: Connection, { company, installation }: ClaimOf): Promise<Date | null> {
  const found = await maybeRow(
    db,
    { lookedAt: nullable(instant) },
    'select looked_at as "lookedAt" from erp_claim where company = ? and installation = ?',
    [company, installation],
  );
  return found?.lookedAt ?? null;
}

/** Whether the first entry is in the ERP, but the company's entries were not searched since. */
export async function awaitsSearch(db: Connection, { company, installation }: ClaimOf): Promise<boolean> {
  const { found } = await row(
    db,
    { found: bool },
    `select exists (select from erp_claim c where c.company = ? and c.installation = ? and not c.is_claimed
       and exists (select from erp_unit u where u.company = c.company and u.installation = c.installation and ${isInErp})) as found`,
    [company, installation],
  );
  return found;
}

/** Milliseconds until a request of the installation with an unknown outcome is looked up; null if there is none. */
export async function doubtInMs(db: Connection, { company, installation }: ClaimOf): Promise<number | null> {
  const { ms } = await row(
    db,
    { ms: nullable(integer) },
    `select (min(extract(epoch from coalesce(not_before, clock_timestamp()) - clock_timestamp())) * 1000)::bigint as ms
     from erp_unit where installation = ? and company = ? and state in ('sending', 'uncertain') and attempts > 0`,
    [installation, company],
  );
  return ms === null ? null : Math.max(0, ms);
}

/** Records a complete search. `claims`: it found our first entry, and no entry of another database. */
export async function recordSearch(
  trx: Connection,
  { company, installation }: ClaimOf,
  { beganAt, claims }: { beganAt: Date; claims: boolean },
): Promise<void> {
  await execute(
    trx,
    `insert into erp_claim as c (company, installation, looked_at, is_claimed) values (?, ?, ?, ?)
     on conflict (company, installation) do update set looked_at = greatest(c.looked_at, excluded.looked_at),
       is_claimed = c.is_claimed or excluded.is_claimed`,
    [company, installation, beganAt, claims],
  );
}

/** Which of these keys the outbox has sent, or found in the ERP. */
export async function sentKeys(db: Connection, keys: readonly string[]): Promise<Set<string>> {
  const found = await rows(
    db,
    { key: text },
    `select erp_key as key from erp_unit u where erp_key = any(?::text[]) and ${wasSent}`,
    [keys],
  );
  return new Set(found.map(({ key }) => key));
}

const wasSent = `(u.attempts > 0 or u.state in ('sending', 'uncertain', 'drafted', 'delivered'))`;

/** Stores entries that this database has not sent. An adopted entry stays adopted. */
export async function noteEntries(
  trx: Connection,
  { company, installation }: ClaimOf,
  entries: readonly (KeyedEntry & { isOurs: boolean })[],
): Promise<void> {
  if (entries.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'seen',
    {
      ...{ erp_id: 'text', erp_key: 'text', unit_id: 'text', is_ours: 'boolean', erp_number: 'text', erp_date: 'date' },
    },
    entries.map((one) => ({
      ...{ erp_id: one.id, erp_key: one.key, unit_id: one.unitId, is_ours: one.isOurs },
      ...{ erp_number: one.number, erp_date: one.date },
    })),
  );
  await execute(
    trx,
    `insert into erp_keyed_entry (company, installation, erp_id, erp_key, unit_id, is_ours, erp_number, erp_date)
     select distinct on (erp_id) ?::text, ?::bigint, erp_id, erp_key, unit_id, is_ours, erp_number, erp_date from ${from}
     on conflict (company, installation, erp_id) do update set erp_key = excluded.erp_key, unit_id = excluded.unit_id,
       is_ours = excluded.is_ours, erp_number = excluded.erp_number, erp_date = excluded.erp_date`,
    [company, installation, ...bindings],
  );
}

export async function forgetEntries(
  trx: Connection,
  { company, installation }: ClaimOf,
  erpIds: readonly string[],
): Promise<void> {
  if (erpIds.length === 0) return;
  await execute(trx, 'delete from erp_keyed_entry where company = ? and installation = ? and erp_id = any(?::text[])', [
    company,
    installation,
    erpIds,
  ]);
}

/** An entry of another database that is not adopted. An entry whose key is in the outbox was adopted earlier. */
const isForeign = `(not k.is_ours and k.adopted_at is null and not exists (
  select from erp_unit u where u.erp_key = k.erp_key))`;

const keyedShape = { erpId: text, key: text, unitId: text, number: nullable(text), date };

/** An entry of a company that this database did not send. */
export type ForeignEntry = RowOf<typeof keyedShape>;

const keyedColumns = `k.erp_id as "erpId", k.erp_key as key, k.unit_id as "unitId", k.erp_number as number, k.erp_date as date`;

/**
 * The next entries, by id after `after`, that stop the delivery or show that this database is older than the ERP's
 * books.
 */
export function unsettledEntries(
  db: Connection,
  { company, installation }: ClaimOf,
  { after, limit }: { after: string; limit: number },
): Promise<ForeignEntry[]> {
  return rows(
    db,
    keyedShape,
    `select ${keyedColumns} from erp_keyed_entry k
     where company = ? and installation = ? and erp_id > ? and (${isForeign} or ${isUnknown})
     order by erp_id limit ?`,
    [company, installation, after, limit],
  );
}

/** An entry whose key has the form of this database, although the outbox has never sent it. */
const isUnknown = `(k.is_ours and not exists (select from erp_unit u where u.erp_key = k.erp_key and ${wasSent}))`;

/**
 * True if the company has entries of this database that this database lacks. Then the database was restored from an
 * earlier backup.
 */
export async function isBehind(db: Connection, { company, installation }: ClaimOf): Promise<boolean> {
  const { found } = await row(
    db,
    { found: bool },
    `select exists (select from erp_keyed_entry k where company = ? and installation = ? and ${isUnknown}) as found`,
    [company, installation],
  );
  return found;
}

const foreignShape = {
  installation: integer,
  entries: integer,
  /** The first characters of the entries' keys, which differ between databases. */
  databases: text,
  /** The unit of the first entry. */
  unitId: text,
  number: nullable(text),
  since: instant,
};

/** The entries that other databases have in the company of an installation. */
export type Foreign = RowOf<typeof foreignShape>;

/** The entries of other databases, by installation. Installations without such entries are left out. */
export function foreignIn(db: Connection, claims: readonly ClaimOf[]): Promise<Foreign[]> {
  const { from, bindings } = rowsAsArrays(
    'c',
    { company: 'text', installation: 'bigint' },
    claims.map(({ company, installation }) => ({ company, installation })),
  );
  return rows(
    db,
    foreignShape,
    `select k.installation, count(*)::int as entries, string_agg(distinct left(k.erp_key, 6), ', ') as databases,
       (array_agg(k.unit_id order by k.erp_date, k.unit_id))[1] as "unitId",
       (array_agg(k.erp_number order by k.erp_date, k.unit_id))[1] as number, min(k.seen_at) as since
     from erp_keyed_entry k join ${from} on c.company = k.company and c.installation = k.installation
     where ${isForeign} group by k.installation order by k.installation`,
    bindings,
  );
}

/** Adopts the known entries of other databases; returns their number. */
export function adoptForeign(trx: Connection, { company, installation }: ClaimOf): Promise<number> {
  return execute(
    trx,
    `update erp_keyed_entry k set adopted_at = clock_timestamp() where company = ? and installation = ? and ${isForeign}`,
    [company, installation],
  );
}

/**
 * Gives pending units the keys of adopted entries that name them. Each such unit is looked up, compared, and delivered
 * if it is equal. If the other database has posted later corrections of a document, the document's units are refused.
 * Returns the number of changed units.
 */
export async function takeOverAdopted(trx: Connection, { company, installation }: ClaimOf): Promise<number> {
  const has = await maybeRow(
    trx,
    { n: integer },
    `select 1 as n from erp_keyed_entry where company = ? and installation = ? and adopted_at is not null limit 1`,
    [company, installation],
  );
  if (has === null) return 0;
  const waits = `u.installation = ? and u.company = ? and u.state = 'pending' and not u.needs_approval`;
  const documentOf = (unit: string) => `regexp_replace(${unit}, '/[0-9]+$', '')`;
  const numberOf = (unit: string) => `coalesce(substring(${unit} from '/([0-9]+)$')::bigint, 0)`;
  const refused = await execute(
    trx,
    `update erp_unit u set state = 'refused', problem_code = 'erp_posted_elsewhere', problem_since = clock_timestamp(),
       problem_message = replace(?::text, '{last}', last.named)
     from (
       select ${documentOf('k.unit_id')} as document, max(${numberOf('k.unit_id')}) as n,
         (array_agg(coalesce(replace(replace(?::text, '{unit}', k.unit_id), '{number}', k.erp_number), k.unit_id)
           order by ${numberOf('k.unit_id')} desc))[1] as named
       from erp_keyed_entry k where k.company = ? and k.installation = ? and k.adopted_at is not null group by 1) last
     where ${waits} and u.attempts = 0 and u.answered = 0 and u.undo_of is null and last.document = ${documentOf('u.unit_id')}
       and last.n > (select max(${numberOf('o.unit_id')}) from erp_unit o
         where o.installation = u.installation and o.undo_of is null and ${documentOf('o.unit_id')} = last.document)`,
    [
      deliveryFindings.postedElsewhere({ last: '{last}' }),
      deliveryFindings.numbered({ unitId: '{unit}', number: '{number}' }),
      ...[company, installation, installation, company],
    ],
  );
  const taken = await execute(
    trx,
    `update erp_unit u set erp_key = f.erp_key, state = 'uncertain', doubt = 'no_answer', not_before = clock_timestamp()
     from (
       select distinct on (k.unit_id) k.unit_id, k.erp_key from erp_keyed_entry k
       where k.company = ? and k.installation = ? and k.adopted_at is not null
         and not exists (select from erp_unit x where x.erp_key = k.erp_key)
       order by k.unit_id, k.erp_number nulls last, k.erp_id) f
     where ${waits} and f.unit_id = u.unit_id`,
    [company, installation, installation, company],
  );
  return refused + taken;
}

const reportedKinds = ['foreign', 'doubled', 'behind'] as const;

const reportedShape = {
  kind: oneOf(reportedKinds),
  unitId: text,
  number: nullable(text),
  date,
  key: text,
};

/** An entry of the company that E7 reports. */
export type ReportedForeign = RowOf<typeof reportedShape>;

/**
 * Entries that this database did not send, for E7. `foreign`: of another database, not adopted. `doubled`: adopted,
 * while our own entry for the same unit is in the ERP too. `behind`: of this database, which does not know it. Returns
 * at most `limit`, and the number of the others.
 */
export async function reportedForeign(
  db: Connection,
  { company, installation }: ClaimOf,
  limit: number,
): Promise<{ found: ReportedForeign[]; omitted: number }> {
  const isOursInErp = `exists (
    select from erp_unit u where u.installation = k.installation and u.unit_id = k.unit_id and u.erp_key <> k.erp_key
      and u.state = 'delivered' and 1 = (
        select 1 + coalesce(sum(case when o.undo_n % 2 = 1 then -1 else 1 end), 0) from erp_unit o
        where o.installation = u.installation and o.undo_of = u.unit_id and o.state = 'delivered'))`;
  const all = `
    select case when ${isForeign} then 'foreign' when k.is_ours then 'behind' else 'doubled' end as kind,
      k.unit_id as "unitId", k.erp_number as number, k.erp_date as date, k.erp_key as key
    from erp_keyed_entry k where k.company = ? and k.installation = ? and (${isForeign} or ${isUnknown}
      or (k.adopted_at is not null and not exists (select from erp_unit t where t.erp_key = k.erp_key) and ${isOursInErp}))`;
  const found = await rows(db, reportedShape, `${all} order by date, "unitId", number limit ?`, [
    company,
    installation,
    limit,
  ]);
  if (found.length < limit) return { found, omitted: 0 };
  const { n } = await row(db, { n: integer }, `select count(*)::int as n from (${all}) found`, [company, installation]);
  return { found, omitted: n - found.length };
}
