import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OdooBooks, startOdooBooks } from '../month-end/erp-world.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { folderOf, vetledger } from './support.ts';

const mapping = fileURLToPath(new URL('../../mappings/odoo-demo.yaml', import.meta.url));
const { url: databaseUrl } = useDatabase();
let [demo, real]: OdooBooks[] = [];
beforeAll(async () => {
  [demo, real] = await Promise.all([startOdooBooks({ database: 'demo' }), startOdooBooks({ database: 'clinic' })]);
});
afterAll(() => Promise.all([demo?.stop(), real?.stop()]));

async function probe(odoo: OdooBooks | undefined, ...args: string[]) {
  const { url, database, user, password } = odoo!;
  const login = `kind: odoo, url: "${url}", database: ${database}, user: ${user}, password: ${fromEnvironment('ODOO_PASSWORD')}`;
  const content = demoConfig([{ id: 4711, base_url: 'http://127.0.0.1:9', mapping, erp: `{${login}}` }], {
    database_url: fromEnvironment('DATABASE_URL'),
  });
  const config = join(folderOf({ 'vetledger.yaml': content }), 'vetledger.yaml');
  const out = join(dirname(config), 'measured.json');
  const env = { PRACTICE_TOKEN: 'practice-token-1', DATABASE_URL: databaseUrl, ODOO_PASSWORD: password };
  const ran = await vetledger(
    ['erp', 'probe', '--accounts', '101910,101920', '--out', out, ...args, '--json', '--config', config],
    env,
  );
  return { ...ran, out };
}

test('a company that is not for trials is refused, and gets no entry', async () => {
  const { code, json } = await probe(real, '--yes');
  expect([code, json().error.code]).toEqual([2, 'erp_company_not_for_trials']);
  expect(real!.entries()).toEqual([]);
});

test('what was measured is in a file, and only posted entries stay', async () => {
  demo!.close('2025-12-31');
  const { code, json, out } = await probe(demo, '--yes');
  expect(code).toBe(0);
  const { facts, left } = json();
  expect(facts).toMatchObject({ 'key.lookup_lag_seconds': 0, imbalance: 'refused' });
  expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ erp: 'odoo', url: demo!.url, facts });
  expect(demo!.entries().length).toBe(left.length);
});
