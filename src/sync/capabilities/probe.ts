import { PracticeError } from '../../domain/practice-error.ts';
import type { ListAnswer } from '../../practice/client.ts';
import type { Dialect } from '../../records/dialect.ts';
import { parseRecord } from '../../records/schema.ts';
import type { SourceRecord } from '../../records/types.ts';
import type { RecordKind } from '../../terms.ts';
import { probeTexts } from '../../texts/reports/filters.ts';
import { usedFilters } from './filter-uses.ts';
import type { FilterFinding } from './filters.ts';
import { type ProbeRequest, probeRequestOf } from './probe-request.ts';
import { refusedFilter } from './refused-filter.ts';

/** One page of a list, and the count in the same answer. */
export interface ParsedPage {
  count: number;
  records: SourceRecord[];
}

export interface ProbePorts {
  /** Sends one request without a page size, which has weight 1. */
  list(filters: Record<string, string>): Promise<Pick<ListAnswer, 'count' | 'results'>>;
  dialect: Dialect;
  timezone: string;
}

/**
 * Whether an answer shows that the server honours its filter, compared with an `unfiltered` page of the same list. The
 * answer must contain no record that the filter leaves out, and count fewer records than the whole list. If it is a
 * single page, it must contain every record that the filter keeps. A filter that loses records counts as ignored, to be
 * safe.
 */
export function verdictOf(
  request: ProbeRequest,
  unfiltered: ParsedPage,
  filtered: ParsedPage,
): Pick<FilterFinding, 'verdict' | 'reason'> {
  const ignored = (reason: string) => ({ verdict: 'ignored' as const, reason });
  if (filtered.records.some((record) => request.side(record) === 'out')) {
    return ignored(probeTexts.excludedRecords);
  }
  if (filtered.records.length < filtered.count) {
    return filtered.count < unfiltered.count ? { verdict: 'honoured', reason: null } : ignored(probeTexts.wholeCount);
  }
  const received = new Set(filtered.records.map(({ id }) => id));
  const isMissing = (record: SourceRecord) => request.side(record) === 'in' && !received.has(record.id);
  return unfiltered.records.some(isMissing)
    ? ignored(probeTexts.matchesMissing)
    : { verdict: 'honoured', reason: null };
}

/**
 * Probes every filter that is used for a list, with one request each, and the substitutes of ignored filters.
 * `firstPage` is the list's first page without filters. A PracticeError becomes a verdict; other errors are thrown.
 */
export async function probeList(
  ports: ProbePorts,
  list: RecordKind,
  firstPage: Pick<ListAnswer, 'count' | 'results'>,
): Promise<FilterFinding[]> {
  const unfiltered = parsePage(ports, list, firstPage);
  const findings: FilterFinding[] = [];
  for (const [filter, { instead }] of Object.entries(usedFilters[list])) {
    const finding = await probeFilter(ports, list, filter, unfiltered);
    findings.push(finding);
    if (instead && finding.verdict === 'ignored') findings.push(await probeFilter(ports, list, instead, unfiltered));
  }
  return findings;
}

/**
 * Probes one filter with one request. No request is sent if the records of the `unfiltered` page do not allow a probe.
 */
export async function probeFilter(
  ports: ProbePorts,
  list: RecordKind,
  filter: string,
  unfiltered: ParsedPage,
): Promise<FilterFinding> {
  const request = probeRequestOf(filter, unfiltered.records, ports.timezone);
  if (typeof request === 'string') return { list, filter, verdict: 'unknown', reason: request };
  const filters = { [filter]: request.value };
  try {
    const filtered = parsePage(ports, list, await ports.list(filters));
    return { list, filter, ...verdictOf(request, unfiltered, filtered) };
  } catch (error) {
    if (!(error instanceof PracticeError)) throw error;
    if (refusedFilter(error, filters) === null) return { list, filter, verdict: 'unknown', reason: error.message };
    return { list, filter, verdict: 'ignored', reason: probeTexts.refused };
  }
}

function parsePage(
  { dialect }: Pick<ProbePorts, 'dialect'>,
  list: RecordKind,
  { count, results }: Pick<ListAnswer, 'count' | 'results'>,
): ParsedPage {
  return { count, records: results.map(({ value }) => parseRecord(list, value, dialect)) };
}
