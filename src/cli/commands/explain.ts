import type { InstallationConfig } from '../../config/load-config.ts';
import { UserError } from '../../domain/errors.ts';
import { type Explanation, explainDocument } from '../../queries/explain.ts';
import {
  type Candidate,
  type CodedDocument,
  documentOfCode,
  documentsWithId,
  invoicesNumbered,
} from '../../queries/find-document.ts';
import { findDocuments } from '../../queries/found-documents.ts';
import { stringifyJson } from '../../records/json.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { type DocumentKind, documentKinds, type InstallationId } from '../../terms.ts';
import { chosenBooks } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';
import { answer, explanationDocument } from './explain-answer.ts';
import { explainText } from './explain-text.ts';

interface Options {
  installation?: number;
}

export const command: Definition<Options> = {
  description:
    'Kind is invoice, payment or prepayment; id is the document’s id in the practice software or, for an invoice, its number with or without prefix, posted or held. One name alone is an entry code (4711/invoice/1001/1), an id or a number; where it means several documents, they are listed. With a kind, an id goes before a number. Times are local times of the installation’s zone.',
  options: [installation],
  examples: [
    ['vetledger explain invoice 123', 'why it is in the books as it is, or why not'],
    ['vetledger explain invoice H-1001', 'by the number printed on it'],
    ['vetledger explain 4711/payment/12/1', 'by the code of an entry, as exports and the ERP show it'],
    ['vetledger explain prepayment 7 --json', 'its uses and refunds, and who set a match, as JSON'],
  ],
  answer,
  run: explain,
};

/** What a person asked for: a document by its code, or a text that may be an id or an invoice's number. */
type Asked = { code: CodedDocument } | { kind: DocumentKind | null; text: string; id: number | null };

/**
 * One document from the source to the books. `names` are its kind and id (for an invoice also its number), or one of: an entry
 * code, an id, a number.
 */
async function explain(context: CommandContext, options: Options, names: readonly string[]): Promise<number> {
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
    else await context.write(`${explainText(explanation)}\n`);
    return 0;
  });
}

function askedFor([first = '', second = '']: readonly string[]): Asked {
  const kind = documentKinds.find((known) => known === first) ?? null;
  if (second === '' && kind !== null) throw usageError(`missing required argument 'id' of the ${kind}.`, 'explain');
  if (second !== '' && kind === null)
    throw usageError(`${first} is no kind of document; there are ${documentKinds.join(', ')}.`, 'explain');
  const text = second === '' ? first : second;
  const code = documentOfCode(text);
  if (code !== null && (kind === null || kind === code.kind)) return { code };
  const isId = /^\d{1,15}$/.test(text);
  // Every document number ends in digits.
  if (!isId && ((kind !== null && kind !== 'invoice') || !/\d/.test(text) || code !== null))
    throw usageError(`${text} is no id; give the id of the ${kind ?? 'document'} in the practice software.`, 'explain');
  return { kind, text, id: isId ? Number(text) : null };
}

/** With a kind, an id goes before a number, so that an id from `problems` or a script always means the same document. */
async function onlyCandidate(
  context: CommandContext,
  app: App,
  chosen: readonly InstallationConfig[],
  { kind, text, id }: Exclude<Asked, { code: unknown }>,
): Promise<Candidate> {
  const installations = chosen.map((each) => each.id);
  const withId = id === null ? [] : await documentsWithId(app.db, installations, kind, id);
  const mayBeNumber = kind === null || kind === 'invoice';
  const numbered = mayBeNumber ? await invoicesNumbered(app.db, chosen, text) : [];
  const others = numbered.filter((one) => !withId.some((known) => isSame(one, known)));
  const candidates = kind !== null && withId.length > 0 ? withId : [...withId, ...others];
  const [found, ...more] = candidates;
  if (found === undefined) throw unknown(`${kind ?? 'document'} ${text}`, installations);
  if (more.length > 0) throw ambiguous(text, candidates, kind);
  if (candidates === withId && others.length > 0)
    context.note(`${text} is also the number of ${others.map(textOf).join('; ')}.`);
  return found;
}

function isSame(one: Candidate, other: Candidate): boolean {
  return one.installation === other.installation && one.kind === other.kind && one.id === other.id;
}

function ambiguous(text: string, candidates: readonly Candidate[], kind: DocumentKind | null): Error {
  const message = `${candidates.length} documents are meant by ${text}: ${candidates.map(textOf).join('; ')}.`;
  const [{ installation, kind: first, id }] = candidates as [Candidate];
  const todo = `Name one of them, like this: \`vetledger explain ${installation}/${first}/${id}\`.`;
  const isSameId = candidates.every(({ number }) => number === null);
  // As before: one id in several installations is wrong usage.
  return isSameId && kind !== null
    ? usageError(`${message} Say which with --installation.`, 'explain')
    : new UserError({ code: 'document_ambiguous', message, todo }, 1);
}

function textOf({ installation, kind, id, number, documentDate, state }: Candidate): string {
  const called = number === null ? '' : `, number ${number}`;
  const dated = documentDate === null ? '' : ` of ${documentDate}`;
  return `${installation}/${kind}/${id} (${state.replaceAll('_', ' ')}${dated}${called})`;
}

function noSuchEntry(entry: string, { document: { kind, id }, entries }: Explanation): UserError {
  const theirs = entries.length === 0 ? 'it has none' : `it has ${entries.map((each) => each.id).join(', ')}`;
  return new UserError(
    {
      code: 'document_unknown',
      message: `There is no entry ${entry} of ${kind} ${id}: ${theirs}.`,
      todo: `\`vetledger explain ${kind} ${id}\` shows the document.`,
    },
    1,
  );
}

function unknown(name: string, installations: readonly InstallationId[]): UserError {
  return new UserError(
    {
      code: 'document_unknown',
      message: `There is no ${name} of installation ${installations.join(' or ')} here.`,
      todo: 'Check the id or number; if the document is new, run `vetledger sync` first.',
    },
    1,
  );
}
