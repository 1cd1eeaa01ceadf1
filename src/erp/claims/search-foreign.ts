import { databaseNow } from '../../db/database-now.ts';
import type { Db } from '../../db/pool.ts';
import type { Connection } from '../../db/rows.ts';
import { visible } from '../../domain/text.ts';
import { deliveryErrors, foreignEntryTexts } from '../../texts/errors/deliveries.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { keyPrefix } from '../entry-key.ts';
import type { ErpTarget, KeyedPage, KeyedQuery, RequestOptions } from '../port.ts';
import {
  type ClaimOf,
  type Foreign,
  forgetEntries,
  lastSearch,
  noteEntries,
  recordSearch,
  sentKeys,
  unsettledEntries,
} from './claim-store.ts';

/** Searches for changes overlap by this time, because transactions may commit late and clocks differ. */
const overlapMs = 3_600_000;
/** Number of known entries that one request reads again. */
const readAtATime = 50;

export interface SearchPorts {
  db: Db;
  databaseId: string;
  claim: ClaimOf;
  target: Pick<ErpTarget, 'keyed' | 'read'>;
  /** Sends one request to the ERP. */
  ask<Result>(send: (request: RequestOptions) => Promise<Result>): Promise<Result>;
  /** Runs a write transaction under the caller's lease. */
  transact<Result>(work: (trx: Connection) => Promise<Result>): Promise<Result>;
}

export interface SearchOptions {
  /** Searches all entries, not only those written since the last search. */
  full: boolean;
  /** Our first entry is in the ERP. If there is no entry of another database, the company becomes ours. */
  claims: boolean;
}

/**
 * Searches the company for entries of the installation that this database has not sent, and stores them
 * (claim-store.ts). Returns false if the answer was incomplete, which proves nothing. Throws the errors of `ask`.
 */
export async function searchForeign(ports: SearchPorts, { full, claims }: SearchOptions): Promise<boolean> {
  const { db, claim, target, ask, transact } = ports;
  const lookedAt = full ? null : await lastSearch(db, claim);
  const changedSince = lookedAt === null ? null : new Date(lookedAt.getTime() - overlapMs);
  const beganAt = await databaseNow(db);
  await forgetGone(ports);
  for (let after: string | null = null; ; ) {
    const query: KeyedQuery = { installation: claim.installation, changedSince, after };
    const page: KeyedPage = await ask((request) => target.keyed(query, request));
    const { entries, next, isComplete } = page;
    if (!isComplete) return false;
    const sent = await sentKeys(
      db,
      entries.map(({ key }) => key),
    );
    const unsent = entries.filter(({ key, state }) => state !== 'void' && !sent.has(key));
    const prefix = keyPrefix(ports.databaseId);
    const unknown = unsent.map((entry) => ({ ...entry, isOurs: entry.key.startsWith(prefix) }));
    const voided = entries.flatMap(({ id, state }) => (state === 'void' ? id : []));
    await transact(async (trx) => {
      await noteEntries(trx, claim, unknown);
      await forgetEntries(trx, claim, voided);
    });
    if (next === null) break;
    after = next;
  }
  await transact((trx) => recordSearch(trx, claim, { beganAt, claims }));
  return true;
}

/** Deletes stored entries that are no longer in the ERP, or have lost their key. They no longer stop the delivery. */
async function forgetGone({ db, claim, target, ask, transact }: SearchPorts): Promise<void> {
  for (let after = ''; ; ) {
    const seen = await unsettledEntries(db, claim, { after, limit: readAtATime });
    const last = seen.at(-1);
    if (last === undefined) return;
    const ids = seen.map(({ erpId }) => erpId);
    const found = await ask((request) => target.read(ids, request, { accounts: [] }));
    const present = new Map(found.flatMap(({ id, key, state }) => (state === 'void' ? [] : [[id, key] as const])));
    const gone = seen.filter(({ erpId, key }) => present.get(erpId) !== key).map(({ erpId }) => erpId);
    await transact((trx) => forgetEntries(trx, claim, gone));
    // One remaining entry is enough to stop the delivery.
    if (gone.length < seen.length) return;
    after = last.erpId;
  }
}

/** Maximum number of databases that a message names. */
const mostNamed = 3;

/** The error for an installation whose entries another database already has in the company. */
export function foreignError(foreign: Foreign): PlainError {
  return deliveryErrors.companyForeign({ installation: foreign.installation, reason: foreignText(foreign) });
}

function foreignText({ installation, entries: n, databases, unitId, number }: Foreign): string {
  const prefixes = databases.split(', ');
  const keys = prefixes.length > mostNamed ? '' : foreignEntryTexts.keys({ prefixes: prefixes.join(', ') });
  const named = { unitId: visible(unitId), number: visible(number ?? '') };
  const first = number === null ? named.unitId : foreignEntryTexts.numbered(named);
  return n === 1
    ? foreignEntryTexts.one({ installation, keys, first })
    : foreignEntryTexts.several({ n, installation, keys, first });
}
