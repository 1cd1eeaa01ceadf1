import type { Trouble } from '../domain/trouble.ts';
import { bool, instant, integer, nullable, oneOf, storedJson, text } from './columns.ts';
import { type Lane, type LeaseScope, lanes } from './lease.ts';
import { type Connection, rows } from './rows.ts';
import { storedTrouble } from './stored-schemas.ts';

/** The holders of an installation's leases that have not expired, by lane. */
export function leaseHolders(db: Connection, installation: number): Promise<{ lane: Lane; holder: string }[]> {
  return rows(
    db,
    { lane: oneOf(lanes), holder: text },
    `select lane, holder from lease
     where installation = ? and holder <> '' and expires_at > clock_timestamp() order by lane`,
    [installation],
  );
}

/** The work that holds a lane of an installation. */
export interface LaneAtWork extends LeaseScope {
  holder: string;
  takenAt: Date;
  /** Whether the lease is being renewed; false if its process was killed or hangs. */
  isAlive: boolean;
  /**
   * What the work waits for. Of several parallel steps, this is the failing one, or else the one that has waited
   * longest.
   */
  waitsFor: string | null;
  waitsSince: Date | null;
  trouble: Trouble | null;
}

/** The lanes of these installations that are held, or were held by a process that no longer responds. */
export function lanesAtWork(db: Connection, installations: readonly number[]): Promise<LaneAtWork[]> {
  return rows(
    db,
    {
      ...{ installation: integer, lane: oneOf(lanes), holder: text, takenAt: instant, isAlive: bool },
      ...{ waitsFor: nullable(text), waitsSince: nullable(instant) },
      trouble: nullable(storedJson('open_step.trouble', storedTrouble)),
    },
    `select l.installation, lane, holder, taken_at as "takenAt", expires_at > clock_timestamp() as "isAlive",
       waits_for as "waitsFor", waits_since as "waitsSince", trouble
     from lease l left join lateral (
       -- The holder of a lane is a workflow's id and its run. What the run noted before it took this lease is over.
       select waits_for, waits_since, trouble from open_step
       where run_id = split_part(l.holder, '/', -1) and noted_at >= l.taken_at
         and (waits_for is not null or trouble is not null)
       order by trouble is null, waits_since nulls last limit 1) s on true
     where l.installation = any(?::bigint[]) and holder <> '' order by l.installation, lane`,
    [installations],
  );
}
