import { describe, expect, test } from 'vitest';
import { post } from '../../src/posting/index.ts';
import { isReversalOnly } from '../../src/posting/late.ts';
import type { DocumentFacts, LateDecisionKind, PostedBefore, PostingContext } from '../../src/posting/types.ts';
import { DueScene } from './due-support.ts';
import { booksAfter, contextOf, invoice1001, mappingOf, nothingBefore, paymentFacts, paymentOf } from './support.ts';

const redate = mappingOf({ policies: { locked_period: 'redate' } });
const closed: Partial<PostingContext> = { closedThrough: '2026-01-31' };
const open: Partial<PostingContext> = {};

/**
 * Judges the document once per context, with the saved result of the time before, and with decisions about the held
 * version.
 */
function life(
  facts: DocumentFacts,
  before: PostedBefore,
  ...steps: (Partial<PostingContext> | LateDecisionKind)[]
): ReturnType<typeof post> {
  let known: PostedBefore = before;
  let decision: ReturnType<typeof post> | null = null;
  for (const step of steps) {
    if (typeof step === 'string') {
      const version = known.late?.version ?? '';
      known = { ...known, decisions: [{ decision: step, version }, ...(known.decisions ?? [])] };
      continue;
    }
    decision = post(facts, known, contextOf(step));
    known = { ...known, state: decision.state, late: decision.late ?? null };
  }
  if (decision === null) throw new Error('nothing was judged');
  return decision;
}

const posted = (date: string) => ({ state: 'posted', problem: null, late: null, entries: [{ date }] });
const held = (decision: string | null = null) => ({
  state: 'held',
  entries: [],
  problem: { code: 'period_locked' },
  late: { decision },
});

/** Invoice 1001 is dated 2026-01-15. */
describe('a document that a close keeps out of the books', () => {
  test.each([
    ['waits', [closed], held()],
    ['still waits when the books are opened again', [closed, open], held()],
    ['posts on the first open day where that is decided', [closed, 'redate', closed], posted('2026-02-01')],
    ['takes the first open day of when it posts', [closed, 'redate', open], posted('2026-01-15')],
    ['decided as dated, waits for the period', [closed, 'as_dated', closed], held('as_dated')],
    ['decided as dated, posts once it is open', [closed, 'as_dated', closed, open], posted('2026-01-15')],
    ['decided to wait, waits', [closed, 'wait', closed], held('wait')],
    ['decided to wait, waits in open books, too', [closed, 'wait', closed, open], held('wait')],
    ['the last decision counts', [closed, 'wait', 'redate', closed], posted('2026-02-01')],
    [
      'is not redated by the policy once it is decided',
      [closed, 'as_dated', { ...closed, mapping: redate }],
      held('as_dated'),
    ],
    ['is redated by the policy without a decision', [closed, { ...closed, mapping: redate }], posted('2026-02-01')],
    ['is not posted by the policy in reopened books', [closed, { mapping: redate }], held()],
  ] as [string, (Partial<PostingContext> | LateDecisionKind)[], object][])('%s', (_, steps, expected) => {
    expect(life(invoice1001(), nothingBefore, ...steps)).toMatchObject(expected);
  });

  test('one that only an ERP’s lock holds is posted automatically when the lock is opened', () => {
    const inErp = { closedInErp: [{ from: null, through: '2026-01-31' }] };
    expect(life(invoice1001(), nothingBefore, inErp)).toMatchObject({ ...held(), late: { atClose: false } });
    expect(life(invoice1001(), nothingBefore, inErp, open)).toMatchObject(posted('2026-01-15'));
    expect(life(invoice1001(), nothingBefore, inErp, 'wait', open)).toMatchObject(held('wait'));
  });

  test('stays late while something else holds it', () => {
    const unmapped = { mapping: mappingOf({ revenue: {} }) };
    expect(life(invoice1001(), nothingBefore, closed, unmapped, open)).toMatchObject(held());
  });

  test('a decision holds for the version that it was made on', () => {
    const first = life(invoice1001(), nothingBefore, closed);
    const decisions = [{ decision: 'redate' as const, version: first.late?.version ?? '' }];
    const before = { ...nothingBefore, late: first.late ?? null, decisions };
    expect(post(invoice1001(), before, contextOf(closed))).toMatchObject(posted('2026-02-01'));
    expect(post(invoice1001({ dueDate: '2026-03-01' }), before, contextOf(closed))).toMatchObject(held());
  });
});

describe('a change that a close holds', () => {
  const before = booksAfter(post(invoice1001(), nothingBefore, contextOf()));
  const moved = invoice1001({}, '3005');
  const voided = invoice1001({ status: 99 });
  const kept = { state: 'posted', entries: [], problem: { code: 'change_held' } };
  const left = { state: 'posted', entries: [], problem: { code: 'left_as_posted' } };
  const redated = { state: 'posted', problem: null, entries: [{ date: '2026-02-01' }, { date: '2026-02-01' }] };
  const otherRevenue = mappingOf({ revenue: { '3005': '3999', '*': '3010' } });

  test.each([
    ['waits', moved, [closed], kept],
    ['still waits when the books are opened again', moved, [closed, open], kept],
    ['decided to wait, waits', moved, [closed, 'wait', open], kept],
    [
      'is redated by its decision',
      moved,
      [closed, 'redate', closed],
      { state: 'posted', problem: null, entries: [{ date: '2026-02-01' }, { date: '2026-02-01' }] },
    ],
    [
      'as dated, both on their own days once open',
      moved,
      [closed, 'as_dated', closed, open],
      { state: 'posted', problem: null, entries: [{ date: '2026-01-15' }, { date: '2026-01-15' }] },
    ],
    ['left as posted, stays so', moved, [closed, 'leave_as_posted', closed], left],
    ['left as posted, stays so in open books, too', moved, [closed, 'leave_as_posted', closed, open], left],
    ['left as posted, and redated later', moved, [closed, 'leave_as_posted', closed, 'redate', closed], redated],
    [
      'left as posted under one mapping, is asked anew under another',
      moved,
      [closed, 'leave_as_posted', { ...closed, mapping: otherRevenue }],
      kept,
    ],
    [
      'left as posted, asks nothing under another mapping with the same entry',
      moved,
      [closed, 'leave_as_posted', { ...closed, mapping: mappingOf({ policies: { oldest_months: 12 } }) }],
      left,
    ],
    ['a void waits', voided, [closed, open], kept],
    [
      'a void is redated by its decision',
      voided,
      [closed, 'redate', closed],
      { state: 'reversed', problem: null, entries: [{ date: '2026-02-01', reason: 'voided' }] },
    ],
  ] as [string, DocumentFacts, (Partial<PostingContext> | LateDecisionKind)[], object][])(
    '%s',
    (_, facts, steps, expected) => {
      expect(life(facts, before, ...steps)).toMatchObject(expected);
    },
  );

  test.each([
    ['another change', moved, invoice1001({}, '3006'), 'change_held'],
    ['the same facts again', moved, moved, 'left_as_posted'],
    ['a void', moved, voided, 'change_held'],
  ])('a declined correction holds for its entry: %s', (_, declined, next, code) => {
    const first = life(declined, before, closed);
    const decisions = [{ decision: 'leave_as_posted' as const, version: first.late?.version ?? '' }];
    const decision = post(next, { ...before, late: first.late ?? null, decisions }, contextOf(closed));
    expect(decision).toMatchObject({ state: 'posted', entries: [], problem: { code } });
  });

  test.each([
    ['a change', moved, false],
    ['a void', voided, true],
  ])('only a reversal cannot be declined: %s', (_, facts, expected) => {
    expect(isReversalOnly(life(facts, before, closed).late?.version ?? '')).toBe(expected);
  });

  test('that the source takes back is late no more', () => {
    const late = life(moved, before, closed).late ?? null;
    expect(post(invoice1001(), { ...before, late }, contextOf(closed))).toMatchObject({
      state: 'posted',
      entries: [],
      problem: null,
      late: null,
    });
  });

  test('a decision about the change does not hold for the next one', () => {
    const held = life(moved, before, closed);
    const decisions = [{ decision: 'redate' as const, version: held.late?.version ?? '' }];
    const after = booksAfter(post(moved, { ...before, late: held.late ?? null, decisions }, contextOf(closed)), 3);
    const again = { ...after, everPosted: true, decisions };
    // February has been closed.
    const next = post(voided, again, contextOf({ closedThrough: '2026-02-28' }));
    expect(next).toMatchObject(kept);
  });
});

describe('a doubtful date', () => {
  const today = (day: string) => ({ today: day });
  const dated = (invoiceDate: string) => invoice1001({ invoiceDate });

  test.each([
    ['tomorrow', '2026-01-16', 'posted'],
    ['the day after', '2026-01-17', 'held'],
    ['today', '2026-01-15', 'posted'],
  ])('%s', (_, date, state) => {
    expect(life(dated(date), nothingBefore, today('2026-01-15'))).toMatchObject({ state });
  });

  test('in the future: no decision posts it before its day comes', () => {
    const future = dated('2026-01-17');
    expect(life(future, nothingBefore, today('2026-01-15'), 'redate', today('2026-01-15'))).toMatchObject({
      state: 'held',
      problem: { code: 'date_in_future' },
    });
    expect(life(future, nothingBefore, today('2026-01-15'), today('2026-01-16'))).toMatchObject(posted('2026-01-17'));
  });

  /** Invoice 1001 was created on 2026-01-15. */
  const old = dated('2024-01-14');
  const implausible = { state: 'held', entries: [], problem: { code: 'date_implausible' } };
  test.each([
    ['24 months to the day', dated('2024-01-15'), [open], posted('2024-01-15')],
    ['a day more', old, [open], implausible],
    ['accepted', old, [open, 'accept_date', open], posted('2024-01-14')],
    ['as dated accepts it, too', old, [open, 'as_dated', open], posted('2024-01-14')],
    ['redated to when it was made', old, [open, 'redate', open], posted('2026-01-15')],
    ['redated, with that closed', old, [open, 'redate', closed], posted('2026-02-01')],
    ['waits', old, [open, 'wait', open], implausible],
    ['accepted, and then closed', old, [open, 'accept_date', closed], held()],
    ['accepted, closed and redated', old, [open, 'accept_date', closed, 'redate', closed], posted('2026-02-01')],
    [
      'never made, as far as is known',
      invoice1001({ invoiceDate: '2024-01-14', created: null }),
      [open],
      posted('2024-01-14'),
    ],
    [
      'first seen after the first load',
      { ...invoice1001({ invoiceDate: '2024-01-14', created: null }), firstSeenAt: new Date('2026-01-15T10:00:00Z') },
      [open],
      implausible,
    ],
    ['by another limit', old, [{ mapping: mappingOf({ policies: { oldest_months: 25 } }) }], posted('2024-01-14')],
    [
      'a credit note dated as its original',
      {
        ...invoice1001({ invoiceDate: '2024-01-14', creditNote: true, originalInvoiceId: 9 }),
        originalDate: '2024-01-14',
      },
      [open],
      posted('2024-01-14'),
    ],
    [
      'a credit note dated before its original',
      {
        ...invoice1001({ invoiceDate: '2024-01-13', creditNote: true, originalInvoiceId: 9 }),
        originalDate: '2024-01-14',
      },
      [open],
      implausible,
    ],
  ] as [string, DocumentFacts, (Partial<PostingContext> | LateDecisionKind)[], object][])(
    'long ago: %s',
    (_, facts, steps, expected) => {
      expect(life(facts, nothingBefore, ...steps)).toMatchObject(expected);
    },
  );

  test.each([
    ['a payment of the first load', 0, null, 'posted'],
    ['a payment seen later', 0, '2026-01-15T10:00:00Z', 'held'],
    ['one of type 12 seen later', 12, '2026-01-15T10:00:00Z', 'posted'],
  ])('long ago: %s', (_, type, seen, state) => {
    const facts = paymentFacts(paymentOf(type, '1', { dateAdded: '2024-01-14' }), invoice1001().invoice, {
      firstSeenAt: seen === null ? null : new Date(seen),
    });
    expect(life(facts, nothingBefore, open)).toMatchObject({ state });
  });
});

describe('made since the cut-over (start_date 2026-01-01) and dated before it', () => {
  const start = { startDate: '2026-01-01' };
  const facts = invoice1001({ invoiceDate: '2025-12-31', created: '2026-01-01' });
  const waits = { state: 'held', entries: [], problem: { code: 'dated_before_start' } };
  const seenSince = { firstSeenAt: new Date('2026-01-05T10:00:00Z') };

  test.each([
    ['is held', facts, [start], waits],
    ['is never posted as dated', facts, [start, 'as_dated', start], waits],
    ['waits', facts, [start, 'wait', start], waits],
    ['is redated into the new books', facts, [start, 'redate', start], posted('2026-01-01')],
    ['is redated to the first open day', facts, [start, 'redate', { ...start, ...closed }], posted('2026-02-01')],
    [
      'made before it',
      invoice1001({ invoiceDate: '2025-12-31', created: '2025-12-31' }),
      [start],
      { state: 'before_start' },
    ],
    [
      'made nobody knows when',
      invoice1001({ invoiceDate: '2025-12-31', created: null }),
      [start],
      { state: 'before_start' },
    ],
    ['and seen since', { ...invoice1001({ invoiceDate: '2025-12-31', created: null }), ...seenSince }, [start], waits],
    [
      'voided',
      invoice1001({ invoiceDate: '2025-12-31', created: '2026-01-01', status: 99 }),
      [start],
      { state: 'before_start' },
    ],
  ] as [string, DocumentFacts, (Partial<PostingContext> | LateDecisionKind)[], object][])(
    '%s',
    (_, which, steps, expected) => {
      expect(life(which, nothingBefore, ...steps)).toMatchObject(expected);
    },
  );

  test('redated, then voided: it is reversed, though its document is dated before the cut-over', () => {
    const inBooks = booksAfter(life(facts, nothingBefore, start, 'redate', start));
    const voided = invoice1001({ invoiceDate: '2025-12-31', created: '2026-01-01', status: 99 });
    expect(post(voided, inBooks, contextOf(start))).toMatchObject({ entries: [{ date: '2026-01-01' }], problem: null });
  });

  test('a payment: before_start on the first load, late when seen since; redated, it settles what it settled', () => {
    const old = { ...invoice1001({ invoiceDate: '2025-12-20', created: '2025-12-20' }).invoice };
    const payment = (changes: object) => paymentFacts(paymentOf(0, '1', { dateAdded: '2025-12-31' }), old, changes);
    expect(life(payment({}), nothingBefore, start)).toMatchObject({ state: 'before_start' });
    expect(life(payment(seenSince), nothingBefore, start)).toMatchObject(waits);
    const redated = (changes: object) =>
      life(payment({ ...seenSince, ...changes }), nothingBefore, start, 'redate', start).entries[0];
    expect(redated({})).toMatchObject({ date: '2026-01-01', documentDate: '2025-12-31' });
    expect(redated({})?.lines.map(({ role }) => role)).toEqual(['card_clearing', 'opening_receivable']);
    // The accountant decided to post its invoice too.
    expect(redated({ invoiceDecidedIn: true })?.lines.map(({ role }) => role)).toEqual(['card_clearing', 'receivable']);
  });
});

test('the decision about a new payment holds when its invoice is posted, which makes it move VAT (R13)', () => {
  const context = contextOf({ ...closed, mapping: mappingOf({ policies: { vat_due: { payment: '2026-01-01' } } }) });
  const scene = new DueScene(contextOf({ mapping: context.mapping }));
  const payment = paymentOf(0, '100.00', { dateAdded: '2026-01-20T12:00:00+02:00' });
  scene.see(invoice1001());
  const judged = () =>
    post({ ...paymentFacts(payment, invoice1001().invoice), due: scene.books() }, nothingBefore, context);
  const first = judged();
  const decisions = [{ decision: 'redate' as const, version: first.late?.version ?? '' }];
  scene.invoice(invoice1001());
  const then = post(
    { ...paymentFacts(payment, invoice1001().invoice), due: scene.books() },
    { ...nothingBefore, decisions },
    context,
  );
  expect(then.entries.map(({ date, lines }) => [date, lines.filter(({ rule }) => rule === 'R13').length])).toEqual([
    ['2026-02-01', 4],
  ]);
});
