import { z } from 'zod';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { documentsByIds } from '../documents/document.ts';
import { lateByIds } from '../documents/late-documents.ts';
import type { DraftEntry } from '../domain/entry.ts';
import { UserError } from '../domain/errors.ts';
import { vatLateness } from '../ledger/journal/vat-lateness.ts';
import { amountsOf } from '../posting/entry-amounts.ts';
import { entryContentHash } from '../posting/entry-content.ts';
import type { Decision } from '../posting/types.ts';
import { type DocumentRef, documentKinds } from '../terms.ts';
import { documentErrors } from '../texts/errors/documents.ts';
import { documentsPerRequest } from './asked-decision.ts';
import { judgeDocuments } from './judge-documents.ts';
import { knownLockDates } from './lock-dates.ts';
import { postedBy } from './posted-by.ts';
import { postingContexts } from './posting-context.ts';
import { departmentsOf, effectsOf, type WeighedDocument } from './weigh-decision.ts';

/** The request to judge documents again, as an asked action stores it. */
export const retryRequest = z.object({
  documents: z
    .array(z.strictObject({ kind: z.enum(documentKinds), id: z.int().positive() }))
    .min(1)
    .max(documentsPerRequest),
});

/**
 * Judges documents as the next window does if the source sends nothing new, and saves nothing. Throws UserError if one of them does
 * not exist.
 */
export async function weighRetry(
  db: Connection,
  installation: InstallationConfig,
  documents: readonly DocumentRef[],
  clock: () => Date,
): Promise<WeighedDocument[]> {
  const { id: of } = installation;
  const stored = await documentsByIds(db, of, documents);
  const known = new Map((await lateByIds(db, of, documents)).map((each) => [`${each.kind}/${each.id}`, each]));
  const unknown = documents.find(({ kind, id }) => !known.has(`${kind}/${id}`));
  if (unknown !== undefined) throw new UserError(documentErrors.notListed({ ...unknown, installation: of }), 1);
  const contextFor = postingContexts(installation, knownLockDates(db, of), clock);
  const { judged } = await judgeDocuments(db, installation, contextFor, stored, { finalRound: true });
  const { vat } = await postedBy(db, installation);
  const latenessOf = await vatLateness(db, of, vat);
  return judged.map(({ document: { kind, id }, decision: { entries, problem, outside, documentDate } }) => ({
    ...{ kind, id, code: known.get(`${kind}/${id}`)?.problem ?? '', date: documentDate, version: problem?.code ?? '' },
    ...amountsAfter(entries.at(-1) ?? null, outside),
    departments: departmentsOf(entries.flatMap(({ lines }) => lines)),
    day: entries.at(-1)?.date ?? null,
    entries: entries.map((entry) => `${entry.date} ${entry.reverses ?? ''} ${entryContentHash(entry)}`),
    effects: effectsOf(entries.map((draft) => ({ draft, ...latenessOf(draft, undefined) }))),
    left: problem?.code ?? null,
  }));
}

/** The amounts that the next window posts, or those that stay out of the books. */
function amountsAfter(
  posted: DraftEntry | null,
  outside: Decision['outside'],
): Pick<WeighedDocument, 'amount' | 'vat'> {
  if (posted !== null && posted.reverses === null) return amountsOf(posted);
  return { amount: outside?.amount ?? null, vat: outside?.vat ?? null };
}
