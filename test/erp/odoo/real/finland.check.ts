import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadMapping } from '../../../../src/config/mapping-files.ts';
import { accountsNamed } from '../../../../src/mapping/accounts-written.ts';
import type { Mapping } from '../../../../src/mapping/schema.ts';
import { vetledger } from '../../../cli/support.ts';
import type { TestClinic } from '../../../support/clinic.ts';
import { hasOdoo } from '../../../support/odoo.ts';
import { auditOdoo, startOdooClinic, untilDelivered } from '../../../support/odoo-clinic.ts';
import { accountsOf, idIn, makeCompany, type OdooCompany } from '../../../support/odoo-company.ts';
import { demoBooks } from '../../../support/odoo-demo.ts';

const file = fileURLToPath(new URL('../../../../mappings/odoo-finland.yaml', import.meta.url));

describe.skipIf(!hasOdoo)('mappings/odoo-finland.yaml and Odoo’s chart for Finland', () => {
  let company: OdooCompany;
  let mapping: Mapping;
  let clinic: TestClinic | undefined;

  beforeAll(async () => {
    company = await makeCompany({
      ...{ chart: 'fi', module: 'l10n_fi', country: 'FI', accounts: [], taxes: [], journals: demoBooks.journals },
      plans: [{ name: 'Osasto', accounts: demoBooks.plans[0]!.accounts }],
      partners: ['ASIAKKAAT', 'KATEIS', 'VAKUUTUS', 'RAHOITUS'].map((ref) => ({ ref, name: ref })),
    });
    ({ mapping } = await loadMapping(file));
  });
  afterAll(async () => {
    await clinic?.stop();
    await company?.release();
  });

  test('every account is there', async () => {
    const chart = await accountsOf(company.admin);
    const missing = accountsNamed(mapping).filter(({ account }) => !chart.has(account));
    expect(missing).toEqual([]);
  });

  test('every tax is there once 14% and 10% are activated and 14% is copied for 13.5%', async () => {
    const { admin } = company;
    const named = ['14%', '10%'].map((name) => ['name', '=', name] as const);
    const inactive = await admin.search('account.tax', [
      ...(['|', ...named] as const),
      ['type_tax_use', '=', 'sale'],
      ['active', '=', false],
      ['company_id', '=', company.id],
    ]);
    expect(inactive).toHaveLength(2);
    await admin.write('account.tax', inactive, { active: true });
    const reduced = await idIn(admin, 'account.tax', { name: '14%', type_tax_use: 'sale' });
    await admin.call('account.tax', 'copy', [[reduced], { name: '13.5%', amount: 13.5, invoice_label: '13.5%' }]);

    const byRate = (mapping.erp.vat_codes as Record<string, Record<string, string>>)['*']!;
    const codes = [...Object.values(byRate), ...mapping.vat_groups.flatMap(({ code }) => code ?? [])];
    const names = new Set(codes.filter((code) => code !== 'none'));
    expect([...names].toSorted()).toEqual(['0% EU G', '0% EU S', '0% EX', '10%', '13.5%', '14%', '24%', '25.5%']);
    for (const name of names) await idIn(admin, 'account.tax', { name, type_tax_use: 'sale' });
    for (const [rate, name] of Object.entries(byRate)) {
      const tax = await idIn(admin, 'account.tax', { name, type_tax_use: 'sale' });
      const [part] = await admin.read<{ account_id: [number, string]; tag_ids: number[] }>(
        'account.tax.repartition.line',
        [
          ['tax_id', '=', tax],
          ['repartition_type', '=', 'tax'],
          ['document_type', '=', 'invoice'],
        ],
        ['account_id', 'tag_ids'],
      );
      expect([rate, part!.account_id[1].slice(0, 4), part!.tag_ids.length]).toEqual([rate, '2930', 1]);
    }
  });

  test('a sandbox clinic’s books are delivered, and an auditor finds base and amount of each tax', async () => {
    clinic = await startOdooClinic(company, { mapping: file, owned: ['1702'], invoices: 30 });
    await clinic.sync();
    const { code, json } = await vetledger(['erp', 'check', '--config', clinic.config, '--json'], clinic.env);
    const [{ results }] = json().installations;
    expect(results.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([]);
    expect(code).toBe(0);
    await untilDelivered(clinic);
    expect(await clinic.rows(`select unit_id, problem_message from erp_unit where state = 'refused'`)).toEqual([]);
    const audited = await auditOdoo(company, clinic, file);
    expect(audited.said).toMatch(
      / [1-9] taxes, [1-9] figures of the tax report, [1-9] bases without a tag, .*; 0 differences$/m,
    );
    expect(audited.code).toBe(0);
  });
});
