import { instant, integer, nullable, oneOf, text } from '../../db/columns.ts';
import type { Lease } from '../../db/lease.ts';
import { type Connection, execute, maybeRow } from '../../db/rows.ts';

/** The logins to companies of ERPs whose tokens rotate (table `erp_login`). Tokens are sealed. */

/** The lease under which the tokens of a company are renewed. Deliveries and checks of all processes share it. */
export function loginScope(company: string) {
  return { installation: 0, lane: 'login', company } as const;
}
export type LoginLease = Lease<ReturnType<typeof loginScope>>;

/** Tokens, sealed with the key `keyId`. */
export interface SealedTokens {
  keyId: string;
  refresh: string;
  access: string;
  /** Seconds during which the access token is used. */
  accessSeconds: number;
}

export interface StoredLogin extends SealedTokens {
  /** Increases with each renewal and each login. */
  generation: number;
  state: 'ready' | 'login_needed';
  /** The company as the ERP identified it at the login. */
  erpId: string;
  erpName: string;
  loggedInAt: Date;
  renewedAt: Date;
  /** When a renewal was sent whose answer is not stored. Null if there is none. */
  askedAt: Date | null;
  /** How often in a row the server of tokens refused the refresh token. */
  refusals: number;
}

const shape = {
  ...{ generation: integer, state: oneOf(['ready', 'login_needed']), erpId: text, erpName: text, keyId: text },
  ...{ refresh: text, access: text, accessSeconds: integer, loggedInAt: instant, renewedAt: instant },
  ...{ askedAt: nullable(instant), refusals: integer },
};

export function storedLogin(db: Connection, company: string): Promise<StoredLogin | null> {
  return maybeRow(
    db,
    shape,
    `select generation, state, erp_id as "erpId", erp_name as "erpName", key_id as "keyId", refresh_sealed as refresh,
       access_sealed as access, floor(extract(epoch from access_until - clock_timestamp()))::bigint as "accessSeconds",
       logged_in_at as "loggedInAt", renewed_at as "renewedAt", asked_at as "askedAt", refusals
     from erp_login where company = ?`,
    [company],
  );
}

/** Stores the tokens of a new login. They replace those of an earlier one. */
export async function storeLogin(
  trx: Connection,
  company: string,
  { keyId, refresh, access, accessSeconds, erpId, erpName }: SealedTokens & Pick<StoredLogin, 'erpId' | 'erpName'>,
): Promise<void> {
  await execute(
    trx,
    `insert into erp_login as known (company, erp_id, erp_name, key_id, refresh_sealed, access_sealed, access_until)
     values (?, ?, ?, ?, ?, ?, clock_timestamp() + make_interval(secs => ?))
     on conflict (company) do update set generation = known.generation + 1, state = 'ready', refusals = 0, asked_at = null,
       erp_id = excluded.erp_id, erp_name = excluded.erp_name, key_id = excluded.key_id,
       refresh_sealed = excluded.refresh_sealed, access_sealed = excluded.access_sealed,
       access_until = excluded.access_until, logged_in_at = clock_timestamp(), renewed_at = clock_timestamp()`,
    [company, erpId, erpName, keyId, refresh, access, accessSeconds],
  );
}

/** Notes that a renewal is being sent. Until its answer is stored, the refresh token may have been replaced. */
export async function noteAsked(trx: Connection, company: string, generation: number): Promise<void> {
  await execute(
    trx,
    'update erp_login set asked_at = coalesce(asked_at, clock_timestamp()) where company = ? and generation = ?',
    [company, generation],
  );
}

/** Notes that the server of tokens did nothing. */
export async function noteUnasked(trx: Connection, company: string, generation: number): Promise<void> {
  await execute(trx, 'update erp_login set asked_at = null where company = ? and generation = ?', [
    company,
    generation,
  ]);
}

/**
 * Stores renewed tokens. Returns false if a login has replaced the tokens meanwhile. A repetition after an unknown
 * outcome returns true, too.
 */
export async function storeRenewed(
  trx: Connection,
  company: string,
  generation: number,
  { keyId, refresh, access, accessSeconds }: SealedTokens,
): Promise<boolean> {
  const stored = await execute(
    trx,
    `update erp_login set generation = generation + 1, refusals = 0, asked_at = null, key_id = ?, refresh_sealed = ?,
       access_sealed = ?, access_until = clock_timestamp() + make_interval(secs => ?), renewed_at = clock_timestamp()
     where company = ? and generation = ?`,
    [keyId, refresh, access, accessSeconds, company, generation],
  );
  return stored > 0 || (await storedLogin(trx, company))?.refresh === refresh;
}

/**
 * Notes that the refresh token was refused. After the second refusal in a row, a person has to log in. `isInDoubt`: whether
 * the answer to an earlier renewal was lost.
 */
export async function noteRefused(
  trx: Connection,
  company: string,
  generation: number,
  { isInDoubt }: { isInDoubt: boolean },
): Promise<void> {
  await execute(
    trx,
    `update erp_login set refusals = refusals + 1, state = case when refusals > 0 then 'login_needed' else state end,
       asked_at = case when ? then asked_at end
     where company = ? and generation = ?`,
    [isInDoubt, company, generation],
  );
}

export async function removeLogin(trx: Connection, company: string): Promise<void> {
  await execute(trx, 'delete from erp_login where company = ?', [company]);
}
