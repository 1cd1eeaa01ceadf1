import { randomBytes } from 'node:crypto';
import { Option } from 'commander';
import { z } from 'zod';
import { type ActedBy, recordAction } from '../../actions/record.ts';
import { adoptIdentity, type IdentityChange, identityChanges, requireAdoptable } from '../../bookkeeping/identity.ts';
import { isDelivered, isFileTarget } from '../../config/erp.ts';
import { endAllSessions } from '../../console/users/sessions.ts';
import type { Connection } from '../../db/rows.ts';
import { ConfigError } from '../../domain/errors.ts';
import { adoptEntries } from '../../erp/claims/adopt.ts';
import { companyKeyOf } from '../../erp/company.ts';
import { lookUpFirst } from '../../erp/outbox/look-up-first.ts';
import { pauseDelivery } from '../../erp/outbox/state.ts';
import { type AdoptionMode, type Bar, barOriginals, sourceBar } from '../../ledger/adoption.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { findBinding } from '../../runtime/binding/bind.ts';
import { fenceOriginal } from '../../runtime/binding/fence.ts';
import { noteBinding, noteTemporalName } from '../../runtime/binding/noted.ts';
import { anyProcessAtWork } from '../../runtime/presence.ts';
import { withTemporalClient } from '../../runtime/temporal-client.ts';
import { setPaused } from '../../sync/pauses.ts';
import { adoptTexts, resultTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { actedBy, agreed, statedBy } from '../acting.ts';
import { by, type Definition, option, wholeNumber } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  restored?: true;
  copy?: true;
  reason: string;
  by?: string;
  yes?: true;
}

const answer = z.union([
  z.strictObject({
    installation: z.number(),
    adopted: z.array(
      z.strictObject({ what: z.enum(['currency', 'timezone', 'source']), old: z.string(), new: z.string() }),
    ),
    erp_entries: z.number().optional(),
    /** Set if the ERP did not show all its entries, so that it may contain more of another database. */
    erp_search: z.literal('incomplete').optional(),
    reason: z.string().optional(),
    by: z.string().optional(),
  }),
  z.strictObject({ adopted: z.null() }),
  z.strictObject({ adopted: z.literal('copy'), name: z.string() }),
  z.strictObject({
    adopted: z.literal('restored'),
    name: z.string(),
    looked_up_first: z.array(z.number()),
    paused: z.array(z.number()),
    left: z.array(z.string()),
  }),
]);

export const command: Definition<Options> = {
  description:
    'With the first entry of an installation, vetledger stores its currency, time zone and practice API address (scheme, host, port). If the configuration differs later, no window opens, because documents of another clinic must not get into these books. If it is still the same clinic, this command records the change with reason, name and time, and the windows continue. A changed currency cannot be adopted. If the ERP contains entries of another vetledger database (`erp_company_foreign`), this command adopts them, too: such an entry replaces ours with the same id, and the delivery continues. --restored and --copy are for a copied database (`database_copied`). With --restored, it replaces its original, which then refuses to start. With --copy, it gets new names in Temporal, and never writes to an ERP or practice API of the original. Both ask for confirmation; without a terminal, --yes is required.',
  options: [
    option(
      '--installation <id>',
      'the installation with changed settings, or with entries of another database in its ERP',
      wholeNumber,
    ),
    new Option('--restored', 'this database replaces its original, which is gone'),
    new Option('--copy', 'this database is a copy for tests'),
    new Option('--reason <text>', 'the reason; it is recorded').makeOptionMandatory(),
    by,
    new Option('--yes', 'perform the change; without it, only show the change'),
  ],
  examples: [
    ['vetledger adopt --installation 4711 --reason "the clinic moved to another server"', 'show the change'],
    ['vetledger adopt --installation 4711 --reason "new server" --by "M. Virtanen" --yes', 'accept it'],
    [
      'vetledger adopt --installation 4711 --reason "the old server is gone" --yes',
      'continue the delivery to its company',
    ],
    ['vetledger adopt --restored --reason "disk failure on 3 May"', 'after a backup was restored'],
    ['vetledger adopt --copy --reason "trying the upgrade"', 'a copy for tests'],
  ],
  answer,
  run: (context, options) => (options.restored || options.copy ? adoptCopy(context, options) : adopt(context, options)),
};

/**
 * Accepts a changed time zone or practice API address, and another database's entries in the ERP. Without --yes, throws an error that
 * shows the change.
 */
function adopt(context: CommandContext, options: Options): Promise<number> {
  const { installation: id } = options;
  if (id === undefined) throw usageError(usageTexts.adoptWhat, 'adopt');
  const stated = statedBy(options, 'adopt');
  return withApp(context, { temporal: false, handlesSignal: true }, async ({ db, databaseId, delivery, config }) => {
    const by = await actedBy(db, stated);
    const installation = installationOf(config, id);
    const found = await identityChanges(db, installation);
    requireAdoptable(installation, found);
    const { error: foreign, isComplete } = isDelivered(installation.erp)
      ? await delivery.foreign(installation, context.signal)
      : { error: null, isComplete: true };
    if (!isComplete) context.note(context.show(() => adoptTexts.searchIncomplete({ installation: id })));
    const changes = [...found.map(changeText), ...(foreign === null ? [] : [foreign.message])];
    if (changes.length > 0 && options.yes !== true) {
      throw new ConfigError(
        commandErrors.notAdopted({
          installation: installation.id,
          changes: changes.join('; '),
          hasForeignEntries: foreign !== null,
        }),
      );
    }
    const adopted = found.length === 0 ? [] : await adoptIdentity(db, installation, by);
    const entries = foreign === null ? null : await adoptEntries({ db, databaseId }, installation, by);
    const document = {
      installation: installation.id,
      adopted,
      ...(entries === null ? {} : { erp_entries: entries }),
      ...(isComplete ? {} : { erp_search: 'incomplete' as const }),
      ...(changes.length > 0 ? { reason: by.reason, by: by.actedBy } : {}),
    };
    await context.result(document, () =>
      changes.length === 0
        ? adoptTexts[isComplete ? 'nothing' : 'nothingKnown']({ installation: id })
        : [
            adoptTexts.adopted({ installation: installation.id, by: by.actedBy, changes: changes.join('; ') }),
            ...(entries === null ? [] : [adoptTexts.adoptedEntries]),
          ].join('\n'),
    );
    return 0;
  });
}

function changeText(change: IdentityChange): string {
  return `${change.what} ${change.old} -> ${change.new}`;
}

type Client = Parameters<typeof fenceOriginal>[1];

const questions: Record<AdoptionMode, string> = {
  restored: adoptTexts.restoredQuestion,
  copy: adoptTexts.copyQuestion,
};

/** Records the purpose of a copied database, so that it may start. */
function adoptCopy(context: CommandContext, options: Options): Promise<number> {
  if (options.restored && options.copy) throw usageError(usageTexts.adoptBoth, 'adopt');
  const mode: AdoptionMode = options.restored ? 'restored' : 'copy';
  const stated = statedBy(options, 'adopt');
  return withApp(context, { temporal: true }, async (app) => {
    const by = await actedBy(app.db, stated);
    if (await anyProcessAtWork(app.db)) {
      throw usageError(usageTexts.processRunning, 'adopt');
    }
    return withTemporalClient(
      app,
      async (client) => {
        const { verdict } = await findBinding(app, client);
        const evidence = verdict.is === 'refused' ? verdict.evidence : '';
        context.note(evidence ? adoptTexts.looksLikeCopy({ evidence }) : adoptTexts.noCopy);
        if (!(await agreed(context, options, questions[mode], 'adopt'))) {
          await context.result({ adopted: null }, () => resultTexts.nothingChanged);
          return 0;
        }
        const name = randomBytes(4).toString('hex');
        if (mode === 'restored') await adoptRestored(context, app, client, { name, evidence, by });
        else await adoptTrial(context, app, { name, evidence, by });
        return 0;
      },
      { forCopies: true },
    );
  });
}

interface Adopting {
  /** The new name in Temporal, so that the original's workflows there never use this database. */
  name: string;
  evidence: string;
  by: ActedBy;
}

async function adoptRestored(context: CommandContext, app: App, client: Client, adopting: Adopting): Promise<void> {
  // The fence comes first. From then on, the original database refuses to start.
  const left = await fenceOriginal(app, client, adopting.name);
  const inDoubt: number[] = [];
  const paused: number[] = [];
  await app.db.transaction(async (trx) => {
    await rename(trx, app, 'restored', adopting);
    await endAllSessions(trx);
    for (const { id, erp } of app.config.installations) {
      if (!isDelivered(erp)) continue;
      if (isFileTarget(erp)) {
        await pauseDelivery(trx, id, {
          actedBy: adopting.by.actedBy,
          reason: adoptTexts.pausedReason,
        });
        paused.push(id);
      } else {
        await lookUpFirst(trx, id);
        inDoubt.push(id);
      }
    }
  });
  await context.result({ adopted: 'restored', name: adopting.name, looked_up_first: inDoubt, paused, left }, () =>
    [
      adoptTexts.restored,
      ...(inDoubt.length > 0 ? [adoptTexts.lookedUp({ installations: inDoubt.join(', ') })] : []),
      ...(paused.length > 0 ? [adoptTexts.paused({ installations: paused.join(', ') })] : []),
      ...left.map((line) => adoptTexts.left({ line })),
      adoptTexts.startAgain,
    ].join('\n'),
  );
}

async function adoptTrial(context: CommandContext, app: App, adopting: Adopting): Promise<void> {
  const bars = app.config.installations.flatMap(({ erp, baseUrl }): Bar[] => {
    const key = companyKeyOf(erp);
    return [sourceBar(baseUrl), ...(key === null ? [] : [{ kind: 'company' as const, key }])];
  });
  const reason = adoptTexts.copyReason({ reason: adopting.by.reason });
  await app.db.transaction(async (trx) => {
    await rename(trx, app, 'copy', adopting);
    await barOriginals(trx, bars);
    for (const { id, erp } of app.config.installations) {
      await setPaused(trx, id, true, { actedBy: adopting.by.actedBy, reason });
      if (isDelivered(erp)) await pauseDelivery(trx, id, { actedBy: adopting.by.actedBy, reason });
    }
  });
  await context.result({ adopted: 'copy', name: adopting.name }, () =>
    [adoptTexts.copy, adoptTexts.copyLimits].join('\n'),
  );
}

async function rename(trx: Connection, app: App, mode: AdoptionMode, { name, evidence, by }: Adopting): Promise<void> {
  const input = { mode, old_name: app.temporalName, new_name: name, evidence };
  await recordAction(trx, { installation: null, kind: 'adopt_database', by, input });
  await noteTemporalName(trx, name);
  // The next start binds the database again.
  await noteBinding(trx, null);
}
