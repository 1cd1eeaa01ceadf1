import { Option } from 'commander';
import { z } from 'zod';
import { chooseLate, decideAll } from '../../bookkeeping/decide-many.ts';
import { type Redated, redateClosed } from '../../bookkeeping/redate.ts';
import type { LateDocument } from '../../documents/late-documents.ts';
import { isCalendarDate } from '../../domain/dates.ts';
import { UserError } from '../../domain/errors.ts';
import { visible } from '../../domain/text.ts';
import type { LateDecisionKind } from '../../posting/types.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { requestDeliveriesOnce } from '../../runtime/request-deliveries.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../../terms.ts';
import { lateTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { actedBy } from '../acting.ts';
import { date } from '../answer.ts';
import { chosenBooks, chosenDeliveries } from '../books.ts';
import { by, type Definition, installation, option, wholeNumber } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { count } from '../render/text.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  redate?: true;
  wait?: true;
  asDated?: true;
  acceptDate?: true;
  confirmGone?: true;
  filter?: string;
  number?: number;
  reason: string;
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
      decision: z.enum(['redate', 'wait', 'as_dated', 'accept_date', 'confirm_gone']),
      code: z.string().nullable(),
    }),
  ),
});

export const command: Definition<Options> = {
  description:
    'A decision applies to one version of the document. It has a name, a reason and a time, which `vetledger explain` shows, and the next window applies it. For an entry (its id ends with a further number) or daily summary whose period the ERP closed before the delivery, only --redate is possible. The entry is then reversed in our books on its own date and posted again on the first open day. The entry and its reversal cancel each other: neither is sent, and E7 lists them. If the entry was already reversed in our books, it is only settled with that reversal. For a daily summary, this applies to each of its entries, which get a new summary on the open day. Decide a day’s summary and its supplements together. Only --confirm-gone reverses a posted document that is missing in the source. --filter, a comma-separated list of code=CODE, kind=KIND, from=DATE and to=DATE, chooses all matching documents of `vetledger late`. --number must be their number; otherwise nothing is decided. If the ERP’s period is open again, `vetledger deliver retry` sends the entries unchanged.',
  options: [
    installation,
    new Option('--redate', 'post it on the first open day'),
    new Option('--as-dated', 'post it on its own date when the period is open'),
    new Option('--wait', 'do not post it for now'),
    new Option('--accept-date', 'its date is right, although it was recorded much later'),
    new Option('--confirm-gone', 'it is gone from the source for good: it is reversed'),
    new Option('--filter <conditions>', 'instead of ids: code=CODE,kind=KIND,from=DATE,to=DATE'),
    option('--number <n>', 'with --filter: the number of matching documents', wholeNumber),
    new Option('--reason <text>', 'the reason; it is recorded').makeOptionMandatory(),
    by,
  ],
  examples: [
    ['vetledger late decide 4711/invoice/123 --redate --reason "came after the close"', 'on the first open day'],
    ['vetledger late decide 4711/invoice/123 --as-dated --reason "belongs to January"', 'once January is open'],
    ['vetledger late decide 4711/invoice/9 --accept-date --reason "an old case, billed now"', 'an old date'],
    ['vetledger late decide 4711/payment/7 --confirm-gone --reason "deleted by Anna"', 'gone for good'],
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
  const by = actedBy(options, 'late decide');
  const filter = options.filter === undefined ? null : parseLateFilter(options.filter);
  if ((filter === null) === (ids.length === 0)) throw usageError(usageTexts.documentsOrFilter, 'late decide');
  if (filter !== null && options.number === undefined) {
    throw usageError(usageTexts.filterNeedsNumber, 'late decide');
  }
  const documents = ids.flatMap((id) => documentOf(id) ?? []);
  const units = ids.filter((id) => documentOf(id) === null);
  if (units.length > 0 && decision !== 'redate') {
    throw usageError(usageTexts.onlyRedate({ unit: String(units[0]) }), 'late decide');
  }
  return withApp(context, { temporal: units.length > 0 }, async (app) => {
    const chosen = new Set((await chosenBooks(app, options.installation)).map(({ id }) => id));
    for (const { installation } of documents) {
      installationOf(app.config, installation);
      if (chosen.has(installation)) continue;
      throw usageError(usageTexts.otherInstallation({ installation }), 'late decide');
    }
    // Entries come first: while a window is running, the command fails here, before any document is decided.
    const redated = units.length > 0 ? await redateUnits(context, app, options, units) : [];
    const decided = await app.db.transaction(async (trx) => {
      const deciding = { decision, ...by };
      const done: { id: string; decision: LateDecisionKind; code: string | null }[] = [];
      const add = (installation: InstallationId, { kind, id, problem }: LateDocument) =>
        done.push({ id: `${installation}/${kind}/${id}`, decision, code: problem });
      for (const [installation, named] of Map.groupBy(documents, (each) => each.installation)) {
        for (const each of await decideAll(trx, installation, named, deciding, { chosen: false }))
          add(installation, each);
      }
      if (filter !== null) {
        const choice = await chooseLate(
          trx,
          [...chosen],
          (document) => matchesLate(filter, document),
          options.number ?? 0,
        );
        for (const [installation, found] of choice) {
          for (const each of await decideAll(trx, installation, found, deciding, { chosen: true }))
            add(installation, each);
        }
      }
      return done;
    });
    await context.result({ redated, decided }, () => [...redatedText(redated), ...decidedText(decided)].join('\n'));
    return 0;
  });
}

function decisionOf(options: Options): LateDecisionKind {
  const said: [LateDecisionKind, true | undefined][] = [
    ['redate', options.redate],
    ['wait', options.wait],
    ['as_dated', options.asDated],
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
  { installation, reason, by }: Options,
  ids: readonly string[],
): Promise<Redated[]> {
  const chosen = await chosenDeliveries(app, installation);
  const ports = { db: app.db, databaseId: app.databaseId, signal: context.signal };
  const known = new Set(chosen.map(({ id }) => id));
  const foreign = ids.find((id) => !known.has(installationOfUnit(id)));
  if (foreign !== undefined) {
    throw new UserError(commandErrors.lateUnitUnknown({ unit: foreign }), 1);
  }
  const acted = actedBy({ reason, ...(by === undefined ? {} : { by }) }, 'late decide');
  const redated: Redated[] = [];
  for (const each of chosen) {
    const own = ids.filter((id) => installationOfUnit(id) === each.id);
    if (own.length > 0) redated.push(...(await redateClosed(ports, each, own, acted)));
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

/** The value of `--filter`: `code=…,kind=…,from=…,to=…`, each at most once. A document must match all of them. */
type LateFilter = Partial<Record<(typeof keys)[number], string>>;

const keys = ['code', 'kind', 'from', 'to'] as const;

function parseLateFilter(text: string): LateFilter {
  const filter: LateFilter = {};
  for (const part of text.split(',')) {
    const [name = '', value = '', ...rest] = part.split('=').map((each) => each.trim());
    const key = keys.find((each) => each === name);
    if (key === undefined || value === '' || rest.length > 0 || filter[key] !== undefined || !isValid(key, value)) {
      throw usageError(usageTexts.noCondition({ text: part }), 'late decide');
    }
    filter[key] = value;
  }
  return filter;
}

function isValid(key: keyof LateFilter, value: string): boolean {
  if (key === 'code') return true;
  return key === 'kind' ? documentKinds.some((kind) => kind === value) : isCalendarDate(value);
}

/** Whether a late document matches. A document without a date does not match `from` or `to`. */
function matchesLate(
  { code, kind, from, to }: LateFilter,
  document: Pick<LateDocument, 'problem' | 'kind' | 'documentDate'>,
): boolean {
  const date = document.documentDate;
  return (
    (code === undefined || document.problem === code) &&
    (kind === undefined || document.kind === kind) &&
    (from === undefined || (date !== null && date >= from)) &&
    (to === undefined || (date !== null && date <= to))
  );
}

function redatedText(redated: readonly Redated[]): string[] {
  if (redated.length === 0) return [];
  const lines = redated.map(({ unit, reversal, entry, date }) => {
    if (reversal === null) return lateTexts.dropped({ unit });
    return entry === null
      ? lateTexts.cancelledOut({ unit, reversal })
      : lateTexts.redated({ unit, entry, date: String(date), reversal });
  });
  return [...lines, `${count(redated.length, 'entry', 'entries')} decided.`];
}

function decidedText(decided: readonly { id: string; decision: LateDecisionKind }[]): string[] {
  if (decided.length === 0) return [];
  const lines = decided.map(({ id, decision }) => `${visible(id)}: ${lateTexts[decision]}.`);
  return [...lines, `${count(decided.length, 'document')} decided; \`vetledger sync\` opens a window now.`];
}
