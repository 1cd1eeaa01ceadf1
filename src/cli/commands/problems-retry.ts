import { z } from 'zod';
import { markDirty } from '../../documents/mark.ts';
import { UserError } from '../../domain/errors.ts';
import { findDocuments } from '../../queries/found-documents.ts';
import { documentProblems } from '../../queries/problems.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { markSpan } from '../../sync/replay/mark.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../../terms.ts';
import { problemListTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { replayTexts } from '../../texts/commands/windows.ts';
import { documentErrors } from '../../texts/errors/documents.ts';
import { writeAgain } from '../../writeback/questions.ts';
import { localTimes, named } from '../books.ts';
import { type ChoiceOptions, checkChoice, choiceOptions, chosenSpans } from '../chosen-windows.ts';
import { type Definition, installation, option, waitDelivery, wholeNumber } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { problemAnswer, problemsText } from '../render/problems.ts';
import { windowAnswer, windowBlock, windowsDocument } from '../render/window.ts';
import { exitCodeOf, runWindows } from '../run-windows.ts';
import { withApp } from '../with-app.ts';

interface Options extends ChoiceOptions {
  window?: number[];
  waitDelivery: number;
}

export const command: Definition<Options> = {
  description:
    'Held documents are judged again automatically when their record, the mapping or a lock changes. This command does it immediately, in a window. Use the ids that `vetledger problems` prints; for entries that the ERP refused, use `vetledger deliver retry`. With --window, --failed, or --from and --to, every document of these windows or times is judged again from the mirror, including posted ones. This sends no request to the source, so it does not cover a failed window: use `vetledger replay` for that.',
  options: [
    option('--window <number>', 'the documents of this window (repeatable)', repeated),
    ...choiceOptions,
    installation,
    waitDelivery,
  ],
  examples: [
    ['vetledger problems retry 4711/invoice/123 4711/payment/7', 'two documents'],
    ['vetledger problems retry --window 1204', 'the records of a window, without requests to the source'],
  ],
  answer: z.strictObject({ windows: z.array(windowAnswer), problems: z.array(problemAnswer) }),
  run: retry,
};

function repeated(value: string, before: number[] = []): number[] {
  return [...before, wholeNumber(value)];
}

interface NamedDocument extends DocumentRef {
  installation: InstallationId;
}

/** Marks documents for a new judgement, runs a window of their installations, and prints those that still have a problem. */
async function retry(context: CommandContext, options: Options, ids: readonly string[]): Promise<number> {
  const { window: windows = [], waitDelivery: waitDeliverySeconds } = options;
  checkChoice(options, [ids.length > 0, windows.length > 0], {
    message: usageTexts.retryWhat,
    command: 'problems retry',
  });
  const given = ids.map(parseId);
  return withApp(context, { temporal: true, handlesSignal: true }, async (app) => {
    for (const document of given) await mark(app, document);
    const isOfMirror = given.length === 0;
    const documents = isOfMirror ? await markChosen(context, app, options, windows) : given;
    const installations = [...new Set(documents.map((each) => each.installation))];
    const trigger = isOfMirror ? 'retry' : 'sync';
    const run =
      installations.length === 0 ? [] : await runWindows(context, app, installations, { trigger, waitDeliverySeconds });
    const retried = named(app.config, run);
    const configured = installations.map((id) => installationOf(app.config, id));
    const marked = new Set(documents.map((each) => `${each.installation}/${each.kind}/${each.id}`));
    const left = named(app.config, await documentProblems(app.db, configured)).filter(({ id }) => marked.has(id));
    await context.result({ ...windowsDocument(retried), problems: left }, () =>
      retried.length === 0
        ? problemListTexts.noDocument
        : [
            ...retried.map((each) => windowBlock(each, localTimes(app.config))),
            problemsText(left, { at: localTimes(app.config) }),
          ].join('\n\n'),
    );
    return exitCodeOf(retried);
  });
}

/** Marks the documents of the chosen windows or times in the mirror. */
async function markChosen(
  context: CommandContext,
  app: App,
  options: Options,
  windows: readonly number[],
): Promise<NamedDocument[]> {
  const documents: NamedDocument[] = [];
  for (const { installation: id, spans, leftOut } of await chosenSpans(app, options, windows, 'problems retry')) {
    for (const each of leftOut) context.note(replayTexts.omitted({ what: each }));
    const { overlapSeconds } = installationOf(app.config, id);
    for (const span of spans) {
      const marked = await markSpan(app.db, id, overlapSeconds * 1000, span);
      for (const document of marked) documents.push({ installation: id, ...document });
    }
  }
  return documents;
}

function parseId(text: string): NamedDocument {
  const parts = /^(\d{1,15})\/(\w+)\/(\d{1,15})$/.exec(text);
  const kind = documentKinds.find((known) => known === parts?.[2]);
  if (parts && kind) return { installation: Number(parts[1]), kind, id: Number(parts[3]) };
  throw usageError(usageTexts.noDocument({ text }), 'problems retry');
}

async function mark(app: App, { installation: of, kind, id }: NamedDocument): Promise<void> {
  installationOf(app.config, of);
  const found = await findDocuments(app.db, [of], { kind, id });
  if (found.length === 0) {
    throw new UserError(documentErrors.notListed({ kind, id, installation: of }), 1);
  }
  await markDirty(app.db, of, kind, [id]);
  if (kind === 'prepayment') await writeAgain(app.db, of, [id]);
}
