import { randomUUID } from 'node:crypto';
import type { InstallationConfig } from '../../config/load.ts';
import type { Db } from '../../db/pool.ts';
import type { Clock } from '../../domain/clock.ts';
import { businessDate } from '../../domain/dates.ts';
import type { PlainError } from '../../domain/errors.ts';
import { redact } from '../../domain/redact.ts';
import { clip, storable, visible } from '../../domain/text.ts';
import { type GeneralLedgerUnit, loadUnits } from '../../ledger/general-ledger.ts';
import type { Capabilities } from '../capabilities.ts';
import {
  type CompanyLease,
  CompanyLost,
  companyLeaseSeconds,
  noteAnswer,
  noteFailure,
  renewCompany,
  underLease,
} from '../company-lease.ts';
import { compareEntry, describeDifferences } from '../compare.ts';
import type { ErpEntry, FoundEntry } from '../entry.ts';
import { noteAbsent } from '../outbox/claim.ts';
import { noteSending, type Outcome, recordOutcomes } from '../outbox/settle.ts';
import type { Doubt, OutboxUnit } from '../outbox/unit.ts';
import type { Pace } from '../pace.ts';
import { storePeriods } from '../periods.ts';
import {
  ErpError,
  type ErpPeriods,
  type ErpProblem,
  type ErpTarget,
  type RequestOptions,
  type WriteOptions,
} from '../port.ts';
import {
  backoffMs,
  dateProblem,
  isSameMessage,
  type Strategy,
  searchDays,
  sizeOf,
  sizeProblem,
  verdictOf,
  verdictOnAbsence,
  verdictWithoutLookUp,
} from '../strategy.ts';
import { attemptIdOf, type Item } from './attempt.ts';
import { classify, type Finding, inErpOf, judgePosted } from './classify.ts';
import { plainErrorOf } from './errors.ts';

export type Translate = (unit: GeneralLedgerUnit) => { entry: ErpEntry } | { problems: ErpProblem[] };

/** What a batch is sent with. */
export interface BatchContext {
  db: Db;
  installation: InstallationConfig;
  target: ErpTarget;
  pace: Pace;
  strategy: Strategy;
  translate: Translate;
  lease: CompanyLease;
  /** Requests of the company that failed in a row, before this batch. */
  failures: number;
  /** Drafts are left for the accountant. */
  isReview: boolean;
  clock: Pick<Clock, 'now' | 'elapsed'>;
  signal: AbortSignal;
  priority: number;
  log: { warn(fields: object, message: string): void };
}

export interface BatchReport {
  delivered: number;
  refused: number;
  /** Why nothing more is to be sent now; null where something may be. */
  stop: PlainError | null;
}

/** A unit that the mapping has no words for. */
interface Untold {
  unit: OutboxUnit;
  code: string;
  message: string;
}

/** A draft in the ERP, to be posted. */
interface Placed {
  item: Item;
  draftId: string;
}

/** A draft is looked at again after so long. */
const lookAtDraftsMs = 180_000;
/** A look-up whose answer was not complete is repeated after so long. */
const lookUpAgainMs = 10_000;
const longestMessage = 500;

/** Nothing more can be done now: the way to the ERP, or the ERP itself, is in the way. */
class Stopped extends Error {
  readonly plain: PlainError;

  constructor(plain: PlainError) {
    super(plain.message);
    this.plain = plain;
  }
}

/**
 * One batch of units on its way into the ERP, under the company's lease. What a unit has become is recorded before the next
 * request that depends on it, and each request that writes is preceded by a note that it is sent: whoever comes after a crash
 * knows from the notes what to look up.
 */
export class Batch {
  readonly #to: BatchContext;
  readonly #capabilities: Capabilities;
  #failures: number;
  #delivered = 0;
  #refused = 0;
  /** It has taken entries. */
  #works = false;

  constructor(context: BatchContext) {
    this.#to = context;
    this.#capabilities = context.target.capabilities;
    this.#failures = context.failures;
  }

  /** Sends units that are due. Those that were tried before are looked up first. */
  sendDue(units: readonly OutboxUnit[]): Promise<BatchReport> {
    return this.#report(async () => {
      const items = await this.#translated(units);
      const known = this.#to.strategy.afterDoubt === 'look_up' ? items.filter(({ unit }) => unit.attempts > 0) : [];
      const fresh = items.filter((item) => !known.includes(item));
      const { placed, absent } = await this.#lookUp(known);
      await this.#deliver(placed, [...absent, ...fresh]);
    });
  }

  /** Looks up units whose outcome nobody knows, and goes on with what is found. */
  resolve(units: readonly OutboxUnit[]): Promise<BatchReport> {
    return this.#report(async () => {
      const items = await this.#translated(units);
      if (this.#to.strategy.afterDoubt !== 'look_up') return this.#decideWithoutLookUp(items);
      const { placed, absent } = await this.#lookUp(items);
      await this.#record(absent.map(({ unit }) => againOf(unit)));
      await this.#deliver(placed, []);
    });
  }

  /** Looks at drafts that were left for the accountant. */
  review(units: readonly OutboxUnit[]): Promise<BatchReport> {
    return this.#report(async () => {
      const items = await this.#translated(units);
      const { found, isComplete } = await this.#find(items.map(({ entry }) => entry));
      const outcomes = items.flatMap((item) => this.#reviewed(item, found.get(item.entry.key) ?? [], isComplete));
      await this.#record(outcomes);
    });
  }

  /**
   * Looks up units of other installations, which have mappings of their own: those that are absent may be sent again by their
   * installation, which looks at the others itself.
   */
  resolveOthers(units: readonly OutboxUnit[], atATime: number): Promise<BatchReport> {
    return this.#report(async () => {
      const { db, lease } = this.#to;
      for (let at = 0; at < units.length; at += atATime) {
        const page = units.slice(at, at + atATime).map(({ erp_key: key, unit_date: date }) => ({ key, date }));
        const { found, isComplete } = await this.#find(page);
        const absent = page.filter(({ key }) => !found.has(key)).map(({ key }) => key);
        if (isComplete) await underLease(db, lease, (trx) => noteAbsent(trx, lease.company, absent));
      }
    });
  }

  async #report(work: () => Promise<void>): Promise<BatchReport> {
    let stop: PlainError | null = null;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      stop = error.plain;
    }
    return { delivered: this.#delivered, refused: this.#refused, stop };
  }

  /** The units in the ERP's words; those that have none are refused until the mapping has. */
  async #translated(units: readonly OutboxUnit[]): Promise<Item[]> {
    const { db, translate } = this.#to;
    const loaded = await loadUnits(
      db,
      units.map(({ kind, unit_id: id }) => ({ kind, id })),
    );
    const byId = new Map(loaded.map((unit) => [unit.posting.id, unit]));
    const items: Item[] = [];
    const untold: Untold[] = [];
    for (const unit of units) {
      const posting = byId.get(unit.unit_id);
      if (posting === undefined) continue;
      const translated = translate(posting);
      if ('entry' in translated) items.push({ unit, entry: translated.entry });
      else {
        const code = translated.problems[0]?.code ?? 'erp_refused';
        untold.push({ unit, code, message: translated.problems.map(({ message }) => message).join('; ') });
      }
    }
    await this.#refuseUntold(untold);
    return items;
  }

  /**
   * Refuses units that have no words. One that was sent before is looked up first: what the ERP has of it is noted, though nobody
   * can compare it, and a draft is deleted.
   */
  async #refuseUntold(untold: readonly Untold[]): Promise<void> {
    const { strategy } = this.#to;
    const sent = strategy.afterDoubt === 'look_up' ? untold.filter(({ unit }) => unit.attempts > 0) : [];
    const fresh = untold.filter((one) => !sent.includes(one));
    await this.#record(fresh.map(({ unit, code, message }) => refusedOf(unit, code, message)));
    if (sent.length === 0) return;
    const keys = sent.map(({ unit: { erp_key: key, unit_date: date } }) => ({ key, date }));
    const { found, isComplete } = await this.#find(keys);
    const outcomes: Outcome[] = [];
    const surplus: string[] = [];
    for (const { unit, code, message } of sent) {
      const held = found.get(unit.erp_key) ?? [];
      const posted = held.find(({ state }) => state === 'posted');
      const drafts = held.filter(({ state }) => state === 'draft');
      if (posted !== undefined) outcomes.push(refusedOf(unit, code, message, posted));
      else if (unit.state === 'drafted' && drafts[0]) outcomes.push(draftedOf(unit, drafts[0]));
      else if (!isComplete) outcomes.push(this.#doubtful(unit, unit.doubt ?? 'no_answer', lookUpAgainMs));
      else {
        surplus.push(...drafts.map(({ id }) => id));
        outcomes.push(refusedOf(unit, code, message));
      }
    }
    await this.#record(outcomes);
    await this.#deleteDrafts(surplus);
  }

  /** Creates and posts what may be; each unit has an outcome then, or waits for its turn. */
  async #deliver(placed: readonly Placed[], toCreate: readonly Item[]): Promise<void> {
    if (placed.length + toCreate.length === 0) return this.#answered();
    const open = await this.#withoutLocked(placed, toCreate);
    const isPosting = !this.#to.isReview;
    const created = await this.#create(this.#ofSize(open.toCreate));
    const drafts = [...open.placed, ...created];
    if (isPosting) await this.#post(drafts);
    await this.#answered();
  }

  /** Refuses what is dated in a period that the ERP has closed, or lacks, without sending it. */
  async #withoutLocked(placed: readonly Placed[], toCreate: readonly Item[]) {
    const { strategy, target, db, lease } = this.#to;
    if (!strategy.readsLocks) return { placed, toCreate };
    const periods = await this.#ask((request) => target.periods(request));
    await storePeriods(db, lease.company, periods);
    const locked = [...placed.map(({ item }) => item), ...toCreate].flatMap((item) => this.#lockedOf(item, periods));
    if (locked.length === 0) return { placed, toCreate };
    const ids = new Set(locked.map(({ unitId }) => unitId));
    const isLocked = ({ unit }: Item) => ids.has(unit.unit_id);
    // A draft would keep the period from being closed, or be posted by somebody later.
    await this.#deleteDrafts(placed.filter(({ item }) => isLocked(item)).map(({ draftId }) => draftId));
    await this.#record(locked);
    return {
      placed: placed.filter(({ item }) => !isLocked(item)),
      toCreate: toCreate.filter((item) => !isLocked(item)),
    };
  }

  #lockedOf({ unit, entry }: Item, periods: ErpPeriods): Outcome[] {
    const problem = dateProblem(entry.date, periods);
    return problem === null ? [] : [refusedOf(unit, problem.code, problem.message)];
  }

  /** As many of the first entries as a request takes by its size. What is too large alone comes back, to be refused. */
  #ofSize(items: readonly Item[]): readonly Item[] {
    const { max_bytes: mostBytes } = this.#capabilities.write;
    let bytes = 0;
    const fitting = items.findIndex(({ entry }) => {
      bytes += sizeOf(entry);
      return bytes > mostBytes;
    });
    return fitting <= 0 ? items.slice(0, fitting === 0 ? 1 : items.length) : items.slice(0, fitting);
  }

  /** Creates entries and reads them back. Gives the drafts that are to be posted; whatever else came of them is recorded. */
  async #create(items: readonly Item[]): Promise<Placed[]> {
    const { target, strategy } = this.#to;
    const sized = await this.#withoutTooLarge(items);
    if (sized.length === 0) return [];
    const sent = await this.#write(
      sized,
      (noted) => attemptIdOf('create', noted),
      (noted, request) =>
        target.create(
          noted.map(({ entry }) => entry),
          request,
        ),
    );
    if (sent === null) return [];
    if (strategy.readBack === 'none') {
      await this.#record(sent.items.map(({ unit }) => ({ unitId: unit.unit_id, state: 'handed_over', inErp: null })));
      return [];
    }
    const found = await this.#readBack(sent.items, sent.result);
    return strategy.draftsFirst ? this.#judgeDrafts(sent.items, found) : this.#judgePosted(sent.items, found);
  }

  async #withoutTooLarge(items: readonly Item[]): Promise<readonly Item[]> {
    const refused = items.flatMap(({ unit, entry }) => {
      const problem = sizeProblem(entry, this.#capabilities);
      return problem === null ? [] : [refusedOf(unit, 'erp_too_large', problem)];
    });
    await this.#record(refused);
    const ids = new Set(refused.map(({ unitId }) => unitId));
    return items.filter(({ unit }) => !ids.has(unit.unit_id));
  }

  /** Compares drafts with what was sent; those that differ are deleted and refused, those that are missing looked up. */
  async #judgeDrafts(items: readonly Item[], found: Map<string, FoundEntry[]>): Promise<Placed[]> {
    const placed: Placed[] = [];
    const outcomes: Outcome[] = [];
    const surplus: string[] = [];
    for (const item of items) {
      const { unit, entry } = item;
      const [draft] = found.get(entry.key) ?? [];
      if (draft === undefined) {
        outcomes.push(this.#unseen(unit));
        continue;
      }
      const differences = compareEntry(entry, draft, this.#comparing());
      if (differences.length > 0) {
        if (draft.state === 'draft') surplus.push(draft.id);
        outcomes.push(refusedOf(unit, 'erp_differs', describeDifferences(differences), draft));
      } else if (this.#to.isReview) {
        outcomes.push(draftedOf(unit, draft));
      } else placed.push({ item, draftId: draft.id });
    }
    await this.#record(outcomes);
    await this.#deleteDrafts(surplus);
    return placed;
  }

  async #judgePosted(items: readonly Item[], found: Map<string, FoundEntry[]>): Promise<Placed[]> {
    const outcomes = items.map(({ unit, entry }): Outcome => {
      const posted = (found.get(entry.key) ?? []).find(({ state }) => state !== 'draft');
      return posted === undefined ? this.#unseen(unit) : outcomeOf(unit, judgePosted(entry, posted, this.#comparing()));
    });
    await this.#record(outcomes);
    return [];
  }

  async #post(placed: readonly Placed[]): Promise<void> {
    if (placed.length === 0) return;
    const { target } = this.#to;
    const idOf = new Map(placed.map(({ item, draftId }) => [item.unit.unit_id, draftId]));
    const idsOf = (items: readonly Item[]) => items.flatMap(({ unit }) => idOf.get(unit.unit_id) ?? []);
    const items = placed.map(({ item }) => item);
    const sent = await this.#write(
      items,
      (noted) => attemptIdOf('post', noted, idsOf(noted)),
      (noted, request) => target.post(idsOf(noted), request),
    );
    if (sent === null) return;
    const ids = new Map(
      sent.items.flatMap(({ unit, entry }) => {
        const id = idOf.get(unit.unit_id);
        return id === undefined ? [] : [[entry.key, id] as const];
      }),
    );
    await this.#judgePosted(sent.items, await this.#readBack(sent.items, ids));
  }

  /**
   * Sends a request that writes, once its turn has come and the units are noted as being sent. Gives what came of it, with the
   * items that it was about; null where it failed, and the outcomes of its units are recorded. Throws Stopped, too.
   */
  async #write<Result>(
    items: readonly Item[],
    attemptIdFor: (items: readonly Item[]) => string,
    send: (items: readonly Item[], request: WriteOptions) => Promise<Result>,
  ): Promise<{ result: Result; items: readonly Item[] } | null> {
    const { db, installation, lease, pace, clock, signal, priority } = this.#to;
    let noted: readonly Item[] = items;
    try {
      const result = await pace.run({ signal, priority }, async () => {
        const wanted = items.map(({ unit }) => unit.unit_id);
        const beforeMs = clock.elapsed();
        const ids = await underLease(db, lease, (trx) =>
          noteSending(trx, installation.id, wanted, attemptIdFor(items)),
        );
        const sending = new Set(ids);
        noted = items.filter(({ unit }) => sending.has(unit.unit_id));
        if (noted.length === 0) return null;
        // A process that stood still in between may have lost the lease, and who has taken over waits for no request of its own.
        if (clock.elapsed() - beforeMs > companyLeaseSeconds * 1000) throw new CompanyLost();
        // Of the body as it is sent, should somebody have taken a unit out of it.
        return send(noted, { signal, priority, attemptId: attemptIdFor(noted) });
      });
      return result === null ? null : { result, items: noted };
    } catch (error) {
      if (!(error instanceof ErpError) || signal.aborted) throw error;
      await this.#failed(error, noted);
      return null;
    }
  }

  /** Records what a failed request means for its units. Throws Stopped where nothing more is to be sent now. */
  async #failed(error: ErpError, items: readonly Item[]): Promise<void> {
    const { strategy } = this.#to;
    const keys = new Set(error.keys);
    const named = items.filter(({ entry }) => keys.has(entry.key));
    const about = new Set(named.length > 0 ? named : items.length === 1 ? items : []);
    const { means, problem, retryAfterMs } = error;
    const verdict = verdictOf(
      {
        error: { means, problem, retryAfterMs, keys: named.map(({ entry }) => entry.key) },
        entries: items.length,
        failures: this.#failures + 1,
      },
      strategy,
    );
    const last = { code: problem ?? codeOfDoubt(error), message: told(error.message) };
    const isAnswered = means === 'doubt' ? problem !== null : means !== 'unsent';
    const outcomes = items.map((item): Outcome => {
      const { unit } = item;
      const doubt: Doubt = about.has(item) ? verdict.doubt : 'no_answer';
      const batchLimit = verdict.isHalved ? Math.ceil(items.length / 2) : unit.batch_limit;
      const trial = { unitId: unit.unit_id, isAnswered, batchLimit, last };
      if (verdict.units === 'again') {
        // It says nothing of the unit.
        return { ...trial, last: lastOf(unit), state: 'pending', unknownRefusals: unit.unknown_refusals, waitMs: 0 };
      }
      const unknownRefusals = countedRefusals(unit, doubt, last.message);
      const lookUpInMs = verdict.isOver ? strategy.seenAfterMs : strategy.lookUpAfterMs;
      return { ...trial, state: 'uncertain', doubt, unknownRefusals, lookUpInMs };
    });
    await this.#record(outcomes);
    if (verdict.isFailure) await this.#stopFor(error, verdict.waitMs);
  }

  /** Reads or looks up what was created, by key. An error of it leaves the units in doubt. */
  async #readBack(items: readonly Item[], ids: Map<string, string>): Promise<Map<string, FoundEntry[]>> {
    const { target, strategy } = this.#to;
    try {
      if (strategy.readBack === 'by_key') return (await this.#find(items.map(({ entry }) => entry))).found;
      const known = [...ids.values()];
      const found = known.length === 0 ? [] : await this.#ask((request) => target.read(known, request));
      return byKey(items, ids, found);
    } catch (error) {
      if (error instanceof Stopped) {
        await this.#record(items.map(({ unit }) => this.#doubtful(unit, 'no_answer', strategy.seenAfterMs)));
      }
      throw error;
    }
  }

  /**
   * Looks units up and records what that decides; surplus drafts are deleted. Gives drafts to post, and what is absent and may be
   * sent again.
   */
  async #lookUp(items: readonly Item[]): Promise<{ placed: Placed[]; absent: Item[] }> {
    if (items.length === 0) return { placed: [], absent: [] };
    const { strategy, isReview } = this.#to;
    const { found, isComplete } = await this.#find(items.map(({ entry }) => entry));
    const options = { ...this.#comparing(), isComplete, isReview, canDeleteDrafts: strategy.canDeleteDrafts };
    const placed: Placed[] = [];
    const absent: Item[] = [];
    const outcomes: Outcome[] = [];
    const surplus: string[] = [];
    for (const item of items) {
      const { unit, entry } = item;
      const finding = classify(entry, found.get(entry.key) ?? [], options);
      if (finding.is !== 'unknown') surplus.push(...finding.surplus);
      switch (finding.is) {
        case 'delivered':
        case 'refused':
          outcomes.push(outcomeOf(unit, finding));
          break;
        case 'unknown':
          outcomes.push(this.#doubtful(unit, unit.doubt ?? 'no_answer', lookUpAgainMs));
          break;
        case 'draft':
        case 'absent': {
          const verdict = verdictOnAbsence(absentOf(unit));
          const draft = finding.is === 'draft' ? finding.draft : null;
          if (verdict.state === 'refused') {
            if (draft && strategy.canDeleteDrafts) surplus.push(draft.id);
            outcomes.push(refusedOf(unit, verdict.code, verdict.message));
          } else if (finding.is === 'absent' && finding.differs !== null && unit.doubt === 'unseen') {
            // It is what was made of the last request: another one would become the same.
            outcomes.push(refusedOf(unit, 'erp_differs', finding.differs));
          } else if (draft === null) absent.push(item);
          else if (isReview) {
            outcomes.push(draftedOf(unit, draft));
          } else placed.push({ item, draftId: draft.id });
        }
      }
    }
    await this.#record(outcomes);
    await this.#deleteDrafts(surplus);
    return { placed: await this.#withinLimits(placed), absent };
  }

  /** Of a halved batch, as many drafts as it may have; the others are in doubt still, and come next. */
  async #withinLimits(placed: readonly Placed[]): Promise<Placed[]> {
    const most = Math.min(placed.length, ...placed.map(({ item }) => item.unit.batch_limit ?? placed.length));
    await this.#record(placed.slice(most).map(({ item }) => this.#doubtful(item.unit, 'no_answer', 0)));
    return placed.slice(0, most);
  }

  async #decideWithoutLookUp(items: readonly Item[]): Promise<void> {
    await this.#record(
      items.map(({ unit }) => {
        const verdict = verdictWithoutLookUp(absentOf(unit), this.#to.strategy);
        return verdict.state === 'pending' ? againOf(unit) : refusedOf(unit, verdict.code, verdict.message);
      }),
    );
  }

  #reviewed({ unit, entry }: Item, found: readonly FoundEntry[], isComplete: boolean): Outcome[] {
    const options = { ...this.#comparing(), isComplete, isReview: true, canDeleteDrafts: false };
    const finding = classify(entry, found, options);
    const known = { id: unit.erp_id ?? '', number: unit.erp_number, date: unit.erp_date ?? entry.date };
    switch (finding.is) {
      case 'delivered':
      case 'refused':
        if (found.every(({ state }) => state === 'void'))
          return [refusedOf(unit, 'erp_draft_deleted', 'it is void in the ERP')];
        return [outcomeOf(unit, finding)];
      case 'absent':
        return [refusedOf(unit, 'erp_draft_deleted', 'the draft is gone, and nothing with its key was posted')];
      case 'draft':
        return [draftedOf(unit, finding.draft)];
      case 'unknown':
        return [{ unitId: unit.unit_id, state: 'drafted', inErp: known, lookAgainMs: lookAtDraftsMs }];
    }
  }

  /** Entries by key, looked up. */
  async #find(
    entries: readonly Pick<ErpEntry, 'key' | 'date'>[],
  ): Promise<{ found: Map<string, FoundEntry[]>; isComplete: boolean }> {
    const { target, installation, clock } = this.#to;
    const today = businessDate(new Date(clock.now()).toISOString(), installation.timezone) ?? '';
    const keys = entries.map(({ key, date }) => ({ key, dates: searchDays(this.#capabilities, date, today) }));
    const { found, isComplete } = await this.#ask((request) => target.find(keys, request));
    return { found: Map.groupBy(found, ({ key }) => key ?? ''), isComplete };
  }

  /** Deletes drafts. One that the ERP does not let go stays, and is never posted by us. */
  async #deleteDrafts(ids: readonly string[]): Promise<void> {
    const { target, db, lease, strategy, log } = this.#to;
    if (ids.length === 0 || !strategy.canDeleteDrafts) return;
    const attemptId = randomUUID();
    await this.#ask(async (request) => {
      if (!(await renewCompany(db, lease))) throw new CompanyLost();
      try {
        await target.deleteDrafts(ids, { ...request, attemptId });
      } catch (error) {
        const isAnswered = error instanceof ErpError && (error.means === 'refused' || error.problem !== null);
        if (!isAnswered) throw error;
        log.warn({ drafts: ids, said: told(error.message) }, 'the ERP does not delete drafts');
      }
    });
  }

  /** A request that writes no entry. Its failure stops the batch. */
  async #ask<Result>(send: (request: RequestOptions) => Promise<Result>): Promise<Result> {
    const { pace, signal, priority } = this.#to;
    try {
      return await pace.run({ signal, priority }, () => send({ signal, priority }));
    } catch (error) {
      if (!(error instanceof ErpError) || signal.aborted) throw error;
      return await this.#stopFor(error, error.retryAfterMs ?? backoffMs(this.#failures + 1));
    }
  }

  async #stopFor(error: ErpError, waitMs: number): Promise<never> {
    const { db, lease, target } = this.#to;
    const plain = plainErrorOf(error, target.company);
    this.#failures += 1;
    await underLease(db, lease, (trx) =>
      noteFailure(trx, lease, { code: plain.code, message: told(plain.message), waitMs }),
    );
    throw new Stopped(plain);
  }

  async #answered(): Promise<void> {
    const { db, lease } = this.#to;
    // That it can be read says nothing of whether it takes entries.
    await underLease(db, lease, (trx) => noteAnswer(trx, lease, { works: this.#works }));
  }

  async #record(outcomes: readonly Outcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    const { db, lease, installation } = this.#to;
    await underLease(db, lease, (trx) => recordOutcomes(trx, installation.id, outcomes));
    for (const { state } of outcomes) {
      if (state === 'delivered' || state === 'handed_over' || state === 'drafted') this.#works = true;
      if (state === 'delivered' || state === 'handed_over') this.#delivered += 1;
      else if (state === 'refused') this.#refused += 1;
    }
  }

  #comparing() {
    return { capabilities: this.#capabilities, decimals: this.#to.installation.decimals };
  }

  /** Accepted, and not there when it was read back. */
  #unseen(unit: OutboxUnit): Outcome {
    const { seenAfterMs, lookUpAfterMs } = this.#to.strategy;
    const message = 'the ERP accepted it, and did not have it when it was read back';
    return {
      ...{ unitId: unit.unit_id, state: 'uncertain', doubt: 'unseen', isAnswered: true, batchLimit: unit.batch_limit },
      unknownRefusals: countedRefusals(unit, 'unseen', message),
      lookUpInMs: seenAfterMs > 0 ? seenAfterMs : lookUpAfterMs,
      last: { code: 'erp_refused_unknown', message },
    };
  }

  #doubtful(unit: OutboxUnit, doubt: Doubt, lookUpInMs: number): Outcome {
    return {
      ...{ unitId: unit.unit_id, state: 'uncertain', doubt, lookUpInMs, isAnswered: false },
      ...{ unknownRefusals: unit.unknown_refusals, batchLimit: unit.batch_limit, last: lastOf(unit) },
    };
  }
}

/** Found entries by our key: by the key in the ERP's record, or by the id that it gave for one. */
function byKey(
  items: readonly Item[],
  ids: Map<string, string>,
  found: readonly FoundEntry[],
): Map<string, FoundEntry[]> {
  const byId = new Map(found.map((entry) => [entry.id, entry]));
  return new Map(
    items.map(({ entry: { key } }) => {
      const id = ids.get(key);
      const entry = id === undefined ? undefined : byId.get(id);
      // An ERP that gives the ids of a batch in another order than it was sent in is noticed by the key.
      return [key, entry === undefined || (entry.key !== null && entry.key !== key) ? [] : [entry]];
    }),
  );
}

function outcomeOf(unit: OutboxUnit, finding: Extract<Finding, { is: 'delivered' | 'refused' }>): Outcome {
  if (finding.is === 'delivered') return { unitId: unit.unit_id, state: 'delivered', inErp: finding.inErp };
  const { code, message, inErp } = finding;
  return { unitId: unit.unit_id, state: 'refused', code, message: told(message), inErp };
}

function refusedOf(unit: OutboxUnit, code: string, message: string, found?: FoundEntry) {
  const inErp = found === undefined || found.state === 'draft' ? null : inErpOf(found);
  return { unitId: unit.unit_id, state: 'refused', code, message: told(message), inErp } as const;
}

function draftedOf(unit: OutboxUnit, draft: FoundEntry): Outcome {
  return { unitId: unit.unit_id, state: 'drafted', inErp: inErpOf(draft), lookAgainMs: lookAtDraftsMs };
}

function againOf(unit: OutboxUnit): Outcome {
  return {
    ...{ unitId: unit.unit_id, state: 'pending', isAnswered: false, unknownRefusals: unit.unknown_refusals, waitMs: 0 },
    ...{ batchLimit: unit.batch_limit, last: lastOf(unit) },
  };
}

function lastOf({ problem_code: code, problem_message: message }: OutboxUnit) {
  return code === null ? null : { code, message: message ?? '' };
}

function absentOf(unit: OutboxUnit) {
  return {
    doubt: unit.doubt,
    unknownRefusals: unit.unknown_refusals,
    problemCode: unit.problem_code,
    problemMessage: unit.problem_message,
  };
}

/** How often in a row a unit was refused alone in the same words. */
function countedRefusals(unit: OutboxUnit, doubt: Doubt, message: string): number {
  if (doubt !== 'unknown' && doubt !== 'duplicate' && doubt !== 'unseen') return unit.unknown_refusals;
  return isSameMessage(unit.problem_message, message) ? unit.unknown_refusals + 1 : 1;
}

function codeOfDoubt({ means }: ErpError): string {
  return means === 'refused' ? 'erp_refused' : means === 'duplicate' ? 'erp_refused_unknown' : 'erp_no_answer';
}

/** Text from outside as it is stored and shown. */
function told(message: string): string {
  return storable(clip(visible(redact(message)), longestMessage));
}
