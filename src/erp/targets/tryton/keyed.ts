import type { JsonValue } from '../../../records/json.ts';
import type { KeyedEntry, KeyedPage, KeyedQuestion, RequestOptions } from '../../port.ts';
import { asId, asList, asRecord, readAs } from '../form.ts';
import { keyedLike, unitAndKeyIn } from '../keyed-text.ts';
import type { TrytonCalls } from './calls.ts';
import { asDate, asTextOrNull, toDateTime } from './wire.ts';

const movesPerPage = 500;

/** Moves whose description names a unit of the installation and has a key of our form, by id; the last page is an empty one. */
export async function keyedMoves(
  calls: TrytonCalls,
  { installation, changedSince, after }: KeyedQuestion,
  request: RequestOptions,
): Promise<KeyedPage> {
  const { companyId } = await calls.openCompany(request);
  const domain: JsonValue[] = [
    ['company', '=', companyId],
    ['id', '>', Number(after ?? 0)],
    ['description', 'like', keyedLike(installation)],
    ...(changedSince === null ? [] : [writtenSince(changedSince)]),
  ];
  const params: JsonValue[] = [
    ...[domain, 0, movesPerPage, [['id', 'ASC']]],
    ['number', 'state', 'date', 'description'],
  ];
  const answer = await calls.call('reads', 'model.account.move.search_read', params, request);
  return readAs(answer, (value) => {
    const moves = asList(value).map(asRecord);
    const entries = moves.flatMap((move): KeyedEntry[] => {
      const named = unitAndKeyIn(asTextOrNull(move.description ?? null) ?? '');
      if (named === null) return [];
      const state = move.state === 'posted' ? 'posted' : 'draft';
      const number = asTextOrNull(move.number ?? null);
      return [{ id: String(asId(move.id)), ...named, number, state, date: asDate(move.date ?? null) }];
    });
    const last = moves.at(-1);
    return { entries, next: last === undefined ? null : String(asId(last.id)), isComplete: true };
  });
}

function writtenSince(since: Date): JsonValue {
  const at = toDateTime(since);
  return ['OR', ['create_date', '>=', at], ['write_date', '>=', at]];
}
