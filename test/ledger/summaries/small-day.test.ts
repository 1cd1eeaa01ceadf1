import { describe, expect, it } from 'vitest';
import { type DraftEntry, type LedgerEntry, reversedLines } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import { translate } from '../../../src/erp/translate.ts';
import { type DraftSummary, summarise, summaryDescription, summaryId } from '../../../src/ledger/summaries/summary.ts';
import { capabilitiesOf } from '../../erp/capabilities.ts';
import { mappingOf } from '../../posting/support.ts';
import { type DraftLine, draft, recordedSummary } from '../drafts.ts';

// One day of a small clinic, by hand: two departments, VAT at 25.5 % and 14 %, cash and card, a prepayment with VAT at
// receipt that is partly used, and a credit note. Later come a late document, a correction, and a redated invoice.

const day = '2026-01-15';
let seq = 0;

function posted(entry: DraftEntry, n = 1, facts: Partial<LedgerEntry> = {}): LedgerEntry {
  seq += 1;
  const id = `1/${entry.document.kind}/${entry.document.id}/${n}`;
  const chain = { seq, idempotencyKey: id, previousHash: '', hash: id };
  const vat = { vatPeriod: entry.documentDate.slice(0, 7), isLate: false, mappingHash: null };
  return { ...entry, id, installation: 1, n, postingMode: 'daily_summary', ...chain, ...vat, ...facts };
}

const rates = { General: new Money('25.5'), Reduced: new Money('14'), Earlier: new Money('24') };

/** Net and VAT per group; the receivable is their sum. Negative amounts are a credit note's. */
function sale(
  id: number,
  department: number,
  groups: [keyof typeof rates, net: string, vat: string][],
  date = day,
  isDue = true,
) {
  const rule = groups.some(([, net]) => net.startsWith('-')) ? 'R2' : 'R1';
  const at = { departmentId: department, rule };
  const minus = (of: string) => new Money(of).negated().toFixed();
  const gross = groups.reduce((all, [, net, vat]) => all.plus(net).plus(vat), new Money(0));
  const lines = groups.flatMap(([group, net, vat]): DraftLine[] => [
    ['3000', 'revenue', minus(net), { ...at, vat: { group, rate: rates[group], base: null } }],
    isDue
      ? ['2939', 'vat', minus(vat), { ...at, vat: { group, rate: rates[group], base: new Money(net).abs() } }]
      : ['2980', 'vat_not_due', minus(vat), { ...at, vat: { group, rate: rates[group], base: null } }],
  ]);
  return draft({
    ...{ kind: 'invoice', id, date: day, documentDate: date },
    lines: [['1700', 'receivable', gross.toFixed(), { ...at, invoiceId: id }], ...lines],
  });
}

function payment(
  id: number,
  department: number,
  paid: string,
  [type, account]: [number, string],
  more: DraftLine[] = [],
) {
  const role = { 0: 'card_clearing', 1: 'cash', 8: 'prepayment_liability' } as const;
  const rule = type === 8 ? 'R7' : 'R4';
  const at = { departmentId: department, paymentType: type, rule };
  const lines: DraftLine[] = [
    [account, role[type as 0 | 1 | 8], paid, at],
    ['1700', 'receivable', `-${paid}`, at],
  ];
  return draft({ kind: 'payment', id, date: day, lines: [...lines, ...more] });
}

/** The two lines of VAT on a prepayment. */
function prepaymentVat(rule: string, owed: string, base: string): DraftLine[] {
  const tags = (of: string | null) => ({
    ...{ departmentId: 11, rule },
    vat: { group: 'General', rate: rates.General, base: of === null ? null : new Money(of) },
  });
  return [
    ['2990', 'prepayment_vat', owed, tags(null)],
    ['2939', 'vat', new Money(owed).negated().toFixed(), tags(base)],
  ];
}

/** The two lines of VAT that becomes due with a payment (R13). */
function vatDue(group: keyof typeof rates, vat: string, base: string): DraftLine[] {
  const tags = (of: Money | null) => ({ departmentId: 11, rule: 'R13', vat: { group, rate: rates[group], base: of } });
  return [
    ['2980', 'vat_not_due', vat, tags(null)],
    ['2939', 'vat', new Money(vat).negated().toFixed(), tags(new Money(base))],
  ];
}

const card: [number, string] = [0, '1910'];
const inTime = [
  posted(
    sale(1, 11, [
      ['General', '100.00', '25.50'],
      ['Reduced', '50.00', '7.00'],
    ]),
  ),
  posted(sale(2, 11, [['General', '40.00', '10.20']])),
  posted(sale(3, 11, [['General', '-10.00', '-2.55']])),
  posted(sale(4, 12, [['Reduced', '20.00', '2.80']])),
  posted(payment(1, 11, '100.00', [1, '1900'])),
  posted(payment(2, 11, '50.20', card)),
  posted(payment(4, 12, '22.80', card)),
  posted(
    draft({
      ...{ kind: 'prepayment', id: 9, date: day },
      lines: [
        ['1910', 'card_clearing', '125.50', { departmentId: 11, paymentType: 0, rule: 'R5' }],
        ['2400', 'prepayment_liability', '-125.50', { departmentId: 11, paymentType: 0, rule: 'R5' }],
        ...prepaymentVat('R5', '25.50', '100.00'),
      ],
    }),
  ),
  posted(payment(3, 11, '62.75', [8, '2400'], prepaymentVat('R7', '-12.75', '50.00'))),
];
const changed = sale(2, 11, [['General', '40.00', '10.20']]);
const reversal = { ...changed, reverses: '1/invoice/2/1', lines: reversedLines(changed.lines) };
const later = [
  posted(sale(5, 11, [['Reduced', '8.00', '1.12']])),
  posted(reversal, 2),
  posted(sale(2, 11, [['General', '42.00', '10.71']]), 3),
  posted(sale(6, 11, [['Reduced', '1.00', '0.14']], '2025-12-30'), 1, { isLate: true }),
];

function linesOf({ lines }: DraftSummary): string[] {
  return lines.map(({ side, account, amount, rule, paymentType, vat, entryIds }) =>
    [
      ...[side === 'debit' ? 'Dr' : 'Cr', account, amount.toFixed(2), rule],
      ...(paymentType === null ? [] : [`type ${paymentType}`]),
      ...(vat === null ? [] : [`${vat.group}${vat.base === null ? '' : ` of ${vat.base.toFixed(2)}`}`]),
      `< ${entryIds.map((id) => id.slice(2)).join(' ')}`,
    ].join(' '),
  );
}

const ordinary = summarise(inTime);
const corrections = summarise(later, (date, department) => date === day && department === 11);
const [first, second] = ordinary as [DraftSummary, DraftSummary];

/** The ERP's VAT report of summaries: bases and taxes by code, credit positive. */
function vatReport(lines: ErpEntry['lines']): Record<string, string> {
  const sums = new Map<string, Money>();
  for (const { side, amount, vat } of lines) {
    if (vat === null) continue;
    const add = (part: string, of: Money) => {
      const key = `${vat.code} ${part}`;
      sums.set(key, (sums.get(key) ?? new Money(0)).plus(side === 'credit' ? of : of.negated()));
    };
    add(vat.part, amount);
    if (vat.base !== null) add('base', vat.base);
  }
  return Object.fromEntries([...sums].map(([key, of]) => [key, of.toFixed(2)]));
}

describe('a small day', () => {
  it('has one summary per department, with cash, card, prepayments, credit notes and each VAT apart', () => {
    expect(ordinary.map(summaryDescription)).toEqual([
      'Summary of 2026-01-15, department 11',
      'Summary of 2026-01-15, department 12',
    ]);
    expect(linesOf(first)).toEqual([
      'Dr 1700 232.70 R1 < invoice/1/1 invoice/2/1',
      'Dr 1900 100.00 R4 type 1 < payment/1/1',
      'Dr 1910 50.20 R4 type 0 < payment/2/1',
      'Dr 1910 125.50 R5 type 0 < prepayment/9/1',
      'Dr 2400 62.75 R7 type 8 < payment/3/1',
      'Dr 2939 2.55 R2 General of 10.00 < invoice/3/1',
      'Dr 2939 12.75 R7 General of 50.00 < payment/3/1',
      'Dr 2990 25.50 R5 General < prepayment/9/1',
      'Dr 3000 10.00 R2 General < invoice/3/1',
      'Cr 1700 50.20 R4 type 0 < payment/2/1',
      'Cr 1700 100.00 R4 type 1 < payment/1/1',
      'Cr 1700 62.75 R7 type 8 < payment/3/1',
      'Cr 1700 12.55 R2 < invoice/3/1',
      'Cr 2400 125.50 R5 type 0 < prepayment/9/1',
      'Cr 2939 35.70 R1 General of 140.00 < invoice/1/1 invoice/2/1',
      'Cr 2939 7.00 R1 Reduced of 50.00 < invoice/1/1',
      'Cr 2939 25.50 R5 General of 100.00 < prepayment/9/1',
      'Cr 2990 12.75 R7 General < payment/3/1',
      'Cr 3000 140.00 R1 General < invoice/1/1 invoice/2/1',
      'Cr 3000 50.00 R1 Reduced < invoice/1/1',
    ]);
    expect(linesOf(second)).toEqual([
      'Dr 1700 22.80 R1 < invoice/4/1',
      'Dr 1910 22.80 R4 type 0 < payment/4/1',
      'Cr 1700 22.80 R4 type 0 < payment/4/1',
      'Cr 2939 2.80 R1 Reduced of 20.00 < invoice/4/1',
      'Cr 3000 20.00 R1 Reduced < invoice/4/1',
    ]);
  });

  it('has what comes later in correction summaries, an earlier VAT period apart', () => {
    expect(corrections.map(summaryDescription)).toEqual([
      'Correction summary of 2026-01-15, department 11',
      'Correction summary of 2026-01-15, department 11, late for VAT 2025-12',
    ]);
    expect(corrections.map(linesOf)).toEqual([
      [
        'Dr 1700 61.83 R1 < invoice/5/1 invoice/2/3',
        'Dr 2939 10.20 R1 General of 40.00 < invoice/2/2',
        'Dr 3000 40.00 R1 General < invoice/2/2',
        'Cr 1700 50.20 R1 < invoice/2/2',
        'Cr 2939 10.71 R1 General of 42.00 < invoice/2/3',
        'Cr 2939 1.12 R1 Reduced of 8.00 < invoice/5/1',
        'Cr 3000 42.00 R1 General < invoice/2/3',
        'Cr 3000 8.00 R1 Reduced < invoice/5/1',
      ],
      [
        'Dr 1700 1.14 R1 < invoice/6/1',
        'Cr 2939 0.14 R1 Reduced of 1.00 < invoice/6/1',
        'Cr 3000 1.00 R1 Reduced < invoice/6/1',
      ],
    ]);
  });

  it('reaches the ERP with its number, mapping and time, each payment type named, and the VAT of `report vat` per code', () => {
    const mapping = mappingOf({
      erp: { vat_codes: { General: 'S25', Reduced: 'S14' }, journals: { '*': 'MISC' }, collective_party: 'CLIENTS' },
    });
    const erpEntries = [first, second, ...corrections].map((summary, index) => {
      const mappings = [{ hash: 'f'.repeat(64), version: '2026-1', approvedBy: null }];
      const unit = recordedSummary(summary, 1, summaryId(1, summary, index + 1));
      const record = { ...unit.record, voucher: `2026-D-00000${index + 1}`, mappings };
      const posting = { ...unit, record };
      const translated = translate(
        { kind: 'daily_summary', posting },
        { databaseId: 'db', mapping, capabilities: capabilitiesOf() },
      );
      if ('problems' in translated) throw new Error(JSON.stringify(translated.problems));
      return translated.entry;
    });
    const recorded = 'recorded 2026-01-16 12:00 UTC, mapping 2026-1 (ffffffffffff)';
    expect(erpEntries.map(({ reference, description }) => `${reference}: ${description}`)).toEqual([
      `2026-D-000001: Summary of 2026-01-15, department 11, ${recorded}`,
      `2026-D-000002: Summary of 2026-01-15, department 12, ${recorded}`,
      `2026-D-000003: Correction summary of 2026-01-15, department 11, ${recorded}`,
      `2026-D-000004: Correction summary of 2026-01-15, department 11, late for VAT 2025-12, ${recorded}`,
    ]);
    const moneyIn = erpEntries[0]!.lines.filter(({ account, side }) => account.startsWith('19') && side === 'debit');
    expect(moneyIn.map(({ amount, description }) => `${amount.toFixed(2)} ${description}`)).toEqual([
      '100.00 Summary of 2026-01-15, department 11 (Cash)',
      '50.20 Summary of 2026-01-15, department 11 (Card)',
      '125.50 Summary of 2026-01-15, department 11 (Card)',
    ]);
    // 140.00 - 10.00 + 100.00 - 50.00 at 25.5 %, and 50.00 + 20.00 at 14 %.
    expect(vatReport(erpEntries.slice(0, 2).flatMap(({ lines }) => lines))).toEqual({
      ...{ 'S25 base': '180.00', 'S25 tax': '45.90' },
      ...{ 'S14 base': '70.00', 'S14 tax': '9.80' },
    });
  });
});

describe('a small day with VAT on payment', () => {
  // Worked example 15: the card pays 100.00 of 181.00. The credit note is of an invoice before VAT on payment began.
  const [summary] = summarise([
    posted(
      sale(
        1001,
        11,
        [
          ['Earlier', '100.00', '24.00'],
          ['Reduced', '50.00', '7.00'],
        ],
        day,
        false,
      ),
    ),
    posted(
      payment(21, 11, '100.00', card, [...vatDue('Earlier', '13.26', '55.25'), ...vatDue('Reduced', '3.87', '27.62')]),
    ),
    posted(payment(22, 11, '81.00', [1, '1900'], vatDue('Earlier', '10.74', '44.75'))),
    posted(sale(1002, 11, [['Earlier', '-10.00', '-2.40']])),
  ]) as [DraftSummary];

  it('has the VAT that is not due, the VAT of payments and the VAT of sales apart', () => {
    expect(linesOf(summary)).toEqual([
      'Dr 1700 181.00 R1 < invoice/1001/1',
      'Dr 1900 81.00 R4 type 1 < payment/22/1',
      'Dr 1910 100.00 R4 type 0 < payment/21/1',
      'Dr 2939 2.40 R2 Earlier of 10.00 < invoice/1002/1',
      'Dr 2980 24.00 R13 Earlier < payment/21/1 payment/22/1',
      'Dr 2980 3.87 R13 Reduced < payment/21/1',
      'Dr 3000 10.00 R2 Earlier < invoice/1002/1',
      'Cr 1700 100.00 R4 type 0 < payment/21/1',
      'Cr 1700 81.00 R4 type 1 < payment/22/1',
      'Cr 1700 12.40 R2 < invoice/1002/1',
      'Cr 2939 24.00 R13 Earlier of 100.00 < payment/21/1 payment/22/1',
      'Cr 2939 3.87 R13 Reduced of 27.62 < payment/21/1',
      'Cr 2980 24.00 R1 Earlier < invoice/1001/1',
      'Cr 2980 7.00 R1 Reduced < invoice/1001/1',
      'Cr 3000 100.00 R1 Earlier < invoice/1001/1',
      'Cr 3000 50.00 R1 Reduced < invoice/1001/1',
    ]);
  });

  it('reaches the ERP with the VAT of the payments, and of the credit note at once', () => {
    const mapping = mappingOf({
      erp: { vat_codes: { Earlier: 'S24', Reduced: 'S14' }, journals: { '*': 'MISC' }, collective_party: 'CLIENTS' },
    });
    const posting = recordedSummary(summary, 1, summaryId(1, summary, 1));
    const context = { databaseId: 'db', mapping, capabilities: capabilitiesOf() };
    const translated = translate({ kind: 'daily_summary', posting }, context);
    if ('problems' in translated) throw new Error(JSON.stringify(translated.problems));
    // 55.25 + 44.75 - 10.00 at 24 %, and 27.62 at 14 %. No sale that waits for its payment is in the report.
    expect(vatReport(translated.entry.lines)).toEqual({
      ...{ 'S24 base': '90.00', 'S24 tax': '21.60' },
      ...{ 'S14 base': '27.62', 'S14 tax': '3.87' },
    });
  });
});
