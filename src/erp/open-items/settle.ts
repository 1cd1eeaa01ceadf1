import { randomUUID } from 'node:crypto';
import { clip, visible } from '../../domain/text.ts';
import type { DeliverPorts } from '../deliver/slice.ts';
import type { FoundEntry, FoundLine } from '../entry.ts';
import { ErpError, type ErpTarget } from '../port.ts';
import { concernsErp, type HeldLine, type ItemPlan, planItem } from './plan.ts';
import {
  countTouched,
  type DeliveredLine,
  intendMatches,
  postponeItems,
  saveSettled,
  type TouchedItem,
  touchedItems,
} from './store.ts';

export type SettlePorts = Pick<DeliverPorts, 'db' | 'installation' | 'target' | 'clock' | 'signal' | 'log'>;

export interface SettleReport {
  /** Groups that were matched in the ERP, and groups that were undone. */
  matched: number;
  unmatched: number;
  /** Invoices that are still to be looked at. */
  left: number;
}

export interface SettleOptions {
  longestMs?: number;
  mostItems?: number;
}

const batchItems = 50;
const entriesPerRead = 100;
/** After so many failures of one item by itself it is told, and left until a delivery touches it again. */
const mostFailures = 3;
/** Behind everything that is delivered. */
const priority = 8;

/**
 * Matches, in the ERP, the receivable lines of invoices that deliveries have touched, once they sum to zero, and undoes groups of
 * which a line was reversed. What is delivered stays delivered, whatever goes wrong here: a request that fails leaves its items for
 * later, and what the ERP refuses is told (`openItemRemarks`). Ends after `longestMs` or `mostItems`, between two requests.
 */
export async function settleOpenItems(ports: SettlePorts, options: SettleOptions = {}): Promise<SettleReport> {
  const { db, installation, target, clock, signal, log } = ports;
  const { longestMs = 60_000, mostItems = 500 } = options;
  if (!target.matching) return { matched: 0, unmatched: 0, left: 0 };
  const until = clock.elapsed() + longestMs;
  const done = { matched: 0, unmatched: 0 };
  for (let seen = 0; seen < mostItems && clock.elapsed() < until; ) {
    signal.throwIfAborted();
    const due = await touchedItems(db, installation.id, Math.min(batchItems, mostItems - seen));
    // One that failed before is looked at by itself, so that it keeps no other from being settled.
    const fresh = due.filter(({ failures }) => failures === 0);
    const batch = fresh.length > 0 ? fresh : due.slice(0, 1);
    if (batch.length === 0) break;
    seen += batch.length;
    try {
      await settleBatch(ports, target.matching, batch, done);
    } catch (error) {
      if (signal.aborted || !(error instanceof ErpError)) throw error;
      const goesOn = await leave(ports, batch, error);
      log.info({ installation: installation.id, error: error.message, means: error.means }, 'open items wait');
      if (!goesOn) break;
    }
  }
  return { ...done, left: await countTouched(db, installation.id) };
}

type Matching = NonNullable<ErpTarget['matching']>;

async function settleBatch(
  { db, installation, target, signal }: SettlePorts,
  matching: Matching,
  batch: readonly TouchedItem[],
  done: { matched: number; unmatched: number },
): Promise<void> {
  const quiet = batch.filter(({ lines, ours }) => !concernsErp(lines, ours));
  await saveSettled(
    db,
    installation.id,
    quiet.map(({ invoiceId, touched }) => ({ invoiceId, touched, remark: null })),
    [],
  );
  const items = batch.filter((item) => !quiet.includes(item));
  if (items.length === 0) return;
  const planned = plansOf(items, await readEntries(target, items, signal));
  const intended = planned.flatMap(({ item, plan }) =>
    plan.match.map((lineIds) => ({ invoiceId: item.invoiceId, lineIds })),
  );
  const broken = planned.flatMap(({ plan }) => plan.unmatch);
  // Known before it is sent, so that what a request without an answer has made is ours, and not by hand.
  await intendMatches(db, installation.id, intended);
  if (broken.length > 0) {
    await matching.unmatch(broken, { signal, priority, attemptId: randomUUID() });
    done.unmatched += broken.length;
  }
  if (intended.length > 0) {
    await matching.match(
      intended.map(({ lineIds }) => lineIds),
      { signal, priority, attemptId: randomUUID() },
    );
    done.matched += intended.length;
  }
  const touchesErp = broken.length + intended.length > 0;
  const proven = touchesErp
    ? plansOf(
        items.map((item) => ({
          ...item,
          ours: [
            ...item.ours,
            ...intended
              .filter(({ invoiceId }) => invoiceId === item.invoiceId)
              .map(({ lineIds }) => ({ lineIds, groupId: null })),
          ],
        })),
        await readEntries(target, items, signal),
      )
    : planned;
  const settled = proven.filter(({ plan }) => plan.match.length + plan.unmatch.length === 0);
  await saveSettled(
    db,
    installation.id,
    settled.map(({ item: { invoiceId, touched }, plan: { remark } }) => ({ invoiceId, touched, remark })),
    settled.flatMap(({ item: { invoiceId }, plan }) => plan.keep.map((group) => ({ invoiceId, ...group }))),
  );
  if (settled.length < proven.length) {
    throw new ErpError('doubt', 'the ERP took the request, and its lines are not matched as they were to be');
  }
}

interface PlannedItem {
  item: TouchedItem;
  plan: ItemPlan;
}

function plansOf(items: readonly TouchedItem[], found: ReadonlyMap<string, FoundEntry>): PlannedItem[] {
  // A line of the ERP stands for one of ours, whichever invoice that is of.
  const claimed = new Set<FoundLine>();
  return items.map((item) => ({
    item,
    plan: planItem(
      item.lines.flatMap((line) => heldLine(line, found.get(line.erpId), claimed) ?? []),
      item.ours,
    ),
  }));
}

/** The line as the ERP holds it; null where it holds no such line any more, which `reconcile --erp` tells. */
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

async function readEntries(
  target: ErpTarget,
  items: readonly TouchedItem[],
  signal: AbortSignal,
): Promise<Map<string, FoundEntry>> {
  const ids = [...new Set(items.flatMap(({ lines }) => lines.map(({ erpId }) => erpId)))];
  const found = new Map<string, FoundEntry>();
  for (let from = 0; from < ids.length; from += entriesPerRead) {
    const page = await target.read(ids.slice(from, from + entriesPerRead), { signal, priority });
    for (const entry of page) found.set(entry.id, entry);
  }
  return found;
}

/** Leaves a batch that failed for later, or tells why it stays so; whether others may be tried now. */
async function leave(
  { db, installation, target }: SettlePorts,
  batch: readonly TouchedItem[],
  error: ErpError,
): Promise<boolean> {
  const ids = batch.map(({ invoiceId }) => invoiceId);
  const [only] = batch;
  const isAlone = batch.length === 1;
  if (error.means === 'refused' || error.means === 'duplicate') {
    const remark = `the ERP refuses to match its lines: ${visible(clip(error.message, 300))}`;
    if (isAlone && only !== undefined) {
      // A refusal is not repeated until a delivery touches the invoice again. Its groups stay known as they were.
      const groups = only.ours.map((group) => ({ invoiceId: only.invoiceId, ...group }));
      await saveSettled(db, installation.id, [{ ...only, remark }], groups);
    } else await postponeItems(db, installation.id, ids, { seconds: 0, remark: null });
    return true;
  }
  if (error.means === 'doubt') {
    const seconds = target.capabilities.doubt.server_may_work_seconds + target.capabilities.key.lookup_lag_seconds + 1;
    const isLast = isAlone && (only?.failures ?? 0) + 1 >= mostFailures;
    const remark = isLast ? `its lines could not be matched: ${visible(clip(error.message, 300))}` : null;
    await postponeItems(db, installation.id, ids, { seconds: isLast ? 3_600 : seconds, remark });
    return false;
  }
  // Locked, throttled, signed out or unreachable: nothing of it is the items' own.
  return false;
}
