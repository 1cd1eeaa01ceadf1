import { createHash } from 'node:crypto';
import { integer, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, row } from '../../db/rows.ts';
import { networkOf } from '../../domain/network.ts';
import type { InstallationId } from '../../terms.ts';
import { type Language, languages } from '../../texts/catalogue.ts';
import { newToken, tokenHash } from './tokens.ts';

/** A session ends after this time without a request, and after this time in any case. */
const idleMinutes = 30;
const longestHours = 12;

export interface Session {
  /** The token of the cookie. */
  token: string;
  subjectId: number;
  name: string;
  language: Language;
}

/** Begins a session. Its token is new, so that a token from before the sign-in is worth nothing. The browser's session `before` ends. */
export async function beginSession(trx: Connection, subjectId: number, before: Session | null): Promise<string> {
  const token = newToken();
  if (before !== null) await endSession(trx, before.token);
  await execute(trx, 'insert into vetledger_console.session (token_hash, subject_id) values (?, ?)', [
    tokenHash(token),
    subjectId,
  ]);
  await execute(trx, `delete from vetledger_console.session where not (${isAlive})`);
  return token;
}

const isAlive = `seen_at > clock_timestamp() - interval '${idleMinutes} minutes'
  and began_at > clock_timestamp() - interval '${longestHours} hours'`;

/** The session of a token. Null if it has ended, or if its subject is disabled. Notes the request, at most once a minute. */
export async function findSession(db: Connection, token: string): Promise<Session | null> {
  const hash = tokenHash(token);
  const found = await maybeRow(
    db,
    { subjectId: integer, name: text, language: oneOf(languages), idleSeconds: integer },
    `select s.id as "subjectId", s.name, s.language, extract(epoch from clock_timestamp() - e.seen_at)::bigint as "idleSeconds"
     from vetledger_console.session e join vetledger_console.subject s on s.id = e.subject_id
     where e.token_hash = ? and s.disabled_at is null and ${isAlive}`,
    [hash],
  );
  if (found === null) return null;
  const { idleSeconds, ...session } = found;
  if (idleSeconds >= 60)
    await execute(db, 'update vetledger_console.session set seen_at = clock_timestamp() where token_hash = ?', [hash]);
  return { token, ...session };
}

export async function endSession(db: Connection, token: string): Promise<void> {
  await execute(db, 'delete from vetledger_console.session where token_hash = ?', [tokenHash(token)]);
}

/** Ends all sessions and links, because a restored database has those that ended after the backup. */
export async function endAllSessions(trx: Connection): Promise<void> {
  await execute(trx, 'delete from vetledger_console.session');
  await execute(trx, 'delete from vetledger_console.link');
}

/** Limits of refused sign-ins within `throttle.minutes`. */
const throttle = { minutes: 15, perNetwork: 30, perName: 10 } as const;

/** An attempt to sign in. The name is stored as a hash, because people type passwords into the field of the name. */
export interface Attempt {
  name: string;
  address: string;
}

/**
 * Whether there were too many refused attempts: from the network of the address, or for the name. Attempts for a name count per group of
 * networks: those from which the subject has signed in before, and all others. So an attacker cannot lock the owner out.
 */
export async function isThrottled(db: Connection, { name, address }: Attempt): Promise<boolean> {
  const network = networkOf(address);
  const { fromNetwork, forName } = await row(
    db,
    { fromNetwork: integer, forName: integer },
    `with known as (
       select distinct network from vetledger_console.sign_in
       where name_hash = ? and outcome = 'signed_in' and at > clock_timestamp() - interval '90 days')
     select
       (select count(*) from vetledger_console.sign_in where network = ? and outcome = 'refused' and at > clock_timestamp() - make_interval(mins => ?))
         as "fromNetwork",
       (select count(*) from vetledger_console.sign_in
        where name_hash = ? and outcome = 'refused' and at > clock_timestamp() - make_interval(mins => ?)
          and case when ? in (select network from known) then network = ? else network not in (select network from known) end)
         as "forName"`,
    [nameHash(name), network, throttle.minutes, nameHash(name), throttle.minutes, network, network],
  );
  return fromNetwork >= throttle.perNetwork || forName >= throttle.perName;
}

export async function recordSignIn(
  db: Connection,
  { name, address }: Attempt,
  outcome: 'signed_in' | 'refused' | 'throttled' | 'signed_out',
  subjectId: number | null,
): Promise<void> {
  await execute(
    db,
    'insert into vetledger_console.sign_in (subject_id, name_hash, address, network, outcome) values (?, ?, ?, ?, ?)',
    [subjectId, nameHash(name), address, networkOf(address), outcome],
  );
}

function nameHash(name: string): string {
  return createHash('sha256').update(name.toLowerCase()).digest('hex');
}

/** Records a request that was refused because of rights, or because its form did not come from our page. */
export async function recordRefusal(
  db: Connection,
  refusal: {
    subjectId: number | null;
    route: string;
    installation: InstallationId | null;
    reason: string;
    address: string;
  },
): Promise<void> {
  const { subjectId, route, installation, reason, address } = refusal;
  await execute(
    db,
    'insert into vetledger_console.refused (subject_id, route, installation, reason, address) values (?, ?, ?, ?, ?)',
    [subjectId, route, installation, reason, address],
  );
}
