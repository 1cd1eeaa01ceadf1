import { describe, expect, test } from 'vitest';
import { post, type Remap, remap } from '../../src/posting/index.ts';
import type { DocumentFacts, PostedBefore, PostingContext } from '../../src/posting/types.ts';
import {
  balances,
  booksAfter,
  contextOf,
  invoice1001,
  invoiceFacts,
  invoiceOf,
  mappingOf,
  nothingBefore,
  paymentFacts,
  paymentOf,
  prepaymentFacts,
  render,
  rowOf,
  vatGroup,
} from './support.ts';

const first = (facts: DocumentFacts): PostedBefore => booksAfter(post(facts, nothingBefore, contextOf()));

function remapped(facts: DocumentFacts, before: PostedBefore, changes: Partial<PostingContext>): Remap {
  return remap(facts, before, contextOf(changes));
}

const roles = (changes: Record<string, string>) => mappingOf({ roles: { ...contextOf().mapping.roles, ...changes } });
const revenue = (table: Record<string, string>) => mappingOf({ revenue: { ...table, '*': 'same' } });
const card = () => paymentFacts(paymentOf(0, '100.00'));

describe('a document whose lines come out differently is reversed and posted anew', () => {
  test.each([
    [
      'a revenue account',
      invoice1001(),
      revenue({ 3010: '3011' }),
      `2026-01-15 Reversal of 4711/invoice/1/1: Invoice A-1001, mapped differently
    1700  -181.00
    3000  [SURG, VAT24 24%]  100.00
    3010  [VAT14 14%]  50.00
    vat14  [VAT14 14%, base 50]  7.00
    vat24  [VAT24 24%, base 100]  24.00
2026-01-15 Invoice A-1001
    1700  181.00
    3000  [SURG, VAT24 24%]  -100.00
    3011  [VAT14 14%]  -50.00
    vat14  [VAT14 14%, base 50]  -7.00
    vat24  [VAT24 24%, base 100]  -24.00`,
    ],
    [
      'two VAT groups onto one account: still two lines',
      invoice1001(),
      mappingOf({ vat: { '*': '2939' } }),
      `2026-01-15 Reversal of 4711/invoice/1/1: Invoice A-1001, mapped differently
    1700  -181.00
    3000  [SURG, VAT24 24%]  100.00
    3010  [VAT14 14%]  50.00
    vat14  [VAT14 14%, base 50]  7.00
    vat24  [VAT24 24%, base 100]  24.00
2026-01-15 Invoice A-1001
    1700  181.00
    2939  [VAT14 14%, base 50]  -7.00
    2939  [VAT24 24%, base 100]  -24.00
    3000  [SURG, VAT24 24%]  -100.00
    3010  [VAT14 14%]  -50.00`,
    ],
    [
      'the account of a payment’s role',
      card(),
      roles({ card_clearing: '1925' }),
      `2026-01-20 Reversal of 4711/payment/50/1: Payment 50 on invoice A-1001, mapped differently
    1700  [type 0]  100.00
    1920  [type 0]  -100.00
2026-01-20 Payment 50 on invoice A-1001
    1700  [type 0]  -100.00
    1925  [type 0]  100.00`,
    ],
    [
      'a payment type sent to another role',
      card(),
      mappingOf({ payment_types: { 0: { role: 'bank_clearing' } } }),
      `2026-01-20 Reversal of 4711/payment/50/1: Payment 50 on invoice A-1001, mapped differently
    1700  [type 0]  100.00
    1920  [type 0]  -100.00
2026-01-20 Payment 50 on invoice A-1001
    1700  [type 0]  -100.00
    1910  [type 0]  100.00`,
    ],
    [
      'the liability of a prepayment’s refund',
      prepaymentFacts(7, '-119.00', { refundsId: 89 }),
      roles({ prepayment_liability: '2401' }),
      `2026-01-10 Reversal of 4711/prepayment/90/1: Refund 90 of prepayment 89, mapped differently
    1921  [type 7]  119.00
    2400  [type 7]  -119.00
2026-01-10 Refund 90 of prepayment 89
    1921  [type 7]  -119.00
    2401  [type 7]  119.00`,
    ],
    [
      'a credit note',
      invoiceFacts(invoiceOf(['-50.00', '-7.00', '-57.00'], { creditNote: true, originalInvoiceId: 9 }), [
        rowOf('3010', '-50.00', '-7.00', '-57.00', { vatGroup: vatGroup('14') }),
      ]),
      revenue({ 3010: '3011' }),
      `2026-01-15 Reversal of 4711/invoice/1/1: Credit note A-1001 of invoice id 9, mapped differently
    1700  57.00
    3010  [VAT14 14%]  -50.00
    vat14  [VAT14 14%, base 50]  -7.00
2026-01-15 Credit note A-1001 of invoice id 9
    1700  -57.00
    3011  [VAT14 14%]  50.00
    vat14  [VAT14 14%, base 50]  7.00`,
    ],
  ])('%s', (_, facts, mapping, expected) => {
    const before = first(facts as DocumentFacts);
    const { outcome, decision } = remapped(facts as DocumentFacts, before, { mapping });
    expect(outcome).toBe('corrected');
    expect(render(decision.entries)).toBe(expected);
    expect(decision).toMatchObject({ state: 'posted', problem: null });
    expect(decision.entries).toMatchObject([
      { reason: 'mapping_changed', reverses: before.inForce!.id },
      { reason: 'mapping_changed', reverses: null, inputHash: before.inForce!.inputHash },
    ]);
    expect(balances([before.inForce!, decision.entries[0]!])).toEqual({});
  });
});

describe('parties come from the mapping, too', () => {
  test.each([
    ['the cash customer', invoice1001({ clientId: null }), mappingOf({ cash_customer: 'WALK-IN' }), 'WALK-IN'],
    [
      'the counterparty of insurance payments',
      paymentFacts(paymentOf(15, '30.00')),
      mappingOf({ counterparties: { insurance_receivable: 'AGRIA' } }),
      'AGRIA',
    ],
  ] as const)('%s', (_, facts, mapping, party) => {
    const { outcome, decision } = remapped(facts, first(facts), { mapping });
    expect(outcome).toBe('corrected');
    expect(decision.entries[1]!.lines[0]!.party?.code).toBe(party);
  });
});

describe('what is no change of the books posts nothing', () => {
  const renumbered = () => {
    const facts = invoice1001();
    return { ...facts, rows: facts.rows.map((row) => ({ ...row, id: row.id + 1000 })).reverse() };
  };
  test.each([
    ['the same mapping', invoice1001(), invoice1001(), mappingOf()],
    ['the same account by another line of it', invoice1001(), invoice1001(), revenue({ 3010: '3010' })],
    ['an account the document does not use', card(), card(), revenue({ 3010: '3011' })],
    ['rows numbered anew', invoice1001(), renumbered(), mappingOf()],
    ['text that the database does not keep', payer('Aino\0'), payer('Aino\0'), mappingOf()],
  ] as [string, DocumentFacts, DocumentFacts, ReturnType<typeof mappingOf>][])('%s', (_, was, is, mapping) => {
    expect(remapped(is, first(was), { mapping })).toMatchObject({ outcome: 'same', decision: { entries: [] } });
  });

  test('what the database made of a text counts as the text', () => {
    const before = first(payer('Aino\0 Harjula'));
    for (const line of before.inForce!.lines) line.party = { ...line.party!, name: 'Aino Harjula' };
    expect(remapped(payer('Aino\0 Harjula'), before, {}).outcome).toBe('same');
  });

  test('posting a correction again posts nothing', () => {
    const mapping = revenue({ 3010: '3011' });
    const { decision } = remapped(invoice1001(), first(invoice1001()), { mapping });
    expect(remapped(invoice1001(), booksAfter(decision, 3), { mapping }).outcome).toBe('same');
  });
});

function payer(name: string) {
  return invoice1001({ payer: { name, vatNumber: null, countryCode: 'FI' } });
}

describe('what is not for the mapping alone to say', () => {
  const mapping = revenue({ 3010: '3011' });
  test.each([
    ['changed in the source, too', invoice1001({ dueDate: '2026-03-01' }), 'left'],
    ['voided meanwhile', invoice1001({ status: 99 }), 'left'],
    ['gone meanwhile', { ...invoice1001(), gone: true }, 'left'],
    ['rows that are stale', { ...invoice1001(), rowsFresh: false }, 'held'],
  ] as [string, DocumentFacts, string][])('%s', (_, facts, outcome) => {
    const remap = remapped(facts, first(invoice1001()), { mapping });
    expect(remap.outcome).toBe(outcome);
  });

  test('a mapping that lacks an account keeps the entry, and says which', () => {
    const remap = remapped(invoice1001(), first(invoice1001()), { mapping: mappingOf({ revenue: { 3000: '3000' } }) });
    expect(remap).toMatchObject({
      outcome: 'held',
      decision: { state: 'posted', entries: [], remapHeld: true, problem: { code: 'account_unmapped' } },
    });
  });

  test.each([
    ['rows that are fetched again', { ...invoice1001(), rowsFresh: false }, mapping],
    ['an account that is mapped again', invoice1001(), mappingOf({ revenue: { 3000: '3000' } })],
  ] as [string, DocumentFacts, ReturnType<typeof mappingOf>][])(
    'what a repost cannot post follows the mapping once it can be posted: %s',
    (_, facts, lacking) => {
      const before = first(invoice1001());
      const { decision } = remapped(facts, before, { mapping: lacking });
      const later = { ...before, remapHeld: decision.remapHeld ?? false };
      expect(post(invoice1001(), later, contextOf({ mapping })).entries).toMatchObject([
        { reason: 'mapping_changed' },
        { reason: 'mapping_changed' },
      ]);
    },
  );
});

describe('locked periods', () => {
  const table = { 3010: '3011', '*': 'same' };
  const hold = mappingOf({ revenue: table });
  const redate = mappingOf({ revenue: table, policies: { locked_period: 'redate' } });
  const closed = { closedThrough: '2026-01-31' };

  test('hold: nothing is posted, and the problem says why', () => {
    const before = first(invoice1001());
    expect(remapped(invoice1001(), before, { ...closed, mapping: hold })).toMatchObject({
      outcome: 'change_held',
      decision: {
        state: 'posted',
        entries: [],
        remapHeld: true,
        problem: {
          code: 'change_held',
          message: expect.stringContaining(
            'mapped differently (net on 3010 (VAT14) 50.00 → none, net on 3011 (VAT14) none → 50.00), but 2026-01-15 is closed',
          ),
        },
      },
    });
  });

  test('redate: both entries on the first open day, with the document’s date kept', () => {
    const { decision } = remapped(invoice1001(), first(invoice1001()), { ...closed, mapping: redate });
    expect(decision.entries.map(({ date, documentDate }) => [date, documentDate])).toEqual([
      ['2026-02-01', '2026-01-15'],
      ['2026-02-01', '2026-01-15'],
    ]);
  });

  test('the source’s lock counts where it is followed', () => {
    const mapping = mappingOf({ revenue: table, policies: { follow_source_lock: true } });
    const changes = { mapping, sourceLockDates: new Map([[11, '2026-02-01']]) };
    expect(remapped(invoice1001(), first(invoice1001()), changes).outcome).toBe('change_held');
  });

  test('a held correction is posted automatically when its document is judged in an open period', () => {
    const waiting = { ...first(invoice1001()), remapHeld: true };
    expect(post(invoice1001(), waiting, contextOf({ ...closed, mapping: hold }))).toMatchObject({
      entries: [],
      remapHeld: true,
      problem: { code: 'change_held' },
    });
    const opened = post(invoice1001(), waiting, contextOf({ mapping: hold }));
    expect(opened.entries).toMatchObject([{ reason: 'mapping_changed' }, { reason: 'mapping_changed' }]);
    expect(opened).toMatchObject({ problem: null });
    expect(opened.remapHeld ?? false).toBe(false);
  });

  test.each([
    ['the mapping was changed back', invoice1001(), mappingOf(), 0, false],
    ['a doubt keeps it waiting', { ...invoice1001(), rowsFresh: false }, hold, 0, true],
    ['a change in the source takes the new mapping with it', invoice1001({ dueDate: '2026-03-01' }), hold, 2, false],
  ] as [string, DocumentFacts, ReturnType<typeof mappingOf>, number, boolean][])(
    'a held correction: %s',
    (_, facts, mapping, entries, waits) => {
      const decision = post(facts, { ...first(invoice1001()), remapHeld: true }, contextOf({ mapping }));
      expect(decision.entries).toHaveLength(entries);
      expect(decision.remapHeld ?? false).toBe(waits);
    },
  );
});
