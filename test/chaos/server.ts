// The simulated source's lists, as its clients see them: filters, order, pages and clock after the server's traits.

import type { Rng } from '../../sandbox/rng.ts';
import { Zone } from '../../sandbox/zone.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import type { ListAnswer, ListOptions, PracticeClient } from '../../src/practice/client.ts';
import type { RecordKind } from '../../src/terms.ts';
import type { Source, Stored } from './source.ts';
import { type Traits, timezone } from './traits.ts';

const zone = new Zone(timezone);
/** The largest offset that is served (practice-api: Limits). */
const maxOffset = 10_000;
/** More than any life needs. */
const mostRequests = 30_000;

export class Server {
  requests = 0;
  weight = 0;
  /** What the source knows of filters may change when its server is mended. */
  honoured: Traits['honoured'];
  /** Told of each question before it is answered. */
  onQuestion: (kind: RecordKind, from: number, to: number) => void = () => {};
  onAnswer: (records: Stored[], kind: RecordKind) => void = () => {};
  readonly #source: Source;
  readonly #traits: Traits;
  readonly #rng: Rng;
  readonly #twice: (kind: RecordKind, id: number) => boolean;

  constructor(source: Source, traits: Traits, rng: Rng) {
    this.#source = source;
    this.#traits = traits;
    this.#rng = rng;
    this.honoured = traits.honoured;
    const every = traits.listedTwice === 0 ? 0 : Math.round(1 / traits.listedTwice);
    this.#twice = (kind, id) => every > 0 && kind !== 'row' && id % every === 3;
  }

  /** One question: simulated time passes by its latency, and the list is read at one moment in between. */
  async list(
    kind: RecordKind,
    filters: Record<string, string>,
    pageSize: number | null,
    options: ListOptions = {},
  ): Promise<ListAnswer> {
    const { latencyMs, defaultPageSize, pageCap } = this.#traits;
    const rng = this.#rng;
    const began = this.#source.now;
    const durationMs = Math.ceil(
      rng.chance(0.05) ? rng.next() * latencyMs.longest : latencyMs.usual * (0.2 + rng.next()),
    );
    this.onQuestion(kind, began, began + durationMs);
    this.#source.advance(began + Math.floor(durationMs * rng.next()));
    const weight = Math.max(1, Math.ceil((pageSize ?? defaultPageSize) / defaultPageSize));
    this.requests += 1;
    if (this.requests > mostRequests) throw new Error('asked without end');
    this.weight += weight;
    const size = Math.min(pageSize ?? defaultPageSize, pageCap);
    const page = options.page ?? 1;
    const offset = (page - 1) * size;
    const matching = this.#matching(kind, filters);
    const count = matching.length;
    const answeredAt = this.#source.now;
    this.#source.advance(began + durationMs);
    if (offset > maxOffset) throw new PracticeError('refused', `offset ${offset} is above ${maxOffset}`);
    if (offset > 0 && offset >= count) throw new PracticeError('not_found', 'Invalid page.');
    const isEmpty = count > 0 && rng.chance(this.#traits.emptyPages);
    const found = isEmpty ? [] : this.#ordered(kind, matching, filters).slice(offset, offset + size);
    this.onAnswer(found, kind);
    const { dateSkewMs, hasDateHeader } = this.#traits;
    const date = Math.floor((answeredAt + dateSkewMs) / 1000) * 1000;
    return {
      count,
      results: found.map(({ id, raw, value }) => ({ id, raw, value })),
      sourceTime: new Date(hasDateHeader ? date - durationMs : began),
      answeredAt: new Date(hasDateHeader ? date + 1000 : began + durationMs),
      clock: hasDateHeader ? 'server' : 'local',
      weight,
      pageSizeAsked: pageSize,
    };
  }

  #matching(kind: RecordKind, filters: Record<string, string>): Stored[] {
    const tests = Object.entries(filters)
      .filter(([name]) => this.honoured[kind].has(name) && name !== 'ordering')
      .map(([name, value]) => matcher(name, value));
    const matching: Stored[] = [];
    for (const record of this.#source.tables[kind].values()) {
      if (!tests.every((fits) => fits(record))) continue;
      matching.push(record);
      if (this.#twice(kind, record.id)) matching.push(record);
    }
    return matching;
  }

  #ordered(kind: RecordKind, records: Stored[], filters: Record<string, string>): Stored[] {
    const byId = filters.ordering === 'id' && this.honoured[kind].has('ordering');
    const order = byId ? 'ascending' : this.#traits.order[kind];
    if (order === 'ascending') return records.sort((a, b) => a.id - b.id);
    if (order === 'descending') return records.sort((a, b) => b.id - a.id);
    this.#shuffle(records);
    // Equal times come in any order, another one each time.
    if (order === 'modified') return records.sort((a, b) => a.modifiedMs - b.modifiedMs);
    if (order === 'modified descending') return records.sort((a, b) => b.modifiedMs - a.modifiedMs);
    return records;
  }

  #shuffle(records: Stored[]): void {
    for (let at = records.length - 1; at > 0; at--) {
      const other = this.#rng.int(0, at);
      [records[at], records[other]] = [records[other]!, records[at]!];
    }
  }
}

function matcher(name: string, value: string): (record: Stored) => boolean {
  const [field, operator] = [name.slice(0, name.lastIndexOf('__')), name.slice(name.lastIndexOf('__') + 2)];
  const compare: Record<string, (a: number | string, b: number | string) => boolean> = {
    gt: (a, b) => a > b,
    gte: (a, b) => a >= b,
    lt: (a, b) => a < b,
    lte: (a, b) => a <= b,
    is: (a, b) => a === b,
  };
  if (operator === 'in') {
    const wanted = new Set(value.split(',').map(Number));
    return (record) => record.parent !== null && wanted.has(record.parent);
  }
  const holds = compare[operator]!;
  switch (field) {
    case 'id':
      return (record) => holds(record.id, Number(value));
    case 'invoice':
      return (record) => record.parent !== null && holds(record.parent, Number(value));
    case 'invoice_date':
      return (record) => record.invoiceDate !== null && holds(record.invoiceDate, value);
    case 'modified':
    case 'date_added': {
      const asked = zone.parse(value)!;
      return (record) => holds(record.modifiedMs, asked);
    }
    default:
      throw new Error(`the simulated source has no ${name}`);
  }
}

export type SourceClient = Pick<PracticeClient, 'list'>;
