import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Rng } from '../../../sandbox/src/rng.ts';
import type { Line } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import { netvisorCapabilities } from '../../../src/erp/targets/netvisor/capabilities.ts';
import { openNetvisor } from '../../../src/erp/targets/netvisor/index.ts';
import { translate } from '../../../src/erp/translate.ts';
import { mappingOf } from '../../posting/support.ts';
import { randomInvoice, rates } from '../random-invoices.ts';
import { created, journal, open, request, sale, silent } from './open.ts';

describe('a voucher', () => {
  test('is in the books at once, and read back as it was sent', async () => {
    const { fake, target } = open();
    const entry = sale(1, { description: 'Invoice KU-1042' });
    const id = await created(target, entry);
    expect(fake.held()).toMatchObject([
      { status: 'valid', description: `Invoice KU-1042 · 1/invoice/1/1 [${entry.key}]`, type: 'EL' },
    ]);
    expect(await target.read([id], request)).toMatchObject([
      {
        ...{ id, key: entry.key, number: 'EL 1', state: 'posted', date: entry.date, journal },
        lines: [{}, { vat: [{ code: 'KOMY 25.5', part: 'base' }], dimensions: { project: 'east' } }, { vat: [] }],
      },
    ]);
  });

  test('has its amounts to the last digit', async () => {
    const { fake, target } = open();
    const amount = '123456789012345678.01';
    const id = await created(
      target,
      sale(1, {
        lines: [
          ['1700', amount],
          ['3000', `-${amount}`],
        ],
      }),
    );
    expect(fake.held().flatMap(({ lines }) => lines.map((line) => line.amount.toFixed()))).toEqual([
      amount,
      `-${amount}`,
    ]);
    const [found] = await target.read([id], request);
    expect(found?.lines.map((line) => line.amount.toFixed())).toEqual([amount, `-${amount}`]);
  });

  test.each([
    ['Łukasz 🐕 <&> "Rex" €', /^Lukasz \? <&> "Rex" € x+\.\.\./],
    ['„Hyvää“ yötä', /^"Hyvää" yötä x+\.\.\./],
  ])('keeps unit and key in 255 characters of ISO 8859-15: %s', async (begins, beginning) => {
    const { fake, target } = open();
    const unitId = `4711/daily_summary/2026-03-05/${'9'.repeat(40)}/1`;
    const entry = sale(1, { description: `${begins} ${'x'.repeat(300)}`, unitId });
    const id = await created(target, entry);
    const [{ description } = { description: '' }] = fake.held();
    expect(description.length).toBeLessThanOrEqual(255);
    expect(description).toMatch(beginning);
    expect(description.endsWith(` · ${unitId} [${entry.key}]`)).toBe(true);
    const [found] = await target.read([id], request);
    expect(found).toMatchObject({ key: entry.key, description: target.describe?.(entry) });
  });
});

test('vouchers are invalidated 100 at a time, each request with its own id', async () => {
  const { fake, target } = open();
  const ids: string[] = [];
  for (let n = 0; n < 101; n++) ids.push(await created(target, sale(1)));
  fake.asked.length = 0;
  await target.withdrawDrafts(ids, { ...request, attemptId: 'withdrawal' });
  expect(fake.asked).toEqual(['POST /invalidatevouchers.nv', 'POST /invalidatevouchers.nv']);
  expect(fake.held().every(({ status }) => status === 'invalidated')).toBe(true);
});

test('entries with a key are listed month by month, and those changed since a time at once', async () => {
  const { fake, target } = open();
  await created(target, sale(1));
  await created(target, sale(2, { date: '2026-11-30' }));
  const listed = async (changedSince: Date | null) => {
    const found: string[] = [];
    fake.asked.length = 0;
    for (let after: string | null = null, more = true; more; more = after !== null) {
      const page = await target.keyed({ installation: 1, changedSince, after }, request);
      found.push(...page.entries.map(({ unitId, date }) => `${unitId} ${date}`));
      after = page.next;
    }
    return [found, fake.asked.filter((each) => each.includes('accountingledger')).length];
  };
  const both = ['1/invoice/1/1 2026-03-02', '1/invoice/2/1 2026-11-30'];
  expect(await listed(null)).toEqual([both, 12]);
  expect(await listed(new Date('2026-03-07T00:00:00Z'))).toEqual([both, 1]);
  expect(await listed(new Date('2026-03-09T00:00:00Z'))).toEqual([[], 1]);
});

const plan = {
  ...{ writes: true, currency: 'EUR', makesParties: false, parties: [], journals: [journal] },
  accounts: ['1700', '3999'].map((account) => ({ account, roles: ['revenue'], isControl: false })),
  ...{ taxes: ['KOMY 25.5', 'KOOS 24'], dimensions: [{ theirs: 'project', values: ['east', 'old', 'north'] }] },
  dates: ['2026-03-05', '2026-03-06', '2031-01-01'],
};

test('a check names what is missing, and leaves no voucher', async () => {
  const { fake, target } = open();
  fake.lock('2026-03-05', 'VatPeriod');
  const results = [];
  for await (const each of target.check(plan, request)) results.push(each);
  expect(results.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual([
    'account 3999 (revenue)',
    'tax KOOS 24',
    'dimension project: old',
    'dimension project: north',
    'period of 2026-03-05',
    'period of 2031-01-01',
  ]);
  expect(results.filter(({ ok }) => ok).map(({ name }) => name)).toContain('right to make entries');
  expect(fake.held()).toEqual([]);
});

test('a check that only reads sends no voucher', async () => {
  const { fake, target } = open();
  for await (const _ of target.check({ ...plan, writes: false }, request));
  expect(fake.asked.filter((each) => each.startsWith('POST'))).toEqual([]);
});

test('a Netvisor that accepts anything is no target, and its voucher is invalidated', async () => {
  const { fake, target } = open();
  fake.acceptsUnknown = true;
  const results = [];
  for await (const each of target.check(plan, request)) results.push(each);
  expect(results.find(({ name }) => name === 'right to make entries')).toMatchObject({ ok: false });
  expect(fake.held()).toMatchObject([{ status: 'invalidated' }]);
});

const invoices = 60;
const codes = rates.flat().map((rate) => [rate, rate === '0' ? 'EUMY 0' : `KOMY ${rate}`]);
const mapping = mappingOf({ erp: { vat_codes: Object.fromEntries(codes), journals: { '*': journal } } });

test(`Netvisor's sales of ${invoices} random invoices are ours, by code and rate`, async () => {
  const { fake, target } = open();
  const rng = new Rng(7, 'netvisor');
  const ours = new Map<string, Money>();
  for (let id = 1; id <= invoices; id++) {
    const posting = randomInvoice(rng, id, () => '2931');
    if (posting === null) continue;
    const unit = { kind: 'entry', posting: { ...posting, id: `1/invoice/${id}/1` } } as const;
    const found = translate(unit, { databaseId: 'db', mapping, capabilities: netvisorCapabilities });
    if ('problems' in found) throw new Error(found.problems.map(({ message }) => message).join('; '));
    await created(target, found.entry);
    for (const { role, vat: group, side, amount } of posting.lines) {
      if (role !== 'revenue' || group === null) continue;
      const rate = group.rate?.toFixed() ?? '';
      const code = rate === '0' ? 'EUMY 0' : `KOMY ${rate.replace('.', ',')}`;
      ours.set(code, (ours.get(code) ?? new Money(0)).plus(side === 'debit' ? amount : amount.negated()));
    }
  }
  const written = [...ours].map(([code, amount]): [string, string] => [code, amount.toFixed(2)]);
  expect([...fake.sales()].toSorted()).toEqual(written.toSorted());
});

test('VAT without a sale is held, since Netvisor reports VAT by sales', () => {
  const posting = randomInvoice(new Rng(1, 'netvisor'), 1, () => '2931');
  const owed = posting?.lines.find(({ role }) => role === 'vat');
  if (posting === null || owed?.vat == null) throw new Error('an invoice with VAT');
  const late = { ...owed, rule: 'R13', vat: { ...owed.vat, base: new Money('10') } } satisfies Line;
  const lines: Line[] = [late, { ...late, role: 'vat_not_due', side: 'debit', vat: null }];
  const unit = { kind: 'entry', posting: { ...posting, id: '1/payment/1/1', lines } } as const;
  const found = translate(unit, { databaseId: 'db', mapping, capabilities: netvisorCapabilities });
  expect('problems' in found && found.problems.map(({ code }) => code)).toEqual(['erp_vat_not_tellable']);
});

const signedHeaders = [
  ...['Sender', 'CustomerId', 'PartnerId', 'Timestamp', 'TimestampUnix', 'TransactionId', 'MAC'],
  'MACHashCalculationAlgorithm',
].map((name) => `X-Netvisor-Authentication-${name}`);
signedHeaders.push('X-Netvisor-Interface-Language', 'X-Netvisor-Organisation-ID');

test('over HTTP, the signed address and the encoded body are those that arrive', async () => {
  const { fake, time } = open();
  const server = createServer(async (message, response) => {
    let body = '';
    for await (const chunk of message) body += new TextDecoder('iso-8859-15').decode(chunk);
    const headers = Object.fromEntries(
      signedHeaders.map((name) => [name, String(message.headers[name.toLowerCase()])]),
    );
    const { method, url = '' } = message;
    const sent = { verb: method as 'GET', path: url, headers, body, method: '' };
    const { status, text } = await fake.send({ ...sent, encoding: 'iso-8859-15' }, request);
    response.writeHead(status, { 'content-type': 'text/xml' }).end(text);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  fake.config = { ...fake.config, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const target = openNetvisor(fake.config, { clock: time.clock(), log: silent });
  try {
    const id = await created(target, sale(1, { description: 'Hyvää yötä, 5 €' }));
    expect(await target.read([id, '7'], request)).toMatchObject([{ description: 'Hyvää yötä, 5 € · 1/invoice/1/1' }]);
  } finally {
    await target.close();
    server.close();
  }
});
