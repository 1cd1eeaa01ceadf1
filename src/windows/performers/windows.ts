import type { AskedAction } from '../../actions/asking.ts';
import { checkShown, hashOfEffect } from '../../actions/record.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { AskedKind } from '../../console/users/permitted-actions.ts';
import type { Connection } from '../../db/rows.ts';
import { UserError } from '../../domain/errors.ts';
import {
  cancelRequest,
  type Priced,
  planReading,
  pricedBy,
  pricedRequest,
  readingRequest,
} from '../../queries/asked-windows.ts';
import { pausesNow } from '../../queries/pauses.ts';
import { runningWork } from '../../queries/running-work.ts';
import { windowPaces } from '../../sync/schedule-state.ts';
import { actionErrors } from '../../texts/errors/actions.ts';
import type { AskedWindows } from '../asked-windows.ts';
import type { PerformPorts } from './performer.ts';

/** The work of an action outside PostgreSQL. Returns the result that the outcome records. */
type Work = (windows: AskedWindows) => Promise<object>;

/**
 * Performs an action outside PostgreSQL. The daemon may end between the work and the record of its outcome, and then calls both
 * functions again.
 */
export interface OutsidePerformer {
  /** The result of work that an earlier call has done. Null if there is none, or if the work may be repeated. */
  done?(
    db: Connection,
    installation: InstallationConfig,
    action: AskedAction,
    windows: AskedWindows,
  ): Promise<object | null>;
  /** Checks the action in a transaction. Throws UserError if it is not possible, or differs from what the person saw. */
  prepare(
    trx: Connection,
    installation: InstallationConfig,
    action: AskedAction,
    ports: Pick<PerformPorts, 'clock'>,
  ): Promise<Work>;
}

const price: OutsidePerformer = {
  async prepare(trx, installation, { input, shownHash }, { clock }) {
    const request = readingRequest.parse(input);
    const { spans, plan } = await planReading(trx, installation, request, clock());
    checkShown(shownHash, plan);
    return async (windows) => ({ plan, cost: await windows.price(installation, request, spans) });
  },
};

/** The reading that an action asks for. Throws UserError if it was not priced. */
async function pricedReading(db: Connection, { id }: InstallationConfig, { input }: AskedAction): Promise<Priced> {
  const { price: action } = pricedRequest.parse(input);
  const priced = await pricedBy(db, id, action);
  if (priced === null) throw new UserError(actionErrors.noEffect(), 1);
  return priced;
}

/** A replay or a backfill. The id of its workflow contains the number of the action, so that it starts once. */
const start: OutsidePerformer = {
  async done(db, installation, action, windows) {
    const { request } = await pricedReading(db, installation, action);
    return windows.startedBy(installation.id, action.id, request);
  },
  async prepare(trx, installation, action, { clock }) {
    const { request, result } = await pricedReading(trx, installation, action);
    const isBackfill = request.read === 'backfill';
    if (isBackfill !== (action.kind === 'backfill_windows')) throw new UserError(actionErrors.noEffect(), 1);
    const { plan, spans } = await planReading(trx, installation, request, clock());
    if (!isBackfill && spans.length === 0) throw new UserError(actionErrors.noEffect(), 1);
    checkShown(action.shownHash, hashOfEffect(result));
    checkShown(result.plan, plan);
    return (windows) => windows.start(installation.id, action.id, request);
  },
};

/** Cancels the runs that were shown, and no others. A run that has ended meanwhile stays as it is. */
const cancel: OutsidePerformer = {
  async prepare(trx, { id }, { input, shownHash }) {
    const { runs } = cancelRequest.parse(input);
    checkShown(shownHash, hashOfEffect(runs));
    const running = await runningWork(trx, id);
    const left = running.filter(({ runId }) => runs.some((shown) => shown.runId === runId));
    return async (windows) => {
      const asked = await windows.cancel(id, left);
      return { workflows: asked.filter(({ state }) => state !== 'gone').map(({ workflow_id }) => workflow_id) };
    };
  },
};

/** Opens a window. A window that has opened since the request has read what the person wants. */
const nudge: OutsidePerformer = {
  async prepare(trx, { id }, { askedAt }) {
    const [pace] = await windowPaces(trx, [id], 0);
    if (pace?.openedAt && pace.openedAt >= askedAt) return async () => ({ state: 'opened' });
    return async (windows) => {
      const state = await windows.nudge(id);
      if (state === 'paused') throw new UserError(actionErrors.windowsPaused(), 1);
      if (state === 'no schedule') throw new UserError(actionErrors.noSchedule(), 1);
      return { state };
    };
  },
};

/** Starts a delivery of the units that wait. */
const deliver: OutsidePerformer = {
  async prepare(trx, installation) {
    const { delivery } = await pausesNow(trx, installation);
    if (delivery === undefined) throw new UserError(actionErrors.noEffect(), 1);
    if (delivery !== null) throw new UserError(actionErrors.deliveryPaused(), 1);
    return async (windows) => {
      await windows.requestDelivery(installation.id);
      return {};
    };
  },
};

const endDelivery: OutsidePerformer = {
  prepare:
    async (_, { id }) =>
    async (windows) => {
      const asked = await windows.cancelDelivery(id);
      return { workflows: asked.map(({ workflow_id }) => workflow_id) };
    },
};

export const outsidePerformers = {
  price_windows: price,
  replay_windows: start,
  backfill_windows: start,
  cancel_windows: cancel,
  nudge_windows: nudge,
  nudge_delivery: deliver,
  cancel_delivery: endDelivery,
} satisfies Partial<Record<AskedKind, OutsidePerformer>>;
export type OutsideKind = keyof typeof outsidePerformers;

export function isOutside(kind: AskedKind): kind is OutsideKind {
  return Object.hasOwn(outsidePerformers, kind);
}
