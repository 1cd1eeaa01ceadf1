import { Option } from 'commander';
import { z } from 'zod';
import type { ActedBy } from '../../actions/record.ts';
import { decideChoice, type LateSelection, weighChoice } from '../../bookkeeping/decide-many.ts';
import { type Redated, redateClosed } from '../../bookkeeping/redate.ts';
import type { WeighedChoice } from '../../bookkeeping/weigh-decision.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import { UserError } from '../../domain/errors.ts';
import { visible } from '../../domain/text.ts';
import { type LateDecisionKind, lateDecisions } from '../../posting/types.ts';
import { date } from '../../queries/answer.ts';
import { shownDocument } from '../../queries/shown-decision.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { requestDeliveriesOnce } from '../../runtime/request-deliveries.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../../terms.ts';
import { lateTexts, weighedTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { lateErrors } from '../../texts/errors/late-documents.ts';
import { count } from '../../wording/words.ts';
import { actedBy, type Stated, statedBy } from '../acting.ts';
import { chosenBooks, chosenDeliveries } from '../books.ts';
import { by, type Definition, installation, option, sha256, wholeNumber } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { parseLateFilter } from '../late-filter.ts';
import { withApp } from '../with-app.ts';
import { reopenedLines, shownAnswer, shownText } from './late-decide-text.ts';

interface Options {
  installation?: number;
  redate?: true;
  wait?: true;
  asDated?: true;
  acceptDate?: true;
  leaveAsPosted?: true;
  confirmGone?: true;
  filter?: string;
  number?: number;
  dryRun?: true;
  shown?: string;
  reason?: string;
  by?: string;
}

const answer = z.strictObject({
  redated: z.array(
    z.strictObject({
      unit: z.string(),
      reversal: z.string().nullable(),
      entry: z.string().nullable(),
      date: date.nullable(),
    }),
  ),
  decided: z.array(
    z.strictObject({
      id: z.string(),
      decision: z.enum(lateDecisions),
      code: z.string().nullable(),
    }),
  ),
  dry_run: z.boolean(),
  /** The effect of the decision; absent if only entries were decided. */
  shown: shownAnswer.optional(),
});

export const command: Definition<Options> = {
  description:
    'A decision applies to one version of the document. It has a name, a reason and a time, which `vetledger explain` shows, and the next window applies it. For an entry (its id ends with a further number) or daily summary whose period the ERP closed before the delivery, only --redate is possible. The entry is then reversed in our books on its own date and posted again on the first open day. The entry and its reversal cancel each other: neither is sent, and E7 lists them. If the entry was already reversed in our books, it is only settled with that reversal. For a daily summary, this applies to each of its entries, which get a new summary on the open day. Decide a day’s summary and its correction summaries together. Only --confirm-gone reverses a posted document that is missing in the source. --leave-as-posted declines a correction for good: it applies to the entry that the document would become. If the document would become another entry, it needs a new decision. --filter chooses all undecided documents of `vetledger late` that meet each condition: month=MONTH, from=DATE, to=DATE, code=CODE, kind=KIND, account=ACCOUNT, department=ID, amount>=AMOUNT, amount<=AMOUNT. An account is one that posting the document would change, and the amount is the largest change of an account. decided=DECISION chooses documents with that decision. With --filter, the command prints count, sum, VAT and the effect on each account and VAT period, and asks for confirmation. Without a terminal, give --shown with the hash that --dry-run prints, or --number. If the shown effects have changed since then, nothing is decided. If the ERP’s period is open again, `vetledger deliver retry` sends the entries unchanged.',
  options: [
    installation,
    new Option('--redate', 'post it on the first open day'),
    new Option('--as-dated', 'post it on its own date when the period is open'),
    new Option('--wait', 'do not post it for now'),
    new Option('--leave-as-posted', 'the entry in force stays for good, and the correction is not posted'),
    new Option('--accept-date', 'its date is right, although it was recorded much later'),
    new Option('--confirm-gone', 'it is gone from the source for good: it is reversed'),
    new Option('--filter <conditions>', 'instead of ids: for example month=2026-01,code=change_held,amount<=5.00'),
    new Option('--dry-run', 'only print what the decision would do'),
    option('--shown <hash>', 'decide only if the decision does what --dry-run printed with this hash', sha256),
    option('--number <n>', 'with --filter: decide only if this number of documents matches', wholeNumber),
    new Option('--reason <text>', 'the reason; it is recorded (without --dry-run it is required)'),
    by,
  ],
  examples: [
    ['vetledger late decide 4711/invoice/123 --redate --reason "came after the close"', 'on the first open day'],
    ['vetledger late decide 4711/invoice/123 --as-dated --reason "belongs to January"', 'once January is open'],
    ['vetledger late decide 4711/invoice/9 --accept-date --reason "an old case, billed now"', 'an old date'],
    ['vetledger late decide 4711/payment/7 --confirm-gone --reason "deleted by Anna"', 'gone for good'],
    [
      'vetledger late decide --filter "month=2026-01,code=change_held,amount<=5.00" --leave-as-posted --reason "too small"',
      'small corrections of a month, after confirmation',
    ],
    ['vetledger late decide --filter month=2026-01 --redate --dry-run', 'only what it would do'],
    [
      'vetledger late decide --filter code=source_shrank,kind=invoice --number 27 --confirm-gone --reason "test data"',
      'many at once',
    ],
    ['vetledger late decide 4711/invoice/123/1 --redate --reason "March is declared"', 'an entry'],
    ['vetledger late decide 4711/summary/2026-03-31-11/1 --redate --reason "March is declared"', 'a day’s summary'],
  ],
  answer,
  run: decide,
};

/** Decides about late documents, and about entries whose period the ERP closed. */
function decide(context: CommandContext, options: Options, ids: readonly string[]): Promise<number> {
  const decision = decisionOf(options);
  const stated = options.dryRun ? null : decidedBy(options);
  if ((options.filter === undefined) === (ids.length === 0))
    throw usageError(usageTexts.documentsOrFilter, 'late decide');
  const documents = ids.flatMap((id) => documentOf(id) ?? []);
  const units = ids.filter((id) => documentOf(id) === null);
  if (units.length > 0 && decision !== 'redate') {
    throw usageError(usageTexts.onlyRedate({ unit: String(units[0]) }), 'late decide');
  }
  if (units.length > 0 && (options.dryRun || options.shown !== undefined)) {
    throw usageError(usageTexts.shownNeedsDocuments, 'late decide');
  }
  const selection: LateSelection =
    options.filter === undefined
      ? { named: Map.groupBy(documents, (each) => each.installation) }
      : { filter: parseLateFilter(options.filter) };
  return withApp(context, { temporal: units.length > 0 }, async (app) => {
    const by = stated === null ? null : await actedBy(app.db, stated);
    const books = await chosenBooks(app, options.installation);
    const chosen = new Set(books.map(({ id }) => id));
    for (const { installation } of documents) {
      installationOf(app.config, installation);
      if (chosen.has(installation)) continue;
      throw usageError(usageTexts.otherInstallation({ installation }), 'late decide');
    }
    // Entries come first: while a window is running, the command fails here, before any document is decided.
    const redated = units.length > 0 && by !== null ? await redateUnits(context, app, options, units, by) : [];
    const found = await decideDocuments(context, app, books, selection, { ...options, decision, by });
    const shown = units.length > 0 && documents.length === 0 ? null : shownDocument(decision, found.choices);
    const decided = found.outcome === 'decided' ? found.choices.flatMap((each) => decidedOf(each, decision)) : [];
    const answer = { redated, decided, dry_run: found.outcome === 'dry', ...(shown === null ? {} : { shown }) };
    await context.result(answer, () => {
      if (found.outcome === 'refused') return weighedTexts.refused;
      if (found.outcome === 'dry' && shown) return [shownText(decision, shown), weighedTexts.dryRun].join('\n\n');
      const warnings = reopenedLines(shown?.installations.flatMap(({ documents: own }) => own) ?? []);
      return [...redatedText(redated), ...decidedText(decided), ...warnings].join('\n');
    });
    return 0;
  });
}

type Outcome = 'decided' | 'dry' | 'refused';

/**
 * Weighs the decision and shows it. If a filter chose the documents, it asks for confirmation. It records the decision if its
 * effects are still the same. Without `by` it only weighs.
 */
async function decideDocuments(
  context: CommandContext,
  app: App,
  books: readonly InstallationConfig[],
  selection: LateSelection,
  options: Pick<Options, 'shown' | 'number'> & { decision: LateDecisionKind; by: ActedBy | null },
): Promise<{ outcome: Outcome; choices: WeighedChoice[] }> {
  const { decision, by, shown = null, number } = options;
  const isFiltered = 'filter' in selection;
  let seen: WeighedChoice[] | null = null;
  if (by === null || (isFiltered && shown === null)) {
    seen = await app.db.transaction((trx) => weighChoice(trx, books, selection, decision, app.clock), {
      ...{ isolationLevel: 'repeatable read', readOnly: true },
    });
    const found = seen.reduce((all, { documents }) => all + documents.length, 0);
    if (number !== undefined && found !== number) throw new UserError(lateErrors.otherNumber({ found, number }), 2);
    if (by === null) return { outcome: 'dry', choices: seen };
    if (number === undefined) {
      const weighed = shownDocument(decision, seen);
      context.note(context.show(() => shownText(decision, weighed)));
      const answer = await context.confirm(weighedTexts.question);
      if (answer === null) throw usageError(usageTexts.filterNeedsShown, 'late decide');
      if (!answer) return { outcome: 'refused', choices: seen };
    }
  }
  const deciding = { decision, ...by };
  const choices = await app.db.transaction((trx) =>
    decideChoice(trx, books, selection, deciding, { clock: app.clock, shown: shown ?? seen }),
  );
  return { outcome: 'decided', choices };
}

function decidedOf({ installation, documents }: WeighedChoice, decision: LateDecisionKind) {
  return documents.map(({ kind, id, code }) => ({ id: `${installation.id}/${kind}/${id}`, decision, code }));
}

function decidedBy({ reason, ...options }: Options): Stated {
  if (reason === undefined) throw usageError(usageTexts.reasonMissing, 'late decide');
  return statedBy({ ...options, reason }, 'late decide');
}

function decisionOf(options: Options): LateDecisionKind {
  const said: [LateDecisionKind, true | undefined][] = [
    ['redate', options.redate],
    ['wait', options.wait],
    ['as_dated', options.asDated],
    ['leave_as_posted', options.leaveAsPosted],
    ['accept_date', options.acceptDate],
    ['confirm_gone', options.confirmGone],
  ];
  const [first, ...others] = said.filter(([, isSaid]) => isSaid === true).map(([decision]) => decision);
  if (first !== undefined && others.length === 0) return first;
  throw usageError(usageTexts.oneDecision, 'late decide');
}

async function redateUnits(
  context: CommandContext,
  app: App,
  options: Options,
  ids: readonly string[],
  by: ActedBy,
): Promise<Redated[]> {
  const chosen = await chosenDeliveries(app, options.installation);
  const ports = { db: app.db, databaseId: app.databaseId, signal: context.signal };
  const known = new Set(chosen.map(({ id }) => id));
  const foreign = ids.find((id) => !known.has(installationOfUnit(id)));
  if (foreign !== undefined) {
    throw new UserError(commandErrors.lateUnitUnknown({ unit: foreign }), 1);
  }
  const redated: Redated[] = [];
  for (const each of chosen) {
    const own = ids.filter((id) => installationOfUnit(id) === each.id);
    if (own.length > 0) redated.push(...(await redateClosed(ports, each, own, by)));
  }
  await requestDeliveriesOnce(app, [...new Set(ids.map(installationOfUnit))]);
  return redated;
}

/** Reads `<installation>/<kind>/<id>`. Null for any other text, such as the id of an entry, which has one more part. */
function documentOf(text: string): (DocumentRef & { installation: InstallationId }) | null {
  const parts = /^(\d{1,15})\/(\w+)\/(\d{1,15})$/.exec(text);
  const kind = documentKinds.find((known) => known === parts?.[2]);
  return parts && kind ? { installation: Number(parts[1]), kind, id: Number(parts[3]) } : null;
}

/** The installation of a unit id `<installation>/<kind>/<id>/<n>`; 0 if the text is not such an id. */
function installationOfUnit(unitId: string): InstallationId {
  const [installation = ''] = unitId.split('/');
  return /^\d{1,15}$/.test(installation) ? Number.parseInt(installation, 10) : 0;
}

function redatedText(redated: readonly Redated[]): string[] {
  if (redated.length === 0) return [];
  const lines = redated.map(({ unit, reversal, entry, date }) => {
    if (reversal === null) return lateTexts.dropped({ unit });
    return entry === null
      ? lateTexts.cancelledOut({ unit, reversal })
      : lateTexts.redated({ unit, entry, date: String(date), reversal });
  });
  return [...lines, lateTexts.entriesDecided({ entries: count(redated.length, 'entry') })];
}

function decidedText(decided: readonly { id: string; decision: LateDecisionKind }[]): string[] {
  if (decided.length === 0) return [];
  const lines = decided.map(({ id, decision }) => `${visible(id)}: ${lateTexts[decision]}.`);
  return [...lines, lateTexts.decided({ documents: count(decided.length, 'document') })];
}
