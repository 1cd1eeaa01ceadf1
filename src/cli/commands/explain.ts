import { UserError } from '../../domain/errors.ts';
import { type FoundDocument, findDocuments, invoicesNumbered } from '../../queries/documents.ts';
import { explainDocument } from '../../queries/explain.ts';
import { stringifyJson } from '../../records/json.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { type DocumentRef, documentKinds } from '../../terms.ts';
import { chosenBooks } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { explainText } from '../render/explain.ts';
import { explanationDocument } from '../render/explain-json.ts';
import { withApp } from '../with-app.ts';

/** One document from the source to the books. `idText` is its id or, for an invoice, the number printed on it. */
export async function explain(
  context: CommandContext,
  options: { installation?: number },
  kindText: string,
  idText: string,
): Promise<number> {
  const kind = documentKinds.find((known) => known === kindText);
  if (!kind) throw usageError(`${kindText} is no kind of document; there are ${documentKinds.join(', ')}.`, 'explain');
  const isId = /^\d{1,15}$/.test(idText);
  // Every document number ends in digits.
  if (!isId && (kind !== 'invoice' || !/\d/.test(idText)))
    throw usageError(`${idText} is no id; give the id of the ${kind} in the practice software.`, 'explain');
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = (await chosenBooks(app, options.installation)).map((each) => each.id);
    const id = isId ? Number(idText) : await onlyInvoiceNumbered(app, chosen, idText);
    const found = await onlyDocument(app, chosen, { kind, id });
    const explanation = await explainDocument(app.db, installationOf(app.config, found.installation), found);
    if (context.json) await context.write(`${stringifyJson(explanationDocument(explanation))}\n`);
    else await context.write(`${explainText(explanation)}\n`);
    return 0;
  });
}

async function onlyInvoiceNumbered(app: App, installations: number[], documentNumber: string): Promise<number> {
  const [id, ...more] = await invoicesNumbered(app.db, installations, documentNumber);
  if (id !== undefined && more.length === 0) return id;
  throw new UserError(
    'document_unknown',
    id === undefined
      ? `No invoice numbered ${documentNumber} is in the books.`
      : `${1 + more.length} invoices are numbered ${documentNumber}.`,
    'Give the id of the invoice in the practice software: one that is not posted is known by its id only.',
    1,
  );
}

async function onlyDocument(app: App, installations: number[], document: DocumentRef): Promise<FoundDocument> {
  const { kind, id } = document;
  const [found, ...more] = await findDocuments(app.db, installations, document);
  if (found === undefined) {
    throw new UserError(
      'document_unknown',
      `There is no ${kind} ${id} of installation ${installations.join(' or ')} here.`,
      'Check the id; if the document is new, run `vetledger sync` first.',
      1,
    );
  }
  if (more.length > 0) {
    const places = [found, ...more].map(({ installation }) => installation).join(' and ');
    throw usageError(`There is a ${kind} ${id} in installations ${places}: say which with --installation.`, 'explain');
  }
  return found;
}
