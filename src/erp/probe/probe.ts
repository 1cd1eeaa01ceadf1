import { randomBytes, randomUUID } from 'node:crypto';
import type { MeasuredFacts } from '../../config/measured.ts';
import type { Clock } from '../../domain/clock.ts';
import { dayAfter } from '../../domain/dates.ts';
import { Money } from '../../domain/money.ts';
import type { CalendarDate } from '../../terms.ts';
import type { ErpEntry, FoundEntry } from '../erp-entry.ts';
import { ErpError, type ErpTarget, type RequestOptions } from '../port.ts';
import { strategyOf } from '../strategy.ts';

/**
 * Measures how an ERP behaves where the safety of deliveries depends on it. The entries have two lines of a cent; they
 * name the installation 0, so no delivery takes them for its own.
 */

export const probeSteps = ['clean', 'lag', 'duplicate', 'repeat', 'cut', 'locked', 'imbalance'] as const;
export type ProbeStep = (typeof probeSteps)[number];

export interface ProbePorts {
  target: ErpTarget;
  /** Two accounts that take no party, and a journal. */
  accounts: readonly [string, string];
  journal: string;
  /** A day on which entries may be posted. */
  day: CalendarDate;
  clock: Clock;
  signal: AbortSignal;
  onStep(step: ProbeStep): void;
}

export interface ProbeReport {
  facts: MeasuredFacts;
  /** Ids of entries that cannot be withdrawn, and stay in the company. */
  left: string[];
}

const mark = 'vetledger erp probe: may be deleted';
const installation = 0;
const pollMs = 1_000;
/** An entry that is not shown after this time is not measured. */
const longestLagMs = 120_000;
/** After a cut, the server has finished if nothing appears for this time. */
const quietMs = 30_000;
const mostInCut = 50;
/** The record has this multiple of what was seen, since a busy server takes longer. */
const margin = 10;
const leastWorkSeconds = 60;
const cleanUpMs = 60_000;

/** Runs all measurements. At the end, and if the signal aborts, entries that can be withdrawn are. Throws ErpError. */
export async function probeErp(ports: ProbePorts): Promise<ProbeReport> {
  const probe = new Probe(ports);
  let facts: MeasuredFacts = {};
  try {
    facts = await probe.measure();
  } finally {
    await probe.cleanUp();
  }
  return { facts, left: probe.left };
}

class Probe {
  left: string[] = [];
  readonly #ports: ProbePorts;
  readonly #drafts: boolean;
  /** The dates of the probe's entries, by key. */
  readonly #made = new Map<string, CalendarDate>();
  /** The beginning of the probe, by our clock. */
  readonly #since: Date;
  #isCut = false;

  constructor(ports: ProbePorts) {
    this.#ports = ports;
    this.#drafts = strategyOf(ports.target.capabilities).draftsFirst;
    this.#since = new Date(ports.clock.now());
  }

  async measure(): Promise<MeasuredFacts> {
    const { target, onStep } = this.#ports;
    const facts: MeasuredFacts = {};
    onStep('clean');
    await this.#removeEarlier();
    if (target.capabilities.key.lookup !== 'none') {
      onStep('lag');
      Object.assign(facts, await this.#lag());
      onStep('duplicate');
      Object.assign(facts, await this.#duplicate());
      if (target.capabilities.request_id !== null) {
        onStep('repeat');
        Object.assign(facts, await this.#repeat());
      }
      onStep('cut');
      Object.assign(facts, await this.#cut());
    }
    onStep('locked');
    Object.assign(facts, await this.#locked());
    onStep('imbalance');
    Object.assign(facts, await this.#imbalance());
    return facts;
  }

  /** Withdraws what an earlier probe left that was killed. */
  async #removeEarlier(): Promise<void> {
    const { target } = this.#ports;
    if (target.capabilities.key.lookup === 'none') return;
    const ids: string[] = [];
    for (let after: string | null = null; ; ) {
      const page = await target.keyed({ installation, changedSince: null, after }, this.#request());
      ids.push(...page.entries.flatMap(({ id, state }) => (state === 'draft' ? id : [])));
      after = page.next;
      if (after === null) break;
    }
    await this.#withdraw(ids, this.#request());
  }

  /** The time until a look-up shows a new entry: the longest of three. */
  async #lag(): Promise<MeasuredFacts> {
    let longestMs = 0;
    for (let n = 0; n < 3; n++) {
      const entry = this.#entry();
      await this.#create([entry]);
      const begun = this.#ports.clock.elapsed();
      let isFirst = true;
      while ((await this.#find([entry.key])).length === 0) {
        if (this.#ports.clock.elapsed() - begun > longestLagMs) return {};
        isFirst = false;
        await this.#sleep(pollMs);
      }
      if (!isFirst) longestMs = Math.max(longestMs, this.#ports.clock.elapsed() - begun);
    }
    return { 'key.lookup_lag_seconds': Math.ceil((longestMs * 2) / 1_000) };
  }

  /** Sends another entry with the key of one that the ERP has. */
  async #duplicate(): Promise<MeasuredFacts> {
    const entry = this.#entry();
    await this.#create([entry]);
    const held = await this.#seen([entry.key], 1);
    const error = await this.#refusal(() => this.#create([this.#entry({ key: entry.key, amount: '0.02' })]));
    if (error !== null) {
      const isRefused = error.means === 'refused' || error.means === 'duplicate';
      return isRefused ? { 'key.unique': 'enforced', 'key.duplicate_reply': 'refused' } : {};
    }
    const after = await this.#seen([entry.key], 2);
    if (after.length > 1) return { 'key.unique': 'none', 'key.duplicate_reply': 'doubled' };
    const [before, now] = [held[0], after[0]];
    if (before === undefined || now === undefined) return {};
    if (now.lines.length > before.lines.length) return { 'key.unique': 'enforced', 'key.duplicate_reply': 'doubled' };
    const isSame = amountsOf(now) === amountsOf(before);
    return { 'key.unique': 'enforced', 'key.duplicate_reply': isSame ? 'replayed' : 'overwrites' };
  }

  /** Sends a request twice with the same id. */
  async #repeat(): Promise<MeasuredFacts> {
    const entry = this.#entry();
    const attemptId = randomUUID();
    await this.#create([entry], { attemptId });
    const error = await this.#refusal(() => this.#create([entry], { attemptId }));
    if (error !== null) return error.means === 'repeated' ? { 'request_id.on_repeat': 'refused' } : {};
    const found = await this.#seen([entry.key], 2);
    return { 'request_id.on_repeat': found.length > 1 ? 'ignored' : 'replayed' };
  }

  /** Cuts the connection during a request, early and late, and waits until no more entries appear. */
  async #cut(): Promise<MeasuredFacts> {
    const { target, clock, signal } = this.#ports;
    const most = Math.min(target.capabilities.write.max_entries, this.#drafts ? mostInCut : 2);
    const batch = () => Array.from({ length: most }, () => this.#entry());
    const begun = clock.elapsed();
    await this.#create(batch());
    const usualMs = clock.elapsed() - begun;
    let longestMs = 0;
    for (const share of [0.2, 0.5, 0.8]) {
      const entries = batch();
      const cut = new AbortController();
      const answered = new AbortController();
      const waiting = clock.sleep(usualMs * share, answered.signal).then(
        () => cut.abort(new Error('cut')),
        () => undefined,
      );
      this.#isCut = true;
      try {
        await this.#create(entries, { signal: AbortSignal.any([signal, cut.signal]) });
      } catch (error) {
        signal.throwIfAborted();
        if (!cut.signal.aborted && !(error instanceof ErpError)) throw error;
      } finally {
        answered.abort(new Error('answered'));
        await waiting;
      }
      longestMs = Math.max(longestMs, await this.#appearing(entries.map(({ key }) => key)));
    }
    return { 'doubt.server_may_work_seconds': Math.max(leastWorkSeconds, Math.ceil((longestMs * margin) / 1_000)) };
  }

  /** Milliseconds from now until the last of these entries appears. */
  async #appearing(keys: readonly string[]): Promise<number> {
    const { clock } = this.#ports;
    const begun = clock.elapsed();
    let [seen, lastMs] = [0, 0];
    for (;;) {
      const found = (await this.#find(keys)).length;
      const ms = clock.elapsed() - begun;
      if (found > seen) [seen, lastMs] = [found, ms];
      if (found >= keys.length || ms - lastMs > quietMs) return lastMs;
      await this.#sleep(pollMs);
    }
  }

  /** Posts an entry into a closed period, if there is one. */
  async #locked(): Promise<MeasuredFacts> {
    const closed = await this.#closedDay();
    if (closed === null) return {};
    const found = await this.#posted(this.#entry({ date: closed }));
    if (found === 'refused') return { 'periods.on_locked': 'refused' };
    return found === null ? {} : { 'periods.on_locked': found.date === closed ? 'warned' : 'redated' };
  }

  /** Posts an entry that lacks a cent. */
  async #imbalance(): Promise<MeasuredFacts> {
    const found = await this.#posted(this.#entry({ amount: '0.02', credit: '0.01' }));
    if (found === 'refused') return { imbalance: 'refused' };
    return found === null ? {} : { imbalance: found.lines.length > 2 ? 'extra_line' : 'within_tolerance' };
  }

  /** The latest day before today that the ERP has closed. */
  async #closedDay(): Promise<CalendarDate | null> {
    const { target, day } = this.#ports;
    const { periods, lockedThrough } = await target.periods(this.#request());
    const closed = [
      ...lockedThrough.map(({ date }) => date),
      ...(periods ?? []).flatMap(({ isOpen, through }) => (isOpen ? [] : through)),
    ];
    return (
      closed
        .filter((date) => date < day)
        .toSorted()
        .at(-1) ?? null
    );
  }

  /** Creates and posts an entry, and reads it back. Null if it is not shown. */
  async #posted(entry: ErpEntry): Promise<FoundEntry | 'refused' | null> {
    const { target } = this.#ports;
    const error = await this.#refusal(async () => {
      const id = (await this.#create([entry])).get(entry.key);
      if (this.#drafts && id !== undefined) await target.post([id], { ...this.#request(), attemptId: randomUUID() });
    });
    if (error !== null) return error.means === 'auth' ? Promise.reject(error) : 'refused';
    return (await this.#seen([entry.key], 1))[0] ?? null;
  }

  /** Withdraws every draft of the probe. It uses its own signal, since the probe's may have been aborted. */
  async cleanUp(): Promise<void> {
    const { target, clock } = this.#ports;
    if (this.#made.size === 0 || target.capabilities.key.lookup === 'none') return;
    const request = { signal: AbortSignal.timeout(cleanUpMs), priority: 0 };
    const begun = clock.elapsed();
    for (let quietSince = begun; ; ) {
      const found = await this.#find([...this.#made.keys()], request);
      const drafts = found.flatMap(({ id, state }) => (state === 'draft' ? id : []));
      this.left = found.flatMap(({ id, state }) => (state === 'posted' ? id : []));
      if (drafts.length > 0) {
        await this.#withdraw(drafts, request);
        quietSince = clock.elapsed();
      }
      // A server whose connection was cut may still be creating entries.
      const isOver = drafts.length === 0 && (!this.#isCut || clock.elapsed() - quietSince > quietMs / 3);
      if (isOver || clock.elapsed() - begun > cleanUpMs - quietMs) return;
      await clock.sleep(pollMs, request.signal);
    }
  }

  async #withdraw(ids: readonly string[], request: RequestOptions): Promise<void> {
    const { target } = this.#ports;
    if (ids.length === 0 || target.capabilities.write.withdraw === 'none') return;
    await target.withdrawDrafts(ids, { ...request, attemptId: randomUUID() });
  }

  #create(entries: readonly ErpEntry[], options: { attemptId?: string; signal?: AbortSignal } = {}) {
    for (const { key, date } of entries) this.#made.set(key, date);
    return this.#ports.target.create(entries, { ...this.#request(), attemptId: randomUUID(), ...options });
  }

  /** The entries with these keys, as soon as there are so many, or when they could have been shown. */
  async #seen(keys: readonly string[], least: number): Promise<FoundEntry[]> {
    for (let left = 5; ; left--) {
      const found = await this.#find(keys);
      if (found.length >= least || left === 0) return found;
      await this.#sleep(pollMs);
    }
  }

  async #find(keys: readonly string[], request = this.#request()): Promise<FoundEntry[]> {
    const { target, day } = this.#ports;
    const wanted = [...new Set(keys)].map((key) => {
      const date = this.#made.get(key) ?? day;
      return { key, dates: [date, dayAfter(date)], since: this.#since };
    });
    const { found } = await target.find(wanted, request);
    return found.filter(({ state }) => state !== 'void');
  }

  /** The ERP's refusal; null if it accepts. Throws ErpError if there is no answer. */
  async #refusal(work: () => Promise<unknown>): Promise<ErpError | null> {
    try {
      await work();
      return null;
    } catch (error) {
      if (!(error instanceof ErpError) || (error.means === 'doubt' && error.problem === null)) throw error;
      if (error.means === 'unsent' || error.means === 'throttled') throw error;
      return error;
    }
  }

  #entry(of: { key?: string; date?: CalendarDate; amount?: string; credit?: string } = {}): ErpEntry {
    const { accounts, journal, day } = this.#ports;
    const { key = newKey(), date = day, amount = '0.01', credit = amount } = of;
    const line = (side: 'debit' | 'credit'): ErpEntry['lines'][number] => ({
      ...{ account: accounts[side === 'debit' ? 0 : 1], role: 'other_clearing', side, description: '' },
      amount: new Money(side === 'debit' ? amount : credit),
      ...{ party: null, vat: null, dimensions: {}, openItem: null, dueDate: null },
    });
    const lines = [line('debit'), line('credit')];
    return {
      ...{ key, unitId: `${installation}/probe/${this.#made.size + 1}`, installation, date, journal },
      ...{ description: mark, reference: null, reverses: null, lines, sentLines: lines },
    };
  }

  #request(): RequestOptions {
    return { signal: this.#ports.signal, priority: 0 };
  }

  #sleep(ms: number): Promise<void> {
    return this.#ports.clock.sleep(ms, this.#ports.signal);
  }
}

function amountsOf({ lines }: FoundEntry): string {
  return lines
    .map(({ amount }) => amount.toFixed())
    .sort()
    .join(' ');
}

/** A key of the form of ours that belongs to no unit. */
function newKey(): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  return [...randomBytes(20)].map((byte) => letters.charAt(byte % letters.length)).join('');
}
