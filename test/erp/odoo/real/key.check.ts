import { expect, test } from 'vitest';
import { openOdoo } from '../../../../src/erp/targets/odoo/index.ts';
import { configOf, odooVersion, ports } from '../../../support/odoo.ts';
import { makeCompany } from '../../../support/odoo-company.ts';
import { demoBooks } from '../../../support/odoo-demo.ts';
import { makeApiKey } from '../../../support/odoo-key.ts';

const version = (await odooVersion()) ?? 0;

test.skipIf(version < 19)('the end of an API key of a real Odoo 19 is known', async () => {
  const company = await makeCompany(demoBooks);
  const api = await company.api();
  const key = await makeApiKey(api);
  const target = openOdoo(configOf(api, { protocol: 'json2', user: '', password: key }), ports);
  const [expiry, ...others] = (await target.expiries?.({ signal: AbortSignal.timeout(60_000), priority: 0 })) ?? [];
  await target.close();
  await company.release();
  expect(others).toEqual([]);
  expect(expiry?.name).toBe('vetledger');
  const days = (expiry!.at.getTime() - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(28);
  expect(days).toBeLessThan(31);
});
