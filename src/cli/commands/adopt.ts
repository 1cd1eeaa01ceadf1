import { randomBytes } from 'node:crypto';
import { Option } from 'commander';
import { z } from 'zod';
import { type ActedBy, recordAction } from '../../actions/record.ts';
import { adoptIdentity, type IdentityChange, identityChanges, requireAdoptable } from '../../bookkeeping/identity.ts';
import { isDelivered, isFileTarget } from '../../config/erp.ts';
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
import { actedBy, agreed } from '../acting.ts';
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
    'Currency, time zone and the address of the practice API (scheme, host, port) are noted with an installation’s first entry. A configuration that says otherwise opens no window: another clinic’s documents must not get into these books. Where it is the same clinic all the same, this records old, new, reason, name and time, and goes on with the new. A changed currency cannot be adopted. Where another database of vetledger has entries of the installation in its ERP (`erp_company_foreign`), they are adopted, too: an entry of theirs then stands for ours of the same id, and delivery goes on. --restored and --copy are for a database that was noticed to be a copy (`database_copied`): with --restored it takes the place of its original, which is gone and refuses to start from then on; with --copy it gets names of its own in Temporal, and never writes into an ERP or practice API of its original. Both ask first; where there is no terminal, --yes is needed.',
  options: [
    option(
      '--installation <id>',
      'the installation whose settings have changed, or whose company has another database’s entries',
      wholeNumber,
    ),
    new Option('--restored', 'this database takes the place of its original, which is gone'),
    new Option('--copy', 'this database is a copy to try things on'),
    new Option('--reason <text>', 'why the change is right; it is recorded').makeOptionMandatory(),
    by,
    new Option('--yes', 'do it; without, only say what would change'),
  ],
  examples: [
    ['vetledger adopt --installation 4711 --reason "the clinic moved to another server"', 'what would change'],
    ['vetledger adopt --installation 4711 --reason "new server" --by "M. Virtanen" --yes', 'take it into the books'],
    ['vetledger adopt --installation 4711 --reason "the old server is gone" --yes', 'go on in its company of the ERP'],
    ['vetledger adopt --restored --reason "disk failure on 3 May"', 'after a backup was restored'],
    ['vetledger adopt --copy --reason "trying the upgrade"', 'a copy for trials'],
  ],
  answer,
  run: (context, options) => (options.restored || options.copy ? adoptCopy(context, options) : adopt(context, options)),
};

/**
 * Takes a changed time zone or practice API address into the books, and another database's entries in the ERP; without --yes only says
 * what would change.
 */
function adopt(context: CommandContext, options: Options): Promise<number> {
  const { installation: id } = options;
  if (id === undefined) throw usageError('Give --installation ID, --restored or --copy.', 'adopt');
  const by = actedBy(options, 'adopt');
  return withApp(context, { temporal: false, handlesSignal: true }, async ({ db, databaseId, delivery, config }) => {
    const installation = installationOf(config, id);
    const found = await identityChanges(db, installation);
    requireAdoptable(installation, found);
    const foreign = isDelivered(installation.erp) ? await delivery.foreign(installation, context.signal) : null;
    const told = [...found.map(changeText), ...(foreign === null ? [] : [foreign.message])];
    if (told.length > 0 && options.yes !== true) {
      throw new ConfigError({
        code: 'not_confirmed',
        message: `Nothing was adopted. With --yes it would be, for installation ${installation.id}: ${told.join('; ')}.`,
        todo:
          foreign === null
            ? 'If this is still the same clinic, run it again with --yes.'
            : 'If the other vetledger is stopped for good and its entries stand, run it again with --yes.',
      });
    }
    const adopted = found.length === 0 ? [] : await adoptIdentity(db, installation, by);
    const entries = foreign === null ? null : await adoptEntries({ db, databaseId }, installation, by);
    const document = {
      installation: installation.id,
      adopted,
      ...(entries === null ? {} : { erp_entries: entries }),
      ...(told.length > 0 ? { reason: by.reason, by: by.actedBy } : {}),
    };
    await context.result(document, () =>
      told.length === 0
        ? `Nothing to adopt: the configuration of installation ${installation.id} agrees with its books, and no other database's entries are known in its ERP.`
        : [
            `Adopted for installation ${installation.id}, by ${by.actedBy}: ${told.join('; ')}.`,
            ...(entries === null ? [] : [adoptedText]),
          ].join('\n'),
    );
    return 0;
  });
}

const adoptedText =
  'Delivery goes on within five minutes, or with `vetledger deliver`. An adopted entry stands for ours of the same id: it is compared, and ours is not sent. What differs is told by `vetledger problems`.';

function changeText(change: IdentityChange): string {
  return `${change.what} ${change.old} -> ${change.new}`;
}

type Client = Parameters<typeof fenceOriginal>[1];

const questions: Record<AdoptionMode, string> = {
  restored:
    'Is the original gone for good, and does this database take its place? The original is kept from starting again.',
  copy: 'Is this a copy to try things on? It will write into no ERP and no practice API of the original.',
};

/** Says what a copy of a database is for, so that it may start. */
function adoptCopy(context: CommandContext, options: Options): Promise<number> {
  if (options.restored && options.copy) throw usageError('Give --restored or --copy, not both.', 'adopt');
  const mode: AdoptionMode = options.restored ? 'restored' : 'copy';
  const by = actedBy(options, 'adopt');
  return withApp(context, { temporal: true }, async (app) => {
    if (await anyProcessAtWork(app.db)) {
      throw usageError('A process of vetledger is at work on this database; end it first.', 'adopt');
    }
    return withTemporalClient(
      app,
      async (client) => {
        const { verdict } = await findBinding(app, client);
        const evidence = verdict.is === 'refused' ? verdict.evidence : '';
        context.note(evidence ? `It looks like a copy: ${evidence}.` : 'Nothing shows that this database is a copy.');
        if (!(await agreed(context, options, questions[mode], 'adopt'))) {
          await context.result({ adopted: null }, () => 'Nothing was changed.');
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
  /** The new name in Temporal: what runs there for the original never meets this database. */
  name: string;
  evidence: string;
  by: ActedBy;
}

async function adoptRestored(context: CommandContext, app: App, client: Client, adopting: Adopting): Promise<void> {
  // First: from here on the original refuses to start.
  const left = await fenceOriginal(app, client, adopting.name);
  const inDoubt: number[] = [];
  const paused: number[] = [];
  await app.db.transaction(async (trx) => {
    await rename(trx, app, 'restored', adopting);
    for (const { id, erp } of app.config.installations) {
      if (!isDelivered(erp)) continue;
      if (isFileTarget(erp)) {
        await pauseDelivery(trx, id, {
          actedBy: adopting.by.actedBy,
          reason: 'restored from a backup: the batches since then have to lie in the folder',
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
      'This database takes the place of the original, which refuses to start from now on.',
      ...(inDoubt.length > 0
        ? [
            `Installations ${inDoubt.join(', ')}: what the ERP may have since the backup is looked up before it is sent.`,
          ]
        : []),
      ...(paused.length > 0
        ? [
            `Installations ${paused.join(', ')}: their files cannot be asked for, so their delivery is paused. Put the batches since the backup back into the folder, where they are not there; then run \`vetledger deliver resume\` (docs/operators/backup.md, "Copies and restored databases").`,
          ]
        : []),
      ...left.map((line) => `Left in Temporal: ${line}`),
      'Start `vetledger run` again; the next windows bring what has changed since the backup.',
    ].join('\n'),
  );
}

async function adoptTrial(context: CommandContext, app: App, adopting: Adopting): Promise<void> {
  const bars = app.config.installations.flatMap(({ erp, baseUrl }): Bar[] => {
    const key = companyKeyOf(erp);
    return [sourceBar(baseUrl), ...(key === null ? [] : [{ kind: 'company' as const, key }])];
  });
  const reason = `a copy for trials: ${adopting.by.reason}`;
  await app.db.transaction(async (trx) => {
    await rename(trx, app, 'copy', adopting);
    await barOriginals(trx, bars);
    for (const { id, erp } of app.config.installations) {
      await setPaused(trx, id, true, { actedBy: adopting.by.actedBy, reason });
      if (isDelivered(erp)) await pauseDelivery(trx, id, { actedBy: adopting.by.actedBy, reason });
    }
  });
  await context.result({ adopted: 'copy', name: adopting.name }, () =>
    [
      'This database is a copy for trials now, with names of its own in Temporal.',
      'It writes into no ERP and no practice API that its books know. Windows and deliveries are paused; `vetledger resume` lets windows go on, which share the rate limits of the practice API with the original.',
    ].join('\n'),
  );
}

async function rename(trx: Connection, app: App, mode: AdoptionMode, { name, evidence, by }: Adopting): Promise<void> {
  const input = { mode, old_name: app.temporalName, new_name: name, evidence };
  await recordAction(trx, { installation: null, kind: 'adopt_database', by, input });
  await noteTemporalName(trx, name);
  // Bound anew by the next start.
  await noteBinding(trx, null);
}
