import { decisionsFor, optionOf } from '../../bookkeeping/decide-late.ts';
import { chooseLate, decideAll } from '../../bookkeeping/decide-many.ts';
import { decisionsOf } from '../../bookkeeping/late-decisions.ts';
import { type Redated, redateClosed } from '../../bookkeeping/redate.ts';
import { isDelivered } from '../../config/erp.ts';
import { type LateDocument, lateDocuments } from '../../documents/late.ts';
import { UserError } from '../../domain/errors.ts';
import { unitsClosedInErp } from '../../erp/outbox/cancel-out.ts';
import type { LateDecisionKind } from '../../posting/types.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { requestDeliveriesOnce } from '../../runtime/deliveries.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../../terms.ts';
import { actedBy } from '../acting.ts';
import { chosenBooks, chosenDeliveries } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { matchesLate, parseLateFilter } from '../late-filter.ts';
import { decidedText, type ListedLate, lateText, redatedText } from '../render/late.ts';
import { withApp } from '../with-app.ts';

/**
 * Prints what waits for a person's decision: documents that a lock or their date keeps out of the books, and entries and daily
 * summaries whose period was closed in the ERP before they were sent.
 */
export function list(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const documents: ListedLate[] = [];
    const late: { installation: InstallationId; id: string; reversal: string | null }[] = [];
    for (const { id, erp } of await chosenBooks(app, options.installation)) {
      const found = await lateDocuments(app.db, id);
      const decisions = await decisionsOf(app.db, id, found);
      for (const document of found) {
        const own = decisions.get(`${document.kind}/${document.id}`) ?? [];
        documents.push(listed(id, document, own.find(({ version }) => version === document.version) ?? null));
      }
      if (!isDelivered(erp)) continue;
      for (const { unitId, reversal } of await unitsClosedInErp(app.db, id)) {
        late.push({ installation: id, id: unitId, reversal });
      }
    }
    await context.result({ late, documents }, () => lateText(documents, late));
    return 0;
  });
}

type Recorded = NonNullable<ListedLate['decided']> & { version: string };

function listed(installation: InstallationId, document: LateDocument, decided: Recorded | null): ListedLate {
  const { kind, id, problem, message, documentDate, entryId } = document;
  return {
    ...{ installation, id: `${installation}/${kind}/${id}`, document: `${kind} ${id}`, date: documentDate },
    ...{ code: problem ?? '', message, in_force: entryId },
    decided: decided && { decision: decided.decision, by: decided.by, at: decided.at, reason: decided.reason },
    decisions: (decisionsFor[problem ?? ''] ?? []).map(optionOf),
  };
}

export interface DecideOptions {
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

/** Decides about late documents, and about entries whose period the ERP closed. */
export function decide(context: CommandContext, options: DecideOptions, ids: readonly string[]): Promise<number> {
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

function decisionOf(options: DecideOptions): LateDecisionKind {
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
  { installation, reason, by }: DecideOptions,
  ids: readonly string[],
): Promise<Redated[]> {
  const chosen = await chosenDeliveries(app, installation);
  const ports = { db: app.db, databaseId: app.databaseId, signal: context.signal };
  const known = new Set(chosen.map(({ id }) => id));
  const foreign = ids.find((id) => !known.has(installationOfUnit(id)));
  if (foreign !== undefined) {
    throw new UserError(
      'unit_unknown',
      `There is no entry ${foreign} in the outbox of these installations.`,
      'Ids are those that `vetledger late` prints, such as 4711/invoice/123/1 or 4711/summary/2026-03-31-11/1.',
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
