import { randomUUID } from 'node:crypto';
import { LeaseLost, renewLease, underLease } from '../../db/lease.ts';
import { keepLease } from '../../db/with-lease.ts';
import { redact } from '../../domain/redact.ts';
import { visible } from '../../domain/text.ts';
import { deliveryFindings } from '../../texts/findings/delivery.ts';
import { erpAnswerTexts } from '../../texts/findings/erp-answers.ts';
import { answeredCompany, useCompanyName } from '../company-identity.ts';
import { type CompanyLease, noteDoubtsResolved, takeCompany } from '../company-lease.ts';
import type { DeliverPorts } from '../deliver/slice.ts';
import { companyKey } from '../entry-key.ts';
import type { FoundEntry, FoundLine } from '../erp-entry.ts';
import { erpPriorities, Pace } from '../erp-pace.ts';
import { isSendingTo } from '../outbox/outbox-queries.ts';
import { ErpError, type ErpTarget, type WriteOptions } from '../port.ts';
import { strategyOf } from '../strategy.ts';
import { concernsErp, type HeldLine, type ItemPlan, planItem } from './item-plan.ts';
import {
  countTouched,
  type DeliveredLine,
  intendMatches,
  postponeItems,
  saveMatched,
  type TouchedItem,
  touchedItems,
} from './item-store.ts';
import { isClientItem } from './prepayment-parts.ts';

export type MatchPorts = Pick<DeliverPorts, 'db' | 'installation' | 'target' | 'holder' | 'clock' | 'signal' | 'log'>;

export interface MatchReport {
  /** Number of groups that were matched, and of groups that were undone. */
  matched: number;
  unmatched: number;
  /** Number of items that still have to be processed. */
  left: number;
}

export interface MatchOptions {
  longestMs?: number;
  mostItems?: number;
}

const batchItems = 50;
const entriesPerRead = 100;
/** After this number of failures, an item that was tried alone gets a remark. */
const mostFailures = 3;

/**
 * Matches lines of receivables and of prepayments in the ERP. It processes the invoices, and the clients with
 * prepayments, that deliveries have changed: it matches lines that sum to zero, and undoes groups with a reversed line. Errors never change a unit's delivery: failed items are tried
 * again later, and refused ones get a remark (`openItemRemarks`). It ends after `longestMs` or `mostItems`, between two
 * batches.
 */
export async function matchOpenItems(ports: MatchPorts, options: MatchOptions = {}): Promise<MatchReport> {
  const { db, installation, target, clock, signal } = ports;
  const { longestMs = 60_000, mostItems = 500 } = options;
  if (!target.matching) return { matched: 0, unmatched: 0, left: 0 };
  const until = clock.elapsed() + longestMs;
  const matcher = new Matcher(ports, target.matching);
  for (let seen = 0; seen < mostItems && clock.elapsed() < until; ) {
    signal.throwIfAborted();
    const due = await touchedItems(db, installation.id, Math.min(batchItems, mostItems - seen));
    // An item that failed before is tried alone, so that it does not block others.
    const fresh = due.filter(({ failures }) => failures === 0);
    const batch = fresh.length > 0 ? fresh : due.slice(0, 1);
    if (batch.length === 0) break;
    seen += batch.length;
    const relevant = batch.filter(({ lines, ours }) => concernsErp(lines, ours));
    await matcher.markMatched(batch.filter((item) => !relevant.includes(item)));
    if (relevant.length > 0 && !(await matcher.batch(relevant))) break;
  }
  const { matched, unmatched } = matcher;
  return { matched, unmatched, left: await countTouched(db, installation.id) };
}

type Matching = NonNullable<ErpTarget['matching']>;

class Matcher {
  matched = 0;
  unmatched = 0;
  readonly #ports: MatchPorts;
  readonly #matching: Matching;
  readonly #pace: Pace;
  readonly #lookUpAfterMs: number;

  constructor(ports: MatchPorts, matching: Matching) {
    const { capabilities, company } = ports.target;
    this.#ports = ports;
    this.#matching = matching;
    this.#pace = new Pace(ports, companyKey(company), ports.target);
    this.#lookUpAfterMs = strategyOf(capabilities).lookUpAfterMs;
  }

  /** Marks items as matched that need no request. */
  async markMatched(items: readonly TouchedItem[]): Promise<void> {
    if (items.length === 0) return;
    const { db, installation } = this.#ports;
    const matched = items.map(({ item, touched }) => ({ item, touched, remark: null }));
    await db.transaction((trx) => saveMatched(trx, installation.id, matched, []));
  }

  /** Processes one batch under the company's lease. Returns whether another batch may follow. */
  async batch(items: readonly TouchedItem[]): Promise<boolean> {
    const { db, target, holder, clock, signal, log, installation } = this.#ports;
    const taken = await takeCompany(db, target.company, holder, { mayWorkMs: this.#lookUpAfterMs });
    if (taken.lease === null) return false;
    const { lease, lookUpInMs, waitMs } = taken;
    try {
      return await keepLease({ db, clock, signal }, lease, async ({ signal: held }) => {
        if (waitMs > 0 || !(await this.#hasFinished(lease, lookUpInMs))) return false;
        try {
          if (!(await this.#isNameInUse(lease, held))) return false;
          await this.#match(lease, items, held);
          return true;
        } catch (error) {
          if (held.aborted || !(error instanceof ErpError)) throw error;
          log.info(
            { installation: installation.id, error: errorText(error), means: error.means },
            'open items are matched later',
          );
          return this.#leave(lease, items, error);
        }
      });
    } catch (error) {
      if (error instanceof LeaseLost) return false;
      throw error;
    }
  }

  /**
   * Whether the ERP has finished all requests of a former lease holder. Deliveries look up the units of these requests
   * first.
   */
  async #hasFinished(lease: CompanyLease, lookUpInMs: number | null): Promise<boolean> {
    const { db } = this.#ports;
    if (lookUpInMs === null) return true;
    if (lookUpInMs > 0 || (await isSendingTo(db, lease.company))) return false;
    await underLease(db, lease, (trx) => noteDoubtsResolved(trx, lease));
    return true;
  }

  /** Whether the configured name of the company is in use. If it is not, deliveries report why. */
  async #isNameInUse(lease: CompanyLease, signal: AbortSignal): Promise<boolean> {
    const { db, target, installation, holder, clock } = this.#ports;
    const answered = await answeredCompany(target, this.#pace, { signal, priority: erpPriorities.review });
    const naming = {
      db,
      installation: installation.id,
      configured: target.company,
      answered,
      currency: installation.currency,
      holder,
      clock,
      signal,
    };
    return (await useCompanyName({ ...naming, mayWorkMs: this.#lookUpAfterMs }, lease)) === null;
  }

  async #match(lease: CompanyLease, touched: readonly TouchedItem[], signal: AbortSignal): Promise<void> {
    const { db, installation } = this.#ports;
    const items = await this.#matchable(touched, signal);
    const planned = plansOf(items, await this.#read(items, signal));
    const intended = planned.flatMap(({ item, plan }) => plan.match.map((lineIds) => ({ item: item.item, lineIds })));
    const broken = planned.flatMap(({ plan }) => plan.unmatch);
    // Stored before the request: if it ends without an answer, its groups are still recognised as ours.
    if (intended.length > 0) await underLease(db, lease, (trx) => intendMatches(trx, installation.id, intended));
    if (broken.length > 0) {
      await this.#write(lease, signal, (request) => this.#matching.unmatch(broken, request));
      this.unmatched += broken.length;
    }
    if (intended.length > 0) {
      const groups = intended.map(({ lineIds }) => lineIds);
      await this.#write(lease, signal, (request) => this.#matching.match(groups, request));
      this.matched += intended.length;
    }
    // The lines are read back, because a successful answer does not prove the match.
    const proven =
      broken.length + intended.length === 0
        ? planned
        : plansOf(withIntended(items, intended), await this.#read(items, signal));
    const alreadyMatched = proven.filter(({ plan }) => plan.match.length + plan.unmatch.length === 0);
    await underLease(db, lease, (trx) =>
      saveMatched(
        trx,
        installation.id,
        alreadyMatched.map(({ item: { item, touched }, plan: { remark } }) => ({ item, touched, remark })),
        alreadyMatched.flatMap(({ item: { item }, plan }) => plan.keep.map((group) => ({ item, ...group }))),
      ),
    );
    if (alreadyMatched.length < proven.length) {
      throw new ErpError('doubt', erpAnswerTexts.notMatched);
    }
  }

  /**
   * The items without lines on accounts of prepayments that the ERP does not match, which stay open there. `erp check`
   * names such accounts.
   */
  async #matchable(items: readonly TouchedItem[], signal: AbortSignal): Promise<TouchedItem[]> {
    const isPrepayment = ({ item }: TouchedItem) => isClientItem(item);
    const accounts = new Set(items.filter(isPrepayment).flatMap(({ lines }) => lines.map(({ account }) => account)));
    const ask = this.#matching.unmatchable?.bind(this.#matching);
    if (accounts.size === 0 || ask === undefined) return [...items];
    const request = { signal, priority: erpPriorities.review };
    const without = await this.#pace.run(request, (counted) => ask(accounts, counted));
    return items.map((item) =>
      isPrepayment(item) ? { ...item, lines: item.lines.filter(({ account }) => !without.has(account)) } : item,
    );
  }

  async #read(items: readonly TouchedItem[], signal: AbortSignal): Promise<Map<string, FoundEntry>> {
    const ids = [...new Set(items.flatMap(({ lines }) => lines.map(({ erpId }) => erpId)))];
    const accounts = [...new Set(items.flatMap(({ lines }) => lines.map(({ account }) => account)))];
    const request = { signal, priority: erpPriorities.review };
    const found = new Map<string, FoundEntry>();
    for (let from = 0; from < ids.length; from += entriesPerRead) {
      const wanted = ids.slice(from, from + entriesPerRead);
      const page = await this.#pace.run(request, (counted) => this.#ports.target.read(wanted, counted, { accounts }));
      for (const entry of page) found.set(entry.id, entry);
    }
    return found;
  }

  async #write(
    lease: CompanyLease,
    signal: AbortSignal,
    send: (request: WriteOptions) => Promise<void>,
  ): Promise<void> {
    const request = { signal, priority: erpPriorities.review, attemptId: randomUUID() };
    await this.#pace.run(request, async (counted) => {
      if (!(await renewLease(this.#ports.db, lease))) throw new LeaseLost(lease);
      await send(counted);
    });
  }

  /**
   * Handles a failed batch: its items are tried later, or a single item gets a remark. Returns whether other items may
   * be tried now.
   */
  async #leave(lease: CompanyLease, batch: readonly TouchedItem[], error: ErpError): Promise<boolean> {
    const { db, installation } = this.#ports;
    const [only] = batch;
    const alone = batch.length === 1 && only !== undefined ? only : null;
    const postpone = (seconds: number) => {
      const ids = batch.map(({ item }) => item);
      return underLease(db, lease, (trx) => postponeItems(trx, installation.id, ids, seconds));
    };
    // The item is then left until a delivery changes the invoice, or a day has passed.
    const remarkOn = (item: TouchedItem, remark: string) =>
      underLease(db, lease, (trx) => saveMatched(trx, installation.id, [{ ...item, remark }], null));
    if (error.means === 'refused' || error.means === 'duplicate') {
      if (alone === null) await postpone(0);
      else await remarkOn(alone, deliveryFindings.matchRefused({ reason: errorText(error) }));
      return true;
    }
    // Locked, throttled, logged out or unreachable: the items are not the cause.
    if (error.means !== 'doubt') return false;
    if (alone !== null && alone.failures + 1 >= mostFailures)
      await remarkOn(alone, deliveryFindings.matchFailed({ reason: errorText(error) }));
    else await postpone(this.#lookUpAfterMs / 1_000 + 1);
    return false;
  }
}

function errorText({ message }: ErpError): string {
  return visible(redact(message, 300));
}

function withIntended(
  items: readonly TouchedItem[],
  intended: readonly { item: string; lineIds: readonly string[] }[],
): TouchedItem[] {
  const made = Map.groupBy(intended, ({ item }) => item);
  return items.map((item) => {
    const groups = (made.get(item.item) ?? []).map(({ lineIds }) => ({ lineIds, groupId: null }));
    return { ...item, ours: [...item.ours, ...groups] };
  });
}

interface PlannedItem {
  item: TouchedItem;
  plan: ItemPlan;
}

function plansOf(items: readonly TouchedItem[], found: ReadonlyMap<string, FoundEntry>): PlannedItem[] {
  // Each line of the ERP is assigned to one of our lines only, across all invoices.
  const claimed = new Set<FoundLine>();
  return items.map((item) => ({
    item,
    plan: planItem(
      item.lines.flatMap((line) => heldLine(line, found.get(line.erpId), claimed) ?? []),
      item.ours,
    ),
  }));
}

/** The line as the ERP holds it. Null if the ERP no longer has it; `reconcile --erp` reports that. */
function heldLine(line: DeliveredLine, entry: FoundEntry | undefined, claimed: Set<FoundLine>): HeldLine | null {
  if (entry?.state !== 'posted') return null;
  const found = entry.lines.find(
    (each) =>
      each.id !== null && each.account === line.account && each.amount.equals(line.amount) && !claimed.has(each),
  );
  if (found === undefined || found.id === null) return null;
  claimed.add(found);
  return { ...line, id: found.id, party: found.party, matched: found.matched };
}
