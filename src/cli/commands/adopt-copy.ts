import { randomBytes } from 'node:crypto';
import { isDelivered, isFileTarget } from '../../config/erp.ts';
import { companyKeyOf } from '../../erp/company.ts';
import { lookUpFirst } from '../../erp/outbox/look-up-first.ts';
import { pauseDelivery } from '../../erp/outbox/state.ts';
import { type AdoptionMode, type Bar, barOriginals, recordAdoption, sourceBar } from '../../ledger/copies.ts';
import type { App } from '../../runtime/app.ts';
import { findBinding } from '../../runtime/binding/bind.ts';
import { fenceOriginal } from '../../runtime/binding/fence.ts';
import { noteBinding, noteTemporalName } from '../../runtime/binding/noted.ts';
import { anyProcessAtWork } from '../../runtime/presence.ts';
import { withTemporalClient } from '../../runtime/temporal-client.ts';
import { setPaused } from '../../sync/pauses.ts';
import { actedBy } from '../acting.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

export interface AdoptCopyOptions {
  restored?: true;
  copy?: true;
  reason: string;
  by?: string;
  yes?: true;
}

type By = ReturnType<typeof actedBy>;
type Client = Parameters<typeof fenceOriginal>[1];

const questions: Record<AdoptionMode, string> = {
  restored:
    'Is the original gone for good, and does this database take its place? The original is kept from starting again.',
  copy: 'Is this a copy to try things on? It will write into no ERP and no practice API of the original.',
};

/** Says what a copy of a database is for, so that it may start. */
export function adoptCopy(context: CommandContext, options: AdoptCopyOptions): Promise<number> {
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
        if (options.yes !== true) {
          const answer = await context.confirm(questions[mode]);
          if (answer === null) throw usageError('Without a terminal to ask on, --yes is needed.', 'adopt');
          if (!answer) {
            await context.result({ adopted: null }, () => 'Nothing was changed.');
            return 0;
          }
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
  by: By;
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
          reason: 'restored from a backup: compare its batches with the files that were handed over since',
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
            `Installations ${paused.join(', ')}: files cannot be looked up, so their delivery is paused (docs/OPERATIONS.md, "Copies and restored databases").`,
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
      await setPaused(trx, id, true, { via: 'command', actedBy: adopting.by.actedBy, reason });
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

async function rename(
  trx: Parameters<typeof recordAdoption>[0],
  app: App,
  mode: AdoptionMode,
  { name, evidence, by }: Adopting,
): Promise<void> {
  await recordAdoption(trx, { mode, oldName: app.temporalName, newName: name, evidence, ...by });
  await noteTemporalName(trx, name);
  // Bound anew by the next start.
  await noteBinding(trx, null);
}
