import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { owedAccounts } from '../../src/mapping/owed.ts';
import { vetledger } from '../cli/support.ts';
import { clockFrom, startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic;
let folder: string;

function command(line: string, config = clinic.config, env = clinic.env) {
  return vetledger([...line.split(' '), '--config', config], env);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vetledger-init-'));
  clinic = await startTestClinic({ invoices: 60, now: clockFrom('2026-09-13T09:00:00Z') });
  const { clinic: practice } = clinic.sandbox;
  const odd = { name: 'Odd: "group" # 1', percentage: '14.00', account_number: '2932' };
  practice.createInvoice({
    rows: [{ sum: '12.3456', vat_percentage: '14', vat_group: odd, account_number: 'LONG-ACCOUNT-NUMBER-0001' }],
  });
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
});

afterAll(async () => {
  await clinic?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('what init proposes lacks nothing but what only the accountant can choose', async () => {
  const file = join(folder, 'proposed.yaml');
  const made = await command(`mapping init --out ${file} --json`);
  expect(made).toMatchObject({ code: 0 });
  const { to_choose } = made.json();
  expect(to_choose).toEqual(
    expect.arrayContaining(['roles.receivable', 'roles.prepayment_liability', 'cash_customer']),
  );

  const checked = await command(`mapping check ${file} --json`);
  const lacks: { code: string; message: string }[] = checked.json().lacks;
  expect(new Set(lacks.map(({ code }) => code))).toEqual(new Set(['role_unmapped', 'cash_customer_unmapped']));
  const lacking = lacks.map(({ message }) => /roles\.\w+|cash_customer/.exec(message)![0]);
  // A missing kind of a VAT group holds no document.
  const kinds = to_choose.filter((path: string) => path.startsWith('vat_groups.'));
  expect(kinds).toEqual(['vat_groups.EU sales 0 %', 'vat_groups.VAT 0 %']);
  expect(lacking.sort()).toEqual(to_choose.filter((path: string) => !kinds.includes(path)).sort());

  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/"LONG-ACCOUNT-NUMBER-0001": same # .* net 12\.3456$/m);
  expect(text).toContain('"Odd: \\"group\\" # 1":\n');
  expect(text).toMatch(/"3010": same +# Surgery and anaesthesia · \d+ rows, net \d+\.\d\d/);
  expect(text).toMatch(/"3130": same +# Publications \(archived\)/);
  expect(text).toMatch(/"3000": same +# Consultations \/ Consultations 11 \(department 11\)/);
  expect(text).toMatch(/"25.5": same +# own account 2931/);
  // Sales that are a liability until they are used must not be proposed as revenue.
  expect(text).toMatch(
    /^revenue_rules:\n( {2}#.*\n)+ {2}- when: \{account: "2411"\} +# Gift cards · \d+ rows?, net \d+\.\d\d\n {4}role: gift_card_liability\n/m,
  );
  expect(text).not.toContain('"2411": same');
  expect(text).toMatch(/^vat_groups:\n {2}# - \{group: "EU sales 0 %", rate: 0, kind: \} .*TO CHOOSE/m);
  expect(text).toMatch(/^ {2}- \{group: "VAT 25\.5 %", rate: 25\.5, kind: domestic\} +# \d+ rows, net/m);
  expect(text).toMatch(/^# chart: /m);
  const filled = text
    .replace(/^( {2}\w+:) +# TO CHOOSE/gm, '$1 "1234" #')
    .replace(/^cash_customer: +# TO CHOOSE/m, 'cash_customer: CASH #')
    .replace(/^ {2}# - (\{group: "EU .*, kind: )\}/m, '  - $1eu_services}')
    .replace(/^ {2}# - (\{group: "VAT 0 .*, kind: )\}/m, '  - $1exempt}');
  writeFileSync(join(folder, 'filled.yaml'), filled);
  const clean = await command(`mapping check ${join(folder, 'filled.yaml')} --json`);
  expect(clean.json()).toMatchObject({ ok: true, compared: true, specs: null, lacks: [], remarks: [] });
  expect(clean.code).toBe(0);
});

test('init does not overwrite, works before there is a mapping file, and prints the same text', async () => {
  const file = join(folder, 'proposed.yaml');
  expect(await command(`mapping init --out ${file}`)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('exists'),
  });
  const config = join(folder, 'vetledger.yaml');
  writeFileSync(config, readFileSync(clinic.config, 'utf8').replace(/mapping: .*/, 'mapping: none.yaml'));
  const printed = await command('mapping init', config);
  expect(printed.code).toBe(0);
  const [, ...lines] = readFileSync(file, 'utf8').split('\n');
  expect(printed.stdout.trimEnd().split('\n').slice(1)).toEqual(lines.slice(0, -1));
  expect(printed.stdout).toMatch(/^# yaml-language-server: \$schema=\.\/mapping\.schema\.json\n/);
});

test('check lists what is lacking with counts, exact amounts and where it is used', async () => {
  const file = join(folder, 'lacking.yaml');
  writeFileSync(
    file,
    `roles: {receivable: "1", cash: "2", card_clearing: "3"}
revenue_rules:
  - {when: {dimension_1: SURG}, account: "3100"}
revenue: {"3000": same}
vat: {"VAT 25.5 %": same, "VAT 13.5 %": {"14": "1"}}
`,
  );
  const checked = await command(`mapping check ${file} --json`);
  expect(checked.code).toBe(1);
  const { lacks, remarks } = checked.json();
  const [expected] = await clinic.rows<{ n: number; net: string; vat: string }>(
    `select count(*)::int as n, sum((r.raw ->> 'sum')::numeric) as net, sum((r.raw ->> 'sum_vat')::numeric) as vat
     from mirror_record r join mirror_record i on i.kind = 'invoice' and i.id = r.parent_id
     where r.kind = 'row' and i.raw ->> 'status' = '3' and r.raw ->> 'account_number' = '3110'`,
  );
  const lack = lacks.find(({ message }: { message: string }) => message.endsWith('revenue.3110'));
  expect(lack).toMatchObject({ code: 'account_unmapped', count: expected!.n });
  expect(new Decimal(lack.net).toString()).toBe(new Decimal(expected!.net).toString());
  const vat = lacks.find(({ message }: { message: string }) => message.includes('VAT 13.5 % at 13.5 %'));
  expect(vat).toMatchObject({ code: 'vat_group_unmapped', installation: clinic.sandbox.installation });
  const mobile = lacks.find(({ message }: { message: string }) => message.includes('roles.mobile_clearing'));
  expect(mobile.uses[0].what).toMatch(/^(payments|prepayments) by payment type 7 \(Mobile\), department \d+$/);
  expect(remarks.map(({ message }: { message: string }) => message)).toContain(
    'rules test dimension_1, but no rule names LAB',
  );
  expect((await command(`mapping check ${file}`)).stdout).toMatch(
    /the mapping does not cover these values[\s\S]*revenue\.3110/,
  );
});

test.each([
  ['Gift cards', false, '0', 'gift_card_liability'],
  ['Lahjakortit', false, null, 'gift_card_liability'],
  ['Presentkort', false, '0', 'gift_card_liability'],
  ['Gift vouchers', false, '0', 'gift_card_liability'],
  ['Wertgutscheine', false, '0', 'voucher_liability'],
  ['Kertyneet ennakot', false, '0', 'prepayment_liability'],
  ['Advance payments', false, '0', 'prepayment_liability'],
  ['Advanced dentistry', false, '0', null],
  ['Vergiftungen', false, '0', null],
  ['Giftköder', false, '0', null],
  ['Gift cards for food, with VAT', true, '14', null],
  ['Gift cards whose rate is wrong', false, '14', null],
  ['Surgery', false, '0', null],
])('init takes an account called %s for what is owed, unless its rows have VAT', (description, hasVat, rate, role) => {
  const row = {
    ...{
      account: '2411',
      department: null,
      count: 1,
      net: new Decimal(5),
      vatAmount: new Decimal(0),
      gross: new Decimal(5),
    },
    ...{
      dimensions: [null, null, null] as [null, null, null],
      internal: { account: null, dimension1: null, dimension2: null },
    },
    ...{
      vat: { name: 'V', rate: rate === null ? null : new Decimal(rate), account: null },
      hasNet: true,
      hasVat,
      dates: null,
    },
  };
  const listed = [{ number: '2411', description, departmentId: null, archived: false }];
  expect(owedAccounts([row], listed).get('2411') ?? null).toBe(role);
});
