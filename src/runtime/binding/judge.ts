import { UserError } from '../../domain/errors.ts';
import type { PlainError } from '../../texts/plain-error.ts';

/**
 * A database and its Temporal namespace are bound to each other: both store the incarnation, a random id that each
 * start of the daemon renews. A copy is recognised by another server, by the timeline of a restored server, or by an
 * old incarnation.
 */

/** The place of a database, and its namespace. Null values are those that the server does not return. */
export interface Whereabouts {
  /** PostgreSQL's system identifier, which is unique for each cluster. */
  system: string | null;
  /** The database's OID in the cluster. */
  database: string | null;
  /** The timeline increases when a server is restored to a point in time, and when a standby takes over. */
  timeline: string | null;
  /** The id of the Temporal namespace. A new namespace of the same name has another id. */
  namespace: string | null;
}

/** The binding as the database stores it. */
export interface NotedBinding extends Whereabouts {
  incarnation: string;
  /** The incarnation that was being stored when a process ended; null otherwise. */
  next: string | null;
}

/** The binding as Temporal stores it. */
export interface HeldBinding {
  incarnation: string;
}

export type Verdict =
  /** Nothing is bound yet, or Temporal has certainly lost its record. */
  { is: 'to bind'; remark: string | null } | { is: 'bound' } | Refusal;

interface Refusal {
  is: 'refused';
  evidence: string;
  /** Whether only Temporal differs. Its data may come back, and vetledger then continues automatically. */
  isTemporal: boolean;
}

/** What the configuration allows. */
export interface Trust {
  /** Whether the Temporal server is the embedded one. */
  isEmbedded: boolean;
  /** Whether a promoted standby of the same server is accepted (`database_failover: trusted`). */
  trustsFailover: boolean;
}

export function judgeBinding(
  here: Whereabouts,
  noted: NotedBinding | null,
  held: HeldBinding | null,
  { isEmbedded, trustsFailover }: Trust,
): Verdict {
  if (noted === null) {
    if (held === null) return { is: 'to bind', remark: null };
    return refused('Temporal knows a later state of this database, which has none noted');
  }
  if (differ(here.system, noted.system)) {
    return refused(`it is on another PostgreSQL server (system ${here.system}) than it was bound on (${noted.system})`);
  }
  if (differ(here.database, noted.database)) {
    return refused(
      `it is another database (${here.database}) of the PostgreSQL server than the one that was bound (${noted.database})`,
    );
  }
  const hasFailedOver = differ(here.timeline, noted.timeline);
  const timelines = `timeline ${here.timeline}; it was bound on ${noted.timeline}`;
  if (hasFailedOver && !(trustsFailover && isNewer(here.timeline, noted.timeline))) {
    return refused(`its PostgreSQL server was restored, or a standby has taken over (${timelines})`);
  }
  if (differ(here.namespace, noted.namespace)) {
    // The embedded development server's file is ours. Deleting it makes no copy of the database.
    if (isEmbedded && !hasFailedOver)
      return { is: 'to bind', remark: 'the development server of Temporal is a new one' };
    const evidence = `it was bound to another Temporal namespace (${noted.namespace}) than the configured one (${here.namespace})`;
    return { is: 'refused', evidence, isTemporal: true };
  }
  if (held === null && hasFailedOver) {
    return refused(
      `a standby has taken over (${timelines}), and nothing in Temporal shows whether it has every commit`,
    );
  }
  if (held === null)
    return { is: 'to bind', remark: 'Temporal has lost the Schedule that noted which database it works with' };
  const isUpToDate = held.incarnation === noted.incarnation || held.incarnation === noted.next;
  if (isUpToDate && hasFailedOver)
    return { is: 'to bind', remark: `a standby of PostgreSQL has taken over (${timelines})` };
  if (isUpToDate) return { is: 'bound' };
  if (hasFailedOver) {
    return refused(
      `a standby has taken over that lacks commits (${timelines}): Temporal knows a later state of this database`,
    );
  }
  return refused(
    'Temporal knows a later state of this database: it is a copy from before, or its original goes on elsewhere',
  );
}

function refused(evidence: string): Verdict {
  return { is: 'refused', evidence, isTemporal: false };
}

/** Values differ only if both are known. */
function differ(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

/** Timelines are hexadecimal numbers of eight digits. */
function isNewer(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && Number.parseInt(one, 16) > Number.parseInt(other, 16);
}

/** The error of a refusal, with the ways to continue. */
export function refusalOf({ evidence, isTemporal }: Refusal): PlainError {
  if (isTemporal) {
    return {
      code: 'temporal_replaced',
      message: `Temporal has lost its data, or is another server than before: this database looks like a copy, since ${evidence}. Nothing was opened, asked or sent.`,
      todo: 'Restore the data of Temporal, or correct temporal.address and temporal.namespace: vetledger then goes on by itself. Where the data is lost for good: end vetledger, run `vetledger adopt --restored --reason TEXT`, and start it again.',
    };
  }
  return {
    code: 'database_copied',
    message: `This database looks like a copy: ${evidence}. Nothing was opened, asked or sent, because the original may be at work.`,
    todo: 'Where the original is gone and this one takes its place: `vetledger adopt --restored --reason TEXT`. Where it is a copy to try things on: `vetledger adopt --copy --reason TEXT`; it then writes into no ERP and no practice API of the original. docs/OPERATIONS.md, "Copies and restored databases", says which.',
  };
}

/**
 * The error for a command. Exit code 3 lets a supervisor restart the daemon; it is used only if the cause may disappear
 * without an operator.
 */
export function refusalError(refusal: Refusal): UserError {
  const { code, message, todo } = refusalOf(refusal);
  return new UserError({ code, message, todo }, refusal.isTemporal ? 3 : 2);
}
