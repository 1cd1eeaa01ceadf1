import { UserError } from '../../domain/errors.ts';
import { bindingErrors, bindingEvidence, bindingRemarks } from '../../texts/errors/binding.ts';
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

/** What the configuration permits. */
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
    return refused(bindingEvidence.notBound);
  }
  if (differ(here.system, noted.system)) {
    return refused(bindingEvidence.otherServer({ here: here.system, bound: noted.system }));
  }
  if (differ(here.database, noted.database)) {
    return refused(bindingEvidence.otherDatabase({ here: here.database, bound: noted.database }));
  }
  const hasFailedOver = differ(here.timeline, noted.timeline);
  const timelines = bindingEvidence.timelines({ here: here.timeline, bound: noted.timeline });
  if (hasFailedOver && !(trustsFailover && isNewer(here.timeline, noted.timeline))) {
    return refused(bindingEvidence.restored({ timelines }));
  }
  if (differ(here.namespace, noted.namespace)) {
    // The embedded development server's file belongs to vetledger. A deleted file does not mean that the database was
    // copied.
    if (isEmbedded && !hasFailedOver) return { is: 'to bind', remark: bindingRemarks.newDevelopmentServer };
    const evidence = bindingEvidence.otherNamespace({ here: here.namespace, bound: noted.namespace });
    return { is: 'refused', evidence, isTemporal: true };
  }
  if (held === null && hasFailedOver) {
    return refused(bindingEvidence.standbyUnproven({ timelines }));
  }
  if (held === null) return { is: 'to bind', remark: bindingRemarks.scheduleLost };
  const isUpToDate = held.incarnation === noted.incarnation || held.incarnation === noted.next;
  if (isUpToDate && hasFailedOver) return { is: 'to bind', remark: bindingRemarks.standby({ timelines }) };
  if (isUpToDate) return { is: 'bound' };
  if (hasFailedOver) {
    return refused(bindingEvidence.standbyLacksCommits({ timelines }));
  }
  return refused(bindingEvidence.laterState);
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
  return isTemporal ? bindingErrors.temporalReplaced({ evidence }) : bindingErrors.databaseCopied({ evidence });
}

/**
 * The error for a command. Exit code 3 lets a supervisor restart the daemon; it is used only if the cause may disappear
 * without an operator.
 */
export function refusalError(refusal: Refusal): UserError {
  const { code, message, todo } = refusalOf(refusal);
  return new UserError({ code, message, todo }, refusal.isTemporal ? 3 : 2);
}
