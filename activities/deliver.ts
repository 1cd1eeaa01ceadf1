import { changedIdentity } from '../src/bookkeeping/identity.ts';
import { withMappingInForce } from '../src/bookkeeping/mapping-versions.ts';
import { isDelivered } from '../src/config/erp.ts';
import type { InstallationConfig } from '../src/config/load-config.ts';
import { storable } from '../src/domain/text.ts';
import { companyKeyOf } from '../src/erp/company.ts';
import { deliveryCounts, dueWork, pauseOf } from '../src/erp/outbox/questions-of-outbox.ts';
import { pauseDelivery, resumeDelivery } from '../src/erp/outbox/state.ts';
import { barredError, isBarred } from '../src/ledger/adoption.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import type { DeliveryInput, DeliveryReport, HoldNote } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { isServedElsewhere } from './elsewhere.ts';
import { readPeriods } from './erp-periods.ts';
import { tellDelivery } from './events.ts';
import { plainErrorOf } from './failures.ts';
import { beating, ownHolder, withHeartbeat } from './heartbeat.ts';
import { tellNumbers } from './write-back.ts';

/** How long a request to begin a delivery may take at the end of a window. */
const requestTimeoutMs = 10_000;

/** After so long the next slice may come to a process that serves the installation. */
const elsewherePauseMs = 1_000;

/** How long open items are matched, and numbers written back, after a slice that leaves entries to send, and after one that does not. */
const besideBacklogMs = 5_000;
const afterBacklogMs = 60_000;

export function deliverActivities(deps: ActivityDeps) {
  return {
    /** Pauses or resumes an installation's delivery, as `vetledger pause --delivery` does, for somebody in Temporal. */
    async holdDelivery({ installation }: DeliveryInput, isPause: boolean, { reason, by }: HoldNote): Promise<void> {
      const actedBy = { reason: storable(reason), actedBy: storable(by) };
      await beating(() =>
        deps.db.transaction((trx) => (isPause ? pauseDelivery : resumeDelivery)(trx, installation, actedBy)),
      );
    },

    /** Delivers for some minutes what is due of an installation, and tells what is left. */
    async deliverSlice(input: DeliveryInput): Promise<DeliveryReport> {
      const { delivery } = deps;
      const known = deps.installations.get(input.installation);
      if (await isServedElsewhere(deps, input.installation)) return { ...nothingDue, nextDueMs: elsewherePauseMs };
      if (!delivery || !known || !isDelivered(known.erp)) return nothingDue;
      return withHeartbeat(deps, input, async (heartbeat) => {
        const configured = await withMappingInForce(deps.db, known);
        const obstacle = await obstacleOf(deps, configured);
        if (obstacle !== null) return ended(deps, configured, { settled: 0, nextDueMs: null, waitingFor: obstacle });
        heartbeat.beat({ step: 'delivering', done: 0, total: null });
        await delivery.enqueue(configured);
        const slice = await delivery.slice({
          installation: configured,
          holder: ownHolder(),
          signal: heartbeat.signal,
          pause: heartbeat.pause,
          onProgress: ({ delivered, left }) =>
            heartbeat.beat({ step: 'delivering', done: delivered, total: delivered + left }),
        });
        const { delivered, refused, left, nextDueMs, waitingFor } = slice;
        // Entries go before what follows from them.
        const longestMs = left > 0 && waitingFor === null ? besideBacklogMs : afterBacklogMs;
        heartbeat.beat({ step: 'matching open items', done: 0, total: null });
        const items =
          waitingFor === null
            ? await delivery.matchItems(
                { installation: configured, holder: ownHolder(), signal: heartbeat.signal },
                { longestMs },
              )
            : { matched: 0, nextDueMs: null };
        if (waitingFor === null) await readPeriods(deps, configured, heartbeat);
        const numbers = await tellNumbers(deps, configured, heartbeat, longestMs);
        const report = await ended(deps, configured, {
          settled: delivered + refused + items.matched + numbers.written,
          nextDueMs: earlier(nextDueMs, earlier(items.nextDueMs, numbers.nextDueMs)),
          waitingFor: waitingFor === null ? numbers.waitingFor : plainErrorOf(waitingFor),
        });
        tellDelivery(deps, input.installation, report, { delivered, refused });
        return report;
      });
    },
  };
}

/** The earlier of two times until something is due; null: never. */
function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

const nothingDue: DeliveryReport = {
  ...{ settled: 0, delivered: 0, refused: 0, uncertain: 0, drafted: 0, left: 0, unapproved: 0 },
  ...{ nextDueMs: null, waitingFor: null },
};

/** Why nothing of an installation is delivered until somebody does something; null where nothing keeps it. */
async function obstacleOf({ db }: ActivityDeps, installation: InstallationConfig): Promise<PlainError | null> {
  // The books of another clinic must not get into this one's ERP.
  const changed = await changedIdentity(db, installation);
  if (changed !== null) return changed;
  const company = companyKeyOf(installation.erp);
  if (company !== null && (await isBarred(db, { kind: 'company', key: company }))) return barredError(installation.id);
  const pause = await pauseOf(db, installation.id);
  return (
    pause && {
      code: 'delivery_paused',
      message: `the delivery of installation ${installation.id} was paused by ${pause.acted_by}: ${pause.reason}`,
      todo: 'Run `vetledger deliver resume` when it may go on.',
    }
  );
}

async function ended(
  { db }: ActivityDeps,
  { id }: InstallationConfig,
  slice: Pick<DeliveryReport, 'settled' | 'nextDueMs' | 'waitingFor'>,
): Promise<DeliveryReport> {
  return { ...slice, ...(await deliveryCounts(db, id)) };
}

/**
 * At the end of a window: puts what it posted into the outbox, and asks for its delivery. Nothing of it fails the window, nor does
 * it wait for the ERP; what fails here, the next delivery does, which the daemon begins every five minutes.
 */
export async function requestDelivery(deps: ActivityDeps, installation: number): Promise<void> {
  const { delivery, db, log } = deps;
  const configured = deps.installations.get(installation);
  if (!delivery || !configured || !isDelivered(configured.erp)) return;
  try {
    await delivery.enqueue(configured);
  } catch (err) {
    log.warn({ err, installation }, 'what was posted is not in the outbox yet; the next delivery puts it there');
  }
  try {
    const { nextDueMs } = await dueWork(db, installation);
    if (nextDueMs !== null) await deps.requestDelivery?.(installation, requestTimeoutMs);
  } catch (err) {
    log.warn({ err, installation }, 'the delivery was not begun; the daemon begins it within five minutes');
  }
}
