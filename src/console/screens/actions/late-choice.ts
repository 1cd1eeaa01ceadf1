import {
  documentsPerRequest,
  type LateRequest,
  lateRequest,
  selectionOf,
} from '../../../bookkeeping/asked-decision.ts';
import { decisionsFor } from '../../../bookkeeping/decide-late.ts';
import { chooseLate, weighChoice } from '../../../bookkeeping/decide-many.ts';
import { lateByIds } from '../../../documents/late-documents.ts';
import { monthBounds } from '../../../domain/dates.ts';
import { type LateDecisionKind, lateDecisions } from '../../../posting/types.ts';
import { type ShownDecision, shownDocument } from '../../../queries/shown-decision.ts';
import type { InstallationRequest } from '../../route.ts';
import { documentOf, type Fields, namedDocuments } from './chosen-documents.ts';
import { orRefused, type Refused } from './refused.ts';

/** The fields with which an address or a form names a decision. */
export const choiceFields = [
  ...['decision', 'documents', 'month', 'code', 'kind'],
  ...['account', 'department', 'least', 'most'],
] as const;

/** Reads a decision and its documents, such as `documents=invoice/1,payment/2`. Null if a field is not valid. */
export function readChoice(fields: Fields): LateRequest | null {
  const { decision, month = '', department = '' } = fields;
  const documents = namedDocuments(fields);
  if (month !== '' && !/^(19|20)\d\d-(0[1-9]|1[0-2])$/.test(month)) return null;
  const days = month === '' ? {} : { from: `${month}-01`, to: monthBounds(month).through };
  const chosen =
    documents === ''
      ? { filter: { ...days, ...given(fields), ...(department === '' ? {} : { department: Number(department) }) } }
      : { documents: documents.split(',').map(documentOf) };
  const { success, data } = lateRequest.safeParse({ decision, ...chosen });
  return success ? data : null;
}

function given(fields: Fields): Record<string, string | undefined> {
  const names = ['code', 'kind', 'account', 'least', 'most'] as const;
  return Object.fromEntries(names.flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])));
}

/** The decisions that are possible for the chosen documents. All of them if the choice is a filter without a code. */
export async function possibleDecisions(
  { db, installation }: InstallationRequest,
  fields: Fields,
): Promise<readonly LateDecisionKind[]> {
  const documents = namedDocuments(fields)
    .split(',')
    .flatMap((name) => documentOf(name) ?? []);
  const late = documents.length === 0 ? [] : await lateByIds(db, installation.id, documents);
  const codes = late.length === 0 ? [fields.code ?? ''] : late.map(({ problem }) => problem ?? '');
  const of = [...new Set(codes)].map((code) => decisionsFor[code] ?? []);
  const possible = lateDecisions.filter((decision) => of.every((each) => each.includes(decision)));
  return possible.length === 0 ? lateDecisions : possible;
}

/** The effect of a decision, or the reason why there is none to show. */
export type Weighed = { effect: ShownDecision } | Refused | { tooMany: number };

/** Weighs a decision for its form. Writes nothing. */
export async function weighed(
  { db, installation, context }: InstallationRequest,
  request: LateRequest,
): Promise<Weighed> {
  const selection = selectionOf(installation, request);
  return orRefused(async () => {
    if ('filter' in selection) {
      const { length: tooMany } = await chooseLate(db, installation.id, selection.filter);
      if (tooMany > documentsPerRequest) return { tooMany };
    }
    const choices = await weighChoice(db, [installation], selection, request.decision, context.clock);
    return { effect: shownDocument(request.decision, choices) };
  });
}
