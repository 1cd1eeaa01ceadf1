import { z } from 'zod';
import type { InstallationConfig } from '../../config/load-config.ts';
import { UserError } from '../../domain/errors.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { type Explanation, explainDocument } from '../../queries/explain.ts';
import { explainSummary, summaryOfCode } from '../../queries/explain-summary.ts';
import { type Candidate, type CodedDocument, documentOfCode, documentsNamed } from '../../queries/find-document.ts';
import { findDocuments } from '../../queries/found-documents.ts';
import { stringifyJson } from '../../records/json.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { type DocumentKind, documentKinds, type InstallationId } from '../../terms.ts';
import { documentErrors, documentTexts } from '../../texts/errors/documents.ts';
import { chosenBooks } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';
import { documentAnswer, explanationDocument } from './explain-answer.ts';
import { summaryAnswer, summaryDocument, summaryText } from './explain-summary.ts';
import { explainText } from './explain-text.ts';

interface Options {
  installation?: number;
}

export const command: Definition<Options> = {
  description:
    'The kind is invoice, payment or prepayment. The id is the document’s id in the practice software or, for an invoice, its number with or without prefix. A single argument is an entry code (4711/invoice/1001/1), the id of a daily summary (4711/summary/2026-03-31-11/1), an id or a number; if several documents match, they are listed. With a kind, ids have priority over numbers. Times are local times of the installation.',
  options: [installation],
  examples: [
    ['vetledger explain invoice 123', 'why it is in the books as it is, or why not'],
    ['vetledger explain invoice H-1001', 'by the invoice number'],
    ['vetledger explain 4711/payment/12/1', 'by the code of an entry, as exports and the ERP show it'],
    ['vetledger explain 4711/summary/2026-03-31-11/1', 'a daily summary: its lines, entries and documents'],
    ['vetledger explain prepayment 7 --json', 'its uses, refunds and matches, as JSON'],
  ],
  answer: z.union([documentAnswer, summaryAnswer]),
  run: explain,
};

/** The requested document: its code, or a text that is an id or an invoice number. */
type Requested = { code: CodedDocument } | { kind: DocumentKind | null; text: string };

/**
 * Explains one document. `names` are its kind and id (or invoice number), or a single entry code, id or number.
 */
async function explain(context: CommandContext, options: Options, names: readonly string[]): Promise<number> {
  const summary = names.length === 1 ? summaryOfCode(names[0] ?? '') : null;
  if (summary !== null) return explainOneSummary(context, summary);
  const asked = askedFor(names);
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenBooks(app, 'code' in asked ? asked.code.installation : options.installation);
    const document = 'code' in asked ? asked.code : await onlyCandidate(context, app, chosen, asked);
    const [found] = await findDocuments(app.db, [document.installation], document);
    if (found === undefined) throw unknown(`${document.kind} ${document.id}`, [document.installation]);
    const explanation = await explainDocument(app.db, installationOf(app.config, found.installation), found);
    const entry = 'code' in asked ? asked.code.entry : null;
    if (entry !== null && !explanation.entries.some(({ id }) => id === entry)) throw noSuchEntry(entry, explanation);
    if (context.json) await context.write(`${stringifyJson(explanationDocument(explanation))}\n`);
    else await context.write(`${context.show(() => explainText(explanation))}\n`);
    return 0;
  });
}

async function explainOneSummary(
  context: CommandContext,
  { installation: id, summary }: { installation: InstallationId; summary: string },
): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    await chosenBooks(app, id);
    const explained = await explainSummary(app.db, installationOf(app.config, id), summary).catch((error: unknown) => {
      const isMissing = error instanceof LedgerError && error.code === 'entry_missing';
      throw isMissing ? unknown(documentTexts.summary({ summary }), [id]) : error;
    });
    const text = context.json ? stringifyJson(summaryDocument(explained)) : context.show(() => summaryText(explained));
    await context.write(`${text}\n`);
    return 0;
  });
}

function askedFor([first = '', second = '']: readonly string[]): Requested {
  const kind = documentKinds.find((known) => known === first) ?? null;
  if (second === '' && kind !== null) throw usageError(documentTexts.idMissing({ kind }), 'explain');
  if (second !== '' && kind === null)
    throw usageError(documentTexts.unknownKind({ kind: first, known: documentKinds.join(', ') }), 'explain');
  const text = second === '' ? first : second;
  const code = documentOfCode(text);
  if (code !== null && (kind === null || kind === code.kind)) return { code };
  const isId = /^\d{1,15}$/.test(text);
  // A document number always contains a digit.
  if (!isId && ((kind !== null && kind !== 'invoice') || !/\d/.test(text) || code !== null))
    throw usageError(documentTexts.noId({ text, kind: kind ?? 'document' }), 'explain');
  return { kind, text };
}

/** With a kind, ids have priority over numbers, so that an id from `problems` or a script always finds the same document. */
async function onlyCandidate(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
  { kind, text }: Exclude<Requested, { code: unknown }>,
): Promise<Candidate> {
  const { withId, numbered } = await documentsNamed(app.db, chosen, kind, text);
  const candidates = kind !== null && withId.length > 0 ? withId : [...withId, ...numbered];
  const [found, ...more] = candidates;
  if (found === undefined)
    throw unknown(
      documentTexts.named({ kind, text }),
      chosen.map(({ id }) => id),
    );
  if (more.length > 0) throw ambiguous(text, candidates, kind);
  if (candidates === withId && numbered.length > 0)
    context.note(documentTexts.alsoNumber({ text, documents: numbered.map(textOf).join('; ') }));
  return found;
}

function ambiguous(text: string, candidates: readonly Candidate[], kind: DocumentKind | null): Error {
  const documents = candidates.map(textOf).join('; ');
  const message = documentTexts.ambiguous({ text, documents, count: candidates.length });
  const [{ installation, kind: first, id }] = candidates as [Candidate];
  const isSameId = candidates.every(({ number }) => number === null);
  // An id that exists in several installations is wrong usage: --installation is missing.
  return isSameId && kind !== null
    ? usageError(`${message} ${documentTexts.nameInstallation}`, 'explain')
    : new UserError(documentErrors.ambiguous({ message, example: `${installation}/${first}/${id}` }), 1);
}

function textOf({ installation, kind, id, number, documentDate, state }: Candidate): string {
  const inWords = state.replaceAll('_', ' ');
  return documentTexts.candidate({
    document: `${installation}/${kind}/${id}`,
    state: inWords,
    dated: documentDate,
    number,
  });
}

function noSuchEntry(entry: string, { document: { kind, id }, entries }: Explanation): UserError {
  const existing = entries.map((each) => each.id).join(', ');
  return new UserError(documentErrors.noSuchEntry({ entry, kind, id, existing }), 1);
}

function unknown(name: string, installations: readonly InstallationId[]): UserError {
  return new UserError(documentErrors.unknown({ name, installations: installations.join(' or ') }), 1);
}
