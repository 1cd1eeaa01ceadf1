import { expect, test } from 'vitest';
import { type CheckPlan, type CheckResult, ErpError, type RequestOptions } from '../../../src/erp/port.ts';
import { type Checking, checkErp } from '../../../src/erp/targets/api/check.ts';
import type { OdooCalls } from '../../../src/erp/targets/odoo/calls.ts';
import { OdooChecks } from '../../../src/erp/targets/odoo/check.ts';
import type { OdooCall } from '../../../src/erp/targets/odoo/connection.ts';
import { withdrawDrafts } from '../../../src/erp/targets/odoo/drafts.ts';
import type { OdooNames, OdooRecords } from '../../../src/erp/targets/odoo/names.ts';
import { odooTerms } from '../../../src/texts/findings/erp-records.ts';

const plan: CheckPlan = {
  ...{
    writes: true,
    currency: 'EUR',
    makesParties: true,
    parties: [],
    taxes: [],
    dimensions: [],
    journals: ['MISC'],
    dates: ['2026-03-01'],
  },
  accounts: [{ account: '400000', roles: ['revenue'], isControl: false }],
};
const features = { version: 17, lockFields: [], hasTagInvert: true, hasKeyExpiry: false };
const company = { companyId: 1, chain: [1], usable: [1], currency: 'EUR', decimals: 2, userId: 2, features };
const request = { signal: new AbortController().signal, priority: 0 };
const account = { id: 24, code: '400000', type: 'income', isActive: true, reconcile: false, currencyId: null };

/** A fake of the parts of Odoo that the check uses. `onLoad` is called when the nth draft is created. */
function odoo(onLoad: (n: number) => void = () => {}, lacking: readonly string[] = []) {
  const drafts = new Set<number>();
  let made = 0;
  const calls = {
    company: async () => company,
    may: async (model: string, operation: string) => !lacking.includes(`${model} ${operation}`),
    all: async (_model: string, _options: unknown, { signal }: RequestOptions) => {
      signal.throwIfAborted();
      return [...drafts].map((id) => ({ id, name: false, posted_before: false }));
    },
    call: async (_doing: string, { model, method, ids = [] }: OdooCall, { signal }: RequestOptions) => {
      signal.throwIfAborted();
      if (model === 'res.company') return [{ id: 1 }];
      if (method === 'unlink') for (const id of ids) drafts.delete(id);
      if (method !== 'load') return true;
      made += 1;
      drafts.add(made);
      onLoad(made);
      signal.throwIfAborted();
      return { ids: [made], messages: [] };
    },
  };
  const names = {
    accounts: async () => new Map([['400000', [{ ...account, journalIds: [] }]]]),
    journals: async () => new Map([['MISC', [{ id: 3, isActive: true }]]]),
    parties: async () => new Map(),
    taxes: async () => new Map(),
    dimensions: async () => new Map(),
  };
  const asked = calls as unknown as OdooCalls;
  const checked: Checking<OdooRecords> = {
    terms: odooTerms,
    records: names as unknown as OdooNames,
    withdrawDrafts: (ids, request) => withdrawDrafts(asked, ids.map(Number), request),
    check: (planned, request) => new OdooChecks(asked, planned, request),
  };
  return { drafts, checked };
}

async function resultsOf(check: AsyncIterable<CheckResult>): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for await (const result of check) results.push(result);
  return results;
}

test('a check removes what it creates', async () => {
  const { drafts, checked } = odoo();
  const results = await resultsOf(checkErp(checked, plan, request));
  expect(results.map(({ name }) => name)).toContain('draft on all accounts, with taxes and dimensions');
  expect(drafts).toEqual(new Set());
});

test('an aborted check also removes its drafts, including those of a request without an answer', async () => {
  const stop = new AbortController();
  const { drafts, checked } = odoo(() => stop.abort(new Error('cut off')));
  const check = resultsOf(checkErp(checked, plan, { signal: stop.signal, priority: 0 }));
  await expect(check).rejects.toThrow('cut off');
  expect(drafts).toEqual(new Set());
});

test('the right to create partners is checked if partners have to be created', async () => {
  const faults = async (makesParties: boolean) => {
    const { checked } = odoo(() => {}, ['res.partner create']);
    const check = checkErp(checked, { ...plan, writes: false, makesParties }, request);
    return (await resultsOf(check)).filter(({ ok }) => !ok).map(({ name }) => name);
  };
  expect(await faults(true)).toEqual(['right to make partners']);
  expect(await faults(false)).toEqual([]);
});

test('a company with another currency than the clinic is refused', async () => {
  const { checked } = odoo();
  const results = await resultsOf(checkErp(checked, { ...plan, currency: 'SEK' }, request));
  expect(results.filter(({ ok }) => !ok).map(({ name, message }) => [name, message])).toEqual([
    ['currency', 'the company keeps its books in EUR, the clinic in SEK'],
  ]);
  expect(results.map(({ name }) => name)).not.toContain('drafts are deleted');
});

const draftsOf = (results: readonly CheckResult[]) => results.filter(({ name }) => name.startsWith('draft'));

test('before a first load drafts are not tried, and the check says why', async () => {
  const { checked } = odoo();
  const results = await resultsOf(checkErp(checked, { ...plan, journals: [] }, request));
  expect(draftsOf(results)).toEqual([
    {
      ...{ name: 'drafts', ok: false, message: 'not tried: nothing is posted yet' },
      todo: 'Load the clinic with `vetledger sync`, and check again: the posted entries determine the journals, taxes and dimensions.',
    },
  ]);
});

test('without the right to create entries no draft is tried, and the fault is reported once', async () => {
  const { checked } = odoo(() => {}, ['account.move create']);
  const results = await resultsOf(checkErp(checked, plan, request));
  expect(results.filter(({ ok }) => !ok)).toEqual([
    {
      ...{ name: 'right to make entries', ok: false, message: 'the API user lacks this right' },
      todo: 'Give the API user the right Invoicing: Billing.',
    },
    {
      ...{ name: 'drafts', ok: false, message: 'not tried: the API user lacks rights' },
      todo: 'Correct the faults above first.',
    },
  ]);
});

test('a missing right that only a draft shows is reported once for all accounts', async () => {
  const { checked } = odoo(() => {
    throw new ErpError('auth', 'You are not allowed to create');
  });
  const faults = (await resultsOf(checkErp(checked, plan, request))).filter(({ ok }) => !ok);
  expect(faults.filter(({ name }) => name.startsWith('draft') || name.startsWith('account'))).toEqual([
    {
      ...{ name: 'draft on all accounts, with taxes and dimensions', ok: false },
      ...{ message: 'You are not allowed to create', todo: 'Give the API user the right Invoicing: Billing.' },
    },
  ]);
});
