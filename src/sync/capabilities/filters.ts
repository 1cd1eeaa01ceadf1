import { instant, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, rows } from '../../db/rows.ts';
import { type RecordKind, recordKinds } from '../../terms.ts';

/**
 * Whether the server honours a filter (table `source_filter`). The practice API silently ignores an unsupported filter
 * and answers with the whole list (field-notes). `ignored` covers every way of not honouring it, including a refusal.
 * `unknown`: the records of the list do not allow a probe.
 */
export const filterVerdicts = ['honoured', 'ignored', 'unknown'] as const;
export type FilterVerdict = (typeof filterVerdicts)[number];

export interface FilterFinding {
  list: RecordKind;
  filter: string;
  verdict: FilterVerdict;
  /** The end of a sentence. Null for a filter that is honoured. */
  reason: string | null;
}

export interface StoredVerdict {
  list: RecordKind;
  filter: string;
  verdict: FilterVerdict;
  notedAt: Date;
}

/** An ignored filter is tried again after this time, because the server may have been updated. */
export const ignoredForHours = 24;

/** Filters of `list` that the server has ignored within the last `ignoredForHours`. */
export async function ignoredFilters(db: Connection, installation: number, list: RecordKind): Promise<Set<string>> {
  const ignored = await rows(
    db,
    { filter: text },
    `select filter from source_filter where installation = ? and list = ? and verdict = 'ignored'
       and noted_at > clock_timestamp() - make_interval(hours => ?)`,
    [installation, list, ignoredForHours],
  );
  return new Set(ignored.map(({ filter }) => filter));
}

export async function noteIgnored(
  db: Connection,
  installation: number,
  list: RecordKind,
  filter: string,
): Promise<void> {
  await noteVerdict(db, installation, { list, filter, verdict: 'ignored' });
}

/** Stores the findings of a probe. An `unknown` verdict keeps the stored verdict and only renews its time. */
export async function noteFindings(db: Connection, installation: number, findings: FilterFinding[]): Promise<void> {
  for (const finding of findings) await noteVerdict(db, installation, finding);
}

async function noteVerdict(
  db: Connection,
  installation: number,
  { list, filter, verdict }: Pick<FilterFinding, 'list' | 'filter' | 'verdict'>,
): Promise<void> {
  await execute(
    db,
    `insert into source_filter as f (installation, list, filter, verdict) values (?, ?, ?, ?)
     on conflict (installation, list, filter) do update set noted_at = clock_timestamp(),
       verdict = case when excluded.verdict = 'unknown' then f.verdict else excluded.verdict end`,
    [installation, list, filter, verdict],
  );
}

/** All stored verdicts of an installation. */
export function storedVerdicts(db: Connection, installation: number): Promise<StoredVerdict[]> {
  return rows(
    db,
    { list: oneOf(recordKinds), filter: text, verdict: oneOf(filterVerdicts), notedAt: instant },
    `select list, filter, verdict, noted_at as "notedAt" from source_filter where installation = ? order by list, filter`,
    [installation],
  );
}
