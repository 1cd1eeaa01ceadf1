import { Option } from 'commander';
import { z } from 'zod';
import type { InstallationConfig } from '../../config/load-config.ts';
import { UserError } from '../../domain/errors.ts';
import { unitsById } from '../../erp/outbox/outbox-queries.ts';
import { retryOrRedo } from '../../erp/outbox/undo.ts';
import type { UnitState } from '../../erp/outbox/unit.ts';
import { deliveryProblems } from '../../queries/delivery-status.ts';
import type { App } from '../../runtime/app.ts';
import { deliverTexts, unitStateTexts } from '../../texts/commands/delivery.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { count } from '../../wording/words.ts';
import { actedBy, statedBy } from '../acting.ts';
import { chosenDeliveries, localTimes } from '../books.ts';
import { by, type Definition, installation } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { problemAnswer, problemsText } from '../render/problems.ts';
import { deliverHere, wait } from '../run-deliveries.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  all?: true;
  by?: string;
  wait: number;
}

const answer = z.strictObject({ retried: z.array(z.string()), problems: z.array(problemAnswer) });

export const command: Definition<Options> = {
  description:
    'A refused entry is not sent again automatically, because repeated refusals may block the API user. vetledger looks up each entry in the ERP first, so that none is sent twice. Use the ids that `vetledger problems` prints.',
  options: [installation, new Option('--all', 'every refused entry'), by, wait],
  examples: [
    ['vetledger deliver retry 4711/invoice/123/1', 'when the account is open again'],
    ['vetledger deliver retry --all --installation 4711', 'all of an installation'],
  ],
  answer,
  run: retry,
};

/** Sends refused and undone units again; each is looked up in the ERP first. */
function retry(context: CommandContext, options: Options, ids: readonly string[]): Promise<number> {
  if (ids.length > 0 === (options.all === true)) {
    throw usageError(usageTexts.entriesOrAll, 'deliver retry');
  }
  const stated = statedBy({ by: options.by, reason: 'deliver retry' }, 'deliver retry');
  return withApp(context, { temporal: true, handlesSignal: true }, async (app) => {
    const by = await actedBy(app.db, stated);
    const chosen = await chosenDeliveries(app, options.installation);
    const retried: string[] = [];
    const named = options.all ? null : ids;
    const states = named === null ? null : await statesOf(app, chosen, named);
    for (const { id } of chosen) {
      const scope = { installation: id, databaseId: app.databaseId };
      retried.push(...(await app.db.transaction((trx) => retryOrRedo(trx, scope, named, by))));
    }
    await deliverHere(context, app, chosen, options.wait);
    const problems = await deliveryProblems(
      app.db,
      chosen.map(({ id }) => id),
    );
    const left = problems.filter(({ id }) => retried.includes(id));
    const notRetried = [...(states ?? [])].filter(([id]) => !retried.includes(id));
    await context.result({ retried, problems: left }, () =>
      [
        [
          deliverTexts.retried({ entries: count(retried.length, 'entry') }),
          ...notRetried.map(([id, state]) => deliverTexts.notRefused({ unit: id, state: unitStateTexts[state] })),
        ].join('\n'),
        problemsText(left, { at: localTimes(app.config) }),
      ].join('\n\n'),
    );
    return 0;
  });
}

/** The present states of the entries with these ids. Throws UserError if the outbox does not contain one of them. */
async function statesOf(app: App, chosen: readonly InstallationConfig[], ids: readonly string[]) {
  const known = new Map<string, UnitState>();
  for (const { id } of chosen)
    for (const { unit_id: unit, state } of await unitsById(app.db, id, ids)) known.set(unit, state);
  const unknown = ids.find((id) => !known.has(id));
  if (unknown === undefined) return known;
  throw new UserError(commandErrors.unitUnknown({ unit: unknown }), 1);
}
