import { visible } from '../../../domain/text.ts';
import type { JsonObject } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import { asId, readAs } from '../api/form.ts';
import type { OdooCalls } from './calls.ts';
import { keepLines } from './load.ts';

type Calls = Pick<OdooCalls, 'all' | 'call'>;

/**
 * Deletes those of the moves that are drafts. Missing moves are left out, since Odoo would refuse the whole request.
 * Odoo also refuses a draft whose number has successors (17 numbers the first draft of a month). After such a refusal
 * the number is removed, and the draft is deleted. The state is read again before, because Odoo would remove the number
 * of a posted move too. Throws ErpError.
 */
export async function withdrawDrafts(calls: Calls, ids: readonly number[], request: RequestOptions): Promise<void> {
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

/** Throws ErpError if a draft was posted before: a user reset it to draft, and vetledger must not delete it. */
async function draftsAmong(calls: Calls, ids: readonly number[], request: RequestOptions): Promise<JsonObject[]> {
  const domain = [
    ['id', 'in', [...ids]],
    ['state', '=', 'draft'],
  ];
  const drafts = await calls.all('account.move', { domain, fields: ['name', 'posted_before'] }, request);
  const reset = drafts.filter(({ posted_before: before }) => before === true);
  if (reset.length === 0) return drafts;
  const moves = reset.map(({ id, name }) => `${visible(String(name))} (id ${String(id)})`).join(', ');
  throw new ErpError('refused', erpAnswerTexts.resetToDraft({ moves }), { problem: 'erp_refused' });
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
