import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DraftEntry, LedgerEntry } from '../../../src/domain/entry.ts';
import { reversedLines } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import {
  type DraftSummary,
  type SummaryLine,
  summarise,
  summaryDescription,
} from '../../../src/ledger/summaries/summary.ts';
import { runs } from '../../support/runs.ts';
import { type DraftLine, draft } from '../drafts.ts';

let seq = 0;
function posted(entry: DraftEntry, n = 1): LedgerEntry {
  seq += 1;
  const id = `1/${entry.document.kind}/${entry.document.id}/${n}`;
  return {
    ...entry,
    id,
    installation: 1,
    n,
    seq,
    postingMode: 'daily_summary',
    ...{ vatPeriod: entry.documentDate.slice(0, 7), isLate: false, mappingHash: null },
    idempotencyKey: id,
    previousHash: '',
    hash: `hash of ${id}`,
  };
}

type Tags = NonNullable<DraftLine[3]>;

const general = (base: string | null = null) => ({
  vat: { group: 'General', rate: new Money('25.5'), base: base === null ? null : new Money(base) },
});

/** One line as text: `Cr 3000 revenue 150.00 …`, with the entries at the end. */
function text(line: SummaryLine): string {
  const parts = [
    line.side === 'debit' ? 'Dr' : 'Cr',
    line.account,
    line.role,
    line.amount.toFixed(2),
    line.paymentType === null ? '' : `type ${line.paymentType}`,
    line.vat && `${line.vat.group} ${line.vat.rate?.toFixed()}`,
    line.vat?.base && `base ${line.vat.base.toFixed(2)}`,
    line.dimensions.filter(Boolean).join('/'),
    line.buyer && `buyer ${line.buyer.countryCode} ${line.buyer.vatNumber}`,
    `< ${line.entryIds.map((id) => id.slice(2)).join(' ')}`,
  ];
  return parts.filter(Boolean).join(' ');
}

describe('a day in hand-worked figures', () => {
  const invoice = (id: number, net: string, vat: string, gross: string, department = 11, date = '2026-01-15') =>
    draft({
      kind: 'invoice',
      id,
      date,
      lines: [
        ['1700', 'receivable', gross, { departmentId: department, invoiceId: id }],
        ['3000', 'revenue', `-${net}`, { departmentId: department, ...general() }],
        ['2939', 'vat', `-${vat}`, { departmentId: department, ...general(net) }],
      ],
    });
  const payment = (id: number, paid: string, type: number, account: string) =>
    draft({
      kind: 'payment',
      id,
      date: '2026-01-15',
      lines: [
        [account, 'card_clearing', paid, { departmentId: 11, paymentType: type }],
        [
          '1700',
          'receivable',
          paid.startsWith('-') ? paid.slice(1) : `-${paid}`,
          { departmentId: 11, paymentType: type },
        ],
      ],
    });

  it('sums up per account, role, side, payment type and VAT group, and keeps bases and documents', () => {
    const [day, ...rest] = summarise([
      posted(invoice(1, '100.00', '25.50', '125.50')),
      posted(invoice(2, '50.00', '12.75', '62.75')),
      posted(payment(8, '125.50', 0, '1910')),
      posted(payment(9, '-20.00', 0, '1910')),
      posted(payment(10, '62.75', 7, '1910')),
    ]);
    expect(rest).toEqual([]);
    expect(day).toMatchObject({ date: '2026-01-15', departmentId: 11 });
    expect(day!.lines.map(text)).toEqual([
      'Dr 1700 receivable 20.00 type 0 < payment/9/1',
      'Dr 1700 receivable 188.25 < invoice/1/1 invoice/2/1',
      'Dr 1910 card_clearing 125.50 type 0 < payment/8/1',
      'Dr 1910 card_clearing 62.75 type 7 < payment/10/1',
      'Cr 1700 receivable 125.50 type 0 < payment/8/1',
      'Cr 1700 receivable 62.75 type 7 < payment/10/1',
      'Cr 1910 card_clearing 20.00 type 0 < payment/9/1',
      'Cr 2939 vat 38.25 General 25.5 base 150.00 < invoice/1/1 invoice/2/1',
      'Cr 3000 revenue 150.00 General 25.5 < invoice/1/1 invoice/2/1',
    ]);
    expect(day!.members.map(({ entryId }) => entryId)).toEqual([
      '1/invoice/1/1',
      '1/invoice/2/1',
      '1/payment/8/1',
      '1/payment/9/1',
      '1/payment/10/1',
    ]);
  });

  it('keeps an entry and its reversal apart on either side: turnover stays what it was', () => {
    const first = invoice(1, '100.00', '25.50', '125.50');
    const undone = {
      ...first,
      reason: 'voided' as const,
      reverses: '1/invoice/1/1',
      lines: reversedLines(first.lines),
    };
    const [day] = summarise([posted(first), posted(undone, 2)]);
    expect(day!.lines.map(text)).toEqual([
      'Dr 1700 receivable 125.50 < invoice/1/1',
      'Dr 2939 vat 25.50 General 25.5 base 100.00 < invoice/1/2',
      'Dr 3000 revenue 100.00 General 25.5 < invoice/1/2',
      'Cr 1700 receivable 125.50 < invoice/1/2',
      'Cr 2939 vat 25.50 General 25.5 base 100.00 < invoice/1/1',
      'Cr 3000 revenue 100.00 General 25.5 < invoice/1/1',
    ]);
  });

  it('never adds up lines of different VAT periods, nor late lines with others', () => {
    const of = (id: number, vatPeriod: string, isLate: boolean) => ({
      ...posted(invoice(id, '1.00', '0.26', '1.26')),
      ...{ vatPeriod, isLate },
    });
    const days = summarise([
      of(1, '2026-01', false),
      of(2, '2025-12', true),
      of(3, '2026-01', true),
      of(4, '2026-01', false),
      of(5, '2025-11', true),
    ]);
    expect(days.map(({ vatPeriod, isLate, members }) => [vatPeriod, isLate, members.length])).toEqual([
      ['2026-01', false, 2],
      ['2026-01', true, 1],
      ['2025-12', true, 1],
      ['2025-11', true, 1],
    ]);
  });

  it('makes one entry per date and department', () => {
    const days = summarise([
      posted(invoice(3, '1.00', '0.26', '1.26', 12, '2026-01-16')),
      posted(invoice(1, '1.00', '0.26', '1.26', 12)),
      posted(invoice(2, '1.00', '0.26', '1.26', 11)),
      posted(
        draft({
          kind: 'invoice',
          id: 4,
          date: '2026-01-15',
          lines: [
            ['1700', 'receivable', '1.00'],
            ['3000', 'revenue', '-1.00'],
          ],
        }),
      ),
    ]);
    expect(days.map(({ date, departmentId, members }) => [date, departmentId, members.length])).toEqual([
      ['2026-01-15', null, 1],
      ['2026-01-15', 11, 1],
      ['2026-01-15', 12, 1],
      ['2026-01-16', 12, 1],
    ]);
    expect(days.map(summaryDescription)).toEqual([
      'Summary of 2026-01-15, no department',
      'Summary of 2026-01-15, department 11',
      'Summary of 2026-01-15, department 12',
      'Summary of 2026-01-16, department 12',
    ]);
  });

  const revenue = (amount: string, tags: Tags): DraftEntry =>
    draft({
      kind: 'invoice',
      id: seq + 1,
      date: '2026-01-15',
      lines: [
        ['1700', 'receivable', amount],
        ['3000', 'revenue', `-${amount}`, tags],
      ],
    });
  const buyer = (vatNumber: string | null, countryCode: string) => ({
    code: 'client:1',
    name: 'Buyer',
    vatNumber,
    countryCode,
  });
  const zeroRated = (base: string) => ({ group: 'EU', rate: new Money(0), base: new Money(base) });
  const apart: [string, Tags, Tags, string[]][] = [
    ['the same dimensions', { dimensions: ['A', null, null] }, { dimensions: ['A', null, null] }, ['3.00']],
    ['another dimension', { dimensions: ['A', null, null] }, { dimensions: [null, 'A', null] }, ['2.00', '1.00']],
    [
      'another internal account',
      { internal: { account: '1', dimension1: null, dimension2: null } },
      { internal: { account: null, dimension1: '1', dimension2: null } },
      ['1.00', '2.00'],
    ],
    ['the same group at two rates', general(), { vat: { ...general().vat, rate: new Money(24) } }, ['2.00', '1.00']],
    ['a rate written with more digits', general(), { vat: { ...general().vat, rate: new Money('25.50') } }, ['3.00']],
    ['with and without a base', general('1.00'), general(), ['2.00', '1.00']],
    ['another party', { party: buyer('FI1', 'FI') }, { party: buyer('FI2', 'FI') }, ['3.00']],
    [
      'zero-rated sales to two buyers',
      { vat: zeroRated('1.00'), party: buyer('SE1', 'SE') },
      { vat: zeroRated('2.00'), party: buyer('DE1', 'DE') },
      ['2.00', '1.00'],
    ],
    [
      'zero-rated sales to consumers',
      { vat: zeroRated('1.00'), party: buyer(null, 'SE') },
      { vat: zeroRated('2.00'), party: buyer(null, 'DE') },
      ['3.00'],
    ],
  ];
  it.each(apart)('revenue with %s', (_name, one, other, amounts) => {
    const [day] = summarise([posted(revenue('1.00', one)), posted(revenue('2.00', other))]);
    const credits = day!.lines.filter(({ side }) => side === 'credit');
    expect(credits.map(({ amount }) => amount.toFixed(2)).sort()).toEqual(amounts.toSorted());
    const bases = credits.flatMap(({ vat }) => (vat?.base ? [vat.base] : []));
    for (const line of credits.filter(({ vat }) => vat?.group === 'EU')) expect(line.vat!.base).toEqual(line.amount);
    expect(bases.length).toBeLessThanOrEqual(credits.length);
  });
});

/** The life of a document: it is posted, and perhaps reversed and posted again, on various days and departments. */
const cents = fc.integer({ min: 1, max: 100_000 }).map((n) => new Money(n).div(100));
const rates = [
  { group: 'General', rate: new Money('25.5') },
  { group: 'Reduced', rate: new Money('13.5') },
  { group: 'Reduced', rate: new Money('14') },
  { group: 'None', rate: new Money(0) },
];
const day = fc.constantFrom('2026-01-30', '2026-01-31', '2026-02-01');
const department = fc.constantFrom(null, 11, 12);

const invoiceLife = fc
  .record({
    date: day,
    department,
    negative: fc.boolean(),
    groups: fc.array(fc.tuple(fc.constantFrom(...rates), fc.constantFrom('3000', '3010'), cents), {
      minLength: 1,
      maxLength: 4,
    }),
    undone: fc.boolean(),
  })
  .map(({ date, department, negative, groups, undone }) => (id: number) => {
    const sign = negative ? -1 : 1;
    const at = { departmentId: department };
    const lines: DraftLine[] = [];
    let gross = new Money(0);
    for (const [rate, account, net] of groups) {
      const tax = net.times(rate.rate).div(100).toDecimalPlaces(2);
      const own = tax.isZero() ? net : null;
      lines.push([account, 'revenue', net.times(-sign).toFixed(), { ...at, vat: { ...rate, base: own } }]);
      if (!tax.isZero())
        lines.push(['2939', 'vat', tax.times(-sign).toFixed(), { ...at, vat: { ...rate, base: net } }]);
      gross = gross.plus(net).plus(tax);
    }
    lines.unshift(['1700', 'receivable', gross.times(sign).toFixed(), { ...at, invoiceId: id }]);
    return life(draft({ kind: 'invoice', id, date, lines }), undone);
  });

const paymentLife = fc
  .record({
    date: day,
    department,
    paid: cents,
    type: fc.constantFrom(0, 1),
    refund: fc.boolean(),
    undone: fc.boolean(),
  })
  .map(({ date, department, paid, type, refund, undone }) => (id: number) => {
    const at = { departmentId: department, paymentType: type };
    const amount = refund ? paid.negated() : paid;
    const lines: DraftLine[] = [
      [type === 0 ? '1910' : '1900', type === 0 ? 'card_clearing' : 'cash', amount.toFixed(), at],
      ['1700', 'receivable', amount.negated().toFixed(), at],
    ];
    return life(draft({ kind: 'payment', id, date, lines }), undone);
  });

function life(first: DraftEntry, undone: boolean): LedgerEntry[] {
  const one = posted(first);
  if (!undone) return [one];
  return [one, posted({ ...first, reverses: one.id, lines: reversedLines(first.lines) }, 2)];
}

const lives = fc
  .array(fc.oneof(invoiceLife, paymentLife), { minLength: 1, maxLength: 25 })
  .map((makers) => makers.flatMap((make, index) => make(index + 1)));

interface Figured {
  date: string;
  account: string;
  role: string;
  side: string;
  amount: Money;
  vat: { group: string | null; rate: Money | null; base: Money | null } | null;
}

/**
 * Turnover per day, account, role and side, and bases and taxes per day, VAT group, rate and side; computed
 * independently of our code.
 */
function figures(lines: Figured[]): Record<string, string> {
  const sums = new Map<string, Money>();
  const add = (key: string, amount: Money) => sums.set(key, (sums.get(key) ?? new Money(0)).plus(amount));
  for (const { date, account, role, side, amount, vat } of lines) {
    add(`${date} ${account} ${role} ${side}`, amount);
    if (vat === null) continue;
    const group = `${date} ${vat.group} at ${vat.rate!.toFixed()} ${side}`;
    if (role === 'vat') add(`${group} tax`, amount);
    if (vat.base !== null) add(`${group} base`, vat.base);
  }
  return Object.fromEntries([...sums].map(([key, amount]) => [key, amount.toFixed(2)]).sort());
}

const ofEntries = (entries: LedgerEntry[]) =>
  entries.flatMap(({ date, lines }) => lines.map((line) => ({ date, ...line })));
const ofSummaries = (summaries: DraftSummary[]) =>
  summaries.flatMap(({ date, lines }) => lines.map((line) => ({ date, ...line })));

describe('summary mode is document mode', () => {
  it('per account and day, and per VAT group and rate, whatever the order and lateness of documents', () => {
    fc.assert(
      fc.property(lives, fc.infiniteStream(fc.nat()), (entries, dice) => {
        const random = () => dice.next().value!;
        // Some documents arrive in time for their day's summary, others in a later window for a correction summary.
        const rounds: LedgerEntry[][] = [[], [], []];
        for (const entry of entries.toSorted(() => (random() % 2 === 0 ? 1 : -1))) rounds[random() % 3]!.push(entry);
        const summaries = rounds.flatMap((round) => summarise(round));

        expect(figures(ofSummaries(summaries))).toEqual(figures(ofEntries(entries)));
        const members = summaries.flatMap((summary) => summary.members.map(({ entryId }) => entryId));
        expect(members.toSorted()).toEqual(entries.map(({ id }) => id).sort());
        for (const summary of summaries) {
          const balance = summary.lines.reduce(
            (sum, line) => (line.side === 'debit' ? sum.plus(line.amount) : sum.minus(line.amount)),
            new Money(0),
          );
          expect(balance.toFixed(2)).toBe('0.00');
          const own = new Set(summary.members.map(({ entryId }) => entryId));
          expect(new Set(summary.lines.flatMap(({ entryIds }) => entryIds))).toEqual(own);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it('and late, redated and later entries are only in correction summaries, each VAT period apart', () => {
    const facts = fc.record({ late: fc.boolean(), redated: fc.boolean(), round: fc.nat(1) });
    fc.assert(
      fc.property(lives, fc.infiniteStream(facts), (drawn, stream) => {
        const rounds: LedgerEntry[][] = [[], []];
        for (const entry of drawn) {
          const { late, redated, round } = stream.next().value!;
          const documentDate = redated ? '2025-12-20' : entry.date;
          rounds[round]!.push({ ...entry, documentDate, vatPeriod: documentDate.slice(0, 7), isLate: late });
        }
        const placeOf = (date: string, department: number | null) => `${date} ${department}`;
        const summarised = new Set<string>();
        const all = new Map(drawn.map(({ id }) => [id, 0]));
        for (const entries of rounds) {
          const byId = new Map(entries.map((entry) => [entry.id, entry]));
          const made = summarise(entries, (date, department) => summarised.has(placeOf(date, department)));
          for (const { date, departmentId, vatPeriod, isLate, isCorrection, members } of made) {
            for (const { entryId } of members) {
              const entry = byId.get(entryId)!;
              all.set(entryId, all.get(entryId)! + 1);
              expect([entry.date, entry.lines[0]!.departmentId, entry.vatPeriod, entry.isLate]).toEqual([
                ...[date, departmentId, vatPeriod, isLate],
              ]);
              const isOrdinary = !entry.isLate && entry.documentDate === date;
              expect(isCorrection).toBe(!isOrdinary || summarised.has(placeOf(date, departmentId)));
            }
          }
          for (const one of made.filter(({ isCorrection }) => !isCorrection))
            summarised.add(placeOf(one.date, one.departmentId));
          expect(figures(ofSummaries(made))).toEqual(figures(ofEntries(entries)));
        }
        expect(new Set(all.values())).toEqual(new Set([1]));
      }),
      { numRuns: runs(200) },
    );
  });

  it('and the same entries give the same summary in any order', () => {
    fc.assert(
      fc.property(lives, (entries) => {
        expect(summarise(entries.toReversed())).toEqual(summarise(entries));
      }),
    );
  });
});
