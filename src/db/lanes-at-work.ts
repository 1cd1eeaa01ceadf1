import { bool, instant, integer, json, oneOf, text } from './columns.ts';
import { type Lane, type Lease, type LeaseScope, lanes } from './lease.ts';
import { type Connection, execute, rows } from './rows.ts';

/** Who holds leases of an installation that have not expired, lane by lane. */
export function leaseHolders(db: Connection, installation: number): Promise<{ lane: Lane; holder: string }[]> {
  return rows(
    db,
    { lane: oneOf(lanes), holder: text },
    `select lane, holder from lease
     where installation = ? and holder <> '' and expires_at > clock_timestamp() order by lane`,
    [installation],
  );
}

/** What an activity that holds a lane waits for. */
export interface LaneWait {
  /** `an answer of the practice API (GET /4711/invoice/)` */
  for: string;
  /** ISO instant. */
  since: string;
  /** What its attempts failed with since the last success, and how often; null: nothing. */
  error: { code: string; message: string; todo: string } | null;
  attempts: number;
}

/** Notes what one activity of the lane's holder waits for; null: nothing any more. Nothing where the lease is another's by now. */
export async function noteLaneWait(
  db: Connection,
  { installation, lane, token }: Lease,
  activity: string,
  wait: LaneWait | null,
): Promise<void> {
  await execute(
    db,
    `update lease set waits = waits ${wait === null ? '- ?::text' : '|| ?::jsonb'}
     where installation = ? and lane = ? and token = ?`,
    [wait === null ? activity : JSON.stringify({ [activity]: wait }), installation, lane, token],
  );
}

/** The work that holds a lane of an installation. */
export interface LaneAtWork extends LeaseScope {
  holder: string;
  /** Since when. */
  takenAt: Date;
  /** Its lease is renewed: false where its process was killed, or stands still. */
  isAlive: boolean;
  waits: LaneWait[];
}

/** The lanes of these installations that are held, or were held by a process that is not heard of any more. */
export async function lanesAtWork(db: Connection, installations: readonly number[]): Promise<LaneAtWork[]> {
  const found = await rows(
    db,
    {
      ...{ installation: integer, lane: oneOf(lanes), holder: text },
      ...{ takenAt: instant, isAlive: bool, waits: json },
    },
    `select installation, lane, holder, taken_at as "takenAt", expires_at > clock_timestamp() as "isAlive", waits
     from lease where installation = any(?::bigint[]) and holder <> '' order by installation, lane`,
    [installations],
  );
  return found.map(({ waits, ...held }) => ({
    ...held,
    waits: Object.values(JSON.parse(waits) as Record<string, LaneWait>),
  }));
}
