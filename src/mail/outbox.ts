import { z } from 'zod';
import { bool, instant, integer, nullable, oneOf, type RowOf, storedJson, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { pruneBatch, pruneInBatches } from '../db/prune.ts';
import { type Connection, execute, maybeRow, row, rows } from '../db/rows.ts';
import { storedError } from '../db/stored-schemas.ts';
import type { InstallationId } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { type Notice, notice, noticesAtMost, type Subscription, type Topic, topics } from './notices.ts';

/**
 * The mails to send (table `mail`), and for each recipient the last state that a mail reported (table `mail_mark`).
 * Both change in one transaction, so that a crash neither loses nor repeats a mail. `now` is the process's time.
 */

/** After this time, a waiting mail is given up, and an event without a mail is no longer reported. */
export const staleAfterDays = 7;
const keptDays = 30;
/** Pause after the first attempt. It doubles up to an hour. It must be longer than an attempt. */
const firstPauseSeconds = 120;

/** The marks of these installations by `markKey`. */
export async function readMarks(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<string, string>> {
  const found = await rows(
    db,
    { installation: integer, recipient: text, topic: text, mark: text },
    'select installation, recipient, topic, mark from mail_mark where installation = any(?)',
    [installations],
  );
  return new Map(found.map(({ mark, ...of }) => [markKey(of), mark]));
}

export function markKey({
  installation,
  recipient,
  topic,
}: { [Key in keyof Subscription]: Subscription[Key] | string }) {
  return JSON.stringify([installation, topic, recipient]);
}

/** A mail for the outbox. */
export interface NewMail {
  cause: string;
  notice: Notice;
}

/**
 * Replaces the mark `before` by `after` and writes the mails. Does nothing and returns false if another daemon has
 * replaced the mark. An event is added to a waiting mail of the same cause, if no attempt was made to send that mail.
 */
export async function decideMails(
  db: Db,
  of: Subscription,
  { before, after, mails }: { before: string | null; after: string; mails: readonly NewMail[] },
  now: Date,
): Promise<boolean> {
  const { installation, recipient, topic } = of;
  return db.transaction(async (trx) => {
    const replaced = await execute(
      trx,
      `insert into mail_mark as m (installation, recipient, topic, mark) values (?, ?, ?, ?)
       on conflict (installation, recipient, topic) do update set mark = excluded.mark where m.mark = ?`,
      [installation, recipient, topic, after, before],
    );
    if (replaced === 0) return false;
    for (const mail of mails) await addMail(trx, of, mail, now);
    return true;
  });
}

async function addMail(
  trx: Connection,
  { installation, recipient, topic }: Subscription,
  { cause, notice: added }: NewMail,
  now: Date,
): Promise<void> {
  const waiting = await maybeRow(
    trx,
    { id: integer, notices, omitted: integer },
    `select id, notices, omitted from mail where recipient = ? and installation = ? and cause = ?
       and sent_at is null and attempts = 0 and decided_at > ?::timestamptz - make_interval(days => ?)
     order by id desc limit 1 for update`,
    [recipient, installation, cause, now, staleAfterDays],
  );
  if (waiting === null) {
    await execute(
      trx,
      `insert into mail (installation, recipient, topic, cause, notices, decided_at, not_before)
       values (?, ?, ?, ?, ?::json, ?, ?)`,
      [installation, recipient, topic, cause, JSON.stringify([added]), now, now],
    );
    return;
  }
  // The newest events stay, since they show the present state.
  const all = [...waiting.notices, added];
  const kept = all.slice(-noticesAtMost);
  await execute(trx, 'update mail set notices = ?::json, omitted = ? where id = ?', [
    ...[JSON.stringify(kept), waiting.omitted + all.length - kept.length, waiting.id],
  ]);
}

const notices = storedJson('mail.notices', z.array(notice));
const mailShape = {
  ...{ id: integer, installation: integer, recipient: text, topic: oneOf(Object.keys(topics) as Topic[]) },
  ...{ cause: text, notices, omitted: integer, decided_at: instant, attempts: integer },
};

/** A mail of the outbox that is being sent. */
export type OutboxMail = RowOf<typeof mailShape>;

/**
 * Begins an attempt to send the next due mail of these subscriptions; null if none is due. Until the attempt's pause is
 * over, no process begins another one. A recipient gets at most one mail an hour about one cause, in order.
 */
export function claimMail(db: Connection, of: readonly Subscription[], now: Date): Promise<OutboxMail | null> {
  return maybeRow(
    db,
    mailShape,
    `update mail set attempts = attempts + 1,
       not_before = ?::timestamptz + make_interval(secs => least(3600, ? * power(2, least(attempts, 10))))
     where id = (
       select m.id from mail m
       join unnest(?::text[], ?::bigint[], ?::text[]) as s(recipient, installation, topic)
         on s.recipient = m.recipient and s.installation = m.installation and s.topic = m.topic
       where m.sent_at is null and m.not_before <= ? and m.decided_at > ?::timestamptz - make_interval(days => ?)
         and not exists (
           select from mail e where e.recipient = m.recipient and e.installation = m.installation and e.cause = m.cause
             and (e.sent_at > ?::timestamptz - interval '1 hour' or e.id < m.id and e.sent_at is null
               and e.decided_at > ?::timestamptz - make_interval(days => ?)))
       order by m.not_before, m.id limit 1 for update of m skip locked)
     returning id, installation, recipient, topic, cause, notices, omitted, decided_at, attempts`,
    [
      ...[now, firstPauseSeconds],
      ...[
        of.map(({ recipient }) => recipient),
        of.map(({ installation }) => installation),
        of.map(({ topic }) => topic),
      ],
      ...[now, now, staleAfterDays, now, now, staleAfterDays],
    ],
  );
}

export async function noteSent(db: Connection, id: number, now: Date): Promise<void> {
  await execute(db, 'update mail set sent_at = ?, error = null where id = ?', [now, id]);
}

export async function noteNotSent(db: Connection, id: number, error: PlainError): Promise<void> {
  await execute(db, 'update mail set error = ?::json where id = ?', [JSON.stringify(error), id]);
}

/** Mail that could not be sent, as `status --json` prints it. */
export interface MailTrouble {
  /** Mails of which an attempt failed, and that are tried again. */
  waiting: number;
  /** Mails that were given up. */
  given_up: number;
  /** The time at which the oldest of these mails was decided. */
  since: Date | null;
  error: PlainError | null;
}

/** The mails that could not be sent, of all installations. Null if there are none. */
export async function mailTrouble(db: Connection, now: Date): Promise<MailTrouble | null> {
  const { since, ...found } = await row(
    db,
    {
      ...{ waiting: integer, given_up: integer, since: nullable(instant) },
      error: nullable(storedJson('mail.error', storedError)),
    },
    `select count(*) filter (where not is_stale and error is not null) as waiting,
       count(*) filter (where is_stale) as given_up, min(decided_at) as since,
       (array_agg(error order by id desc) filter (where error is not null))[1] as error
     from (select id, error, decided_at, decided_at <= ?::timestamptz - make_interval(days => ?) as is_stale
       from mail where sent_at is null) as unsent where is_stale or error is not null`,
    [now, staleAfterDays],
  );
  return since === null ? null : { ...found, since };
}

/** Whether an attempt to send a mail failed, and the mail still waits. */
export async function isMailFailing(db: Connection): Promise<boolean> {
  const { failing } = await row(
    db,
    { failing: bool },
    `select exists (select from mail where sent_at is null and error is not null
       and decided_at > clock_timestamp() - make_interval(days => ?)) as failing`,
    [staleAfterDays],
  );
  return failing;
}

/** Removes mails that were decided long ago, sent or not. Returns the number of removed mails. */
export function pruneMails(db: Db, signal: AbortSignal): Promise<number> {
  return pruneInBatches(
    db,
    `delete from mail where id in (
       select id from mail where decided_at < clock_timestamp() - make_interval(days => ?) limit ${pruneBatch})`,
    keptDays,
    signal,
  );
}
