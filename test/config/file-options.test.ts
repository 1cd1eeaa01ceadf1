import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf } from '../cli/support.ts';
import { demoConfig } from '../support/demo-config.ts';

async function erpOf(erp: string, currency = 'EUR') {
  const text = demoConfig([{ id: 4711, base_url: 'http://127.0.0.1:1', erp, currency }]);
  const file = join(folderOf({ 'vetledger.yaml': text }), 'vetledger.yaml');
  return (await loadConfig(file, { PRACTICE_TOKEN: 'secret' })).installations[0]!.erp;
}

describe('options of files', () => {
  test.each([
    ['{kind: csv}', { kind: 'csv', options: { dialect: 'international', batches: 'at_once' } }],
    [
      '{kind: csv, options: {dialect: semicolon, batches: monthly}}',
      { kind: 'csv', options: { dialect: 'semicolon', batches: 'monthly' } },
    ],
    [
      '{kind: sie4, options: {company_name: Kliniken AB, organisation_number: 5566778899, declare_accounts: false, customer_dimension: 8}}',
      {
        ...{ kind: 'sie4', auto: false, from: null },
        options: {
          ...{ companyName: 'Kliniken AB', organisationNumber: '5566778899', declareAccounts: false },
          ...{ customerDimension: '8', batches: 'at_once' },
        },
      },
    ],
    [
      '{kind: datev, from: 2026-01-01, options: {consultant_number: 1001, client_number: 1, account_length: 5, fiscal_year_start: 07-01, chart: "03", locked: true, automatic_accounts: "8400, 8300"}}',
      {
        ...{ kind: 'datev', from: '2026-01-01' },
        options: {
          ...{ consultantNumber: '1001', clientNumber: '1', accountLength: 5, fiscalYearMonth: '07', chart: '03' },
          ...{ locked: true, cashAccounting: false, automaticAccounts: ['8400', '8300'], batches: 'at_once' },
        },
      },
    ],
  ])('%s', async (erp, expected) => {
    expect(await erpOf(erp)).toMatchObject(expected);
  });

  const datev = (more: string) =>
    `{kind: datev, options: {consultant_number: 29098, client_number: 55003, account_length: 4${more}}}`;
  test.each([
    ['{kind: sie4}', 'erp.options.company_name is required for sie4'],
    ['{kind: datev, options: {consultant_number: 29098}}', 'erp.options.client_number is required for datev'],
    ['{kind: datev, options: {consultant_number: 1000}}', 'erp.options.consultant_number must be from 1001 to 9999999'],
    ['{kind: csv, options: {dialect: excel}}', 'erp.options.dialect must be international or semicolon'],
    [
      '{kind: csv, options: {company_name: X}}',
      'erp.options.company_name is not an option of csv; known are dialect, batches',
    ],
    [
      datev(', consultant: 1'),
      'erp.options.consultant is not an option of datev; known are consultant_number, client_number',
    ],
    [datev(', chart: 3'), 'erp.options.chart must be two digits'],
    [datev(', fiscal_year_start: 13-01'), 'erp.options.fiscal_year_start must be the first day of a month'],
    [datev(', locked: perhaps'), 'erp.options.locked must be true or false'],
    [datev(', automatic_accounts: "8400; 1"'), 'erp.options.automatic_accounts must be accounts with commas'],
    [datev(', batches: hourly'), 'erp.options.batches must be at_once or daily or monthly'],
  ])('%s is refused', async (erp, message) => {
    await expect(erpOf(erp)).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
  });

  test('a currency of three decimals needs CSV', async () => {
    await expect(erpOf(datev(''), 'KWD')).rejects.toThrow('datev has two decimals, but the currency has 3');
    expect(await erpOf('{kind: csv}', 'KWD')).toMatchObject({ kind: 'csv' });
  });
});
