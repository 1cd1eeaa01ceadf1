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
    'A decision holds for the version of the document that it was made on, and has a name, a reason and a time, which `vetledger explain` shows; the next window heeds it. Of an entry (its id has a number at the end) or a daily summary whose period the ERP closed before it was sent, only --redate can be decided: it is reversed in our books at its own date and posted anew on the first open day; the entry and its reversal, of which neither was sent, are settled against each other, and E7 lists them. One that was taken out of the books meanwhile is settled with its reversal alone. Of a daily summary, each entry is reversed and posted anew so, in a summary of their own on the open day; decide a day’s summary and its supplements together. A posted document that the source does not show any more is reversed by --confirm-gone only. With --filter, a comma-separated list of code=CODE, kind=KIND, from=DATE and to=DATE, all documents of `vetledger late` that match are decided; --number says how many there are, and nothing is decided where there are others by then. Where the ERP’s period is opened again, `vetledger deliver retry` sends the entries as they are.',
  options: [
    installation,
    new Option('--redate', 'post it on the first open day'),
    new Option('--as-dated', 'post it on its own date, once the period is open'),
    new Option('--wait', 'leave it out of the books for now'),
    new Option('--accept-date', 'its date is right, though it lies long before it was recorded'),
    new Option('--confirm-gone', 'it is gone from the source for good: it is reversed'),
    new Option('--filter <conditions>', 'instead of ids: code=CODE,kind=KIND,from=DATE,to=DATE'),
    option('--number <n>', 'with --filter: how many documents that are', wholeNumber),
    new Option('--reason <text>', 'why; it is recorded').makeOptionMandatory(),
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
  if ((filter === null) === (ids.length === 0))
    throw usageError('Name documents by their ids, or by --filter.', 'late decide');
  if (filter !== null && options.number === undefined) {
    throw usageError(
      'With --filter, say with --number how many documents it chooses; `vetledger late` lists them.',
      'late decide',
    );
  }
  const documents = ids.flatMap((id) => documentOf(id) ?? []);
  const units = ids.filter((id) => documentOf(id) === null);
  if (units.length > 0 && decision !== 'redate') {
    throw usageError(
      `${units[0]} is an entry, and its document is in the books: it can only be redated. Where the ERP’s period is opened again, \`vetledger deliver retry\` sends it as it is.`,
      'late decide',
    );
  }
  return withApp(context, { temporal: units.length > 0 }, async (app) => {
    const chosen = new Set((await chosenBooks(app, options.installation)).map(({ id }) => id));
    for (const { installation } of documents) {
      installationOf(app.config, installation);
      if (chosen.has(installation)) continue;
      throw usageError(`Installation ${installation} is not the one of --installation.`, 'late decide');
    }
    // Entries first: they are refused as a whole while a window is under way.
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
  throw usageError(
    'Say one thing that is decided: --redate, --wait, --as-dated, --accept-date or --confirm-gone.',
    'late decide',
  );
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
    throw new UserError(
      {
        code: 'unit_unknown',
        message: `There is no entry ${foreign} in the outbox of these installations.`,
        todo: 'Ids are those that `vetledger late` prints, such as 4711/invoice/123/1 or 4711/summary/2026-03-31-11/1.',
      },
      1,
    );
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

/** Of `<installation>/<kind>/<id>`; null for the id of an entry, which has one part more, or anything else. */
function documentOf(text: string): (DocumentRef & { installation: InstallationId }) | null {
  const parts = /^(\d{1,15})\/(\w+)\/(\d{1,15})$/.exec(text);
  const kind = documentKinds.find((known) => known === parts?.[2]);
  return parts && kind ? { installation: Number(parts[1]), kind, id: Number(parts[3]) } : null;
}

/** Of `<installation>/<kind>/<id>/<n>`. */
function installationOfUnit(unitId: string): InstallationId {
  const [installation = ''] = unitId.split('/');
  return /^\d{1,15}$/.test(installation) ? Number.parseInt(installation, 10) : 0;
}

/** `--filter` of `late decide`: `code=…,kind=…,from=…,to=…`, each at most once; documents match all of them. */
type LateFilter = Partial<Record<(typeof keys)[number], string>>;

const keys = ['code', 'kind', 'from', 'to'] as const;

function parseLateFilter(text: string): LateFilter {
  const filter: LateFilter = {};
  for (const part of text.split(',')) {
    const [name = '', value = '', ...rest] = part.split('=').map((each) => each.trim());
    const key = keys.find((each) => each === name);
    if (key === undefined || value === '' || rest.length > 0 || filter[key] !== undefined || !isValid(key, value)) {
      throw usageError(
        `${part} is no condition of --filter. Say code=CODE, kind=invoice, from=DATE or to=DATE, each once, with commas between them.`,
        'late decide',
      );
    }
    filter[key] = value;
  }
  return filter;
}

function isValid(key: keyof LateFilter, value: string): boolean {
  if (key === 'code') return true;
  return key === 'kind' ? documentKinds.some((kind) => kind === value) : isCalendarDate(value);
}

/** Whether a late document matches; one without a date matches no day. */
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
    if (reversal === null) return `${unit} comes to nothing; it is settled without being sent.`;
    return entry === null
      ? `${unit} and ${reversal} are settled against each other; neither is sent.`
      : `${unit} is posted anew as ${entry} on ${date}; it and ${reversal} are settled against each other.`;
  });
  return [...lines, `${count(redated.length, 'entry', 'entries')} decided.`];
}

const effects: Record<LateDecisionKind, string> = {
  redate: 'the next window posts it on the first open day',
  as_dated: 'it posts on its own date once the period is open',
  wait: 'nothing of it is posted until it is decided otherwise',
  accept_date: 'the next window posts it on its own date, if that is open',
  confirm_gone: 'the next window reverses it as gone from the source',
};

function decidedText(decided: readonly { id: string; decision: LateDecisionKind }[]): string[] {
  if (decided.length === 0) return [];
  const lines = decided.map(({ id, decision }) => `${visible(id)}: ${effects[decision]}.`);
  return [...lines, `${count(decided.length, 'document')} decided; \`vetledger sync\` opens a window now.`];
}
