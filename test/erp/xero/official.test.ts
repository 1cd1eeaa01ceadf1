// The fake against the vendor's specification, which is not part of this repository. XERO_OPENAPI names its file
// (xero_accounting.yaml of github.com/XeroAPI/Xero-OpenAPI).

import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { openXero } from '../../../src/erp/targets/xero/index.ts';
import { isJsonObject } from '../../../src/records/json.ts';
import { erpEntry } from '../fake/entries.ts';
import { SimulatedTime } from '../fake/time.ts';
import { FakeXero } from './fake.ts';

const file = process.env.XERO_OPENAPI;
const withFile = test.skipIf(file === undefined);

interface Operation {
  parameters?: ({ $ref?: string } | { in: string; name: string })[];
  responses: Record<string, { content?: { 'application/json': { example?: Record<string, unknown> } } }>;
}
interface Description {
  components: { schemas: Record<string, unknown>; parameters: Record<string, { in: string; name: string }> };
  paths: Record<string, Record<string, Operation>>;
}

/** Every answer has these fields, which the specification leaves out. */
const envelope = ['Id', 'Status', 'ProviderName', 'DateTimeUTC'];
const schemaOf: Record<string, string> = {
  ...{ '/Organisation': 'Organisations', '/Accounts': 'Accounts', '/TaxRates': 'TaxRates' },
  ...{ '/TrackingCategories': 'TrackingCategories', '/ManualJournals': 'ManualJournals' },
};

/** Forbids fields that the specification does not have. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isJsonObject(schema)) return schema;
  const own = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return isJsonObject(schema.properties) && schema.type === 'object' ? { ...own, additionalProperties: false } : own;
}

function description(): { value: Description; check(name: string, value: unknown): void } {
  const value = parse(readFileSync(file ?? '', 'utf8')) as Description;
  const formats = { uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, double: true, 'date-time': true } as const;
  const ajv = new Ajv({ strict: false, formats });
  ajv.addSchema({ $id: 'xero', components: closed(value.components) as object });
  const check = (name: string, checked: unknown) => {
    const validate = ajv.getSchema(`xero#/components/schemas/${name}`) as ValidateFunction;
    expect(validate(checked), `${name}: ${ajv.errorsText(validate.errors)} ${JSON.stringify(checked)}`).toBe(true);
  };
  return { value, check };
}

const withoutEnvelope = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value as object).filter(([name]) => !envelope.includes(name)));

function open(post: 'posted' | 'draft' = 'posted') {
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const fake = new FakeXero(time.clock());
  const log = { debug: () => {}, info: () => {}, warn: () => {} } as never;
  const target = openXero({ ...fake.config, post }, { clock: time.clock(), log, transport: fake });
  let attempts = 0;
  const request = () => {
    attempts += 1;
    return { signal: new AbortController().signal, priority: 0, attemptId: `attempt ${attempts}` };
  };
  return { fake, target, request };
}

withFile('requests and answers of a fake organisation have the form of the specification', async () => {
  const { value, check } = description();
  expect(() => check('ManualJournals', { ManualJournals: [{ Narration: 'a', Number: 1 }] })).toThrow();
  const seen = new Set<string>();
  for (const post of ['posted', 'draft'] as const) {
    const { fake, target, request } = open(post);
    fake.onAsked = ({ name, body, query }, { status, value: answer }) => {
      const [verb = '', path = ''] = name.split(' ');
      const entity = `/${path.split('/')[1]}`;
      const schema = schemaOf[entity];
      if (schema === undefined) return;
      seen.add(`${name} ${status}`);
      if (body !== null) check(schema, body);
      check(status === 400 ? 'Error' : schema, withoutEnvelope(answer));
      const operation = value.paths[path.replace('#', '{ManualJournalID}')]?.[verb.toLowerCase()];
      const allowed = (operation?.parameters ?? []).map((each) =>
        'name' in each ? each.name : value.components.parameters[each.$ref?.split('/').at(-1) ?? '']?.name,
      );
      expect(allowed, name).toEqual(expect.arrayContaining(Object.keys(query)));
    };
    const entry = erpEntry(1, { journal: 'MANJOURNAL' });
    const [id = ''] = (await target.create([entry], request())).values();
    if (post === 'draft') await target.withdrawDrafts([id], request());
    else {
      fake.lock('2026-03-31');
      await target.create([erpEntry(2, { journal: 'MANJOURNAL' })], request()).catch(() => undefined);
      fake.forget('3000');
      fake.unlock();
      await target.create([erpEntry(3, { journal: 'MANJOURNAL' })], request()).catch(() => undefined);
    }
    await target.find([{ key: entry.key, dates: [entry.date], since: null }], request());
    await target.read([id], request());
    await target.periods(request());
  }
  expect([...seen].toSorted()).toEqual([
    ...['GET /Accounts 200', 'GET /ManualJournals 200', 'GET /ManualJournals/# 200', 'GET /Organisation 200'],
    ...['GET /TaxRates 200', 'GET /TrackingCategories 200', 'POST /ManualJournals/# 200', 'PUT /ManualJournals 200'],
  ]);
});

withFile('the answers in the examples of the specification are read', async () => {
  const { value } = description();
  const exampleOf = (path: string, verb: string) =>
    value.paths[path]?.[verb]?.responses['200']?.content?.['application/json'].example;
  const { fake, target, request } = open();
  const [id = ''] = (await target.create([erpEntry(1, { journal: 'MANJOURNAL' })], request())).values();
  fake.onAnswer = (name, answer) => {
    const [verb = '', path = ''] = name.split(' ');
    // The example of the accounts has a number as a code.
    if (path === '/Accounts') return answer;
    return exampleOf(path.replace('#', '{ManualJournalID}'), verb.toLowerCase()) ?? answer;
  };
  const [read] = await target.read([id], request());
  expect(read?.lines.map(({ account, amount }) => [account, amount.toFixed()])).toEqual([
    ['429', '100'],
    ['200', '-100'],
  ]);
  const { periods, lockedThrough } = await target.periods(request());
  expect([periods, lockedThrough.map(({ date }) => date)]).toEqual([null, ['2018-12-31', '2018-12-31']]);
  const page = await target.keyed({ installation: 1, changedSince: null, after: null }, request());
  expect(page).toMatchObject({ entries: [], next: null });
  // The example of a creation has a warning and an error.
  const error = await target
    .create([erpEntry(2, { journal: 'MANJOURNAL' })], request())
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ means: 'refused', problem: 'erp_unbalanced' });
});
