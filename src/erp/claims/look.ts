import { databaseNow } from '../../db/database-now.ts';
import type { Db } from '../../db/pool.ts';
import type { Connection } from '../../db/rows.ts';
import { visible } from '../../domain/text.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { keyPrefix } from '../entry-key.ts';
import type { ErpTarget, KeyedPage, KeyedQuestion, RequestOptions } from '../port.ts';
import {
  type ClaimOf,
  type Foreign,
  forgetEntries,
  lastLook,
  noteEntries,
  noteLook,
  sentKeys,
  unsettledEntries,
} from './claim-store.ts';

/** Taken off the question for what was written since: transactions that commit late, and clocks that differ. */
const overlapMs = 3_600_000;
/** Entries that were seen before are read again so many at a time. */
const readAtATime = 50;

export interface LookPorts {
  db: Db;
  databaseId: string;
  claim: ClaimOf;
  target: Pick<ErpTarget, 'keyed' | 'read'>;
  /** Sends one request. */
  ask<Result>(send: (request: RequestOptions) => Promise<Result>): Promise<Result>;
  /** A write transaction of the caller. */
  transact<Result>(work: (trx: Connection) => Promise<Result>): Promise<Result>;
}

export interface LookOptions {
  /** All entries, not only those that were written since the last look. */
  full: boolean;
  /** Our first entry is there by now: with it and no other database's, the company is ours. */
  claims: boolean;
}

/**
 * Looks which entries of the installation the company has that this database has not sent, and notes them (store.ts). False where
 * the answer was not complete: then nothing follows from what it did not show. Throws what `ask` does.
 */
export async function look(ports: LookPorts, { full, claims }: LookOptions): Promise<boolean> {
  const { db, claim, target, ask, transact } = ports;
  const lookedAt = full ? null : await lastLook(db, claim);
  const changedSince = lookedAt === null ? null : new Date(lookedAt.getTime() - overlapMs);
  const beganAt = await databaseNow(db);
  await forgetGone(ports);
  for (let after: string | null = null; ; ) {
    const question: KeyedQuestion = { installation: claim.installation, changedSince, after };
    const page: KeyedPage = await ask((request) => target.keyed(question, request));
    const { entries, next, isComplete } = page;
    if (!isComplete) return false;
    const sent = await sentKeys(
      db,
      entries.map(({ key }) => key),
    );
    const unsent = entries.filter(({ key, state }) => state !== 'void' && !sent.has(key));
    const prefix = keyPrefix(ports.databaseId);
    const told = unsent.map((entry) => ({ ...entry, isOurs: entry.key.startsWith(prefix) }));
    const voided = entries.flatMap(({ id, state }) => (state === 'void' ? id : []));
    await transact(async (trx) => {
      await noteEntries(trx, claim, told);
      await forgetEntries(trx, claim, voided);
    });
    if (next === null) break;
    after = next;
  }
  await transact((trx) => noteLook(trx, claim, { beganAt, claims }));
  return true;
}

/** Entries that were seen before and are not there any more, or have lost their key, keep nothing from going on. */
async function forgetGone({ db, claim, target, ask, transact }: LookPorts): Promise<void> {
  for (let after = ''; ; ) {
    const seen = await unsettledEntries(db, claim, { after, limit: readAtATime });
    const last = seen.at(-1);
    if (last === undefined) return;
    const ids = seen.map(({ erpId }) => erpId);
    const found = await ask((request) => target.read(ids, request, { accounts: [] }));
    const there = new Map(found.flatMap(({ id, key, state }) => (state === 'void' ? [] : [[id, key] as const])));
    const gone = seen.filter(({ erpId, key }) => there.get(erpId) !== key).map(({ erpId }) => erpId);
    await transact((trx) => forgetEntries(trx, claim, gone));
    // One that is still there is enough.
    if (gone.length < seen.length) return;
    after = last.erpId;
  }
}

/** Databases that are named in a message at most. */
const mostNamed = 3;

/** What other databases have in the company, in words. */
export function foreignText({ installation, entries, databases, unitId, number }: Foreign): string {
  const names = databases.split(', ');
  const named = names.length > mostNamed ? '' : ` (keys that begin with ${names.join(', ')})`;
  const first = `${visible(unitId)}${number === null ? '' : ` as ${visible(number)}`}`;
  const [what, such] = entries === 1 ? ['1 entry', ''] : [`${entries} entries`, ', such as'];
  return `the company already has ${what} of installation ${installation} that another database of vetledger made${named}${such || ':'} ${first}`;
}

/** Why nothing of an installation is sent to a company. */
export function foreignError(foreign: Foreign): PlainError {
  const { installation } = foreign;
  return {
    code: 'erp_company_foreign',
    message: foreignText(foreign),
    todo: `Find out which vetledger delivers to this company, and stop it or name another company in \`erp\`. Where this database is to go on: \`vetledger adopt --installation ${installation} --reason TEXT\`; docs/OPERATIONS.md, "Two databases, one company", says what that does.`,
  };
}
