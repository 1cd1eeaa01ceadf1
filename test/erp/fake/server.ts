// A fake ERP server in memory: its books, its locks and its faults. It is built from a capability record and does not
// know how vetledger delivers.

import { Money, sum } from '../../../src/domain/money.ts';
import type { ErrorMeaning } from '../../../src/erp/capabilities.ts';
import type { ErpEntry, ErpLine } from '../../../src/erp/erp-entry.ts';
import type { KeyToFind } from '../../../src/erp/port.ts';
import { type FakeRecord, type FaultKind, type SaidError, taxes } from './records.ts';
import type { FakeTime } from './time.ts';

/** A line in the ERP's books. */
export interface HeldLine {
  id: string;
  /** The account of the line. Empty if the ERP dropped the account. */
  account: string;
  /** Debits are positive. */
  amount: Money;
  party: string | null;
  vat: { code: string; part: 'base' | 'tax'; amount: Money }[];
  dimensions: Record<string, string>;
  matched: string | null;
}

/** An entry in the ERP's books. */
export interface HeldEntry {
  id: string;
  key: string | null;
  unitId: string;
  number: string | null;
  state: 'draft' | 'posted' | 'void';
  date: string;
  journal: string;
  description: string;
  lines: HeldLine[];
  createdAtMs: number;
  /** The time from which look-ups find the entry. */
  visibleAtMs: number;
  postedAtMs: number | null;
}

/**
 * Permanent faults of an ERP with certain entries, which are recognised by accounts and values of dimensions. They are
 * not part of the chart, so that every record can have every flaw.
 */
export interface Flaws {
  /** The ERP refuses these accounts with its text for an unknown account. */
  unknownAccounts: ReadonlySet<string>;
  /** The ERP refuses these accounts with an error that no pattern matches. */
  strangeAccounts: ReadonlySet<string>;
  /** The ERP answers success, but the line has no account. */
  droppedAccounts: ReadonlySet<string>;
  /** The ERP answers success, and adds two lines that balance each other. */
  balancedAccounts: ReadonlySet<string>;
  /** Values that a dimension lacks. The record decides the ERP's reaction. */
  unknownValues: ReadonlySet<string>;
}

export const noFlaws: Flaws = {
  unknownAccounts: new Set(),
  strangeAccounts: new Set(),
  droppedAccounts: new Set(),
  balancedAccounts: new Set(),
  unknownValues: new Set(),
};

/** A request to the server. */
export type ServerRequest =
  | { kind: 'create'; entries: readonly ErpEntry[]; attemptId: string }
  | { kind: 'post'; ids: readonly string[]; attemptId: string }
  | { kind: 'withdrawDrafts'; ids: readonly string[] }
  | { kind: 'find'; keys: readonly KeyToFind[] }
  | { kind: 'read'; ids: readonly string[] }
  | { kind: 'keyed'; installation: number; changedSince: Date | null; after: string | null }
  | { kind: 'periods' }
  | { kind: 'other' };

/** The course of one request on the server. */
export interface Work {
  /** Milliseconds from arrival to effect. */
  workMs: number;
  /** The server dies after this many entries; null if it does not die. Atomic requests then have no effect. */
  diesAfter: number | null;
  /** The server answers an unknown error, either after the effect or without one. */
  strange: 'done' | 'not_done' | null;
  /** The answer to a look-up is incomplete and says so. */
  isTruncated: boolean;
}

/** A complete answer. */
export interface Answer {
  error: (SaidError & { kind: FaultKind | 'strange'; keys: string[] }) | null;
  /** The ids of created entries by key. */
  ids: Map<string, string>;
  found: HeldEntry[];
  isComplete: boolean;
}

/** A violation of the ERP's rules by a client, recorded by the server. */
export interface Misdeed {
  atMs: number;
  about: 'content' | 'pace';
  text: string;
}

/** The state of a server that survives the end of its process. */
export interface FakeBooks {
  entries: HeldEntry[];
  attempts: [id: string, attempt: { body: string; atMs: number; answer: Answer | null }][];
  lockedThrough: string;
  lastId: number;
  lastNumber: number;
}

export interface FakeServerOptions {
  record: FakeRecord;
  time: FakeTime;
  /** Returns a number from 0 to 1. */
  random: () => number;
  flaws?: Flaws;
  /** The seconds for which the ERP remembers the id of a request, if the record does not say. */
  unknownReplaySeconds?: number;
  /** The state of an earlier process of the same ERP. */
  books?: FakeBooks;
}

/** The number of entries on a page of entries with a key. */
export const keyedPerPage = 5;

/** An answer, or the death of the server before it answered. */
export type Outcome = Answer | 'died';

export class FakeServer {
  readonly record: FakeRecord;
  readonly time: FakeTime;
  readonly misdeeds: Misdeed[] = [];
  /** The server calls this when an entry is created or posted. */
  onChange: (entry: HeldEntry) => void = () => undefined;
  /** The server calls this when it refuses keys, singly or as a whole batch. */
  onRefused: (error: FaultKind | 'strange', keys: string[], ofBatch: readonly string[]) => void = () => undefined;
  #lockedThrough = '';
  readonly #random: () => number;
  readonly #flaws: Flaws;
  readonly #replaySeconds: number;
  readonly #entries = new Map<string, HeldEntry>();
  readonly #attempts = new Map<string, { body: string; atMs: number; answer: Answer | null }>();
  readonly #errorsAtMs: number[] = [];
  readonly #sentAtMs: number[] = [];
  #lastId = 0;
  #lastNumber = 0;

  constructor(options: FakeServerOptions) {
    this.record = options.record;
    this.time = options.time;
    this.#random = options.random;
    this.#flaws = options.flaws ?? noFlaws;
    const { request_id: id } = options.record.capabilities;
    const remembers = id === null || id.on_repeat === 'ignored' ? 0 : id.remembered_seconds;
    this.#replaySeconds = remembers === 'unknown' ? (options.unknownReplaySeconds ?? 3_600) : remembers;
    const { books } = options;
    if (books === undefined) return;
    for (const entry of books.entries) this.#entries.set(entry.id, entry);
    for (const [id, attempt] of books.attempts) this.#attempts.set(id, attempt);
    this.#lockedThrough = books.lockedThrough;
    this.#lastId = books.lastId;
    this.#lastNumber = books.lastNumber;
  }

  /** The state for the next process of this ERP. Attempts that are not answered yet are forgotten. */
  books(): FakeBooks {
    return {
      entries: this.held(),
      attempts: [...this.#attempts].filter(([, { answer }]) => answer !== null),
      lockedThrough: this.#lockedThrough,
      lastId: this.#lastId,
      lastNumber: this.#lastNumber,
    };
  }

  /** All entries in the books, including drafts, for the judge. */
  held(): HeldEntry[] {
    return [...this.#entries.values()];
  }

  /** Days up to and including this one are closed; empty if none is. */
  get lockedThrough(): string {
    return this.#lockedThrough;
  }

  /** Closes the days up to and including this one. Returns false if drafts in them prevent it. */
  lock(through: string): boolean {
    const isBlocked =
      this.record.capabilities.write.drafts === 'block_closing' &&
      this.held().some(({ state, date }) => state === 'draft' && date <= through && date > this.#lockedThrough);
    if (!isBlocked) this.#lockedThrough = through;
    return !isBlocked;
  }

  unlock(): void {
    this.#lockedThrough = '';
  }

  /** An accountant changes an entry in the ERP. */
  change(id: string, by: (entry: HeldEntry) => void): void {
    by(this.#entry(id));
  }

  /** An accountant matches lines in the ERP, or removes a match. */
  match(lineIds: readonly string[], group: string | null): boolean {
    const lines = this.held().flatMap((entry) => entry.lines.filter(({ id }) => lineIds.includes(id)));
    const isSettled = sum(lines.map(({ amount }) => amount)).isZero();
    if (lines.length < lineIds.length || (group !== null && !isSettled)) return false;
    for (const line of lines) line.matched = group;
    return true;
  }

  /** Accepts a request. The promise resolves when the server has finished, even if no client waits any longer. */
  async handle(request: ServerRequest, work: Work): Promise<Outcome> {
    const replayed = this.#replayed(request);
    if (replayed !== null) {
      await this.time.sleep(Math.min(work.workMs, 50));
      return replayed;
    }
    const attempt = this.#remember(request);
    const outcome = await this.#work(request, work);
    const { on_repeat: onRepeat, survives } = this.record.capabilities.request_id ?? {};
    const isForgotten =
      outcome === 'died' ? onRepeat !== 'refused' : outcome.error !== null && survives === 'successes';
    if (attempt !== null && outcome !== 'died') attempt.answer = outcome;
    if (isForgotten && request.kind === 'create') this.#attempts.delete(request.attemptId);
    if (outcome !== 'died' && outcome.error !== null) this.#countError(outcome.error.kind);
    return outcome;
  }

  /** Counts a request, and returns whether the limits allow it. */
  admit(): 'yes' | 'throttled' {
    const { limits } = this.record.capabilities.pace;
    this.#sentAtMs.push(this.time.nowMs);
    const isExceeded = limits.some(({ per_seconds: seconds, n, weight }) => {
      const since = this.time.nowMs - seconds * 1000;
      let sent = 0;
      for (let at = this.#sentAtMs.length - 1; at >= 0 && (this.#sentAtMs[at] ?? 0) > since; at--) sent += weight;
      return sent > n;
    });
    if (isExceeded) this.misdeed('a limit of requests was exceeded', 'pace');
    return isExceeded || this.#isBlocked() ? 'throttled' : 'yes';
  }

  /** True if the company is blocked because of too many errors. */
  #isBlocked(): boolean {
    const allowed = this.record.capabilities.pace.errors_allowed;
    if (allowed === null) return false;
    const since = this.time.nowMs - allowed.per_seconds * 1000;
    return this.#errorsAtMs.filter((atMs) => atMs > since).length >= allowed.n;
  }

  #countError(kind: FaultKind | 'strange'): void {
    if (kind !== 'throttled' && kind !== 'busy') this.#errorsAtMs.push(this.time.nowMs);
  }

  /** The first answer to a repeated attempt, or its refusal; an error if its body differs. */
  #replayed(request: ServerRequest): Answer | null {
    if (request.kind !== 'create' || this.#replaySeconds === 0) return null;
    const attempt = this.#attempts.get(request.attemptId);
    if (!attempt || attempt.atMs + this.#replaySeconds * 1000 <= this.time.nowMs) return null;
    if (attempt.body !== bodyOf(request)) {
      this.misdeed(`attempt ${request.attemptId} came with another body`);
      return this.#failed({ kind: 'strange', ...strange('The idempotency key belongs to another request'), keys: [] });
    }
    if (this.record.capabilities.request_id?.on_repeat === 'refused')
      return this.#failed({ kind: 'repeated', ...this.record.says.repeated, keys: [] });
    if (attempt.answer !== null) return attempt.answer;
    return this.#failed({ kind: 'strange', ...strange('The first request is still in progress'), keys: [] });
  }

  #remember(request: ServerRequest) {
    if (request.kind !== 'create' || this.#replaySeconds === 0) return null;
    const attempt = { body: bodyOf(request), atMs: this.time.nowMs, answer: null as Answer | null };
    this.#attempts.set(request.attemptId, attempt);
    return attempt;
  }

  async #work(request: ServerRequest, work: Work): Promise<Outcome> {
    if (work.strange === 'not_done') {
      await this.time.sleep(work.workMs);
      return this.#failed({ kind: 'strange', ...strange('Object reference not set'), keys: [] });
    }
    const answer = await this.#act(request, work);
    if (answer === 'died' || work.strange === null || answer.error !== null) return answer;
    return { ...answer, error: { kind: 'strange', ...strange('Object reference not set'), keys: [] } };
  }

  #act(request: ServerRequest, work: Work): Promise<Outcome> {
    switch (request.kind) {
      case 'create':
        return this.#changeAll(
          request.entries.map((entry) => ({ key: entry.key, entry })),
          ({ entry }) => this.#whyNotCreated(entry, request.entries),
          ({ entry }) => this.#create(entry),
          work,
        );
      case 'post':
        return this.#changeAll(
          request.ids.map((id) => ({ key: this.#entries.get(id)?.key ?? id, id })),
          ({ id }) => this.#whyNotPosted(id),
          ({ id }) => this.#post(this.#entry(id)),
          work,
        );
      case 'withdrawDrafts':
        return this.#changeAll(
          request.ids.map((id) => ({ key: this.#entries.get(id)?.key ?? id, id })),
          ({ id }) => this.#whyNotDeleted(id),
          ({ id }) => {
            if (this.record.capabilities.write.withdraw === 'void') this.#entry(id).state = 'void';
            else this.#entries.delete(id);
            return null;
          },
          work,
        );
      case 'find':
        return this.#answerLater(work, () => this.#find(request.keys));
      case 'read':
        return this.#answerLater(work, () => this.#read(request.ids));
      case 'keyed':
        return this.#answerLater(work, () => this.#keyed(request));
      default:
        return this.#answerLater(work, () => []);
    }
  }

  async #answerLater(work: Work, held: () => HeldEntry[]): Promise<Outcome> {
    await this.time.sleep(work.workMs);
    if (work.diesAfter !== null) return 'died';
    const found = held();
    const shown = work.isTruncated ? found.filter(() => this.#random() < 0.4) : found;
    return {
      error: null,
      ids: new Map(),
      found: shown.map((entry) => this.#shown(entry)),
      isComplete: !work.isTruncated,
    };
  }

  /**
   * Changes the books item by item. If items are atomic, they take effect one after the other during the work, and
   * those before a failure stay. Otherwise all take effect at the end, or none.
   */
  async #changeAll<Item extends { key: string }>(
    items: Item[],
    whyNot: (item: Item) => FaultKind | 'strange' | null,
    apply: (item: Item) => string | null,
    { workMs, diesAfter }: Work,
  ): Promise<Outcome> {
    const { atomic, result_per_entry: hasResults } = this.record.capabilities.write;
    const keys = items.map(({ key }) => key);
    const ids = new Map<string, string>();
    const failed = (kind: FaultKind | 'strange', named: string[]): Answer => {
      this.onRefused(kind, named.length > 0 ? named : keys, keys);
      const said = kind === 'strange' ? strange('Unexpected condition in module 17') : this.record.says[kind];
      return { ...this.#failed({ kind, ...said, keys: named }), ids };
    };
    if (atomic === 'entry') {
      const refusals = new Map<string, FaultKind | 'strange'>();
      for (const [n, item] of items.entries()) {
        await this.time.sleep(workMs / items.length);
        if (diesAfter !== null && n >= diesAfter) return 'died';
        const why = whyNot(item);
        if (why === null) {
          const id = apply(item);
          if (id !== null) ids.set(item.key, id);
        } else {
          refusals.set(item.key, why);
          // Without a result per item, the first failure ends the request. Items before it have taken effect.
          if (!hasResults) break;
        }
      }
      const [first] = refusals;
      if (!first) return { error: null, ids, found: [], isComplete: true };
      const [, kind] = first;
      return failed(kind, hasResults ? [...refusals].filter(([, why]) => why === kind).map(([key]) => key) : []);
    }
    await this.time.sleep(workMs);
    if (diesAfter !== null) return 'died';
    for (const item of items) {
      const why = whyNot(item);
      if (why !== null) return failed(why, hasResults ? [item.key] : []);
    }
    for (const item of items) {
      const id = apply(item);
      if (id !== null) ids.set(item.key, id);
    }
    return { error: null, ids, found: [], isComplete: true };
  }

  #failed(error: NonNullable<Answer['error']>): Answer {
    return { error, ids: new Map(), found: [], isComplete: false };
  }

  #whyNotCreated(entry: ErpEntry, batch: readonly ErpEntry[]): FaultKind | 'strange' | null {
    const { key, write, imbalance, periods, dimensions } = this.record.capabilities;
    const accounts = entry.lines.map(({ account }) => account);
    if (accounts.some((account) => this.#flaws.strangeAccounts.has(account))) return 'strange';
    const lines = this.#posted(entry);
    if (lines === null) return 'strange';
    if (batch.length > write.max_entries || (entry.sentLines ?? entry.lines).length > write.max_lines)
      return 'too_large';
    if (accounts.some((account) => this.#flaws.unknownAccounts.has(account))) return 'account';
    for (const { theirs, unknown } of dimensions) {
      if (unknown !== 'refused') continue;
      if (entry.lines.some((line) => this.#flaws.unknownValues.has(line.dimensions[theirs] ?? ''))) return 'dimension';
    }
    const isBalanced = sum(lines.map(signedOf)).isZero();
    if (!isBalanced && imbalance === 'refused') return 'unbalanced';
    if (this.#isClosed(entry.date) && periods.on_locked === 'refused') {
      if (write.steps === 'one' || write.drafts === 'block_closing') return 'period';
    }
    if (key.unique !== 'none') {
      const same = this.held().find(
        (held) =>
          held.key === entry.key &&
          held.state !== 'void' &&
          (key.unique === 'enforced' || periodOf(held.date) === periodOf(entry.date)),
      );
      if (same && key.duplicate_reply === 'refused') return 'duplicate';
    }
    return null;
  }

  #create(entry: ErpEntry): string {
    const { key, write } = this.record.capabilities;
    const same =
      key.unique === 'none' ? undefined : this.held().find((held) => held.key === entry.key && held.state !== 'void');
    if (same && (key.duplicate_reply === 'overwrites' || key.duplicate_reply === 'doubled')) {
      this.misdeed(`${entry.unitId} was written to again`);
      if (key.duplicate_reply === 'doubled') same.lines.push(...this.#linesOf(entry));
      else Object.assign(same, { lines: this.#linesOf(entry), date: entry.date, description: entry.description });
      return same.id;
    }
    if (same && key.duplicate_reply === 'replayed') return same.id;
    this.#lastId += 1;
    const held: HeldEntry = {
      id: String(this.#lastId),
      key: entry.key,
      unitId: entry.unitId,
      number: null,
      state: 'draft',
      date: entry.date,
      journal: entry.journal,
      description: entry.description,
      lines: this.#linesOf(entry),
      createdAtMs: this.time.nowMs,
      visibleAtMs: this.time.nowMs + key.lookup_lag_seconds * 1000 * this.#random(),
      postedAtMs: null,
    };
    this.#entries.set(held.id, held);
    if (write.steps === 'one') this.#post(held);
    else this.onChange(held);
    return held.id;
  }

  #linesOf(entry: ErpEntry): HeldLine[] {
    const lines = (this.#posted(entry) ?? []).map((line) => this.#lineOf(line));
    if (entry.lines.some(({ account }) => this.#flaws.balancedAccounts.has(account))) {
      const extra = (amount: string) => ({ ...this.#newLine(), account: '9999', amount: new Money(amount) });
      lines.push(extra('0.01'), extra('-0.01'));
    }
    return this.record.capabilities.read_back.normalises.includes('merged_lines') ? merged(lines) : lines;
  }

  /**
   * The lines that the ERP posts. It may compute the VAT of each sent line, to the cent and half away from zero. Null
   * if it cannot read the entry.
   */
  #posted(entry: ErpEntry): readonly ErpLine[] | null {
    const { vat: rule } = this.record.capabilities;
    if (rule.mode !== 'from_net' && rule.mode !== 'from_gross') return entry.lines;
    return (
      entry.sentLines?.flatMap((line) => {
        const tax = line.vat === null ? undefined : taxes[line.vat.code];
        if (tax === undefined || line.vat === null) return line;
        const whole = new Money(100).plus(rule.mode === 'from_net' ? 0 : tax.percent);
        const amount = line.amount.times(tax.percent).div(whole).toDecimalPlaces(2, Money.ROUND_HALF_UP);
        const base = rule.mode === 'from_net' ? line : { ...line, amount: line.amount.minus(amount) };
        const owed = {
          ...line,
          account: tax.account,
          amount,
          dimensions: {},
          vat: { ...line.vat, part: 'tax' as const },
        };
        return amount.isZero() ? [base] : [base, owed];
      }) ?? null
    );
  }

  #newLine(): HeldLine {
    this.#lastId += 1;
    return {
      id: `line ${this.#lastId}`,
      account: '',
      amount: new Money(0),
      party: null,
      vat: [],
      dimensions: {},
      matched: null,
    };
  }

  #lineOf(line: ErpLine): HeldLine {
    const amount = signedOf(line);
    const dimensions: Record<string, string> = {};
    for (const [theirs, value] of Object.entries(line.dimensions)) {
      const known = this.record.capabilities.dimensions.find((dimension) => dimension.theirs === theirs);
      if (known && (known.unknown !== 'dropped' || !this.#flaws.unknownValues.has(value))) dimensions[theirs] = value;
    }
    const vat: HeldLine['vat'] = [];
    if (line.vat?.part === 'base') vat.push({ code: line.vat.code, part: 'base', amount });
    if (line.vat?.part === 'tax' && this.record.capabilities.vat.mode !== 'tagged_bases') {
      vat.push({ code: line.vat.code, part: 'tax', amount });
      const { base } = line.vat;
      if (base) vat.push({ code: line.vat.code, part: 'base', amount: line.side === 'debit' ? base : base.negated() });
    }
    return {
      ...this.#newLine(),
      account: this.#flaws.droppedAccounts.has(line.account) ? '' : line.account,
      amount,
      party: this.record.capabilities.lines.party === 'none' ? null : (line.party?.code ?? null),
      vat,
      dimensions,
    };
  }

  #whyNotPosted(id: string): FaultKind | 'strange' | null {
    const entry = this.#entries.get(id);
    if (!entry || entry.state === 'void') return 'strange';
    if (entry.state === 'posted') return this.record.postedAgain === 'refused' ? 'strange' : null;
    const isRefused = this.#isClosed(entry.date) && this.record.capabilities.periods.on_locked === 'refused';
    return isRefused ? 'period' : null;
  }

  #post(entry: HeldEntry): string {
    if (entry.state === 'posted') return entry.id;
    if (this.#isClosed(entry.date) && this.record.capabilities.periods.on_locked === 'redated')
      entry.date = dayAfter(this.#lockedThrough);
    this.#lastNumber += 1;
    const number = this.record.capabilities.numbered === 'yes' ? `V${this.#lastNumber}` : entry.id;
    Object.assign(entry, { state: 'posted', number, postedAtMs: this.time.nowMs });
    this.onChange(entry);
    return entry.id;
  }

  #whyNotDeleted(id: string): FaultKind | 'strange' | null {
    const isDraft = this.#entries.get(id)?.state === 'draft';
    return isDraft && this.record.capabilities.write.withdraw !== 'none' ? null : 'strange';
  }

  #find(keys: readonly KeyToFind[]): HeldEntry[] {
    const { lookup } = this.record.capabilities.key;
    const isInRange = ({ createdAtMs, date }: HeldEntry, { dates, since }: KeyToFind) =>
      (lookup !== 'scan_by_date' || dates.includes(date)) &&
      (lookup !== 'scan_since' || createdAtMs >= (since?.getTime() ?? 0));
    return this.held().filter(
      (entry) =>
        entry.visibleAtMs <= this.time.nowMs &&
        keys.some((wanted) => wanted.key === entry.key && isInRange(entry, wanted)),
    );
  }

  /** A page of the entries with a vetledger key, by id. */
  #keyed({ installation, changedSince, after }: Extract<ServerRequest, { kind: 'keyed' }>): HeldEntry[] {
    const sinceMs = changedSince?.getTime() ?? Number.NEGATIVE_INFINITY;
    return this.held()
      .filter(
        ({ id, key, unitId, visibleAtMs, postedAtMs }) =>
          key !== null &&
          unitId.startsWith(`${installation}/`) &&
          Number(id) > Number(after ?? 0) &&
          visibleAtMs <= this.time.nowMs &&
          Math.max(visibleAtMs, postedAtMs ?? 0) >= sinceMs,
      )
      .sort((one, other) => Number(one.id) - Number(other.id))
      .slice(0, keyedPerPage);
  }

  #read(ids: readonly string[]): HeldEntry[] {
    const isById = this.record.capabilities.read_back.by === 'id';
    return ids.flatMap((id) => {
      const entry = this.#entries.get(id);
      return entry && (isById || entry.visibleAtMs <= this.time.nowMs) ? [entry] : [];
    });
  }

  /** A copy of the entry, so that callers cannot change the books. Its lines are in this ERP's order. */
  #shown(entry: HeldEntry): HeldEntry {
    const lines = entry.lines.map((line) => ({ ...line, dimensions: { ...line.dimensions }, vat: [...line.vat] }));
    if (this.record.capabilities.read_back.normalises.includes('order'))
      lines.sort((a, b) => a.account.localeCompare(b.account) || a.amount.cmp(b.amount));
    return { ...entry, lines };
  }

  #entry(id: string): HeldEntry {
    const entry = this.#entries.get(id);
    if (!entry) throw new Error(`the books hold no entry ${id}`);
    return entry;
  }

  #isClosed(date: string): boolean {
    return date <= this.#lockedThrough;
  }

  misdeed(text: string, about: Misdeed['about'] = 'content'): void {
    this.misdeeds.push({ atMs: this.time.nowMs, about, text });
  }
}

/** The meaning of an error by the record's patterns; unknown if no pattern matches. */
export function meaningOf(
  { record }: Pick<FakeServer, 'record'>,
  said: SaidError,
): { means: ErrorMeaning; problem: string | null } {
  const pattern = record.capabilities.errors.find(
    ({ match }) =>
      (match.http === undefined || match.http === said.http) &&
      (match.code === undefined || match.code === said.code) &&
      (match.text === undefined || match.text.test(said.text)),
  );
  return { means: pattern?.means ?? 'doubt', problem: pattern?.problem ?? null };
}

function strange(text: string): SaidError {
  return { http: 400, code: 'INTERNAL', text };
}

function bodyOf(request: { entries: readonly ErpEntry[] }): string {
  return JSON.stringify(request.entries);
}

function signedOf({ side, amount }: Pick<ErpLine, 'side' | 'amount'>): Money {
  return side === 'debit' ? amount : amount.negated();
}

/** Merges lines of one side that differ only in their amounts. */
function merged(lines: HeldLine[]): HeldLine[] {
  const byPlace = new Map<string, HeldLine>();
  for (const line of lines) {
    const { account, party, dimensions, vat } = line;
    const place = JSON.stringify([
      line.amount.isNegative(),
      account,
      party,
      Object.entries(dimensions).sort(),
      vat.map(({ code, part }) => [code, part]),
    ]);
    const same = byPlace.get(place);
    if (same) {
      same.amount = same.amount.plus(line.amount);
      same.vat = same.vat.map((part, n) => ({ ...part, amount: part.amount.plus(line.vat[n]?.amount ?? 0) }));
    } else byPlace.set(place, { ...line });
  }
  return [...byPlace.values()].filter(({ amount }) => !amount.isZero());
}

function periodOf(date: string): string {
  return date.slice(0, 7);
}

export function dayAfter(date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
}
