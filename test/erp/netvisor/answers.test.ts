// Netvisor's errors, and its answers in the form of recorded ones.

import { describe, expect, test } from 'vitest';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import { created, errorOf, journal, open, request, sale, vat } from './open.ts';

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
