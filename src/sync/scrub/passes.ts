import { instant, integer, nullable, oneOf } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../../db/rows.ts';
import { withdrawScrubReports } from '../../documents/scrub-reports.ts';
import { type RecordKind, recordKinds } from '../../terms.ts';

/** Passes of the scrub (table `scrub_pass`), with one row for each list. */

/** Number of passes whose rows are kept. */
const passesKept = 12;

/** One list of a pass. */
export interface ScrubbedList {
  list: RecordKind;
  /** The list was read up to this id. For rows, it is the id of their invoice. */
  after: number;
  /** Number of records in the mirror when the pass began. */
  expected: number;
  records: number;
  differing: number;
  missing: number;
  requests: number;
  weight: number;
  readAt: Date | null;
  finishedAt: Date | null;
}

export interface ScrubPass {
  pass: number;
  beganAt: Date;
  /** The time at which the last list of the pass was read. Null while the pass is under way. */
  finishedAt: Date | null;
  lists: ScrubbedList[];
}

/** The newest pass, or with `finished` the newest finished pass. Null if there is none. */
export async function newestPass(
  db: Connection,
  installation: number,
  options: { finished?: boolean } = {},
): Promise<ScrubPass | null> {
  return (await newestPasses(db, [installation], options)).get(installation) ?? null;
}

/** The newest pass of each installation that has one, in one statement. */
export async function newestPasses(
  db: Connection,
  installations: readonly number[],
  { finished = false }: { finished?: boolean } = {},
): Promise<Map<number, ScrubPass>> {
  const found = await rows(
    db,
    {
      installation: integer,
      ...{ pass: integer, list: oneOf<RecordKind>(recordKinds), after: integer, expected: integer, records: integer },
      ...{ differing: integer, missing: integer, requests: integer, weight: integer },
      ...{ beganAt: instant, readAt: nullable(instant), finishedAt: nullable(instant) },
    },
    `select installation, pass, list, after_id as "after", expected, records, differing, missing, requests, weight,
       began_at as "beganAt", read_at as "readAt", finished_at as "finishedAt"
     from scrub_pass s where installation = any(?) and pass = (
       select max(pass) from scrub_pass p where p.installation = s.installation and (not ? or not exists (
         select from scrub_pass o where o.installation = p.installation and o.pass = p.pass and o.finished_at is null)))
     order by list`,
    [installations, finished],
  );
  const passes = new Map<number, ScrubPass>();
  for (const [installation, lists] of Map.groupBy(found, (list) => list.installation)) {
    const [first] = lists;
    if (first !== undefined) passes.set(installation, passOf(first, lists));
  }
  return passes;
}

function passOf(first: { pass: number; beganAt: Date }, found: readonly ScrubbedList[]): ScrubPass {
  const ends = found.map(({ finishedAt }) => finishedAt);
  const isFinished = ends.every((end) => end !== null);
  return {
    pass: first.pass,
    beganAt: first.beganAt,
    finishedAt: isFinished ? new Date(Math.max(...ends.map((end) => end?.getTime() ?? 0))) : null,
    lists: found.map(
      ({ list, after, expected, records, differing, missing, requests, weight, readAt, finishedAt }) => ({
        ...{ list, after, expected, records, differing, missing, requests, weight, readAt, finishedAt },
      }),
    ),
  };
}

/** Begins the pass after `last`, over all records in the mirror. */
export async function beginPass(trx: Connection, installation: number, last: number): Promise<void> {
  await execute(
    trx,
    `insert into scrub_pass (installation, pass, list, expected)
     select ?, ?, list, (select count(*) from mirror_record m where m.installation = ? and m.kind = list and m.gone_at is null)
     from unnest(?::text[]) as t(list) on conflict do nothing`,
    [installation, last + 1, installation, recordKinds],
  );
  for (const table of ['scrub_pass', 'scrub_finding']) {
    await execute(trx, `delete from ${table} where installation = ? and pass <= ?`, [
      installation,
      last + 1 - passesKept,
    ]);
  }
}

/** The records that a step of a pass has read. */
export interface ScrubbedStep {
  after: number;
  records: number;
  requests: number;
  weight: number;
  isLast: boolean;
}

export async function noteStep(
  trx: Connection,
  installation: number,
  { pass, beganAt }: Pick<ScrubPass, 'pass' | 'beganAt'>,
  list: RecordKind,
  { after, records, requests, weight, isLast }: ScrubbedStep,
): Promise<void> {
  await execute(
    trx,
    `update scrub_pass set after_id = ?, records = records + ?, requests = requests + ?, weight = weight + ?,
       read_at = clock_timestamp(), finished_at = case when ? then clock_timestamp() end
     where installation = ? and pass = ? and list = ?`,
    [after, records, requests, weight, isLast, installation, pass, list],
  );
  if (!isLast) return;
  const unfinished = await maybeRow(
    trx,
    { pass: integer },
    'select pass from scrub_pass where installation = ? and pass = ? and finished_at is null limit 1',
    [installation, pass],
  );
  if (unfinished === null) await withdrawScrubReports(trx, installation, beganAt);
}

export interface Finding {
  /** The document. For a row, its invoice. */
  document: number;
  what: 'changed' | 'appeared' | 'vanished';
}

/** Counts records of a list that differ from the mirror. */
export async function noteFindings(
  trx: Connection,
  installation: number,
  pass: number,
  list: RecordKind,
  findings: readonly Finding[],
): Promise<void> {
  for (const { document, what } of findings) {
    await execute(
      trx,
      `insert into scrub_finding as f (installation, pass, list, document_id, what, records) values (?, ?, ?, ?, ?, 1)
       on conflict (installation, pass, list, document_id, what) do update set records = f.records + 1`,
      [installation, pass, list, document, what],
    );
  }
  const missing = findings.filter(({ what }) => what === 'vanished').length;
  await execute(
    trx,
    `update scrub_pass set differing = differing + ?, missing = missing + ? where installation = ? and pass = ? and list = ?`,
    [findings.length - missing, missing, installation, pass, list],
  );
}
