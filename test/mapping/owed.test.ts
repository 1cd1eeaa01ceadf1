import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Decimal } from 'decimal.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { loadMapping } from '../../src/config/mapping-files.ts';
import { compareMapping, type MappingComparison } from '../../src/queries/mapping-check.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { demoMapping } from '../support/demo-config.ts';

// Sales that are liabilities until they are used, but that the mapping posts as revenue. They are recognised by name, reported,
// and posted as mapped.

const folder = fileURLToPath(new URL('../../mappings/', import.meta.url));
const ready = readdirSync(folder).filter(
  (name) => name.endsWith('.yaml') && !name.endsWith('.specs.yaml') && name !== 'practice-api.yaml',
);
const exempt = { name: 'VAT 0 %', percentage: '0.00', account_number: '2934' };

/**
 * Two gift cards, prepaid care, and a taxed voucher for food, on accounts with other names; one is recognised by its
 * VAT group.
 */
function nameOtherwise({ sandbox: { clinic } }: TestClinic): void {
  const account = (number: string, description: string) =>
    clinic.insert(clinic.accountNumbers, { number, description, department: null, archived: false });
  account('3555', 'Lahjakortit');
  account('3556', 'Ennakkomaksut');
  account('3557', 'Gift vouchers for food');
  account('3558', 'Förgiftningar');
  const sell = (account_number: string, sum: string, vat_percentage = '0.00', vat_group = exempt) => {
    const taxed = vat_percentage !== '0.00';
    const group = taxed ? { name: 'VAT 14 %', percentage: '14.00', account_number: '2932' } : vat_group;
    clinic.createInvoice({ rows: [{ sum, vat_percentage, vat_group: group, account_number }] });
  };
  sell('3555', '50.00');
  sell('3555', '30.00');
  sell('3556', '100.00');
  sell('3557', '10.00', '14.00');
  sell('3558', '70.00');
  sell('3300', '25.00', '0.00', { ...exempt, name: 'Prepaid care plan' });
}

async function compared(clinic: TestClinic, name: string): Promise<MappingComparison> {
  const [installation] = clinic.app.config.installations as [InstallationConfig];
  const { mapping } = await loadMapping(folder + name);
  return compareMapping(clinic.app, installation, mapping);
}

describe('on the demo’s clinic', () => {
  let clinic: TestClinic;
  beforeAll(async () => {
    clinic = await startTestClinic({ invoices: 60 });
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  });
  afterAll(() => clinic?.stop());

  test('gift cards are sold', async () => {
    const [sold] = await clinic.rows<{ n: number }>(
      `select count(*)::int as n from mirror_record where kind = 'row' and raw ->> 'account_number' = '2411'`,
    );
    expect(sold!.n).toBeGreaterThan(0);
  });

  test.each(ready)('%s posts none of them as revenue', async (name) => {
    expect((await compared(clinic, name)).owed).toEqual({ names_known: true, found: [] });
  });

  test.each(ready)('%s without its rules for them is warned of, by rows, amount and account', async (name) => {
    const [installation] = clinic.app.config.installations as [InstallationConfig];
    const { mapping } = await loadMapping(folder + name);
    const rules = mapping.revenue_rules.filter(({ role }) => role === undefined);
    const { owed, gaps } = await compareMapping(clinic.app, installation, { ...mapping, revenue_rules: rules });
    const [sold] = await clinic.rows<{ n: number; net: string }>(
      `select count(*)::int as n, sum((raw ->> 'sum')::numeric)::text as net
       from mirror_record where kind = 'row' and raw ->> 'account_number' = '2411'`,
    );
    const isHeld = gaps.some(({ message }) => message.endsWith('revenue.2411'));
    expect(owed.found.map(({ key, name: called, rows, net }) => [key, called, rows, net.toFixed(2)])).toEqual(
      isHeld ? [] : [['2411', 'Gift cards', sold!.n, new Decimal(sold!.net).toFixed(2)]],
    );
  });
});

describe('on a clinic that names these accounts otherwise', () => {
  let clinic: TestClinic;
  const command = (line: string) => vetledger([...line.split(' '), '--config', clinic.config], clinic.env);
  const file = (name: string, text: string) => {
    const path = join(dirname(clinic.config), name);
    writeFileSync(path, text);
    return path;
  };
  const closing = async (mapping: string) => {
    const path = file('own.yaml', mapping);
    const config = file('own-vetledger.yaml', readFileSync(clinic.config, 'utf8').replaceAll(demoMapping, path));
    await vetledger(['mapping', 'apply', path, '--reason', 'to look at', '--config', config], clinic.env);
    const ran = await vetledger(
      ['ledger', 'close', '--through', '2020-01-31', '--dry-run', '--config', config],
      clinic.env,
    );
    expect(ran).toMatchObject({ code: 0 });
    return ran.stdout;
  };
  const accepted = 'accepted: {"3555": taxed at sale, "3556": a fee, "Prepaid care plan": a fee}\n';

  beforeAll(async () => {
    clinic = await startTestClinic({ invoices: 40 });
    nameOtherwise(clinic);
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  });
  afterAll(() => clinic?.stop());

  const expected = [
    ['3555', 'account', 'Lahjakortit', 'gift_card_liability', 2, '80'],
    ['3556', 'account', 'Ennakkomaksut', 'prepayment_liability', 1, '100'],
    ['Prepaid care plan', 'VAT group', null, 'prepayment_liability', 1, '25'],
  ];

  test.each(ready)('%s is warned of each that it posts as revenue', async (name) => {
    const { owed, gaps } = await compared(clinic, name);
    const held = (key: unknown) => gaps.some(({ message }) => message.endsWith(`revenue.${key}`));
    expect(
      owed.found.map(({ key, of, name: called, looks_like: role, rows, net }) => [
        key,
        of,
        called,
        role,
        rows,
        net.toFixed(),
      ]),
    ).toEqual(expected.filter(([key]) => !held(key)));
  });

  test('mapping check, doctor and the closing checklist say so, until the mapping accepts it', async () => {
    const demo = readFileSync(demoMapping, 'utf8');
    const path = file('plain.yaml', demo);
    const warned = await command(`mapping check ${path}`);
    expect(warned).toMatchObject({ code: 0 });
    expect(warned.stdout).toContain('but some of its revenue is probably a liability');
    expect(warned.stdout).toMatch(
      /remark: rows on account 3555 "Lahjakortit" are posted to 3555 as revenue, .* gift_card_liability .*name 3555 under accepted if they are revenue \(2 rows, net 80\)/,
    );
    expect((await command(`mapping check ${path} --json`)).json().remarks).toContainEqual(
      expect.objectContaining({
        count: 1,
        net: '100',
        unit: 'row',
        message: expect.stringContaining('"Ennakkomaksut"'),
      }),
    );
    const doctor = (await command('doctor')).stdout;
    expect(doctor).toMatch(
      /warn {2}\d+ revenue named as gift cards or prepayments: 2 rows, net 80: rows on account 3555/,
    );

    const look = await closing(demo);
    expect(look).toContain('LOOK  revenue named as gift cards or prepayments: 4 rows');
    expect(look).toMatch(/account 3555 "Lahjakortit" +2 rows +net 80 +posted to 3555/);
    expect(await closing(demo + accepted)).toContain('ok    revenue named as gift cards or prepayments: none');
    const quiet = await command(`mapping check ${file('accepting.yaml', demo + accepted)}`);
    expect(quiet.stdout).toContain('the mapping covers everything that the source has used so far.');
    expect(quiet.stdout).not.toContain('probably a liability');
  });

  test('the names change no posting', async () => {
    const revenue = await clinic.rows<{ account: string; amount: string }>(
      `select l.account, sum(l.amount)::text as amount from entry_line l where l.role = 'revenue' and l.side = 'credit'
       and l.account in ('3555', '3556', '3557', '3558') group by 1 order by 1`,
    );
    expect(revenue.map(({ account, amount }) => [account, Number(amount)])).toEqual([
      ...[
        ['3555', 80],
        ['3556', 100],
        ['3557', 10],
        ['3558', 70],
      ],
    ]);
  });

  test('an account named as prepayments is left to the accountant by mapping init', async () => {
    const { yaml, to_choose: places } = (await command('mapping init --json')).json();
    expect(places).toContain('revenue.3556');
    expect(yaml).toMatch(/^ {2}"3556": +# TO CHOOSE: its name says prepayments, .*Ennakkomaksut/m);
    expect(yaml).toMatch(/"3557": same/);
    expect(yaml).toMatch(/"3558": same/);
  });

  test('while the source does not answer, the names that it gave last serve; without them the checklist says so', async () => {
    await clinic.sandbox.stop();
    const demo = readFileSync(demoMapping, 'utf8');
    expect(await closing(demo)).toContain('LOOK  revenue named as gift cards or prepayments: 4 rows');
    await clinic.asOwner('delete from source_account');
    const look = await closing(demo);
    expect(look).toMatch(
      /LOOK {2}revenue named as gift cards or prepayments: 1 row .*the names of the accounts are unknown/,
    );
  });
});
