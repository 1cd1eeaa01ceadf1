import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startTestClinic, type TestClinic } from './clinic.ts';
import type { OdooCompany } from './odoo-company.ts';

const comparison = fileURLToPath(new URL('../../scripts/odoo/compare.ts', import.meta.url));

/** Starts a sandbox clinic that delivers into a company of Odoo. */
export async function startOdooClinic(
  odoo: OdooCompany,
  { mapping, owned, invoices }: { mapping: string; owned: string[]; invoices: number },
): Promise<TestClinic> {
  const { url, database, user, password } = (await odoo.api()).login;
  process.env.ODOO_TEST_PASSWORD = password;
  const settings = [
    ...['kind: odoo', `url: "${url}"`, `database: "${database}"`, `company: "${odoo.id}"`, `user: "${user}"`],
    ...[`password: "$\{ODOO_TEST_PASSWORD}"`, 'auto: true', `owned_accounts: ${JSON.stringify(owned)}`],
  ];
  return startTestClinic({ seed: 5, invoices, mapping, settings: { erp: `{${settings.join(', ')}}` } });
}

/** Waits until nothing is left to deliver or to match. */
export async function untilDelivered(clinic: TestClinic): Promise<void> {
  for (let n = 0; n < 600; n++) {
    const [left] = await clinic.rows<{ units: number; items: number }>(
      `select (select count(*)::int from erp_unit where state not in ('delivered', 'refused', 'excluded')) as units,
         (select count(*)::int from erp_open_item where touched <> matched) as items`,
    );
    if (left!.units === 0 && left!.items === 0) return;
    await sleep(400);
  }
  throw new Error('it is not delivered within four minutes');
}

/** Runs `node scripts/odoo/compare.ts` like an auditor. Returns its exit code and output. */
export async function auditOdoo(
  { id, admin }: OdooCompany,
  clinic: TestClinic,
  mapping: string,
): Promise<{ code: number; said: string }> {
  const { url, database, user, password } = admin.login;
  const child = spawn(
    process.execPath,
    [
      ...[comparison, '--config', clinic.config, '--mapping', mapping, '--url', url, '--database', database],
      ...['--user', user, '--company', String(id)],
    ],
    { env: { ...clinic.env, ODOO_PASSWORD: password }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}
