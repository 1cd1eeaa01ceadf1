import { checkErp, type ErpCheck } from '../../queries/erp-check.ts';
import { chosenDeliveries } from '../books.ts';
import type { CommandContext } from '../context.ts';
import { erpChecksDocument, erpCheckText } from '../render/erp-check.ts';
import { withApp } from '../with-app.ts';

/** Tries in each installation's ERP what entries need of it; exit code 1 on a fault. */
export function check(context: CommandContext, options: { installation?: number }): Promise<number> {
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
