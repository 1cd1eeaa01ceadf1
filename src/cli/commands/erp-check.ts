import { z } from 'zod';
import { checkErp, type ErpCheck } from '../../queries/erp-check.ts';
import { chosenDeliveries } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { erpChecksAnswer, erpChecksDocument, erpCheckText } from '../render/erp-check.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
}

const answer = z.strictObject({ ok: z.boolean(), installations: erpChecksAnswer });

export const command: Definition<Options> = {
  description:
    'Checks with real requests: the connection, the rights of the API user, and each account, tax code, dimension value, journal, party and period that the mapping and the books use. The ERP must accept a balanced test entry, and refuse an unbalanced one and one in a closed period. All test entries are removed. Prints the next step for each fault; exit code 1 on a fault.',
  options: [installation],
  examples: [
    ['vetledger erp check', 'after setting up, and when entries are refused'],
    ['vetledger erp check --installation 4711 --json', 'one installation, as JSON'],
  ],
  answer,
  run: check,
};

function check(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false, handlesSignal: true }, async (app) => {
    const chosen = await chosenDeliveries(app, options.installation);
    const checks: ErpCheck[] = [];
    for (const installation of chosen) {
      context.signal.throwIfAborted();
      const ports = { db: app.db, delivery: app.delivery, clock: app.clock, signal: context.signal };
      checks.push(await checkErp(ports, installation, installation.mapping, { writes: true, withBooks: true }));
    }
    const ok = checks.every(({ results }) => results.every((result) => result.ok));
    await context.result({ ok, installations: erpChecksDocument(checks) }, () => checks.map(erpCheckText).join('\n\n'));
    return ok ? 0 : 1;
  });
}
