import {
  documentsPerRequest,
  type LateRequest,
  lateRequest,
  selectionOf,
} from '../../../bookkeeping/asked-decision.ts';
import { chooseLate, weighChoice } from '../../../bookkeeping/decide-many.ts';
import { monthBounds } from '../../../domain/dates.ts';
import { UserError } from '../../../domain/errors.ts';
import { type ShownDecision, shownDocument } from '../../../queries/shown-decision.ts';
import type { PlainError } from '../../../texts/plain-error.ts';
import type { InstallationRequest } from '../../route.ts';

/** The fields with which an address or a form names a decision. */
export const choiceFields = ['decision', 'documents', 'month', 'code', 'kind'] as const;
export type ChoiceFields = Readonly<Partial<Record<string, string>>>;

/** Reads a decision and its documents, such as `documents=invoice/1,payment/2`. Null if a field is not valid. */
export function readChoice(fields: ChoiceFields): LateRequest | null {
  const { decision, documents = '', month = '', code = '', kind = '' } = fields;
  if (month !== '' && !/^(19|20)\d\d-(0[1-9]|1[0-2])$/.test(month)) return null;
  const days = month === '' ? {} : { from: `${month}-01`, to: monthBounds(month).through };
  const chosen =
    documents === ''
      ? { filter: { ...days, ...(code === '' ? {} : { code }), ...(kind === '' ? {} : { kind }) } }
      : { documents: [...new Set(documents.split(','))].map(readDocument) };
  const { success, data } = lateRequest.safeParse({ decision, ...chosen });
  return success ? data : null;
}

function readDocument(text: string) {
  const [, kind, id] = /^(\w+)\/(\d{1,15})$/.exec(text) ?? [];
  return { kind, id: Number(id) };
}

/** The effect of a decision, or the reason why there is none to show. */
export type Weighed = { effect: ShownDecision } | { refused: PlainError } | { tooMany: number };

/** Weighs a decision for its form. Writes nothing. */
export async function weighed(
  { db, installation, context }: InstallationRequest,
  request: LateRequest,
): Promise<Weighed> {
  const selection = selectionOf(installation, request);
  try {
    if ('filter' in selection) {
      const { length: tooMany } = await chooseLate(db, installation.id, selection.filter);
      if (tooMany > documentsPerRequest) return { tooMany };
    }
    const choices = await weighChoice(db, [installation], selection, request.decision, context.clock);
    return { effect: shownDocument(request.decision, choices) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, todo } = error;
    return { refused: { code, message, todo } };
  }
}
