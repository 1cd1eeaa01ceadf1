import { resolve } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { mappingName } from '../../bookkeeping/mapping-versions.ts';
import { previewPosting, previewRemap } from '../../bookkeeping/preview.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { loadMapping } from '../../config/mapping-files.ts';
import { countWaiting } from '../../documents/count.ts';
import { countInForce, everything } from '../../documents/in-force.ts';
import { amount, counts, plainError } from '../../queries/answer.ts';
import { documentNumbers } from '../../queries/invoice-numbers.ts';
import { readAccountNames } from '../../reports/account-names.ts';
import type { App } from '../../runtime/app.ts';
import type { DocumentRef } from '../../terms.ts';
import { previewTexts } from '../../texts/commands/preview.ts';
import { stepTexts } from '../../texts/steps.ts';
import { chosenBooks, chosenBooksAsNext } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { withProgress } from '../progress.ts';
import { entryAnswer } from '../render/entry.ts';
import { changeItems, changesAnswer, RemapSummary } from '../render/remap.ts';
import { type ListItem, membersOf, StreamedResult } from '../render/streamed-result.ts';
import { withApp } from '../with-app.ts';
import { PostingSummary, postingItems } from './preview-text.ts';

interface Options {
  installation?: number;
  mapping?: string;
  details?: true;
}
const totals = { account: z.string(), name: z.string().nullable(), debit: amount, credit: amount };

const answer = z.strictObject({
  installations: z.array(
    z.strictObject({
      installation: z.number(),
      mapping: z.string(),
      documents: z.array(
        z.strictObject({
          id: z.string(),
          document: z.string(),
          /** The number printed on the invoice, or on a payment’s invoice. */
          number: z.string().nullable(),
          state: z.string(),
          entries: z.array(entryAnswer),
          problem: plainError.nullable(),
          fetched_again_first: z.boolean(),
        }),
      ),
      counts: z.strictObject({
        documents: z.number(),
        entries: z.number(),
        reversals: z.number(),
        held: z.number(),
        held_in_all: z.number(),
        fetched_again_first: z.number(),
        states: counts,
        problems: counts,
      }),
      accounts: z.array(z.strictObject(totals)),
      periods: z.array(z.strictObject({ month: z.string(), vat_period: z.string(), ...totals })),
      /** Present with --mapping. */
      changes: changesAnswer.optional(),
    }),
  ),
});

export const command: Definition<Options> = {
  description:
    'Judges every waiting document with the present data, and prints the sums by account, month and VAT period. With --details, it also prints the entries, and the documents that would be held, with reasons. With --mapping, it uses that mapping, and also shows which posted documents it would change, with the amounts it moves between accounts. A changed mapping file is used if the next start would put it in force. A window also reads new changes from the source. Nothing is written.',
  options: [
    installation,
    new Option('--mapping <file>', 'use this mapping instead of the configured one'),
    new Option('--details', 'print every document after the summary (--json always contains them)'),
  ],
  examples: [
    ['vetledger preview', 'before the next window'],
    ['vetledger preview --details', 'with every entry'],
    ['vetledger preview --mapping mappings/new.yaml', 'before you use a changed mapping'],
  ],
  answer,
  run: preview,
};

function preview(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const other = options.mapping === undefined ? null : resolve(options.mapping);
    const replaced = other === null ? {} : { mappingPath: other, ...(await loadMapping(other)) };
    const choose = other === null ? chosenBooksAsNext : chosenBooks;
    const chosen = await choose(app, options.installation);
    const result = new StreamedResult(context);
    result.json('{"installations":[');
    for (const [index, configured] of chosen.entries()) {
      if (index > 0) result.json(',');
      const previewed = { ...configured, ...replaced };
      await previewOne(context, app, previewed, { isOther: other !== null, details: options.details === true }, result);
    }
    result.json(']}');
    await result.end();
    return 0;
  });
}

async function previewOne(
  context: CommandContext,
  app: App,
  installation: InstallationConfig,
  { isOther, details }: { isOther: boolean; details: boolean },
  result: StreamedResult,
): Promise<void> {
  const { id, mapping, decimals } = installation;
  const view = { decimals, names: await readAccountNames(app.db, installation) };
  const name = mappingName(installation);
  const practice = app.practice(id);
  result.json(`{"installation":${id},"mapping":${JSON.stringify(name)},"documents":`);
  result.text(previewTexts.title({ installation: id, mapping: name }));
  const posting = (summary: PostingSummary) => {
    const waiting = previewPosting(app.db, installation, practice, app.clock);
    const numbersOf = (documents: readonly DocumentRef[]) => documentNumbers(app.db, installation, documents);
    return postingItems(withProgress(context, stepTexts.judging, null, waiting), id, { ...view, numbersOf }, summary);
  };
  const summary = new PostingSummary(view, mapping.policies.vat_period);
  if (context.json) await result.list(posting(summary));
  else await added(posting(summary));
  const { held } = await countWaiting(app.db, id);
  result.json(`,${membersOf(summary.document(held))}`);
  result.text(summary.text(held));
  // The documents are judged twice, because the summary comes first and the list may not fit into memory.
  if (details && !context.json) await result.list(posting(new PostingSummary(view, mapping.policies.vat_period)));
  if (isOther) {
    result.json(',"changes":{"documents":');
    result.text(previewTexts.changes);
    const total = await countInForce(app.db, id, everything);
    const remapping = (changes: RemapSummary) => {
      const remapped = previewRemap(app.db, installation, practice, everything);
      return changeItems(withProgress(context, stepTexts.comparing, total, remapped), id, view, changes);
    };
    const changes = new RemapSummary(view, 'preview');
    if (context.json) await result.list(remapping(changes));
    else await added(remapping(changes));
    result.json(`,${membersOf(changes.document())}}`);
    result.text(changes.text());
    if (details && !context.json) await result.list(remapping(new RemapSummary(view, 'preview')));
  }
  result.json('}');
}

/** Reads a list to the end, only for its summary. */
async function added(batches: AsyncIterable<ListItem[]>): Promise<void> {
  for await (const _ of batches);
}
