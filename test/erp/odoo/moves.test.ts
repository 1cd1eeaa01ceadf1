import { describe, expect, test } from 'vitest';
import { Money } from '../../../src/domain/money.ts';
import { compareEntry } from '../../../src/erp/compare.ts';
import type { ErpEntry, ErpLine } from '../../../src/erp/erp-entry.ts';
import type { ResolvedEntry } from '../../../src/erp/targets/api/erp-api.ts';
import { odooCapabilities } from '../../../src/erp/targets/odoo/capabilities.ts';
import { foundEntries, type NamesById, toTable } from '../../../src/erp/targets/odoo/moves.ts';
import type { OdooRecords } from '../../../src/erp/targets/odoo/names.ts';
import { type OdooTax, TaxBook, type TaxSide } from '../../../src/erp/targets/odoo/taxes.ts';

const key = 'ABCDEFGHIJKLMNOPQRST';
const side = (baseTags: number[], amountLineId: number, amountTags: number[]): TaxSide => ({
  baseTags,
  amountLineId,
  amountTags,
});
const tax = (id: number, name: string, invoice: TaxSide, refund: TaxSide): OdooTax => ({
  ...{ id, name, isActive: true, fault: null, invoice, refund },
  isOneSided:
    invoice.baseTags.join() === refund.baseTags.join() && invoice.amountTags.join() === refund.amountTags.join(),
});
/** Taxes as in the charts of Odoo 17: tags have a sign, and credit notes have the opposite tag. */
const signed = tax(1, '25.5 %', side([10], 101, [11]), side([20], 102, [21]));
const services = tax(2, '25.5 % S', side([10], 103, [11]), side([20], 104, [21]));
const oneSided = tax(3, '14 %', side([30], 105, [31]), side([30], 106, [31]));
const tagless = tax(4, '15%', side([], 107, []), side([], 108, []));
const taxes = new TaxBook([signed, services, oneSided, tagless]);

const client = { code: '4711/client/5', isOurs: true, name: 'Erä', vatNumber: null, countryCode: null };
const line = (account: string, amount: string, more: Partial<ErpLine> = {}): ErpLine => ({
  ...{ account, role: 'revenue', side: amount.startsWith('-') ? 'credit' : 'debit', amount: new Money(amount).abs() },
  ...{ description: 'Invoice 1', party: null, vat: null, dimensions: {}, openItem: null, dueDate: null },
  ...more,
});
const base = (code: string) => ({ code, part: 'base' as const, base: null, rate: null });
const amountOf = (code: string) => ({ code, part: 'tax' as const, base: null, rate: null });

const entryOf = (lines: ErpLine[], more: Partial<ErpEntry> = {}): ErpEntry => ({
  ...{ key, unitId: '4711/invoice/1/1', installation: 4711, date: '2026-03-05', journal: 'MISC', reverses: null },
  ...{ description: 'Invoice KU-1', reference: 'KU-1', isRefund: false, lines },
  ...more,
});
const invoiceOf = (code: string, more: Partial<ErpEntry> = {}) =>
  entryOf(
    [
      line('121000', '125.50', { role: 'receivable', party: client, dueDate: '2026-04-04' }),
      line('400000', '-100.00', { vat: base(code), dimensions: { Department: 'LAB', Area: 'EAST' } }),
      line('251000', '-25.50', { role: 'vat', vat: amountOf(code) }),
    ],
    more,
  );
const creditNoteOf = (code: string, more: Partial<ErpEntry> = {}) => {
  const { lines } = invoiceOf(code);
  return entryOf(
    lines.map((each) => ({ ...each, side: each.side === 'debit' ? 'credit' : 'debit' }) as ErpLine),
    { isRefund: true, ...more },
  );
};

const accounts: Record<string, number> = { '121000': 6, '400000': 24, '251000': 19 };
const word = (id: number) => ({ id, isActive: true });
const account = (code: string) => ({
  ...{
    ...word(accounts[code] ?? 0),
    code,
    name: code,
    type: 'income',
    reconcile: false,
    currencyId: null,
    journalIds: [],
  },
});
const resolvedOf = (entry: ErpEntry): ResolvedEntry<OdooRecords> => ({
  entry,
  journal: word(3),
  lines: entry.lines.map((each) => ({
    account: account(each.account),
    party: each.party === null ? null : word(8),
    tax: each.vat === null ? null : (taxes.named(each.vat.code)[0] ?? null),
    dimensions: Object.keys(each.dimensions).length === 0 ? [] : [word(5), word(3)],
  })),
});
const tableOf = (entry: ErpEntry, hasTagInvert = true) => toTable([resolvedOf(entry)], { hasTagInvert });

/** The cells about VAT of each line, without empty columns. */
function vatCells(entry: ErpEntry, hasTagInvert = true): Record<string, string>[] {
  const { fields, data } = tableOf(entry, hasTagInvert);
  return data.map((row) =>
    Object.fromEntries(
      fields.flatMap((field, at) => {
        const [, column] = /^line_ids\/(tax_\w+|debit|credit)/.exec(field) ?? [];
        return column === undefined || (row[at] ?? '') === '' ? [] : [[column, row[at] ?? '']];
      }),
    ),
  );
}

test('an invoice is a table: the move in the first row, an external id in each', () => {
  const { fields, data } = tableOf(invoiceOf('25.5 %'));
  expect(fields).toEqual([
    ...['id', 'move_type', 'journal_id/.id', 'date', 'ref'],
    ...['line_ids/id', 'line_ids/account_id/.id', 'line_ids/name', 'line_ids/debit', 'line_ids/credit'],
    ...['line_ids/partner_id/.id', 'line_ids/date_maturity', 'line_ids/tax_ids/.id', 'line_ids/tax_tag_ids/.id'],
    ...['line_ids/tax_repartition_line_id/.id', 'line_ids/tax_base_amount', 'line_ids/analytic_distribution'],
    'line_ids/tax_tag_invert',
  ]);
  const move = [`vetledger.${key}`, 'entry', '3', '2026-03-05', `Invoice KU-1 · 4711/invoice/1/1 [${key}]`];
  const none = ['', '', '', '', ''];
  const id = (n: number) => `vetledger.${key}_${n}`;
  expect(data).toEqual([
    [...move, id(1), '6', 'Invoice 1', '125.5', '0', '8', '2026-04-04', '', '', '', '', '', ''],
    [...none, id(2), '24', 'Invoice 1', '0', '100', '', '', '', '10', '', '', '{"3,5":100}', 'True'],
    [...none, id(3), '19', 'Invoice 1', '0', '25.5', '', '', '', '11', '101', '100', '', 'True'],
  ]);
});

describe('VAT is sent as tags and amounts', () => {
  test.each<[what: string, entry: ErpEntry, lines: Record<string, string>[]]>([
    [
      'a credit note has the tags of credit notes, which count a debit positive',
      creditNoteOf('25.5 %'),
      [
        { debit: '0', credit: '125.5' },
        { debit: '100', credit: '0', tax_tag_ids: '20', tax_tag_invert: 'False' },
        {
          debit: '25.5',
          credit: '0',
          tax_tag_ids: '21',
          tax_repartition_line_id: '102',
          tax_base_amount: '100',
          tax_tag_invert: 'False',
        },
      ],
    ],
    [
      'the reversal of an invoice takes back what the invoice said',
      creditNoteOf('25.5 %', { isRefund: false, reverses: '4711/invoice/1/1' }),
      [
        { debit: '0', credit: '125.5' },
        { debit: '100', credit: '0', tax_tag_ids: '10', tax_tag_invert: 'True' },
        {
          debit: '25.5',
          credit: '0',
          tax_tag_ids: '11',
          tax_repartition_line_id: '101',
          tax_base_amount: '100',
          tax_tag_invert: 'True',
        },
      ],
    ],
    [
      'a tax with one tag for both counts as invoices do',
      creditNoteOf('14 %'),
      [
        { debit: '0', credit: '125.5' },
        { debit: '100', credit: '0', tax_tag_ids: '30', tax_tag_invert: 'True' },
        {
          debit: '25.5',
          credit: '0',
          tax_tag_ids: '31',
          tax_repartition_line_id: '105',
          tax_base_amount: '100',
          tax_tag_invert: 'True',
        },
      ],
    ],
    [
      'a tax without tags tells its base beside its amount',
      invoiceOf('15%'),
      [
        { debit: '125.5', credit: '0' },
        { debit: '0', credit: '100' },
        { debit: '0', credit: '25.5', tax_repartition_line_id: '107', tax_base_amount: '100', tax_tag_invert: 'True' },
      ],
    ],
    [
      'and on a line of nothing where there is no amount',
      entryOf([line('121000', '0.01'), line('400000', '-0.01', { vat: base('15%') })]),
      [
        { debit: '0.01', credit: '0' },
        { debit: '0', credit: '0.01' },
        { debit: '0', credit: '0', tax_repartition_line_id: '107', tax_base_amount: '-0.01', tax_tag_invert: 'True' },
      ],
    ],
  ])('%s', (_, entry, lines) => expect(vatCells(entry)).toEqual(lines));

  test('the tags of a summary depend on the side of each line', () => {
    const { isRefund: _, ...summary } = entryOf([
      line('121000', '75.00'),
      line('400000', '-100.00', { vat: base('25.5 %') }),
      line('400000', '25.00', { vat: base('25.5 %') }),
    ]);
    expect(vatCells(summary).map(({ tax_tag_ids: tags, tax_tag_invert: invert }) => [tags, invert])).toEqual([
      [undefined, undefined],
      ['10', 'True'],
      ['20', 'False'],
    ]);
  });

  test('Odoo 19 has no column for the direction', () => {
    expect(vatCells(invoiceOf('25.5 %'), false)[1]).toEqual({ debit: '0', credit: '100', tax_tag_ids: '10' });
  });

  test('the base of a code is sent once, even if the code has several amounts', () => {
    const entry = entryOf([
      ...invoiceOf('25.5 %').lines,
      line('251000', '-1.00', { role: 'vat', vat: amountOf('25.5 %') }),
    ]);
    expect(vatCells(entry).flatMap(({ tax_base_amount: amount }) => amount ?? [])).toEqual(['100', '0']);
  });
});

const names: NamesById = {
  accounts: new Map(Object.entries(accounts).map(([code, id]) => [id, code])),
  journals: new Map([[3, 'MISC']]),
  parties: new Map([[8, ['4711/client/5']]]),
  analytic: new Map([
    [3, 'Area\nEAST'],
    [5, 'Department\nLAB'],
  ]),
  taxes,
  externalIds: new Map([[77, [`vetledger.${key}`]]]),
};
const move = (more = {}) => ({
  ...{
    id: 77,
    name: 'MISC/2026/03/0001',
    state: 'posted',
    date: '2026-03-05',
    ref: 'changed by hand',
    journal_id: [3, 'Misc'],
  },
  ...more,
});
const held = (id: number, account: number, balance: number, more = {}) => ({
  ...{
    id,
    move_id: [77, 'x'],
    account_id: [account, 'x'],
    balance,
    partner_id: false,
    tax_tag_ids: [],
    tax_line_id: false,
  },
  ...{
    tax_base_amount: 0,
    tax_ids: [],
    tax_repartition_line_id: false,
    analytic_distribution: false,
    full_reconcile_id: false,
  },
  ...{ display_type: 'product', tax_tag_invert: false },
  ...more,
});
const invoiceLines = (more: Record<number, object> = {}) => [
  held(1, 6, 125.5, { partner_id: [8, 'Erä'], ...more[1] }),
  held(2, 24, -100, { tax_tag_ids: [10], tax_tag_invert: true, analytic_distribution: { '3,5': 100.0 }, ...more[2] }),
  held(3, 19, -25.5, {
    ...{
      tax_tag_ids: [11],
      tax_tag_invert: true,
      tax_line_id: [1, '25.5 %'],
      tax_repartition_line_id: [101, 'x'],
      tax_base_amount: 100,
    },
    ...more[3],
  }),
];
const differences = (entry: ErpEntry, moves: object, lines: object[], features = { hasTagInvert: true }) => {
  const [found] = foundEntries([moves as never], lines as never, { names, decimals: 2, features });
  return compareEntry(entry, found as never, { capabilities: odooCapabilities, decimals: 2 }).map(
    ({ message }) => message,
  );
};

describe('a move in Odoo', () => {
  test('equals what was sent', () => {
    expect(differences(invoiceOf('25.5 %'), move(), invoiceLines())).toEqual([]);
    // Odoo cannot distinguish two taxes with the same tags on a base.
    expect(
      differences(
        invoiceOf('25.5 % S'),
        move(),
        invoiceLines({ 3: { tax_line_id: [2, 'x'], tax_repartition_line_id: [103, 'x'] } }),
      ),
    ).toEqual([]);
  });

  test('equals what was sent if a user merged two clients into one contact', () => {
    const merged = { ...names, parties: new Map([[8, ['4711/client/4', '4711/client/5']]]) };
    const [found] = foundEntries([move()], invoiceLines(), {
      names: merged,
      decimals: 2,
      features: { hasTagInvert: true },
    });
    const compared = (entry: ErpEntry) =>
      compareEntry(entry, found!, { capabilities: odooCapabilities, decimals: 2 }).map(({ message }) => message);
    expect(compared(invoiceOf('25.5 %'))).toEqual([]);
    const { lines } = invoiceOf('25.5 %');
    const other = lines.map((each) =>
      each.party === null ? each : { ...each, party: { ...client, code: '4711/client/6' } },
    );
    expect(compared(entryOf(other))).toEqual([
      'the line account 121000, party 4711/client/6, debit 125.50 was sent; the ERP has no such line',
      'the ERP has a line account 121000, party 4711/client/4, debit 125.50 that was not sent',
    ]);
  });

  test('the direction distinguishes invoices of one tax from credit notes of another with the same tags', () => {
    const crossed = new TaxBook([signed, tax(9, 'other', side([20], 901, [21]), side([10], 902, [11]))]);
    const [found] = foundEntries([move()], invoiceLines(), {
      ...{ names: { ...names, taxes: crossed }, decimals: 2, features: { hasTagInvert: true } },
    });
    expect(found?.lines[1]?.vat.map(({ code, alike }) => [code, alike])).toEqual([['25.5 %', undefined]]);
  });

  test('is recognised by its external id, and without one by its reference', () => {
    const [byId] = foundEntries([move()], [], { names, decimals: 2, features: { hasTagInvert: true } });
    expect([byId?.key, byId?.description]).toEqual([key, 'changed by hand']);
    const none = { ...names, externalIds: new Map() };
    const ref = `Invoice KU-1 · 4711/invoice/1/1 [${key}]`;
    const [byText] = foundEntries([move({ ref })], [], { names: none, decimals: 2, features: { hasTagInvert: true } });
    expect([byText?.key, byText?.description]).toEqual([key, 'Invoice KU-1 · 4711/invoice/1/1']);
  });

  test.each([
    ['draft', 'draft', null],
    ['posted', 'posted', 'MISC/2026/03/0001'],
    ['cancel', 'void', null],
  ])('a move in the state %s is %s', (state, expected, number) => {
    const [found] = foundEntries([move({ state })], [], { names, decimals: 2, features: { hasTagInvert: true } });
    expect([found?.state, found?.number]).toEqual([expected, number]);
  });

  test.each<[what: string, lines: object[], told: string[]]>([
    [
      'lines that are there twice',
      [...invoiceLines(), ...invoiceLines().map((each) => ({ ...each, id: each.id + 10 }))],
      [
        'the ERP has a line account 121000, party 4711/client/5, debit 125.50 that was not sent',
        'the ERP has a line account 400000, Area EAST, Department LAB, credit 100.00 that was not sent',
        'the ERP has a line account 251000, credit 25.50 that was not sent',
        'the base of the tax code 25.5 % or 25.5 % S was sent as credit 100.00; the ERP has credit 200.00',
        'the amount of the tax code 25.5 % on account 251000 was sent as credit 25.50; the ERP has credit 51.00',
      ],
    ],
    [
      'an automatic balancing line instead of the amount of a tax',
      [...invoiceLines().slice(0, 2), held(4, 6, -25.5)],
      [
        'the line account 251000, credit 25.50 was sent; the ERP has no such line',
        'the ERP has a line account 121000, credit 25.50 that was not sent',
        'the amount of the tax code 25.5 % on account 251000 was sent as credit 25.50; the ERP has none',
      ],
    ],
    [
      'tags that count the wrong way round',
      invoiceLines({ 2: { tax_tag_invert: false } }),
      ['the base of the tax code 25.5 % or 25.5 % S was sent as credit 100.00; the ERP has debit 100.00'],
    ],
    [
      'a tax from which Odoo computes',
      invoiceLines({ 2: { tax_ids: [1] } }),
      ['the base of the tax code 25.5 % applied was sent as none; the ERP has credit 100.00'],
    ],
    [
      'another partner',
      invoiceLines({ 1: { partner_id: [9, 'x'] } }),
      [
        'the line account 121000, party 4711/client/5, debit 125.50 was sent; the ERP has no such line',
        'the ERP has a line account 121000, party [9], debit 125.50 that was not sent',
      ],
    ],
    [
      'a distribution over two departments',
      invoiceLines({ 2: { analytic_distribution: { '3': 60, '5': 100 } } }),
      [
        'the line account 400000, Area EAST, Department LAB, credit 100.00 was sent; the ERP has no such line',
        'the ERP has a line account 400000, Area EAST 60 %, Department LAB, credit 100.00 that was not sent',
      ],
    ],
  ])('differs by %s', (_, lines, told) => expect(differences(invoiceOf('25.5 %'), move(), lines)).toEqual(told));

  test('a date that Odoo moved is a difference', () => {
    expect(differences(invoiceOf('25.5 %'), move({ date: '2026-04-30' }), invoiceLines())).toEqual([
      'the entry was sent with the date 2026-03-05; the ERP has 2026-04-30',
    ]);
  });

  test('the base of a tax without tags is read beside its amount', () => {
    const lines = (amount: number) => [
      held(1, 6, 125.5, { partner_id: [8, 'Erä'] }),
      held(2, 24, -100, { analytic_distribution: { '3,5': 100.0 } }),
      held(3, 19, -25.5, {
        tax_tag_invert: true,
        tax_line_id: [4, '15%'],
        tax_repartition_line_id: [107, 'x'],
        tax_base_amount: amount,
      }),
    ];
    expect(differences(invoiceOf('15%'), move(), lines(100))).toEqual([]);
    expect(differences(invoiceOf('15%'), move(), lines(90))).toEqual([
      'the base of the tax code 15% was sent as credit 100.00; the ERP has credit 90.00',
    ]);
  });

  test('lines that contain only text are ignored', () => {
    const note = { ...held(9, 0, 0), account_id: false, display_type: 'line_note' };
    expect(differences(invoiceOf('25.5 %'), move(), [...invoiceLines(), note])).toEqual([]);
  });
});
