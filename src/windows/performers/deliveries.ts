import { type AskedAction, askedBy } from '../../actions/asking.ts';
import { checkShown, hashOfEffect } from '../../actions/record.ts';
import { isDelivered, isFileTarget } from '../../config/erp.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { Connection } from '../../db/rows.ts';
import { UserError } from '../../domain/errors.ts';
import { companyKeyOf } from '../../erp/company.ts';
import { approveUnits } from '../../erp/outbox/state.ts';
import { retryOrRedo, undoUnits } from '../../erp/outbox/undo.ts';
import { ackBatch } from '../../erp/targets/files/ack.ts';
import { barredError, isBarred } from '../../ledger/adoption.ts';
import {
  ackRequest,
  approvalEffect,
  approveRequest,
  batchEffect,
  retryEffect,
  retryRequest,
  undoEffect,
  undoRequest,
} from '../../queries/asked-delivery.ts';
import { readDatabaseId } from '../../runtime/app.ts';
import { actionErrors } from '../../texts/errors/actions.ts';
import type { Perform } from './performer.ts';

/** Throws UserError if the effect is none, or another one than the person saw. */
function requireShown({ shownHash }: AskedAction, effect: object | null): void {
  if (effect === null) throw new UserError(actionErrors.noEffect(), 1);
  checkShown(shownHash, hashOfEffect(effect));
}

/** Throws UserError if the installation delivers nothing, or if its database is a copy that must not deliver. */
async function requireDelivery(trx: Connection, { id, erp }: InstallationConfig): Promise<void> {
  const key = companyKeyOf(erp);
  if (key === null || !isDelivered(erp)) throw new UserError(actionErrors.noEffect(), 1);
  if (await isBarred(trx, { kind: 'company', key })) throw new UserError(barredError(id), 2);
}

export const performApproval: Perform = async (trx, installation, action) => {
  await requireDelivery(trx, installation);
  const { through } = approveRequest.parse(action.input);
  const effect = await approvalEffect(trx, installation.id, through);
  requireShown(action, effect.entries === 0 ? null : effect);
  await approveUnits(trx, installation.id, through, askedBy(action));
};

export const performResend: Perform = async (trx, installation, action) => {
  await requireDelivery(trx, installation);
  const request = retryRequest.parse(action.input);
  const effect = await retryEffect(trx, installation.id, request);
  requireShown(action, effect.units.length === 0 ? null : effect);
  const ids = request.units === 'all' ? null : request.units;
  await retryOrRedo(trx, await scopeOf(trx, installation), ids, askedBy(action));
};

export const performUndo: Perform = async (trx, installation, action) => {
  await requireDelivery(trx, installation);
  const range = undoRequest.parse(action.input);
  const effect = await undoEffect(trx, installation.id, range);
  requireShown(action, effect.reversed + effect.withheld === 0 ? null : effect);
  await undoUnits(trx, await scopeOf(trx, installation), { from: range.from, to: range.to }, askedBy(action));
};

/** Records that a file was imported. A file that was acknowledged before is refused, because nothing would change. */
export const performAck: Perform = async (trx, { id, erp }, action) => {
  const { batch: number } = ackRequest.parse(action.input);
  requireShown(action, await batchEffect(trx, id, number));
  const folder = isFileTarget(erp) ? erp.folder : null;
  await ackBatch(trx, { installation: id, number, folder }, askedBy(action));
};

async function scopeOf(trx: Connection, { id: installation }: InstallationConfig) {
  return { installation, databaseId: await readDatabaseId(trx) };
}
