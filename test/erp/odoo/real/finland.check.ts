import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadMapping } from '../../../../src/config/mapping-files.ts';
import { accountsNamed } from '../../../../src/mapping/accounts-written.ts';
import type { Mapping } from '../../../../src/mapping/schema.ts';
import { hasOdoo } from '../../../support/odoo.ts';
import { accountsOf, idIn, makeCompany, type OdooCompany } from '../../../support/odoo-company.ts';

const file = fileURLToPath(new URL('../../../../mappings/odoo-finland.yaml', import.meta.url));

describe.skipIf(!hasOdoo)('mappings/odoo-finland.yaml and Odoo’s chart for Finland', () => {
  let company: OdooCompany;
  let mapping: Mapping;

  beforeAll(async () => {
    const books = { accounts: [], taxes: [], journals: [], plans: [], partners: [] };
    company = await makeCompany({ ...books, chart: 'fi', module: 'l10n_fi', country: 'FI' });
    ({ mapping } = await loadMapping(file));
  });
  afterAll(() => company?.release());

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
});
