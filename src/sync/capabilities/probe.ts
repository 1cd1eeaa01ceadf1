import { businessDate, instantOf } from '../../domain/dates.ts';
import { PracticeError } from '../../domain/practice-error.ts';
import type { ListAnswer } from '../../practice/client.ts';
import type { Dialect } from '../../records/dialect.ts';
import { parseRecord } from '../../records/schema.ts';
import type { SourceRecord } from '../../records/types.ts';
import type { RecordKind } from '../../terms.ts';
import { filterTimestamp, hasOffset } from '../walk/filters.ts';
import type { FilterFinding } from './filters.ts';

export interface FilterUse {
  /** What is done where it is not honoured; continues "without it …". */
  without: string;
  /** Another filter that serves in its place; asked for only where it has to. */
  instead?: string;
}

const ids = {
  id__gt: { without: 'its pages are walked by number, and it may hold 10,000 records', instead: 'id__gte' },
  id__lt: { without: 'pages in another order than by id are walked by number', instead: 'id__lte' },
} as const;

const changes = {
  modified__gte: { without: 'each window reads the whole list' },
  modified__lt: { without: 'an interval of the past is read on to the present', instead: 'modified__lte' },
} as const;

/** Every filter that a list is asked with. */
export const usedFilters: Record<RecordKind, Readonly<Record<string, FilterUse>>> = {
  invoice: {
    ...ids,
    ...changes,
    invoice_date__gte: { without: '`backfill --from` reads the whole list' },
  },
  row: {
    ...ids,
    modified__gte: {
      without: 'rows that come after their invoice are found by asking for those of held invoices again',
    },
    invoice__in: { without: 'rows are asked for one invoice at a time, or all together where that weighs less' },
    invoice__is: { without: 'where `invoice__in` is not honoured either, an invoice’s rows come with the whole list' },
  },
  payment: {
    ...ids,
    invoice__is: { without: 'the payments of an invoice whose proofs failed come with the whole list' },
  },
  prepayment: { ...ids, ...changes },
};

/** A question whose answer tells: `side` says where a record belongs, `either` where that cannot be said for sure. */
export interface Question {
  value: string;
  side(record: SourceRecord): 'in' | 'out' | 'either';
}

/** The page that was asked without filters, or the answer to a question. */
export interface Answered {
  count: number;
  records: SourceRecord[];
}

/** Whole seconds are asked for, and a server without offsets tells one hour of the year twice. */
const toleranceMs = { offset: 1_000, naive: 3_601_000 } as const;
const secondMs = 1_000;
const dayMs = 86_400_000;

/**
 * The value to ask `filter` with, which divides the records of an unfiltered page best; a reason where none does. Pure, and
 * the same for the same page.
 */
export function questionOf(filter: string, records: SourceRecord[], timezone: string): Question | string {
  const split = filter.lastIndexOf('__');
  const field = filter.slice(0, split);
  const operator = filter.slice(split + 2);
  if (records.length < 2) return `the list has ${records.length === 0 ? 'no records' : 'one record'}`;
  const questions =
    operator === 'in' || operator === 'is' ? sets(operator, records) : bounds(field, operator, records, timezone);
  let best: { question: Question; smaller: number } | null = null;
  for (const question of questions) {
    const sides = Map.groupBy(records, (record) => question.side(record));
    const smaller = Math.min(sides.get('in')?.length ?? 0, sides.get('out')?.length ?? 0);
    if (smaller > (best?.smaller ?? 0)) best = { question, smaller };
  }
  return best?.question ?? `its first records differ too little in ${field}`;
}

/** One invoice, or two, of those that the records belong to. */
function sets(operator: 'in' | 'is', records: SourceRecord[]): Question[] {
  const invoices = [...new Set(records.map(invoiceOf).filter((id) => id !== null))];
  const wanted = operator === 'is' ? invoices.map((id) => [id]) : invoices.slice(1).map((id, i) => [invoices[i]!, id]);
  return wanted.map((set) => ({
    value: set.join(','),
    side: (record) => (set.includes(invoiceOf(record) ?? -1) ? 'in' : 'out'),
  }));
}

function invoiceOf(record: SourceRecord): number | null {
  return 'invoiceId' in record ? record.invoiceId : null;
}

/** A field that bounds are asked of, as a number. */
interface Scale {
  of(record: SourceRecord): number | null;
  text(bound: number): string;
  /** What bounds are multiples of. */
  unit: number;
  /** Nearer to the bound than this, a record may be on either side. */
  tolerance: number;
}

/** Bounds between each two values that follow each other in the records. */
function bounds(field: string, operator: string, records: SourceRecord[], timezone: string): Question[] {
  const { of, text, unit, tolerance } = scaleOf(field, records, timezone);
  const keys = [...new Set(records.map(of).filter((key) => key !== null))].sort((a, b) => a - b);
  const round = operator === 'gt' || operator === 'lte' ? Math.floor : Math.ceil;
  return keys.slice(1).map((key, i) => {
    const bound = round((keys[i]! + key) / 2 / unit) * unit;
    return {
      value: text(bound),
      side: (record) => {
        const found = of(record);
        if (found === null || Math.abs(found - bound) < tolerance) return 'either';
        const isAbove = found > bound || (found === bound && ['gte', 'lt'].includes(operator));
        return isAbove === operator.startsWith('g') ? 'in' : 'out';
      },
    };
  });
}

function scaleOf(field: string, records: SourceRecord[], timezone: string): Scale {
  if (field === 'id') return { of: ({ id }) => id, text: String, unit: 1, tolerance: 0 };
  if (field === 'invoice_date') {
    return {
      of: (record) => ('invoiceDate' in record ? dayOf(record.invoiceDate, timezone) : null),
      text: (bound) => new Date(bound).toISOString().slice(0, 10),
      unit: dayMs,
      // A date that comes with a time may be taken for the day before.
      tolerance: dayMs,
    };
  }
  const stamp = records.map(modifiedOf).find((text) => text !== null) ?? '';
  const style = hasOffset(stamp) ? 'offset' : 'naive';
  return {
    of: (record) => instantOf(modifiedOf(record) ?? '', timezone)?.getTime() ?? null,
    text: (bound) => filterTimestamp(new Date(bound), style, timezone),
    unit: secondMs,
    tolerance: toleranceMs[style],
  };
}

function modifiedOf(record: SourceRecord): string | null {
  return 'modified' in record ? record.modified : null;
}

function dayOf(invoiceDate: string | null, timezone: string): number | null {
  const date = invoiceDate === null ? null : businessDate(invoiceDate, timezone);
  return date === null ? null : Date.parse(`${date}T00:00:00Z`);
}

/**
 * What an answer says of its filter, given the page that was asked without. It must hold no record that belongs out, fewer
 * records than the whole list, and, where it is all in one page, every record that belongs in: a filter that loses records
 * is worse than one that is ignored.
 */
export function judge(
  question: Question,
  before: Answered,
  answer: Answered,
): Pick<FilterFinding, 'verdict' | 'reason'> {
  const ignored = (reason: string) => ({ verdict: 'ignored' as const, reason });
  if (answer.records.some((record) => question.side(record) === 'out')) {
    return ignored('its answer holds records that the filter leaves out');
  }
  if (answer.records.length < answer.count) {
    return answer.count < before.count
      ? { verdict: 'honoured', reason: null }
      : ignored('its answer counts the whole list');
  }
  const received = new Set(answer.records.map(({ id }) => id));
  const lacks = before.records.some((record) => question.side(record) === 'in' && !received.has(record.id));
  return lacks ? ignored('its answer lacks records that match') : { verdict: 'honoured', reason: null };
}

export interface ProbePorts {
  /** One question of weight 1. */
  list(filters: Record<string, string>): Promise<Pick<ListAnswer, 'count' | 'results'>>;
  dialect: Dialect;
  timezone: string;
}

/**
 * Asks one question for each filter that a list is used with, and one for what may take the place of one that is not honoured;
 * `first` is the list's first page, asked without any. Throws only what is no PracticeError.
 */
export async function probeList(
  ports: ProbePorts,
  list: RecordKind,
  first: Pick<ListAnswer, 'count' | 'results'>,
): Promise<FilterFinding[]> {
  const before = answeredBy(ports, list, first);
  const findings: FilterFinding[] = [];
  for (const [filter, { instead }] of Object.entries(usedFilters[list])) {
    const finding = await probeFilter(ports, list, filter, before);
    findings.push(finding);
    if (instead && finding.verdict === 'ignored') findings.push(await probeFilter(ports, list, instead, before));
  }
  return findings;
}

/** Asks at most one question about one filter; `before` is a page of the list, and how much the list holds. */
export async function probeFilter(
  ports: ProbePorts,
  list: RecordKind,
  filter: string,
  before: Answered,
): Promise<FilterFinding> {
  const question = questionOf(filter, before.records, ports.timezone);
  if (typeof question === 'string') return { list, filter, verdict: 'unknown', reason: question };
  const filters = { [filter]: question.value };
  try {
    return { list, filter, ...judge(question, before, answeredBy(ports, list, await ports.list(filters))) };
  } catch (error) {
    if (!(error instanceof PracticeError)) throw error;
    if (refusedFilter(error, filters) === null) return { list, filter, verdict: 'unknown', reason: error.message };
    return { list, filter, verdict: 'ignored', reason: 'the server refuses it' };
  }
}

function answeredBy(
  { dialect }: Pick<ProbePorts, 'dialect'>,
  list: RecordKind,
  { count, results }: Pick<ListAnswer, 'count' | 'results'>,
): Answered {
  return { count, records: results.map(({ value }) => parseRecord(list, value, dialect)) };
}

/**
 * The answer to a question with filters; null where the server refuses one of them, which is noted by `refused` and done
 * without from then on. Throws every other error.
 */
export async function unlessRefused<Answer>(
  ask: () => Promise<Answer>,
  filters: Record<string, string>,
  refused: (filter: string) => Promise<void>,
): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    const filter = refusedFilter(error, filters);
    if (filter === null) throw error;
    await refused(filter);
    return null;
  }
}

/**
 * The filter that a 400 is about: the one of those sent that it names, or the only one that was sent. Null for every other
 * error, and where it cannot be told.
 */
export function refusedFilter(error: unknown, sent: Record<string, string>): string | null {
  if (!(error instanceof PracticeError) || error.code !== 'refused' || error.status !== 400) return null;
  const names = Object.keys(sent);
  const named = names.find((name) => error.message.includes(name));
  return named ?? (names.length === 1 ? names[0]! : null);
}
