import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Rng } from '../../../sandbox/src/rng.ts';
import type { Line } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import { netvisorCapabilities } from '../../../src/erp/targets/netvisor/capabilities.ts';
import { openNetvisor } from '../../../src/erp/targets/netvisor/index.ts';
import { translate } from '../../../src/erp/translate.ts';
import { mappingOf } from '../../posting/support.ts';
import { randomInvoice, rates } from '../random-invoices.ts';
import { created, errorOf, journal, open, request, sale, silent, vat } from './open.ts';

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

const account = {
  lines: [
    ['1700', '1'],
    ['3999', '-1'],
  ],
} satisfies Parameters<typeof sale>[1];
const taxed = (code: string) => {
  const lines = [
    ['1700', '1'],
    ['3000', '-1', { vat: { ...vat, code } }],
  ] satisfies NonNullable<Parameters<typeof sale>[1]>['lines'];
  return sale(1, { lines });
};

describe('an error', () => {
  test.each<[name: string, entry: ErpEntry, problem: string]>([
    ['of an unknown account', sale(1, account), 'erp_account_unknown'],
    ['of an unknown voucher type', sale(1, { journal: 'Muu' }), 'erp_journal_unknown'],
    ['of a code of purchases', taxed('KOOS 25.5'), 'erp_tax_unknown'],
    ['of a code without VAT', taxed('NONE 0'), 'erp_tax_unknown'],
    [
      'of a hidden dimension',
      sale(1, {
        lines: [
          ['1700', '1', { dimensions: { project: 'old' } }],
          ['3000', '-1'],
        ],
      }),
      'erp_dimension_unknown',
    ],
  ])('%s refuses the entry before it is sent', async (_, entry, problem) => {
    const { fake, target } = open();
    expect(await errorOf(created(target, entry))).toMatchObject({ means: 'refused', keys: [entry.key], problem });
    expect(fake.held()).toEqual([]);
  });

  test.each(['AccountingPeriod', 'VatPeriod'] as const)('of the lock %s is one of the entry', async (kind) => {
    const { fake, target } = open();
    fake.lock('2026-03-31', kind);
    const closed = { means: 'refused', problem: 'period_closed_in_erp' };
    expect(await errorOf(created(target, sale(1)))).toMatchObject(closed);
    const lock = { kind: kind === 'VatPeriod' ? 'vat' : 'general', date: '2026-03-31' };
    expect((await target.periods(request)).lockedThrough).toEqual([lock]);
  });

  test('of a lock of purchases is none', async () => {
    const { fake, target } = open();
    fake.lock('2026-03-31', 'Purchase');
    await created(target, sale(1));
    expect((await target.periods(request)).lockedThrough).toEqual([{ kind: 'purchase', date: '2026-03-31' }]);
  });

  const failed = (text: string) =>
    `<Root><ResponseStatus><Status>FAILED</Status>${text && `<Status>${text}</Status>`}<TimeStamp>7.4.2009 13:46:07</TimeStamp></ResponseStatus></Root>`;
  const unknown = { means: 'doubt', problem: 'erp_refused_unknown' };
  test.each<[name: string, text: string, status: number, expected: object]>([
    ['a known code', failed('AUTHENTICATION_FAILED :: Integraatiokumppania ei löydy'), 200, { means: 'auth' }],
    ['a code and another status', failed('DUPLICATE_DATA :: Tieto on jo'), 400, { means: 'duplicate' }],
    ['maintenance', failed('SYSTEM_MAINTANANCE :: Huolto'), 200, { means: 'locked' }],
    ['a technical error', failed('TECHNICAL_ERROR :: Virhe'), 200, { means: 'doubt', problem: null }],
    ['an unknown code', failed('NEW_CODE :: Uusi'), 200, unknown],
    ['no text', failed(''), 200, unknown],
    ['a known code, but an error of the server', failed('INVALID_DATA :: Virhe'), 500, { means: 'doubt' }],
    ['a page', '<html><body>Bad gateway</body></html>', 502, { means: 'doubt', problem: null }],
    ['half an answer', '<Root><ResponseStatus><Status>OK</Status>', 200, { means: 'doubt', problem: null }],
    [
      'no id',
      '<Root><ResponseStatus><Status>OK</Status></ResponseStatus></Root>',
      200,
      { means: 'doubt', problem: null },
    ],
    ['a document type', `<!DOCTYPE Root><Root/>`, 200, { means: 'doubt', problem: null }],
  ])('in an answer with %s', async (_, text, status, expected) => {
    const { fake, target } = open();
    await target.accountNames?.(['1700'], request);
    await created(target, sale(2));
    fake.answerOf = (resource) => (resource === 'accounting.nv' ? { text, status } : null);
    expect(await errorOf(created(target, sale(1)))).toMatchObject(expected);
  });

  test('of the clock stops everything', async () => {
    const { fake, target, time } = open();
    fake.clockOffMs = 3_600_000;
    expect(await errorOf(created(target, sale(1)))).toMatchObject({ means: 'auth' });
    expect(time.nowMs).toBeGreaterThan(0);
    expect(fake.held()).toEqual([]);
  });
});

describe('the ledger', () => {
  const line = (sum: string, code: string, rest = '') =>
    `<VoucherLine><NetvisorKey>121</NetvisorKey><LineSum>${sum}</LineSum><Description>Invoice 19</Description><AccountNumber>100</AccountNumber><VatPercent>20</VatPercent><VatCode>${code}</VatCode>${rest}</VoucherLine>`;
  const ledger = (attributes: string, date: string, lines: string) =>
    `<Root><ResponseStatus><Status>OK</Status><TimeStamp>1.10.2009 16:03:24</TimeStamp></ResponseStatus><Vouchers><Voucher${attributes}><NetvisorKey>12</NetvisorKey><VoucherDate>${date}</VoucherDate><VoucherNumber>13</VoucherNumber><VoucherDescription>Invoice 14</VoucherDescription><VoucherClass>PI Purchase Invoice</VoucherClass><LinkedSourceNetvisorKey type="purchaseinvoice">15</LinkedSourceNetvisorKey><VoucherNetvisorURI>https:/netvisor.com/voucher/16</VoucherNetvisorURI>${lines}</Voucher></Vouchers></Root>`;
  const blank = '<Dimension><DimensionName>Sales</DimensionName><DimensionItem> </DimensionItem></Dimension>';
  const item = blank.replace('> <', '>Mike<');

  test.each([
    [
      ' Status="valid"',
      '1.1.2000',
      line('-17,18', '-'),
      { state: 'posted', date: '2000-01-01', lines: [{ vat: [{ code: 'NONE 20' }] }] },
    ],
    [
      ' Status="invalidated"',
      '2.1.2000',
      line('-21.22', 'KOMY'),
      { state: 'void', lines: [{ vat: [{ code: 'KOMY 20' }] }] },
    ],
    [
      ' Status="deleted"',
      '2000-01-02',
      line('3', '-', item),
      { state: 'void', lines: [{ dimensions: { Sales: 'Mike' } }] },
    ],
    [
      '',
      '2000-01-02 00:00:00',
      line('3', '-', blank),
      { state: 'posted', date: '2000-01-02', lines: [{ dimensions: {} }] },
    ],
    ['', '3.1.2000', '', { state: 'posted', number: '13', journal: 'PI Purchase Invoice', lines: [] }],
  ])('is read in the form of recorded answers%s, %s', async (attributes, date, lines, expected) => {
    const { fake, target } = open();
    fake.answerOf = (resource) =>
      resource === 'accountingledger.nv' ? { text: ledger(attributes, date, lines), status: 200 } : null;
    expect(await target.read(['12'], request)).toMatchObject([{ id: '12', key: null, ...expected }]);
  });

  test.each([
    ['an amount', '1.1.2000', line('1.234,50', '-')],
    ['a date', '31.2.2000', line('1', '-')],
    ['a line without a sum', '1.1.2000', '<VoucherLine><AccountNumber>1</AccountNumber></VoucherLine>'],
  ])('with %s that cannot be read proves nothing', async (_, date, lines) => {
    const { fake, target } = open();
    fake.answerOf = (resource) =>
      resource === 'accountingledger.nv' ? { text: ledger('', date, lines), status: 200 } : null;
    expect(await errorOf(target.read(['12'], request))).toMatchObject({ means: 'unsent' });
  });

  test('names voucher types in another language', async () => {
    const { fake, target } = open();
    const id = await created(target, sale(1));
    fake.onAnswer = (_, text) => text.replace(`EL ${journal}`, 'EL Veterinary');
    expect(await target.read([id], request)).toMatchObject([{ journal, number: 'EL 1' }]);
  });

  test('has the periods of the documentation and of recorded answers', async () => {
    const { fake, target } = open();
    const period =
      '<Period><NetvisorKey>3</NetvisorKey><Name>2016</Name><BeginDate format="ansi">2016-01-01</BeginDate><EndDate format="ansi">31.12.2016</EndDate></Period>';
    const locks =
      '<AccountingPeriodLockDate format="ansi">31.12.2015</AccountingPeriodLockDate><VatPeriodLockDate format="ansi"/>';
    for (const list of [
      `<PeriodLockInformation>${locks}${period}</PeriodLockInformation>`,
      `<PeriodLockInformation>${locks}</PeriodLockInformation>${period}`,
    ]) {
      const text = `<Root><ResponseStatus><Status>OK</Status></ResponseStatus><AccountingPeriodList>${list}</AccountingPeriodList></Root>`;
      fake.answerOf = () => ({ text, status: 200 });
      expect(await target.periods(request)).toEqual({
        periods: [{ from: '2016-01-01', through: '2016-12-31', isOpen: true, kind: 'general' }],
        lockedThrough: [{ kind: 'general', date: '2015-12-31' }],
      });
    }
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
