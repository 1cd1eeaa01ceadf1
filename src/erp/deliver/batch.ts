import { underLease } from '../../db/lease.ts';
import { type GeneralLedgerUnit, loadUnits } from '../../ledger/general-ledger.ts';
import { deliveryFindings } from '../../texts/findings/delivery.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import type { Capabilities } from '../capabilities.ts';
import { noteAnswer } from '../company-lease.ts';
import { compareEntry, describeDifferences } from '../compare.ts';
import type { ErpEntry, FoundEntry } from '../erp-entry.ts';
import { closedInErpCode } from '../outbox/cancel-out.ts';
import { noteAbsent } from '../outbox/claim-units.ts';
import { reversedIds } from '../outbox/outbox-queries.ts';
import { type Outcome, recordOutcomes } from '../outbox/record-outcomes.ts';
import type { Doubt, OutboxUnit } from '../outbox/unit.ts';
import {
  forgetDrafts,
  noteDrafts,
  noteSweeps,
  noteSwept,
  postponeSweeps,
  type UnwantedDraft,
  unwantedDrafts,
} from '../outbox/unwanted-drafts.ts';
import type { ErpError, ErpPeriods, ErpProblem } from '../port.ts';
import { dateProblem, sizeOf, sizeProblem, verdictOf, verdictOnAbsence, verdictWithoutLookUp } from '../strategy.ts';
import { attemptIdOf, type Item } from './attempt.ts';
import { classify, judgePosted } from './classify.ts';
import { periodsFor, readPeriods } from './closed-periods.ts';
import { type RequestContext, Requests, Stopped, type Written } from './delivery-requests.ts';
import {
  absentOf,
  againOf,
  byKey,
  codeOfDoubt,
  countedRefusals,
  draftedOf,
  lastOf,
  lookAtDraftsMs,
  messageText,
  outcomeOf,
  refusedOf,
} from './outcomes.ts';
import { draftDigest, leftDrafts, surplusDrafts } from './surplus-drafts.ts';

export type Translate = (unit: GeneralLedgerUnit) => { entry: ErpEntry } | { problems: ErpProblem[] };

export interface BatchContext extends RequestContext {
  translate: Translate;
  /** Drafts are not posted but left to the accountant. */
  isReview: boolean;
}

export interface BatchReport {
  delivered: number;
  refused: number;
  /** The reason why nothing more may be sent now; null if the delivery may continue. */
  stop: PlainError | null;
}

/** A unit that the mapping cannot translate. */
interface Untranslated {
  unit: OutboxUnit;
  code: string;
  message: string;
}

/** A draft in the ERP that can be posted. */
interface Placed {
  item: Item;
  draftId: string;
}

/** Delay before a look-up with an incomplete answer is repeated. */
const lookUpAgainMs = 10_000;
/** Maximum wait, while the company's lease is held, until look-ups show an entry. */
const longestSeenMs = 5_000;

/**
 * Delivers one batch of units under the company's lease. The result of each request is stored before the next request
 * that depends on it. Before each writing request, its units are marked as being sent. After a crash, these marks show
 * what has to be looked up.
 */
export class Batch {
  readonly #to: BatchContext;
  readonly #capabilities: Capabilities;
  readonly #requests: Requests;
  #delivered = 0;
  #refused = 0;
  /** The ERP has accepted entries of this batch. */
  #works = false;

  constructor(context: BatchContext) {
    this.#to = context;
    this.#capabilities = context.target.capabilities;
    this.#requests = new Requests(context);
  }

  /**
   * Sends units that are due. Units that were sent before are looked up first. If this database is behind, all units
   * are.
   */
  sendDue(units: readonly OutboxUnit[], { looksUpFirst }: { looksUpFirst: boolean }): Promise<BatchReport> {
    return this.#report(async () => {
      const items = await this.#translated(units);
      const canLookUp = this.#to.strategy.afterDoubt === 'look_up';
      const known = canLookUp ? items.filter(({ unit }) => looksUpFirst || unit.attempts > 0) : [];
      const fresh = items.filter((item) => !known.includes(item));
      const { placed, absent } = await this.#lookUp(known);
      await this.#deliver(placed, [...absent, ...fresh]);
    });
  }

  /** Looks up units whose outcome is in doubt, and continues with the result. */
  resolve(units: readonly OutboxUnit[]): Promise<BatchReport> {
    return this.#report(async () => {
      const items = await this.#translated(units);
      if (this.#to.strategy.afterDoubt !== 'look_up') return this.#decideWithoutLookUp(items);
      const { placed, absent } = await this.#lookUp(items);
      await this.#record(absent.map(({ unit }) => againOf(unit)));
      const { batchEntries } = this.#to.strategy;
      // A look-up may find more drafts than a request may post.
      for (let at = 0; at === 0 || at < placed.length; at += batchEntries)
        await this.#deliver(placed.slice(at, at + batchEntries), []);
    });
  }

  /** Looks up drafts that were left to the accountant. */
  review(units: readonly OutboxUnit[]): Promise<BatchReport> {
    return this.#report(async () => {
      const items = await this.#translated(units);
      const { found, isComplete } = await this.#requests.find(items.map(({ unit }) => unit));
      const outcomes = items.flatMap((item) => this.#reviewed(item, found.get(item.entry.key) ?? [], isComplete));
      const drafts = items.flatMap((item): Placed[] => {
        const outcome = outcomes.find(({ unitId }) => unitId === item.unit.unit_id);
        const draft = found.get(item.entry.key)?.find(({ state }) => state === 'draft');
        return outcome?.state === 'drafted' && draft !== undefined ? [{ item, draftId: draft.id }] : [];
      });
      const { placed } = await this.#withoutLocked(drafts, []);
      const refused = new Set(drafts.filter((draft) => !placed.includes(draft)).map(({ item }) => item.unit.unit_id));
      await this.#record(outcomes.filter(({ unitId }) => !refused.has(unitId)));
      await this.#answered({ works: false });
    });
  }

  /**
   * Searches for surplus drafts of units, and deletes them. Such drafts appeared after the delivery had stopped waiting
   * for the server.
   */
  sweep(units: readonly OutboxUnit[]): Promise<BatchReport> {
    return this.#report(async () => {
      const { db, installation, lease, strategy, log } = this.#to;
      const unitIds = units.map(({ unit_id: id }) => id);
      const unwanted = await unwantedDrafts(db, installation.id, unitIds);
      const { items } = await this.#translateAll(units);
      const entries = new Map(items.map(({ unit, entry }) => [unit.unit_id, entry]));
      const { found, isComplete } = await this.#requests.find(units);
      const surplusOf = new Map<string, string[]>();
      const late = new Set<string>();
      for (const unit of isComplete ? units : []) {
        const held = found.get(unit.erp_key) ?? [];
        const entry = entries.get(unit.unit_id) ?? null;
        const own = unwanted.filter(({ unitId }) => unitId === unit.unit_id);
        const left = leftDrafts(unit, entry, held, { ...this.#comparing(), unwanted: own });
        const others = entry === null ? [] : surplusDrafts(unit, entry, held, this.#comparing());
        for (const id of others) if (!left.includes(id)) late.add(id);
        const drafts = [...new Set([...left, ...others])];
        if (drafts.length > 0) surplusOf.set(unit.unit_id, drafts);
      }
      const surplus = [...surplusOf.values()].flat();
      if (surplus.length > 0) log.warn({ installation: installation.id, drafts: surplus }, 'deletes surplus drafts');
      const areDeleted = (await this.#requests.withdrawDrafts(surplus)) === surplus.length;
      const stillThere = areDeleted ? [] : [...surplusOf.keys()];
      const scope = { installation: installation.id, company: lease.company };
      const swept = { unitIds, stillThere, deleted: areDeleted ? late.size : 0, lookUpAfterMs: strategy.lookUpAfterMs };
      await underLease(db, lease, async (trx) => {
        if (!isComplete) {
          const afterMs = Math.max(lookUpAgainMs, strategy.lookUpAfterMs);
          return postponeSweeps(trx, installation.id, unitIds, afterMs);
        }
        const isDone = ({ id }: UnwantedDraft) => areDeleted || !surplus.includes(id);
        await forgetDrafts(trx, installation.id, unwanted.filter(isDone));
        await noteSwept(trx, scope, swept);
      });
    });
  }

  /**
   * Looks up units of other installations, which have other mappings. Their own deliveries may send absent units again,
   * and look up the rest.
   */
  resolveOthers(units: readonly OutboxUnit[], atATime: number): Promise<BatchReport> {
    return this.#report(async () => {
      const { db, lease, strategy } = this.#to;
      const byInstallation = strategy.sweepsDrafts ? Map.groupBy(units, ({ installation }) => installation) : [];
      for (const [installation, theirs] of byInstallation) {
        const ids = theirs.map(({ unit_id: id }) => id);
        await underLease(db, lease, (trx) => noteSweeps(trx, installation, ids, strategy.lookUpAfterMs));
      }
      for (let at = 0; at < units.length; at += atATime) {
        const page = units.slice(at, at + atATime);
        const { found, isComplete } = await this.#requests.find(page);
        const absent = page.filter(({ erp_key: key }) => !found.has(key)).map(({ erp_key: key }) => key);
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

  /** Translates units. Units without a translation are refused until the mapping has one. */
  async #translated(units: readonly OutboxUnit[]): Promise<Item[]> {
    const { items, untranslated } = await this.#translateAll(units);
    await this.#refuseUntranslated(untranslated);
    return items;
  }

  async #translateAll(units: readonly OutboxUnit[]): Promise<{ items: Item[]; untranslated: Untranslated[] }> {
    const { db, installation, translate } = this.#to;
    const originIds = await reversedIds(db, installation.id, units);
    const loaded = await loadUnits(
      db,
      units.map(({ kind, unit_id: id }) => ({ kind, id })),
    );
    const byId = new Map(loaded.map((unit) => [unit.posting.id, unit]));
    const items: Item[] = [];
    const untranslated: Untranslated[] = [];
    for (const unit of units) {
      const posting = byId.get(unit.unit_id);
      if (posting === undefined) continue;
      const translated = translate(posting);
      const originId = originIds.get(unit.reverses ?? '');
      if ('entry' in translated) {
        // The stored key is used, because an adopted entry has a key of another database.
        items.push({ unit, entry: { ...translated.entry, key: unit.erp_key, ...(originId && { originId }) } });
      } else {
        const code = translated.problems[0]?.code ?? 'erp_refused';
        untranslated.push({ unit, code, message: translated.problems.map(({ message }) => message).join('; ') });
      }
    }
    return { items, untranslated };
  }

  /**
   * Refuses units without a translation. Units that were sent before are looked up first: a posted entry is recorded,
   * although it cannot be compared, and a draft is deleted.
   */
  async #refuseUntranslated(untranslated: readonly Untranslated[]): Promise<void> {
    const { strategy } = this.#to;
    const sent = strategy.afterDoubt === 'look_up' ? untranslated.filter(({ unit }) => unit.attempts > 0) : [];
    const fresh = untranslated.filter((one) => !sent.includes(one));
    await this.#record(fresh.map(({ unit, code, message }) => refusedOf(unit, code, message)));
    if (sent.length === 0) return;
    const { found, isComplete } = await this.#requests.find(sent.map(({ unit }) => unit));
    const outcomes: Outcome[] = [];
    const surplus: UnwantedDraft[] = [];
    for (const { unit, code, message } of sent) {
      const held = found.get(unit.erp_key) ?? [];
      const posted = held.find(({ state }) => state === 'posted');
      const drafts = held.filter(({ state }) => state === 'draft');
      if (posted !== undefined) outcomes.push(refusedOf(unit, code, message, posted));
      else if (unit.state === 'drafted' && drafts[0]) outcomes.push(draftedOf(unit, drafts[0]));
      else if (!isComplete) outcomes.push(this.#doubtful(unit, unit.doubt ?? 'no_answer', lookUpAgainMs));
      else {
        surplus.push(...drafts.map((draft) => unwantedOf(unit, draft)));
        outcomes.push(refusedOf(unit, code, message));
      }
    }
    await this.#recordAndDelete(outcomes, surplus);
  }

  /** Creates and posts units. Afterwards each unit has an outcome, or stays pending. */
  async #deliver(placed: readonly Placed[], toCreate: readonly Item[]): Promise<void> {
    if (placed.length + toCreate.length === 0) return this.#answered();
    const open = await this.#withoutLocked(placed, toCreate);
    const isPosting = !this.#to.isReview;
    const created = await this.#create(this.#ofSize(open.toCreate));
    const drafts = [...open.placed, ...created];
    if (isPosting) await this.#post(drafts);
    await this.#answered();
  }

  /** Refuses units whose period is closed or missing in the ERP, without sending them. */
  async #withoutLocked(placed: readonly Placed[], toCreate: readonly Item[]) {
    const items = [...placed.map(({ item }) => item), ...toCreate];
    if (!this.#to.strategy.readsLocks || items.length === 0) return { placed, toCreate };
    const periods = await periodsFor(
      this.#to,
      this.#requests,
      items.map(({ entry }) => entry.date),
    );
    const locked = items.flatMap((item) => this.#lockedOf(item, periods));
    if (locked.length === 0) return { placed, toCreate };
    const ids = new Set(locked.map(({ unitId }) => unitId));
    const isLocked = ({ unit }: Item) => ids.has(unit.unit_id);
    // A remaining draft would prevent the period from being closed, or a user could post it later.
    const drafts = placed.filter(({ item }) => isLocked(item));
    await this.#recordAndDelete(
      locked,
      drafts.map(({ item, draftId: id }) => ({ unitId: item.unit.unit_id, id, digest: null })),
    );
    return {
      placed: placed.filter(({ item }) => !isLocked(item)),
      toCreate: toCreate.filter((item) => !isLocked(item)),
    };
  }

  #lockedOf({ unit, entry }: Item, periods: ErpPeriods): Outcome[] {
    const problem = dateProblem(entry.date, periods);
    return problem === null ? [] : [refusedOf(unit, problem.code, problem.message)];
  }

  /**
   * The first items that fit into a request by size. An item that is too large alone is returned, so that it is
   * refused.
   */
  #ofSize(items: readonly Item[]): readonly Item[] {
    const { max_bytes: mostBytes } = this.#capabilities.write;
    let bytes = 0;
    const fitting = items.findIndex(({ entry }) => {
      bytes += sizeOf(entry);
      return bytes > mostBytes;
    });
    return fitting <= 0 ? items.slice(0, fitting === 0 ? 1 : items.length) : items.slice(0, fitting);
  }

  /** Creates entries and reads them back. Returns the drafts to post, and records all other outcomes. */
  async #create(items: readonly Item[]): Promise<Placed[]> {
    const { strategy } = this.#to;
    const sized = await this.#withoutTooLarge(items);
    if (sized.length === 0) return [];
    const sent = await this.#sendNew(sized);
    if (sent === null) return [];
    if ('error' in sent) {
      const { means, problem } = sent.error;
      if (strategy.repeatsAtOnce && means === 'doubt' && problem === null) return this.#repeat(sent);
      await this.#failed(sent.error, sent.items);
      return [];
    }
    return this.#created(sent);
  }

  /** Sends entries. With `repeats`, nothing is sent unless the body is the same as in the first request. */
  #sendNew(items: readonly Item[], repeats: ErpError | null = null): Promise<Written<Map<string, string>> | null> {
    const { target } = this.#to;
    return this.#requests.write(
      items,
      (noted) => attemptIdOf('create', noted),
      (noted, request) => {
        if (repeats !== null && noted.length < items.length) throw repeats;
        return target.create(
          noted.map(({ entry }) => entry),
          request,
        );
      },
    );
  }

  /**
   * Repeats a request without an answer. If the ERP accepts it, the first one had not arrived. If the ERP refuses its
   * id, the first one had arrived, and its entries are looked up.
   */
  async #repeat({ error, items }: { error: ErpError; items: readonly Item[] }): Promise<Placed[]> {
    const { strategy, clock, signal } = this.#to;
    const again = await this.#sendNew(items, error);
    if (again !== null && 'result' in again) return this.#created(again);
    const { means, problem } = again?.error ?? error;
    if (means === 'repeated') {
      const doubtful = items.map(({ unit, entry }) => ({ unit: { ...unit, doubt: 'no_answer' as const }, entry }));
      // Until the server can have finished, an entry that is missing may still appear.
      const finalMs = strategy.lookUpAfterMs;
      await this.#record(
        doubtful.map(({ unit }) => ({ ...this.#doubtful(unit, 'no_answer', finalMs), isAnswered: true }) as Outcome),
      );
      await clock.sleep(Math.min(strategy.seenAfterMs, longestSeenMs), signal);
      return (await this.#lookUp(doubtful, { againMs: finalMs })).placed;
    }
    const isAnswered = means === 'refused' || means === 'duplicate' || (means === 'doubt' && problem !== null);
    await this.#failed((isAnswered ? again?.error : null) ?? error, items, { isOver: false });
    return [];
  }

  /** Reads created entries back. Returns the drafts to post, and records all other outcomes. */
  async #created(sent: { items: readonly Item[]; result: Map<string, string> }): Promise<Placed[]> {
    const { strategy } = this.#to;
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

  /**
   * Compares drafts with what was sent. Drafts that differ are deleted and refused. Missing ones are looked up later.
   */
  async #judgeDrafts(items: readonly Item[], found: Map<string, FoundEntry[]>): Promise<Placed[]> {
    const placed: Placed[] = [];
    const outcomes: Outcome[] = [];
    const surplus: UnwantedDraft[] = [];
    for (const item of items) {
      const { unit, entry } = item;
      const [draft] = found.get(entry.key)?.toSorted(voidLast) ?? [];
      if (draft === undefined) {
        outcomes.push(this.#unseen(unit));
        continue;
      }
      const differences = compareEntry(entry, draft, this.#comparing());
      if (differences.length > 0) {
        const isDeleted = draft.state === 'draft' && this.#to.strategy.canWithdrawDrafts;
        if (isDeleted) surplus.push(unwantedOf(unit, draft));
        const described = describeDifferences(differences);
        const message = isDeleted ? deliveryFindings.draftDeleted({ differences: described }) : described;
        outcomes.push(refusedOf(unit, 'erp_differs', message, draft));
      } else if (this.#to.isReview) {
        outcomes.push(draftedOf(unit, draft));
      } else placed.push({ item, draftId: draft.id });
    }
    await this.#recordAndDelete(outcomes, surplus);
    return placed;
  }

  async #judgePosted(items: readonly Item[], found: Map<string, FoundEntry[]>): Promise<Placed[]> {
    const outcomes = items.map(({ unit, entry }): Outcome => {
      const posted = (found.get(entry.key) ?? []).toSorted(voidLast).find(({ state }) => state !== 'draft');
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
    const sent = await this.#requests.write(
      items,
      (noted) => attemptIdOf('post', noted, idsOf(noted)),
      (noted, request) => target.post(idsOf(noted), request),
    );
    if (sent === null) return;
    if ('error' in sent) return this.#failed(sent.error, sent.items);
    const ids = new Map(
      sent.items.flatMap(({ unit, entry }) => {
        const id = idOf.get(unit.unit_id);
        return id === undefined ? [] : [[entry.key, id] as const];
      }),
    );
    await this.#judgePosted(sent.items, await this.#readBack(sent.items, ids));
  }

  /**
   * Records what a failed request means for its units. With `isOver` false, the server may still be working on an
   * earlier request with them. Throws Stopped if nothing more may be sent now.
   */
  async #failed(error: ErpError, items: readonly Item[], { isOver = true } = {}): Promise<void> {
    const { strategy } = this.#to;
    const keys = new Set(error.keys);
    const named = items.filter(({ entry }) => keys.has(entry.key));
    const about = new Set(named.length > 0 ? named : items.length === 1 ? items : []);
    const { means, problem, retryAfterMs } = error;
    const verdict = verdictOf(
      {
        error: { means, problem, retryAfterMs, keys: named.map(({ entry }) => entry.key) },
        entries: items.length,
        failures: this.#requests.failures + 1,
      },
      strategy,
    );
    const last = { code: problem ?? codeOfDoubt(error), message: messageText(error.message) };
    const isAnswered = means === 'doubt' ? problem !== null : means !== 'unsent';
    const outcomes = items.map((item): Outcome => {
      const { unit } = item;
      const doubt: Doubt = about.has(item) ? verdict.doubt : 'no_answer';
      const batchLimit = verdict.isHalved ? Math.ceil(items.length / 2) : unit.batch_limit;
      const trial = { unitId: unit.unit_id, isAnswered, batchLimit, last };
      if (verdict.units === 'again') {
        // The error does not concern the unit.
        return { ...trial, last: lastOf(unit), state: 'pending', unknownRefusals: unit.unknown_refusals, waitMs: 0 };
      }
      const unknownRefusals = countedRefusals(unit, doubt, last.message);
      const lookUpInMs = verdict.isOver && isOver ? strategy.seenAfterMs : strategy.lookUpAfterMs;
      return { ...trial, state: 'uncertain', doubt, unknownRefusals, lookUpInMs };
    });
    await this.#record(outcomes);
    if (verdict.isFailure) await this.#requests.stopFor(error, verdict.waitMs);
    // The period was closed after its periods were last read.
    if (problem === closedInErpCode && strategy.readsLocks) await readPeriods(this.#to, this.#requests, null);
  }

  /** Reads the created entries back by id or key. If that fails, the units are in doubt. */
  async #readBack(items: readonly Item[], ids: Map<string, string>): Promise<Map<string, FoundEntry[]>> {
    const { target, strategy } = this.#to;
    try {
      if (strategy.readBack === 'by_key') return (await this.#requests.find(items.map(({ unit }) => unit))).found;
      const known = [...ids.values()];
      const found = known.length === 0 ? [] : await this.#requests.ask((request) => target.read(known, request));
      return byKey(items, ids, found);
    } catch (error) {
      if (error instanceof Stopped) {
        await this.#record(items.map(({ unit }) => this.#doubtful(unit, 'no_answer', strategy.seenAfterMs)));
      }
      throw error;
    }
  }

  /**
   * Looks up units and records the outcomes; surplus drafts are deleted. Returns the drafts to post, and the absent
   * units that may be sent again.
   */
  async #lookUp(
    items: readonly Item[],
    { againMs = lookUpAgainMs } = {},
  ): Promise<{ placed: Placed[]; absent: Item[] }> {
    if (items.length === 0) return { placed: [], absent: [] };
    const { strategy, isReview } = this.#to;
    const { found, isComplete } = await this.#requests.find(items.map(({ unit }) => unit));
    const { canWithdrawDrafts, voidIsAbsent } = strategy;
    const options = { ...this.#comparing(), isComplete, isReview, canWithdrawDrafts, voidIsAbsent };
    const placed: Placed[] = [];
    const absent: Item[] = [];
    const outcomes: Outcome[] = [];
    const surplus: UnwantedDraft[] = [];
    for (const item of items) {
      const { unit, entry } = item;
      const held = found.get(entry.key) ?? [];
      const finding = classify(entry, held, options);
      const isSurplus = ({ id }: FoundEntry) => finding.is !== 'unknown' && finding.surplus.includes(id);
      surplus.push(...held.filter(isSurplus).map((draft) => unwantedOf(unit, draft)));
      switch (finding.is) {
        case 'delivered':
        case 'refused':
          outcomes.push(outcomeOf(unit, finding));
          break;
        case 'unknown':
          outcomes.push(this.#doubtful(unit, unit.doubt ?? 'no_answer', againMs));
          break;
        case 'draft':
        case 'absent': {
          const verdict = verdictOnAbsence(absentOf(unit));
          const draft = finding.is === 'draft' ? finding.draft : null;
          if (verdict.state === 'refused') {
            if (draft && strategy.canWithdrawDrafts) surplus.push(unwantedOf(unit, draft));
            outcomes.push(refusedOf(unit, verdict.code, verdict.message));
          } else if (finding.is === 'absent' && finding.differs !== null && unit.doubt === 'unseen') {
            // The last request created this draft. If the request is repeated, it creates the same draft again.
            const message = deliveryFindings.draftDeleted({ differences: finding.differs });
            outcomes.push(refusedOf(unit, 'erp_differs', message));
          } else if (draft === null) absent.push(item);
          else if (isReview) {
            outcomes.push(draftedOf(unit, draft));
          } else placed.push({ item, draftId: draft.id });
        }
      }
    }
    if (strategy.sweepsDrafts && isComplete) await this.#noteSweeps(items);
    await this.#recordAndDelete(outcomes, surplus);
    return { placed: await this.#withinLimits(placed), absent };
  }

  /**
   * A request without an answer may take effect even after the longest known time, so its units are searched for
   * surplus drafts later.
   */
  async #noteSweeps(items: readonly Item[]): Promise<void> {
    const { db, installation, lease, strategy } = this.#to;
    const ids = items.flatMap(({ unit: { unit_id: id, doubt } }) => (doubt === 'no_answer' ? id : []));
    await underLease(db, lease, (trx) => noteSweeps(trx, installation.id, ids, strategy.lookUpAfterMs));
  }

  /** The drafts that a halved batch may post now. The others stay in doubt, and are looked up again at once. */
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
    const options = { ...this.#comparing(), isComplete, isReview: true, canWithdrawDrafts: false, voidIsAbsent: false };
    const finding = classify(entry, found, options);
    const known = { id: unit.erp_id ?? '', number: unit.erp_number, date: unit.erp_date ?? entry.date };
    switch (finding.is) {
      case 'delivered':
      case 'refused':
        if (found.every(({ state }) => state === 'void'))
          return [refusedOf(unit, 'erp_draft_deleted', deliveryFindings.voided)];
        return [outcomeOf(unit, finding)];
      case 'absent':
        return [refusedOf(unit, 'erp_draft_deleted', deliveryFindings.draftGone)];
      case 'draft':
        return [draftedOf(unit, finding.draft)];
      case 'unknown':
        return [{ unitId: unit.unit_id, state: 'drafted', inErp: known, lookAgainMs: lookAtDraftsMs }];
    }
  }

  /** A successful read does not prove that the ERP accepts entries (`works`). */
  async #answered({ works } = { works: this.#works }): Promise<void> {
    const { db, lease } = this.#to;
    await underLease(db, lease, (trx) => noteAnswer(trx, lease, { works }));
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

  /**
   * Records outcomes and deletes drafts. The drafts are stored before, so that remaining ones are found later. Throws
   * Stopped.
   */
  async #recordAndDelete(outcomes: readonly Outcome[], drafts: readonly UnwantedDraft[]): Promise<void> {
    const { db, installation, lease, strategy } = this.#to;
    const areNoted = drafts.length > 0 && strategy.sweepsDrafts;
    if (areNoted) {
      await underLease(db, lease, (trx) => noteDrafts(trx, installation.id, drafts, strategy.lookUpAfterMs));
    }
    await this.#record(outcomes);
    const deleted = await this.#requests.withdrawDrafts(drafts.map(({ id }) => id));
    if (areNoted && deleted === drafts.length) {
      await underLease(db, lease, (trx) => forgetDrafts(trx, installation.id, drafts));
    }
  }

  #comparing() {
    return { capabilities: this.#capabilities, decimals: this.#to.installation.decimals };
  }

  /** The outcome of an entry that the ERP accepted but did not show when it was read back. */
  #unseen(unit: OutboxUnit): Outcome {
    const { seenAfterMs, lookUpAfterMs } = this.#to.strategy;
    const message = deliveryFindings.unseen;
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

/** A look-up by key also finds withdrawn drafts of the same key. */
function voidLast(one: FoundEntry, other: FoundEntry): number {
  return Number(one.state === 'void') - Number(other.state === 'void');
}

function unwantedOf({ unit_id: unitId }: OutboxUnit, draft: FoundEntry): UnwantedDraft {
  return { unitId, id: draft.id, digest: draftDigest(draft) };
}
