import { Option } from 'commander';
import { z } from 'zod';
import { followMappingFiles, mappingName } from '../../bookkeeping/mapping-versions.ts';
import { previewRemap } from '../../bookkeeping/preview.ts';
import { repost as repostInto } from '../../bookkeeping/repost.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { countInForce, type DocumentSelection } from '../../documents/in-force.ts';
import { UserError } from '../../domain/errors.ts';
import { findDocuments } from '../../queries/found-documents.ts';
import { readAccountNames } from '../../reports/account-names.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { type CalendarDate, type DocumentRef, documentKinds } from '../../terms.ts';
import { remapTexts } from '../../texts/commands/mapping.ts';
import { resultTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { documentErrors } from '../../texts/errors/documents.ts';
import { stepTexts } from '../../texts/steps.ts';
import { agreed } from '../acting.ts';
import { chosenBooksAsNext } from '../books.ts';
import { calendarDate, type Definition, installation, option, yes } from '../command.ts';
import { type CommandContext, refuseBackwards, usageError } from '../context.ts';
import { withProgress } from '../progress.ts';
import { changeItems, changesAnswer, RemapSummary } from '../render/remap.ts';
import { membersOf, StreamedResult } from '../render/streamed-result.ts';
import { withApp } from '../with-app.ts';

interface Options {
  document?: string[];
  from?: CalendarDate;
  to?: CalendarDate;
  all?: true;
  installation?: number;
  dryRun?: true;
  yes?: true;
  details?: true;
}

const answer = z.strictObject({
  dry_run: z.boolean(),
  /** False if the answer to the confirmation was no. */
  reposted: z.literal(false).optional(),
  installations: z.array(changesAnswer.extend({ installation: z.number(), mapping: z.string() })),
});

export const command: Definition<Options> = {
  description:
    'A changed mapping alone does not change the books. This command reverses each document that the mapping now posts differently, and posts it again, both with the reason `mapping_changed`. `policies.locked_period` applies to closed periods. It waits for a running window, and running it twice posts nothing twice. It shows the corrections first and asks for confirmation; without a terminal, --yes is required. If there is nothing to post, it does not ask, and does not put the mapping in force; with --yes it still updates the remarks. A changed mapping file that a start would put in force is put in force first, also for running processes.',
  options: [
    new Option('--document <document...>', 'only these (invoice 123, or 4711/invoice/123; several may follow)'),
    option('--from <date>', 'only documents dated from this day on (YYYY-MM-DD)', calendarDate),
    option('--to <date>', 'only documents dated up to this day (YYYY-MM-DD)', calendarDate),
    new Option('--all', 'every document in the books'),
    installation,
    new Option('--dry-run', 'only print what would be posted (default: for every document)'),
    new Option('--details', 'print every document before the summary (--json and --document always do)'),
    yes,
  ],
  examples: [
    ['vetledger repost --dry-run', 'what would be posted'],
    ['vetledger repost --all', 'everything, after confirmation'],
    ['vetledger repost --from 2026-01-01 --to 2026-01-31', 'one month'],
    ['vetledger repost --document invoice 123', 'one document'],
  ],
  answer,
  run: repost,
};

/** How long the command waits for a running window. */
const waitSeconds = 600;

interface NamedDocument extends DocumentRef {
  installation: number | null;
}

/** Posts the corrections of the configured mapping; with --dry-run only prints them. */
async function repost(context: CommandContext, options: Options): Promise<number> {
  const named = options.document === undefined ? null : documentsOf(options.document);
  const isDated = options.from !== undefined || options.to !== undefined;
  if ([named !== null, isDated, options.all === true].filter(Boolean).length > 1) {
    throw usageError(usageTexts.repostOne, 'repost');
  }
  if (named === null && !isDated && options.all !== true && options.dryRun !== true) {
    throw usageError(usageTexts.repostWhat, 'repost');
  }
  refuseBackwards(options, 'repost');
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const chosen = await chosenBooksAsNext(app, options.installation);
    if (named) await checkKnown(app, named, chosen);
    const isDry = options.dryRun === true;
    const answer = isDry ? 'agreed' : await isAgreed(context, app, options, { named, chosen });
    if (answer === 'refused') {
      await context.result({ dry_run: false, reposted: false, installations: [] }, () => resultTexts.nothingPosted);
      return 0;
    }
    const mode = isDry ? 'dry' : answer === 'nothing' ? 'compared' : 'posted';
    if (mode === 'posted') await followMappingFiles(app.db, chosen, { followFile: app.config.followMappingFile });
    await repostAll(context, app, options, { named, chosen, mode });
    return 0;
  });
}

/** `compared` is set if there is nothing to post, so the mapping is not put in force. */
type Mode = 'dry' | 'compared' | 'posted';

/** Shows the corrections and asks for confirmation. Does not ask if there are none. */
async function isAgreed(
  context: CommandContext,
  app: App,
  options: Options,
  { named, chosen }: { named: NamedDocument[] | null; chosen: InstallationConfig[] },
): Promise<'agreed' | 'refused' | 'nothing'> {
  if (options.yes === true) return 'agreed';
  let asked = 0;
  for (const installation of chosen) {
    const selection = selectionOf(installation, options, named);
    if (selection === null) continue;
    const { id, decimals } = installation;
    const view = { decimals, names: await readAccountNames(app.db, installation) };
    const summary = new RemapSummary(view, 'preview');
    const remapped = previewRemap(app.db, installation, app.practice(id), selection);
    const total = await countInForce(app.db, id, selection);
    for await (const batch of withProgress(context, stepTexts.comparing, total, remapped))
      for (const one of batch) summary.add(one);
    const { corrected, change_held, left_as_posted } = summary.document().counts;
    const open = corrected + change_held - left_as_posted;
    asked += open;
    if (open > 0)
      context.note(
        context.show(
          () => `${remapTexts.title({ installation: id, mapping: mappingName(installation) })}\n${summary.text()}\n`,
        ),
      );
  }
  if (asked === 0) return 'nothing';
  return (await agreed(context, options, remapTexts.question, 'repost')) ? 'agreed' : 'refused';
}

/** The selected documents of an installation. Null if none of its documents is named. */
function selectionOf(
  { id }: InstallationConfig,
  { from = null, to = null }: { from?: CalendarDate | null; to?: CalendarDate | null },
  named: NamedDocument[] | null,
): DocumentSelection | null {
  const own = named?.filter((one) => one.installation === null || one.installation === id) ?? null;
  return own?.length === 0 ? null : { documents: own, from, to };
}

async function repostAll(
  context: CommandContext,
  app: App,
  options: Options,
  { named, chosen, mode }: { named: NamedDocument[] | null; chosen: InstallationConfig[]; mode: Mode },
): Promise<void> {
  const result = new StreamedResult(context);
  result.json(`{"dry_run":${mode === 'dry'},"installations":[`);
  if (mode === 'dry') result.text(remapTexts.dryRun);
  let isFirst = true;
  for (const installation of chosen) {
    const selection = selectionOf(installation, options, named);
    if (selection === null) continue;
    if (!isFirst) result.json(',');
    isFirst = false;
    const details = context.json || options.details === true || named !== null;
    await repostOne(context, app, installation, selection, { isDry: mode !== 'posted', details }, result);
  }
  if (mode === 'compared') result.text(remapTexts.nothing);
  result.json(']}');
  await result.end();
}

async function repostOne(
  context: CommandContext,
  app: App,
  installation: InstallationConfig,
  selection: DocumentSelection,
  { isDry, details }: { isDry: boolean; details: boolean },
  result: StreamedResult,
): Promise<void> {
  const { id, decimals } = installation;
  const view = { decimals, names: await readAccountNames(app.db, installation) };
  const mapping = mappingName(installation);
  result.json(`{"installation":${id},"mapping":${JSON.stringify(mapping)},"documents":`);
  result.text(remapTexts.title({ installation: id, mapping }));
  const summary = new RemapSummary(view, isDry ? 'preview' : 'posted');
  const practice = app.practice(id);
  const batches = isDry
    ? previewRemap(app.db, installation, practice, selection)
    : repostInto(app.db, installation, practice, {
        selection,
        signal: context.signal,
        clock: systemClock,
        waitSeconds,
        onWait: () => context.note(remapTexts.windowRuns({ installation: id })),
      });
  const onAbort = () => context.note(remapTexts.interrupted);
  if (!isDry) context.signal.addEventListener('abort', onAbort, { once: true });
  const total = await countInForce(app.db, id, selection);
  const shown = withProgress(context, isDry ? stepTexts.comparing : stepTexts.reposting, total, batches);
  const items = changeItems(shown, id, view, summary);
  if (details) await result.list(items);
  else for await (const _ of items);
  result.json(`,${membersOf(summary.document())}}`);
  result.text(summary.text());
}

/** Reads one or more documents: `invoice 12`, `invoice/12` or `4711/invoice/12`. */
function documentsOf(words: string[]): NamedDocument[] {
  const found: NamedDocument[] = [];
  const text = words.join(' ');
  const known = `(?:(\\d{1,15})/)?(${documentKinds.join('|')})[ /](\\d{1,15})`;
  if (!new RegExp(`^${known}( ${known})*$`).test(text)) {
    throw usageError(usageTexts.noDocuments({ text }), 'repost');
  }
  for (const [, installation, kindText, id] of text.matchAll(new RegExp(known, 'g'))) {
    const kind = documentKinds.find((one) => one === kindText);
    if (kind)
      found.push({ installation: installation === undefined ? null : Number(installation), kind, id: Number(id) });
  }
  return found;
}

/** Throws UserError unless each named document has an entry in force in one of the chosen installations. */
async function checkKnown(app: App, named: NamedDocument[], chosen: InstallationConfig[]): Promise<void> {
  for (const { installation, kind, id } of named) {
    if (installation !== null) installationOf(app.config, installation);
    const installations = installation === null ? chosen.map((one) => one.id) : [installation];
    const found = await findDocuments(app.db, installations, { kind, id });
    if (found.some(({ entryId }) => entryId !== null)) continue;
    const [first] = found;
    throw new UserError(documentErrors.notInBooks({ kind, id, state: first?.state ?? null }), 1);
  }
}
