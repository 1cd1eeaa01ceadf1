import { visible } from '../../../domain/text.ts';
import type { JsonObject } from '../../../records/json.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { asId, readAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { keepLines } from './load.ts';

type Calls = Pick<OdooCalls, 'all' | 'call'>;

/**
 * Deletes those of the moves that are drafts; what is gone already is left out, since Odoo would refuse all of them. A draft whose
 * number others follow (17 gives the first of a month one) cannot be deleted before the number is taken from it. That is done after a
 * refusal only, for what is a draft still: Odoo takes the number from a posted move as well. Throws ErpError.
 */
export async function deleteDrafts(calls: Calls, ids: readonly number[], request: RequestOptions): Promise<void> {
  const drafts = await draftsAmong(calls, ids, request);
  if (drafts.length === 0) return;
  try {
    await write(calls, 'unlink', drafts, request);
  } catch (error) {
    if (!(error instanceof ErpError) || error.means !== 'refused') throw error;
    const left = await draftsAmong(calls, ids, request);
    const numbered = left.filter(({ name }) => typeof name === 'string' && name !== '/');
    if (numbered.length === 0 && left.length === drafts.length) throw error;
    if (numbered.length > 0) await write(calls, 'write', numbered, request, { vals: { name: '/' } });
    if (left.length > 0) await write(calls, 'unlink', left, request);
  }
}

/** Throws ErpError where one of them was posted before: whoever reset it to draft has something in mind. */
async function draftsAmong(calls: Calls, ids: readonly number[], request: RequestOptions): Promise<JsonObject[]> {
  const domain = [
    ['id', 'in', [...ids]],
    ['state', '=', 'draft'],
  ];
  const drafts = await calls.all('account.move', { domain, fields: ['name', 'posted_before'] }, request);
  const reset = drafts.filter(({ posted_before: before }) => before === true);
  if (reset.length === 0) return drafts;
  const named = reset.map(({ id, name }) => `${visible(String(name))} (id ${String(id)})`).join(', ');
  throw new ErpError('refused', `${named} was posted before and reset to draft: post or delete it in Odoo`, {
    problem: 'erp_refused',
  });
}

async function write(
  calls: Calls,
  method: 'write' | 'unlink',
  drafts: readonly JsonObject[],
  request: RequestOptions,
  args: JsonObject = {},
): Promise<void> {
  const ids = drafts.map(({ id }) => readAs(id, asId));
  await calls.call('writes', { model: 'account.move', method, ids, args, context: keepLines }, request);
}
