// The simulated source's lists, as its clients see them: filters, order, pages and clock after the server's traits.

import type { Rng } from '../../sandbox/src/rng.ts';
import { Zone } from '../../sandbox/src/zone.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import type { ListAnswer, ListOptions, PracticeClient } from '../../src/practice/client.ts';
import { sortPage } from '../../src/practice/raw-record.ts';
import { readJson } from '../../src/records/json.ts';
import { unusableOf } from '../../src/records/unusable.ts';
import type { RecordKind } from '../../src/terms.ts';
import { matching, ordered } from '../support/practice-list.ts';
import { isUnusable, type Source, type Stored } from './source.ts';
import { type Traits, timezone } from './traits.ts';

const zone = new Zone(timezone);
const dialect = loadDialect();
/** The largest offset that is served (practice-api: Limits). */
const maxOffset = 10_000;
/** Taken off where no answer tells the source's clock (src/practice/client.ts). */
const unknownClockMarginMs = 300_000;
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
  /** The `Date` of the answer before. */
  #dateBefore = 0;
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
    const readAt = this.#source.now + this.#source.clockAheadMs;
    this.#source.advance(began + durationMs);
    if (offset > maxOffset) throw new PracticeError('refused', `offset ${offset} is above ${maxOffset}`);
    if (offset > 0 && offset >= count) throw new PracticeError('not_found', 'Invalid page.');
    const isEmpty = count > 0 && rng.chance(this.#traits.emptyPages);
    const found = isEmpty ? [] : this.#ordered(kind, matching, filters).slice(offset, offset + size);
    this.onAnswer(found, kind);
    const { dateSkewMs, hasDateHeader } = this.#traits;
    const date = Math.floor((readAt + dateSkewMs) / 1000) * 1000;
    // As the client has it: what an earlier answer told is a lower bound, too, unless the clock was put back since.
    const before = this.#dateBefore > date ? 0 : this.#dateBefore;
    this.#dateBefore = date;
    return {
      count,
      ...this.#shown(kind, found, filters),
      sourceTime: new Date(hasDateHeader ? Math.max(date - durationMs, before) : began - unknownClockMarginMs),
      sourceTimeAtMost: new Date(hasDateHeader ? date + 1000 : began + durationMs),
      askedAt: new Date(began),
      answeredAt: new Date(began + durationMs),
      clock: hasDateHeader ? 'server' : 'unknown',
      weight,
      pageSizeAsked: pageSize,
    };
  }

  /** A page as the client sorts it: the filters know the ids that the texts do not have. */
  #shown(kind: RecordKind, found: Stored[], filters: Record<string, string>): Pick<ListAnswer, 'results' | 'unusable'> {
    const texts = found.map(({ id, raw, value }) => {
      if (!isUnusable(this.#traits.unusable, kind, id)) return { id, raw, value };
      const text = raw.replace(`"id":${id}`, `"id":-${id}`);
      const unusable = unusableOf(kind, readJson(text), dialect);
      if (unusable === null) throw new Error(`${text} is usable`);
      return unusable;
    });
    const { results, unusable } = sortPage(texts, JSON.stringify(filters), filters);
    return { results, ...(unusable.length > 0 ? { unusable } : {}) };
  }

  #matching(kind: RecordKind, filters: Record<string, string>): Stored[] {
    const options = { isHonoured: (name: string) => this.honoured[kind].has(name), parseTime };
    return matching(this.#source.tables[kind].values(), filters, options).flatMap((record) =>
      this.#twice(kind, record.id) ? [record, record] : record,
    );
  }

  #ordered(kind: RecordKind, records: Stored[], filters: Record<string, string>): Stored[] {
    return ordered(records, filters, {
      order: this.#traits.order[kind],
      isHonoured: (name) => this.honoured[kind].has(name),
      random: (least, most) => this.#rng.int(least, most),
    });
  }
}

function parseTime(text: string): number {
  const ms = zone.parse(text);
  if (ms === null) throw new Error(`no time: ${text}`);
  return ms;
}

export type SourceClient = Pick<PracticeClient, 'list'>;
