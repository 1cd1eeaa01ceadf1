import type { JsonValue } from '../../../records/json.ts';
import type { KeyedEntry, KeyedPage, KeyedQuestion, RequestOptions } from '../../port.ts';
import { asId, asText, readAs } from '../form.ts';
import { keyedLike, unitAndKeyIn } from '../keyed-text.ts';
import type { OdooCalls } from './calls.ts';
import { asDate, asTextOrNull, toDateTime } from './wire.ts';

/** Moves whose reference names a unit of the installation and has a key of our form, by id; the last page is an empty one. */
export async function keyedMoves(
  calls: OdooCalls,
  { installation, changedSince, after }: KeyedQuestion,
  request: RequestOptions,
): Promise<KeyedPage> {
  const { companyId } = await calls.company(request);
  const domain: JsonValue[] = [
    ['company_id', '=', companyId],
    ['ref', '=like', keyedLike(installation)],
    ...(changedSince === null ? [] : [['write_date', '>=', toDateTime(changedSince)]]),
  ];
  const fields = ['name', 'state', 'date', 'ref'];
  const moves = await calls.page('account.move', { domain, fields, after: Number(after ?? 0) }, request);
  return readAs(null, () => {
    const entries = moves.flatMap((move): KeyedEntry[] => {
      const named = unitAndKeyIn(asTextOrNull(move.ref ?? null) ?? '');
      if (named === null) return [];
      const said = asText(move.state);
      const state = said === 'posted' ? 'posted' : said === 'cancel' ? 'void' : 'draft';
      const name = asTextOrNull(move.name ?? null);
      const number = state === 'posted' && name !== '/' ? name : null;
      return [{ id: String(asId(move.id)), ...named, number, state, date: asDate(move.date) }];
    });
    const last = moves.at(-1);
    return { entries, next: last === undefined ? null : String(asId(last.id)), isComplete: true };
  });
}
