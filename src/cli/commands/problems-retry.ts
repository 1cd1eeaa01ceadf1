import { z } from 'zod';
import { markDirty } from '../../documents/mark.ts';
import { UserError } from '../../domain/errors.ts';
import { findDocuments } from '../../queries/found-documents.ts';
import { documentProblems } from '../../queries/problems.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../../terms.ts';
import { writeAgain } from '../../writeback/questions.ts';
import { named } from '../books.ts';
import { type Definition, waitDelivery } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { problemAnswer, problemsText } from '../render/problems.ts';
import { windowAnswer, windowBlock, windowsDocument } from '../render/window.ts';
import { exitCodeOf, runWindows } from '../run-windows.ts';
import { withApp } from '../with-app.ts';

interface Options {
  waitDelivery: number;
}

export const command: Definition<Options> = {
  description:
    'Held documents are tried again by themselves when their record, the mapping or a lock changes; this does it at once. Ids are those that `vetledger problems` prints; those of entries that the ERP refuses are for `vetledger deliver retry`.',
  options: [waitDelivery],
  examples: [['vetledger problems retry 4711/invoice/123 4711/payment/7', 'two documents']],
  answer: z.strictObject({ windows: z.array(windowAnswer), problems: z.array(problemAnswer) }),
  run: retry,
};

/** Marks the named documents to be judged again, runs a window of their installations, and prints which still have a problem. */
async function retry(context: CommandContext, options: Options, ids: readonly string[]): Promise<number> {
  const documents = ids.map(parseId);
  return withApp(context, { temporal: true, handlesSignal: true }, async (app) => {
    for (const document of documents) await mark(app, document);
    const installations = [...new Set(documents.map(({ installation }) => installation))];
    const configured = installations.map((id) => installationOf(app.config, id));
    const run = await runWindows(context, app, installations, {
      trigger: 'sync',
      waitDeliverySeconds: options.waitDelivery,
    });
    const windows = named(app.config, run);
    const left = named(app.config, await documentProblems(app.db, configured)).filter(({ id }) => ids.includes(id));
    await context.result({ ...windowsDocument(windows), problems: left }, () =>
      [...windows.map(windowBlock), problemsText(left, 0)].join('\n\n'),
    );
    return exitCodeOf(windows);
  });
}

interface NamedDocument extends DocumentRef {
  installation: InstallationId;
}

function parseId(text: string): NamedDocument {
  const parts = /^(\d{1,15})\/(\w+)\/(\d{1,15})$/.exec(text);
  const kind = documentKinds.find((known) => known === parts?.[2]);
  if (parts && kind) return { installation: Number(parts[1]), kind, id: Number(parts[3]) };
  throw usageError(`${text} is no id of a document; they look like 4711/invoice/123.`, 'problems retry');
}

async function mark(app: App, { installation, kind, id }: NamedDocument): Promise<void> {
  installationOf(app.config, installation);
  const found = await findDocuments(app.db, [installation], { kind, id });
  if (found.length === 0) {
    throw new UserError(
      'document_unknown',
      `There is no ${kind} ${id} of installation ${installation} here.`,
      'Ids are those that `vetledger problems` prints.',
      1,
    );
  }
  await markDirty(app.db, installation, kind, [id]);
  if (kind === 'prepayment') await writeAgain(app.db, installation, [id]);
}
