import { changedIdentity } from '../src/bookkeeping/identity.ts';
import { withMappingInForce } from '../src/bookkeeping/mapping-versions.ts';
import { isDelivered } from '../src/config/erp.ts';
import type { InstallationConfig } from '../src/config/load-config.ts';
import { postgresText } from '../src/domain/text.ts';
import { companyKeyOf } from '../src/erp/company.ts';
import { deliveryCounts, dueWork, pauseOf } from '../src/erp/outbox/outbox-queries.ts';
import { pauseDelivery, resumeDelivery } from '../src/erp/outbox/state.ts';
import { barredError, isBarred } from '../src/ledger/adoption.ts';
import { deliveryErrors } from '../src/texts/errors/deliveries.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { stepTexts } from '../src/texts/steps.ts';
import type { DeliveryInput, DeliveryReport, HoldNote } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { isServedElsewhere } from './elsewhere.ts';
import { readPeriods } from './erp-periods.ts';
import { emitDelivery } from './events.ts';
import { plainErrorOf } from './failures.ts';
import { ownHolder, withHeartbeat, withSimpleHeartbeat } from './heartbeat.ts';
import { writeNumbersBack } from './write-back.ts';

/** Limit of the request that starts a delivery at the end of a window. */
const requestTimeoutMs = 10_000;

/**
 * Pause before the next slice, if this process does not serve the installation. Another process may take that slice.
 */
const elsewherePauseMs = 1_000;

/**
 * Time limits for matching open items and for writing numbers back: the first one applies while entries are left to
 * send.
 */
const besideBacklogMs = 5_000;
const afterBacklogMs = 60_000;

export function deliverActivities(deps: ActivityDeps) {
  return {
    /**
     * Pauses or resumes the delivery of an installation after a signal from the Temporal UI. `vetledger pause
     * --delivery` does the same.
     */
    async holdDelivery({ installation }: DeliveryInput, isPause: boolean, { reason, by }: HoldNote): Promise<void> {
      const actedBy = { reason: postgresText(reason), actedBy: postgresText(by) };
      await withSimpleHeartbeat(() =>
        deps.db.transaction((trx) => (isPause ? pauseDelivery : resumeDelivery)(trx, installation, actedBy)),
      );
    },

    /** Delivers the due units of an installation for some minutes. The report says how many units remain. */
    async deliverSlice(input: DeliveryInput): Promise<DeliveryReport> {
      const { delivery } = deps;
      const known = deps.installations.get(input.installation);
      if (await isServedElsewhere(deps, input.installation)) return { ...nothingDue, nextDueMs: elsewherePauseMs };
      if (!delivery || !known || !isDelivered(known.erp)) return nothingDue;
      return withHeartbeat(deps, input, async (heartbeat) => {
        const configured = await withMappingInForce(deps.db, known);
        const obstacle = await obstacleOf(deps, configured);
        if (obstacle !== null) return ended(deps, configured, { settled: 0, nextDueMs: null, waitingFor: obstacle });
        heartbeat.beat({ step: stepTexts.delivering, done: 0, total: null });
        await delivery.enqueue(configured);
        const slice = await delivery.slice({
          installation: configured,
          holder: ownHolder(),
          signal: heartbeat.signal,
          pause: heartbeat.pause,
          onProgress: ({ delivered, left }) =>
            heartbeat.beat({ step: stepTexts.delivering, done: delivered, total: delivered + left }),
        });
        const { delivered, refused, left, nextDueMs, waitingFor } = slice;
        // Entries are sent first, since matching and write-back depend on them.
        const longestMs = left > 0 && waitingFor === null ? besideBacklogMs : afterBacklogMs;
        heartbeat.beat({ step: stepTexts.matching, done: 0, total: null });
        const items =
          waitingFor === null
            ? await delivery.matchItems(
                { installation: configured, holder: ownHolder(), signal: heartbeat.signal },
                { longestMs },
              )
            : { matched: 0, nextDueMs: null };
        if (waitingFor === null) await readPeriods(deps, configured, heartbeat);
        const numbers = await writeNumbersBack(deps, configured, heartbeat, longestMs);
        const report = await ended(deps, configured, {
          settled: delivered + refused + items.matched + numbers.written,
          nextDueMs: earlier(nextDueMs, earlier(items.nextDueMs, numbers.nextDueMs)),
          waitingFor: waitingFor === null ? numbers.waitingFor : plainErrorOf(waitingFor),
        });
        emitDelivery(deps, input.installation, report, { delivered, refused });
        return report;
      });
    },
  };
}

/** The earlier of two times until something is due; null means never. */
function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

const nothingDue: DeliveryReport = {
  ...{ settled: 0, delivered: 0, refused: 0, uncertain: 0, drafted: 0, left: 0, unapproved: 0 },
  ...{ nextDueMs: null, waitingFor: null },
};

/** The reason why no unit of an installation may be delivered until an operator acts; null if there is none. */
async function obstacleOf({ db }: ActivityDeps, installation: InstallationConfig): Promise<PlainError | null> {
  // The books of another clinic must not get into this clinic's ERP.
  const changed = await changedIdentity(db, installation);
  if (changed !== null) return changed;
  const company = companyKeyOf(installation.erp);
  if (company !== null && (await isBarred(db, { kind: 'company', key: company }))) return barredError(installation.id);
  const pause = await pauseOf(db, installation.id);
  return pause && deliveryErrors.paused({ installation: installation.id, by: pause.acted_by, reason: pause.reason });
}

async function ended(
  { db }: ActivityDeps,
  { id }: InstallationConfig,
  slice: Pick<DeliveryReport, 'settled' | 'nextDueMs' | 'waitingFor'>,
): Promise<DeliveryReport> {
  return { ...slice, ...(await deliveryCounts(db, id)) };
}

/**
 * Runs at the end of a window: puts the posted units into the outbox and requests their delivery. A failure here never
 * fails the window, and the window does not wait for the ERP. The daemon starts a delivery every five minutes, which
 * makes up for a failure.
 */
export async function requestDelivery(deps: ActivityDeps, installation: number): Promise<void> {
  const { delivery, db, log } = deps;
  const configured = deps.installations.get(installation);
  if (!delivery || !configured || !isDelivered(configured.erp)) return;
  try {
    await delivery.enqueue(configured);
  } catch (err) {
    log.warn({ err, installation }, 'the posted units are not in the outbox yet; the next delivery adds them');
  }
  try {
    const { nextDueMs } = await dueWork(db, installation);
    if (nextDueMs !== null) await deps.requestDelivery?.(installation, requestTimeoutMs);
  } catch (err) {
    log.warn({ err, installation }, 'the delivery could not be started; the daemon starts it within five minutes');
  }
}
