import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { loadMapping } from '../../src/config/mapping-files.ts';
import { Money } from '../../src/domain/money.ts';
import { erpAccountNames } from '../../src/erp/account-names.ts';
import type { Capabilities } from '../../src/erp/capabilities.ts';
import { type CheckPlan, type CheckResult, ErpError, type ErpProblem } from '../../src/erp/port.ts';
import { fileCapabilities } from '../../src/erp/targets/files/capabilities.ts';
import { translate } from '../../src/erp/translate.ts';
import { generalLedger } from '../../src/ledger/general-ledger.ts';
import type { Mapping } from '../../src/mapping/schema.ts';
import { checkErp, type ErpCheck } from '../../src/queries/erp-check.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { capabilitiesOf } from './capabilities.ts';

const trytonDemo = fileURLToPath(new URL('../../mappings/tryton-demo.yaml', import.meta.url));
let clinic: TestClinic;
let mapping: Mapping;

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 12, invoices: 60, settings: { erp: '{kind: csv}' } });
  await clinic.sync();
  ({ mapping } = await loadMapping(trytonDemo));
});
afterAll(() => clinic?.stop());

const command = (...args: string[]) => vetledger([...args, '--config', clinic.config], clinic.env);

/**
 * Runs the check against an ERP that has everything but `missing`. Returns the result and the plan that the target got.
 */
async function check(
  changes: Partial<Mapping['erp']> = {},
  {
    missing = [],
    breaksOff,
    kind = 'tryton',
    capabilities = capabilitiesOf(),
    policies = {},
  }: {
    missing?: string[];
    breaksOff?: ErpError;
    kind?: 'tryton' | 'csv';
    capabilities?: Capabilities;
    policies?: Partial<Mapping['policies']>;
  } = {},
): Promise<{ plan: CheckPlan | null; check: ErpCheck; faults: CheckResult[] }> {
  const config = await loadConfig(clinic.config, clinic.env);
  const installation = { ...config.installations[0]!, erp: { ...config.installations[0]!.erp, kind } as never };
  let plan: CheckPlan | null = null;
  const target = {
    async *check(given: CheckPlan): AsyncGenerator<CheckResult> {
      plan = given;
      yield { name: 'connection', ok: true, message: '', todo: '' };
      for (const { account } of given.accounts) {
        const ok = !missing.includes(account);
        yield { name: `account ${account}`, ok, message: ok ? '' : 'there is none', todo: ok ? '' : 'Create it.' };
      }
      if (breaksOff) throw breaksOff;
    },
    accountNames: async (accounts: readonly string[]) =>
      new Map(accounts.filter((account) => !missing.includes(account)).map((account) => [account, `ERP ${account}`])),
  };
  const done = await checkErp(
    {
      db: clinic.app.db,
      delivery: {
        target: () => target,
        capabilities: () => (kind === 'csv' ? fileCapabilities.csv : capabilities),
        foreign: async () => ({ error: null, isComplete: true }),
      } as never,
      clock: () => new Date(),
      signal: new AbortController().signal,
    },
    installation,
    { ...mapping, erp: { ...mapping.erp, ...changes }, policies: { ...mapping.policies, ...policies } },
    { writes: true, withBooks: true },
  );
  return { plan, check: done, faults: done.results.filter(({ ok }) => !ok) };
}

describe('the plan', () => {
  test('has each record that the books, the source and the mapping’s roles use', async () => {
    const { plan, faults } = await check();
    expect(faults).toEqual([]);
    const used = await clinic.rows<{ account: string }>('select distinct account from entry_line order by account');
    const accounts = plan!.accounts.map(({ account }) => account);
    expect(accounts).toEqual(expect.arrayContaining(used.map(({ account }) => account)));
    expect(accounts).toEqual(expect.arrayContaining(['1709', '2410', '3990']));
    const control = plan!.accounts.filter(({ isControl }) => isControl);
    expect(control.map(({ account, roles }) => [account, roles])).toEqual([
      ['1700', ['receivable']],
      ['1709', ['opening_receivable']],
      ['1710', ['insurance_receivable']],
      ['1715', ['financing_receivable']],
      ['2400', ['prepayment_liability']],
    ]);
    expect(plan).toMatchObject({
      writes: true,
      currency: 'EUR',
      makesParties: true,
      parties: ['CLIENTS', 'INSURANCE', 'FINANCING'],
      journals: ['CASH', 'REV'],
    });
    expect(plan!.taxes).toEqual(expect.arrayContaining(['Sales 13.5 %', 'Sales 25.5 %']));
    const taxesOn = (role: string) =>
      plan!.accounts.filter(({ roles }) => roles.includes(role)).flatMap(({ taxes = [] }) => taxes);
    expect(taxesOn('revenue')).toEqual(expect.arrayContaining([{ code: 'Sales 25.5 %', part: 'base' }]));
    expect([...new Set(taxesOn('vat').map(({ part }) => part))]).toEqual(['tax']);
    expect(taxesOn('receivable')).toEqual([]);
    expect(plan!.dimensions.map(({ theirs }) => theirs)).toEqual([
      'Department',
      'Reporting dimension 1',
      'Reporting dimension 2',
    ]);
    expect(plan!.dimensions[0]!.values).toEqual(['11', '12', '13']);
    expect(plan!.dimensions[1]!.values).toEqual(['IMG', 'LAB', 'NONE', 'SURG']);
    expect(plan!.dates.length).toBeGreaterThan(0);
  });

  test('the ERP’s names of these accounts are kept for reports', async () => {
    await check({}, { missing: ['3990'] });
    const names = await erpAccountNames(clinic.app.db, 4711);
    expect([names.get('1700'), names.get('2400')]).toEqual(['ERP 1700', 'ERP 2400']);
  });

  test('a value without a translation in the mapping is reported with the next step', async () => {
    const { faults } = await check({
      vat_codes: { 'VAT 14 %': 'x' },
      journals: { invoice: 'REV' },
      dimensions: { dimension_1: { name: 'D', values: { SURG: 's' } } },
      collective_party: null,
    });
    expect(faults.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'mapping: VAT group VAT 25.5 % at 25.5 %',
        'mapping: dimension_1 LAB',
        'mapping: documents of the kind payment',
        'mapping: erp.collective_party is not set',
      ]),
    );
    for (const { todo } of faults) expect(todo).toContain('in the mapping file');
  });
});

test('mappings/tryton-demo.yaml translates every entry of the sandbox clinic', async () => {
  const { db, databaseId } = clinic.app;
  const problems: ErpProblem[] = [];
  const vat = new Map<string, Money>();
  const parties = new Set<string>();
  let units = 0;
  for await (const unit of generalLedger(db, 4711, { from: null, to: null })) {
    units += 1;
    const result = translate(unit, { databaseId, mapping, capabilities: capabilitiesOf() });
    if ('problems' in result) {
      problems.push(...result.problems);
      continue;
    }
    for (const line of result.entry.lines) {
      if (line.party?.isOurs) parties.add(line.party.code);
      if (line.vat === null) continue;
      const name = `${line.vat.part} ${line.vat.rate?.toFixed()}`;
      const amount = line.side === 'credit' ? line.amount : line.amount.negated();
      vat.set(name, (vat.get(name) ?? new Money(0)).plus(amount));
    }
  }
  expect(units).toBeGreaterThan(100);
  expect(problems).toEqual([]);
  expect(parties.size).toBeGreaterThan(20);
  for (const code of parties) expect(code).toMatch(/^4711\/client\/\d+$/);
  const books = await clinic.rows<{ rate: string; base: string; tax: string }>(
    `select trim_scale(vat_rate)::text as rate, sum(case side when 'credit' then vat_base else -vat_base end)::text as base,
       coalesce(sum(case side when 'credit' then amount else -amount end) filter (where role = 'vat'), 0)::text as tax
     from entry_line where has_vat group by vat_rate order by vat_rate`,
  );
  expect(books.length).toBeGreaterThan(2);
  for (const { rate, base, tax } of books) {
    expect(vat.get(`base ${rate}`)!.toFixed()).toBe(new Money(base).toFixed());
    expect((vat.get(`tax ${rate}`) ?? new Money(0)).toFixed()).toBe(new Money(tax).toFixed());
  }
});

test('a record that the ERP lacks is a fault, and so is an error that aborts the check', async () => {
  const { faults } = await check({}, { missing: ['1700'], breaksOff: new ErpError('auth', 'session ended') });
  expect(faults).toEqual([
    { name: 'account 1700', ok: false, message: 'there is none', todo: 'Create it.' },
    {
      name: 'connection',
      ok: false,
      message: 'session ended',
      todo: 'Check `erp.user` and `erp.password` of the installation, and the rights of that user in the ERP.',
    },
  ]);
});

const onPayment = { vat_due: { from: '2026-01-01', until: null, latest: null, restAtEnd: false } };
const atReceipt = { prepayment_vat: { from: '2026-01-01', payment_types: {}, departments: {} } };
test.each<[what: string, mode: 'from_net' | 'explicit_rows', Partial<Mapping['policies']>, refused: string[]]>([
  ['VAT on payment', 'from_net', onPayment, ['policies.vat_due']],
  ['VAT on prepayments', 'from_net', atReceipt, ['policies.prepayment_vat']],
  ['both', 'from_net', { ...onPayment, ...atReceipt }, ['policies.vat_due', 'policies.prepayment_vat']],
  ['VAT on sales', 'from_net', {}, []],
  ['VAT on payment in an ERP with VAT lines', 'explicit_rows', { ...onPayment, ...atReceipt }, []],
])('an ERP that computes VAT has VAT on sales only: %s', async (_, mode, policies, refused) => {
  const capabilities = capabilitiesOf({ vat: { mode, rounding: 'half_up', shows: 'posted', tolerance_minor: 0 } });
  const { faults } = await check({}, { capabilities, policies });
  expect(faults.map(({ name }) => name)).toEqual(refused);
  for (const { message, todo } of faults) {
    expect(message).toContain('computes VAT itself');
    expect(todo).toContain('accepts VAT lines');
  }
});

test('an ERP without parties needs none, and one with few dimensions refuses more', async () => {
  const lines = { ...capabilitiesOf().lines, party: 'none' as const, max_dimensions: 2 };
  const { plan, faults } = await check({ collective_party: null }, { capabilities: capabilitiesOf({ lines }) });
  expect([plan!.parties, plan!.makesParties]).toEqual([[], false]);
  expect(plan!.accounts.filter(({ isControl }) => isControl)).toEqual([]);
  expect(faults.map(({ name, message }) => [name, message])).toEqual([
    ['erp.dimensions', 'erp.dimensions names 3 dimensions; the ERP accepts at most 2 on a line.'],
  ]);
});

test('an ERP whose texts are too short for a unit id and a key is refused', async () => {
  const key = { ...capabilitiesOf().key, longest_text: 74 };
  const { faults } = await check({}, { capabilities: capabilitiesOf({ key }) });
  expect(faults.map(({ name }) => name)).toEqual(['key.longest_text']);
});

test('a file needs no journals, and sends no request', async () => {
  const { plan, faults } = await check({ journals: {}, collective_party: null }, { kind: 'csv' });
  expect([plan, faults]).toEqual([null, []]);
});

describe('the commands', () => {
  test('erp check: exit code 0 without a fault', async () => {
    const { code, json } = await command('erp', 'check', '--json');
    expect(json()).toEqual({ ok: true, installations: [{ installation: 4711, kind: 'csv', ok: true, results: [] }] });
    expect(code).toBe(0);
    expect((await command('erp', 'check')).stdout).toContain(
      'Installation 4711, csv: the mapping has every value that the files need.',
    );
  });

  test('mapping check --erp lists what the mapping lacks for the ERP', async () => {
    const file = `${clinic.config}.mapping.yaml`;
    const text = readFileSync(trytonDemo, 'utf8').replace('    "VAT 13.5 %": "Sales 13.5 %"\n', '');
    writeFileSync(file, text);
    const { code, stdout } = await command('mapping', 'check', file, '--erp');
    expect(stdout).toContain('FAULT  mapping: VAT group VAT 13.5 % at 13.5 %: The mapping has no tax code of the ERP');
    expect(stdout).toContain('         what to do: Add it under `erp.vat_codes` in the mapping file');
    expect(code).toBe(1);
    expect((await command('mapping', 'check', file)).code).toBe(0);
  });

  test('an unreachable ERP is a fault with the next step', async () => {
    const config = `${clinic.config}.tryton.yaml`;
    const erp = '{kind: tryton, url: "http://127.0.0.1:1", database: d, user: u, password: "$' + '{ERP_PASSWORD}"}';
    writeFileSync(config, readFileSync(clinic.config, 'utf8').replace('{kind: csv}', erp));
    const env = { ...clinic.env, ERP_PASSWORD: 'secret' };
    const { code, json, stdout } = await vetledger(['erp', 'check', '--config', config, '--json'], env);
    const faults = json().installations[0].results.filter(({ ok }: { ok: boolean }) => !ok);
    expect(faults.map(({ name }: { name: string }) => name)).toContain('server');
    expect(faults.every(({ todo }: { todo: string }) => todo !== '')).toBe(true);
    expect(code).toBe(1);
    expect(stdout).not.toContain('secret');
  });
});
