import { z } from 'zod';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { documentsInForce } from '../documents/in-force.ts';
import { UserError } from '../domain/errors.ts';
import { vatLateness } from '../ledger/journal/vat-lateness.ts';
import { amountsOf } from '../posting/entry-amounts.ts';
import { entryContentHash } from '../posting/entry-content.ts';
import type { RemapOutcome } from '../posting/index.ts';
import { type DocumentRef, documentKinds } from '../terms.ts';
import { documentErrors } from '../texts/errors/documents.ts';
import { kindsOf, type RemappedCase, remapDocuments, remapPasses } from './judge-documents.ts';
import { knownLockDates } from './lock-dates.ts';
import { postedBy } from './posted-by.ts';
import { postingContexts } from './posting-context.ts';
import { departmentsOf, effectsOf, keptOut, type WeighedDocument } from './weigh-decision.ts';

/** The request to post a document again with the mapping in force, as an asked action stores it. */
export const repostRequest = z.object({ kind: z.enum(documentKinds), id: z.int().positive() });

/** The effect of posting a document in the books again. Writes nothing. Throws UserError if it is not in the books. */
export async function weighRepost(
  db: Connection,
  installation: InstallationConfig,
  document: DocumentRef,
): Promise<{ outcome: RemapOutcome; weighed: WeighedDocument }> {
  const { id: of } = installation;
  const found = await remapped(db, installation, document);
  if (found === null) throw new UserError(documentErrors.notInBooks({ ...document, state: null }), 1);
  const { outcome, decision, required } = found.remap;
  const { before } = found.document;
  const { entries, problem, documentDate } = decision;
  const { vat } = await postedBy(db, installation);
  const latenessOf = await vatLateness(db, of, vat);
  const drafts = entries.length > 0 ? entries : outcome === 'same' ? [] : keptOut(before, required);
  const [was, is] = [before.inForce && amountsOf(before.inForce), required && amountsOf(required)];
  const weighed: WeighedDocument = {
    ...{ kind: document.kind, id: document.id, code: '', date: documentDate, version: before.inForce?.id ?? '' },
    amount: was === null || is === null ? null : is.amount.minus(was.amount),
    vat: was?.vat && is?.vat ? is.vat.minus(was.vat) : null,
    departments: departmentsOf(entries.flatMap(({ lines }) => lines)),
    day: entries.at(-1)?.date ?? null,
    entries: entries.map((entry) => `${entry.date} ${entry.reverses ?? ''} ${entryContentHash(entry)}`),
    effects: effectsOf(drafts.map((draft) => ({ draft, ...latenessOf(draft, undefined) }))),
    left: problem?.code ?? null,
  };
  return { outcome, weighed };
}

async function remapped(
  db: Connection,
  installation: InstallationConfig,
  document: DocumentRef,
): Promise<RemappedCase | null> {
  const contextFor = postingContexts(installation, knownLockDates(db, installation.id));
  const selection = { documents: [document], from: null, to: null };
  for (const pass of remapPasses) {
    const options = { kinds: kindsOf[pass], after: null, limit: 1, lock: false };
    const found = await documentsInForce(db, installation.id, selection, options);
    const { remapped: cases } = await remapDocuments(db, installation, contextFor, found, { pass });
    if (cases[0] !== undefined) return cases[0];
  }
  return null;
}
