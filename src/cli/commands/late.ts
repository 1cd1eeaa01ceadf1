import { type Redated, redateClosed } from '../../bookkeeping/redate.ts';
import { UserError } from '../../domain/errors.ts';
import { unitsClosedInErp } from '../../erp/outbox/cancel-out.ts';
import { requestDeliveriesOnce } from '../../runtime/deliveries.ts';
import type { InstallationId } from '../../terms.ts';
import { actedBy } from '../acting.ts';
import { chosenDeliveries } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { count } from '../render/text.ts';
import { withApp } from '../with-app.ts';

/** Prints the entries and daily summaries that wait because their period was closed in the ERP. */
export function list(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const late: { installation: InstallationId; id: string; reversal: string | null }[] = [];
    for (const { id } of await chosenDeliveries(app, options.installation)) {
      for (const { unitId, reversal } of await unitsClosedInErp(app.db, id)) {
        late.push({ installation: id, id: unitId, reversal });
      }
    }
    await context.result({ late }, () =>
      late.length === 0
        ? 'No entry waits for a closed period of the ERP.'
        : late.map(({ id, reversal }) => (reversal === null ? id : `${id} (taken out by ${reversal})`)).join('\n'),
    );
    return 0;
  });
}

export interface DecideOptions {
  installation?: number;
  redate?: true;
  reason: string;
  by?: string;
}

/** Posts late entries on the first open day instead. */
export function decide(context: CommandContext, options: DecideOptions, ids: readonly string[]): Promise<number> {
  if (options.redate !== true) throw usageError('Say what is decided: --redate.', 'late decide');
  const by = actedBy(options, 'late decide');
  return withApp(context, { temporal: true }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    const ports = { db: app.db, databaseId: app.databaseId, signal: context.signal };
    const known = new Set(chosen.map(({ id }) => id));
    const foreign = ids.find((id) => !known.has(installationOf(id)));
    if (foreign !== undefined) {
      throw new UserError(
        'unit_unknown',
        `There is no entry ${foreign} in the outbox of these installations.`,
        'Ids are those that `vetledger late list` prints, such as 4711/invoice/123/1 or 4711/summary/2026-03-31-11/1.',
        1,
      );
    }
    const redated: Redated[] = [];
    for (const installation of chosen) {
      const own = ids.filter((id) => installationOf(id) === installation.id);
      if (own.length > 0) redated.push(...(await redateClosed(ports, installation, own, by)));
    }
    await requestDeliveriesOnce(app, [...new Set(ids.map(installationOf))]);
    await context.result({ redated }, () =>
      [...redated.map(redatedText), `${count(redated.length, 'entry', 'entries')} decided.`].join('\n'),
    );
    return 0;
  });
}

function redatedText({ unit, reversal, entry, date }: Redated): string {
  if (reversal === null) return `${unit} comes to nothing; it is settled without being sent.`;
  return entry === null
    ? `${unit} and ${reversal} are settled against each other; neither is sent.`
    : `${unit} is posted anew as ${entry} on ${date}; it and ${reversal} are settled against each other.`;
}

/** Of `<installation>/<kind>/<id>/<n>`. */
function installationOf(unitId: string): InstallationId {
  const [installation = ''] = unitId.split('/');
  return /^\d{1,15}$/.test(installation) ? Number.parseInt(installation, 10) : 0;
}
