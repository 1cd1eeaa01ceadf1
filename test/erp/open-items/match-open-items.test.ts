import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import { releaseLease, transactionsOf } from '../../../src/db/lease.ts';
import { execute } from '../../../src/db/rows.ts';
import { type DraftEntry, reversedLines } from '../../../src/domain/entry.ts';
import { Money, zero } from '../../../src/domain/money.ts';
import { takeCompany } from '../../../src/erp/company-lease.ts';
import { companyKey } from '../../../src/erp/entry-key.ts';
import type { FoundEntry, FoundLine } from '../../../src/erp/erp-entry.ts';
import { openItemRemarks, touchedItems } from '../../../src/erp/open-items/item-store.ts';
import { type MatchOptions, matchOpenItems } from '../../../src/erp/open-items/match-open-items.ts';
import { enqueueUnits } from '../../../src/erp/outbox/enqueue.ts';
import { ErpError, type ErpTarget } from '../../../src/erp/port.ts';
import { appendEntries } from '../../../src/ledger/journal/append-entries.ts';
import { loadEntries } from '../../../src/ledger/journal/read-entries.ts';
import { summariseDays } from '../../../src/ledger/summaries/summarise.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { draft, party } from '../../ledger/drafts.ts';
import { useDatabase } from '../../support/database.ts';
import { runs } from '../../support/runs.ts';
import { capabilitiesOf } from '../capabilities.ts';

const { db, owner } = useDatabase();
let installation = 0;
let erp: MemoryErp;
beforeEach(() => {
  installation += 1;
  erp = new MemoryErp();
});

type Request = 'read' | 'match' | 'unmatch';

/**
 * The posted entries of an ERP. Groups have the same rules as Tryton's, and a request matches all of its groups or
 * none.
 */
class MemoryErp {
  readonly entries = new Map<string, FoundEntry>();
  readonly requests: Request[] = [];
  /** The invoice of each line. */
  readonly invoiceOf = new Map<string, number | null>();
  /** The failure of a request; `done` runs it first. */
  fault: (request: Request, groups: readonly (readonly string[])[]) => { error: ErpError; done: boolean } | null = () =>
    null;
  isIdle = false;
  /** Accounts whose lines the ERP does not match. */
  unmatchable = new Set<string>();
  #groups = 0;

  get lines(): FoundLine[] {
    return [...this.entries.values()].flatMap(({ lines }) => lines);
  }

  groups(): string[][] {
    const groups = Map.groupBy(
      this.lines.filter(({ matched }) => matched !== null),
      ({ matched }) => matched,
    );
    return [...groups.values()].map((lines) => lines.map(({ id }) => id!).sort()).sort();
  }

  get target(): ErpTarget {
    return {
      capabilities: capabilitiesOf(),
      company: { kind: 'memory', url: '', id: String(installation) },
      read: async (ids: readonly string[], _: unknown, only?: { accounts: readonly string[] }) => {
        await this.#answer('read', [], () => undefined);
        const found = ids.flatMap((id) => structuredCloneOf(this.entries.get(id)));
        const isWanted = ({ account }: FoundLine) => only === undefined || only.accounts.includes(account);
        return found.map((entry) => ({ ...entry, lines: entry.lines.filter(isWanted) }));
      },
      matching: {
        match: (groups: readonly (readonly string[])[]) => this.#answer('match', groups, () => this.#match(groups)),
        unmatch: (groups: readonly (readonly string[])[]) =>
          this.#answer('unmatch', groups, () => this.#unmatch(groups)),
        unmatchable: async () => this.unmatchable,
      },
    } as unknown as ErpTarget;
  }

  async #answer(request: Request, groups: readonly (readonly string[])[], run: () => void): Promise<void> {
    this.requests.push(request);
    const fault = this.fault(request, groups);
    if (fault === null || fault.done) run();
    if (fault !== null) throw fault.error;
  }

  #match(groups: readonly (readonly string[])[]): void {
    const chosen = groups.map((ids) => this.lines.filter(({ id }) => ids.includes(id!)));
    for (const [n, lines] of chosen.entries()) {
      const [first] = lines;
      const isFree = lines.every(
        ({ matched, account, party: who }) => matched === null && account === first!.account && who === first!.party,
      );
      const isSettled = lines.reduce((all, { amount }) => all.plus(amount), zero).isZero();
      if (lines.length < 2 || lines.length !== groups[n]!.length || !isFree || !isSettled)
        throw new ErpError('refused', 'the lines cannot be reconciled', { problem: 'erp_refused' });
    }
    if (this.isIdle) return;
    for (const lines of chosen) {
      this.#groups += 1;
      for (const line of lines) line.matched = `R${this.#groups}`;
    }
  }

  #unmatch(groups: readonly (readonly string[])[]): void {
    const names = new Set(this.lines.filter(({ id }) => groups.flat().includes(id!)).map(({ matched }) => matched));
    for (const line of this.lines) if (names.has(line.matched)) line.matched = null;
  }
}

function structuredCloneOf(entry: FoundEntry | undefined): FoundEntry[] {
  return entry ? [{ ...entry, lines: entry.lines.map((line) => ({ ...line })) }] : [];
}

function invoice(id: number, amount: string): DraftEntry {
  const receivable = { party: party(7), invoiceId: id };
  return draft({
    ...{ kind: 'invoice', id, date: '2026-02-01', inputHash: `${id} ${amount}` },
    lines: [
      ['1700', 'receivable', amount, receivable],
      ['3000', 'revenue', `-${amount}`.replace('--', '')],
    ],
  });
}

function payment(id: number, of: number, amount: string): DraftEntry {
  const receivable = { party: party(7), invoiceId: of };
  return draft({
    ...{ kind: 'payment', id, date: '2026-02-03', inputHash: `${id} ${of} ${amount}` },
    lines: [
      ['1910', 'bank_clearing', amount],
      ['1700', 'receivable', `-${amount}`.replace('--', ''), receivable],
    ],
  });
}

/** Money received before an invoice; a negative amount is a refund. */
function prepayment(id: number, amount: string): DraftEntry {
  return draft({
    ...{ kind: 'prepayment', id, date: '2026-02-01', inputHash: `${id} ${amount}` },
    lines: [
      ['1910', 'bank_clearing', amount],
      ['2400', 'prepayment_liability', `-${amount}`.replace('--', ''), { party: party(7) }],
    ],
  });
}

/** A payment of an invoice from a prepayment; a negative amount cancels one. */
function use(id: number, of: number, amount: string): DraftEntry {
  return draft({
    ...{ kind: 'payment', id, date: '2026-02-03', inputHash: `${id} ${of} ${amount}` },
    lines: [
      ['2400', 'prepayment_liability', amount, { party: party(7) }],
      ['1700', 'receivable', `-${amount}`.replace('--', ''), { party: party(7), invoiceId: of }],
    ],
  });
}

const matchedWith = (paymentId: number, prepaymentId: number, amount: string) =>
  execute(db, 'insert into prepayment_match (installation, payment_id, prepayment_id, amount) values (?, ?, ?, ?)', [
    ...[installation, paymentId, prepaymentId, amount],
  ]);

function reversal(entryId: string, of: DraftEntry): DraftEntry {
  return { ...of, reason: 'source_changed', reverses: entryId, inputHash: entryId, lines: reversedLines(of.lines) };
}

/** Posts and delivers. Returns the ids of the entries. */
async function deliver(drafts: DraftEntry[], state = 'delivered'): Promise<string[]> {
  const ids = await db.transaction((trx) =>
    appendEntries(trx, installation, drafts, { decimals: 2, windowId: null, postingMode: 'document' }),
  );
  await db.transaction((trx) =>
    enqueueUnits(trx, { installation, databaseId: 'abc', company: 'c', from: null, auto: true }),
  );
  for (const entry of await loadEntries(db, ids)) {
    for (const [n, line] of entry.lines.entries()) erp.invoiceOf.set(`${entry.id}#${n}`, line.invoiceId);
    erp.entries.set(`E ${entry.id}`, {
      id: `E ${entry.id}`,
      key: null,
      number: '1',
      state: 'posted',
      date: entry.date,
      journal: 'J',
      description: '',
      lines: entry.lines.map(({ account, side, amount }, n) => ({
        id: `${entry.id}#${n}`,
        account,
        amount: side === 'debit' ? amount : amount.negated(),
        party: account === '1700' || account === '2400' ? 'client' : null,
        vat: [],
        dimensions: {},
        matched: null,
      })),
    });
  }
  await execute(
    db,
    `update erp_unit set state = ?, erp_id = 'E ' || unit_id where installation = ? and unit_id = any(?::text[])`,
    [state, installation, ids],
  );
  return ids;
}

const signal = new AbortController().signal;
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const match = (options: MatchOptions = {}) =>
  matchOpenItems(
    {
      db,
      installation: { id: installation } as InstallationConfig,
      target: erp.target,
      holder: 'us',
      clock: systemClock,
      signal,
      log,
    },
    options,
  );
/** Makes postponed matches due, as after the next delivery has checked requests without an answer. */
const later = async () => {
  await execute(owner, 'update erp_open_item set not_before = null where installation = ?', [installation]);
  await execute(owner, 'update lease set is_in_order = true');
  await execute(owner, 'update erp_company set look_up_from = null where name = ?', [String(installation)]);
};
const remarks = async () =>
  (await openItemRemarks(db, installation, { after: '', limit: 10 })).map(({ remark }) => remark);
const fails = (request: Request, error: ErpError, done = false) => {
  erp.fault = (made) => (made === request ? { error, done } : null);
};

const i = (id: number, n = 1) => `${installation}/invoice/${id}/${n}#0`;
const p = (id: number, n = 1) => `${installation}/payment/${id}/${n}#1`;

describe('receivable lines that sum to zero', () => {
  test('are matched once, and an open invoice costs no request', async () => {
    await deliver([invoice(1, '100')]);
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 0 });
    expect(erp.requests).toEqual([]);
    await deliver([payment(5, 1, '100')]);
    expect(await match()).toEqual({ matched: 1, unmatched: 0, left: 0 });
    expect(erp.groups()).toEqual([[i(1), p(5)]]);
    expect(erp.requests).toEqual(['read', 'match', 'read']);
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 0 });
    expect(erp.requests).toHaveLength(3);
  });

  test('are matched in one request for many invoices', async () => {
    await deliver([1, 2, 3].flatMap((id) => [invoice(id, '10'), payment(id, id, '10')]));
    expect(await match()).toEqual({ matched: 3, unmatched: 0, left: 0 });
    expect(erp.requests).toEqual(['read', 'match', 'read']);
  });

  test('are not matched before they are delivered and posted', async () => {
    await deliver([invoice(1, '100'), payment(5, 1, '100')], 'drafted');
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 0 });
    await execute(db, `update erp_unit set state = 'delivered' where installation = ?`, [installation]);
    expect(await match()).toMatchObject({ matched: 1 });
  });

  test('are limited to a number of invoices per call', async () => {
    await deliver([1, 2, 3].flatMap((id) => [invoice(id, '10'), payment(id, id, '10')]));
    expect(await match({ mostItems: 2 })).toEqual({ matched: 2, unmatched: 0, left: 1 });
    expect(await match({ longestMs: 0 })).toEqual({ matched: 0, unmatched: 0, left: 1 });
  });
});

test('lines of daily summaries have no client, so no item waits to be matched', async () => {
  const drafts = [invoice(1, '100.00'), prepayment(2, '40.00'), use(3, 1, '40.00'), prepayment(4, '-5.00')];
  const options = { decimals: 2, windowId: null, postingMode: 'daily_summary' } as const;
  await db.transaction((trx) => appendEntries(trx, installation, drafts, options));
  await matchedWith(3, 2, '40.00');
  await summariseDays(transactionsOf(db), installation, { before: '2026-03-01', windowId: null });
  await db.transaction((trx) =>
    enqueueUnits(trx, { installation, databaseId: 'abc', company: 'c', from: null, auto: true }),
  );
  const units = await execute(db, `update erp_unit set state = 'delivered', erp_id = unit_id where installation = ?`, [
    installation,
  ]);
  expect(units).toBe(2);
  expect(await touchedItems(db, installation, 10)).toEqual([]);
});

test('are matched again after a correction has undone their group', async () => {
  const [first] = await deliver([invoice(1, '100'), payment(5, 1, '100')]);
  await match();
  await deliver([reversal(first!, invoice(1, '100')), { ...invoice(1, '120'), reason: 'source_changed' }]);
  expect(await match()).toEqual({ matched: 1, unmatched: 1, left: 0 });
  expect(erp.groups()).toEqual([[i(1), i(1, 2)]]);
  await deliver([payment(6, 1, '20')]);
  expect(await match()).toEqual({ matched: 1, unmatched: 0, left: 0 });
  expect(erp.groups()).toEqual([
    [i(1), i(1, 2)],
    [i(1, 3), p(5), p(6)],
  ]);
  expect(await remarks()).toEqual([]);
});

describe('the lines of prepayments', () => {
  const received = (id: number) => `${installation}/prepayment/${id}/1#1`;
  const used = (id: number) => `${installation}/payment/${id}/1#0`;

  test('are matched once a prepayment is used up by uses and refunds', async () => {
    await execute(
      db,
      'insert into prepayment_refund (installation, refund_id, original_id, amount) values (?, 10, 9, 40)',
      [installation],
    );
    await matchedWith(77, 9, '60');
    await deliver([prepayment(9, '100'), prepayment(10, '-40'), invoice(1, '90')]);
    expect(await match()).toMatchObject({ matched: 0, left: 0 });
    expect(erp.requests).toEqual([]);
    await deliver([use(77, 1, '60')]);
    expect(await match()).toMatchObject({ matched: 1, left: 0 });
    expect(erp.groups()).toEqual([[used(77), received(10), received(9)].sort()]);
  });

  test('are matched with their own prepayment, not with another of the same amount', async () => {
    await matchedWith(77, 9, '100');
    await deliver([prepayment(8, '100'), prepayment(9, '100'), invoice(1, '300'), use(77, 1, '100')]);
    await match();
    expect(erp.groups()).toEqual([[used(77), received(9)].sort()]);
  });

  test('stay open while the prepayment is unknown, and follow a match that is found or changed later', async () => {
    await deliver([prepayment(8, '100'), prepayment(9, '100'), invoice(1, '300'), use(77, 1, '100')]);
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 0 });
    await matchedWith(77, 8, '100');
    expect(await match()).toEqual({ matched: 1, unmatched: 0, left: 0 });
    expect(erp.groups()).toEqual([[used(77), received(8)].sort()]);
    await execute(db, 'delete from prepayment_match where installation = ?', [installation]);
    await matchedWith(77, 9, '100');
    expect(await match()).toEqual({ matched: 1, unmatched: 1, left: 0 });
    expect(erp.groups()).toEqual([[used(77), received(9)].sort()]);
    expect(await remarks()).toEqual([]);
  });

  test('of one use are matched with all prepayments that it takes from', async () => {
    await matchedWith(77, 8, '100');
    await matchedWith(77, 9, '20');
    await matchedWith(78, 9, '30');
    await deliver([prepayment(8, '100'), prepayment(9, '50'), invoice(1, '300'), use(77, 1, '120')]);
    expect(await match()).toMatchObject({ matched: 0 });
    await deliver([use(78, 1, '30')]);
    await match();
    expect(erp.groups()).toEqual([[used(77), used(78), received(8), received(9)].sort()]);
  });

  test('of a use and its cancellation without a match settle each other', async () => {
    for (const [id, amount] of [
      [77, '40'],
      [78, '-40'],
    ] as const)
      await execute(
        db,
        `insert into prepayment_use (installation, payment_id, invoice_id, amount, version, state)
         values (?, ?, 1, ?, 1, 'cancelled')`,
        [installation, id, amount],
      );
    await deliver([prepayment(9, '40'), invoice(1, '90'), use(77, 1, '40'), use(78, 1, '-40')]);
    await match();
    expect(erp.groups()).toContainEqual([used(77), used(78)].sort());
    expect(erp.lines.find(({ id }) => id === received(9))!.matched).toBeNull();
  });

  test('stay open on an account that the ERP does not match, and receivables do not wait for that', async () => {
    erp.unmatchable.add('2400');
    await matchedWith(77, 9, '100');
    await deliver([prepayment(9, '100'), invoice(1, '100'), use(77, 1, '100')]);
    expect(await match()).toEqual({ matched: 1, unmatched: 0, left: 0 });
    expect(erp.groups()).toEqual([[i(1), p(77)].sort()]);
    expect(await remarks()).toEqual([]);
  });
});

describe('a failure', () => {
  const timeOut = () => new ErpError('doubt', 'no answer');

  test.each([
    ['took effect', true],
    ['did not take effect', false],
  ])('a match without an answer that %s is found out, and is ours', async (_, done) => {
    const [first] = await deliver([invoice(1, '100'), payment(5, 1, '100')]);
    fails('match', timeOut(), done);
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 1 });
    erp.fault = () => null;
    // The matching waits until the server can no longer be working on the request.
    expect(await match()).toMatchObject({ matched: 0, left: 1 });
    await later();
    expect(await match()).toEqual({ matched: done ? 0 : 1, unmatched: 0, left: 0 });
    expect(erp.groups()).toEqual([[i(1), p(5)]]);
    await deliver([reversal(first!, invoice(1, '100'))]);
    expect(await match()).toEqual({ matched: 1, unmatched: 1, left: 0 });
    expect(await remarks()).toEqual([]);
  });

  test('of the ERP loses nothing', async () => {
    await deliver([invoice(1, '100'), payment(5, 1, '100')]);
    fails('read', new ErpError('unsent', 'connection refused'));
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 1 });
    erp.fault = () => null;
    expect(await match()).toMatchObject({ matched: 1, left: 0 });
  });

  test('of one invoice: the others are matched, and it gets a remark and is not tried again before it changes', async () => {
    await deliver([1, 2, 3].flatMap((id) => [invoice(id, '10'), payment(id, id, '10')]));
    const refused = new ErpError('refused', 'account \u001b[31m1700 is closed', { problem: 'erp_refused' });
    erp.fault = (request, groups) =>
      request === 'match' && groups.flat().includes(i(2)) ? { error: refused, done: false } : null;
    expect(await match()).toEqual({ matched: 2, unmatched: 0, left: 0 });
    expect(await remarks()).toEqual(['the ERP refuses to match the lines: account \\u001b[31m1700 is closed']);
    const asked = erp.requests.length;
    await match();
    expect(erp.requests).toHaveLength(asked);
    erp.fault = () => null;
    await deliver([invoice(4, '5'), payment(40, 2, '5'), payment(41, 2, '-5')]);
    await match();
    // The two payments cancel each other.
    expect(erp.groups()).toHaveLength(4);
    expect(await remarks()).toEqual([]);
  });

  test('that the ERP answers as success is a remark', async () => {
    erp.isIdle = true;
    await deliver([invoice(1, '100'), payment(5, 1, '100')]);
    for (const left of [1, 1, 0]) {
      expect((await match()).left).toBe(left);
      await later();
    }
    expect(await remarks()).toEqual([
      'the lines could not be matched: the ERP accepted the request, but did not match the lines',
    ]);
  });

  test('does not touch the matches of a user, which get a remark', async () => {
    await deliver([invoice(1, '100')]);
    erp.lines[0]!.matched = 'by hand';
    await deliver([payment(5, 1, '100')]);
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 0 });
    expect(await remarks()).toEqual([
      `in the ERP, a user matched lines of ${installation}/invoice/1/1 with other lines; vetledger does not change that match`,
    ]);
    expect(erp.lines.map(({ matched }) => matched)).toEqual(['by hand', null, null, null]);
    // On the next day it is checked again, and the accountant has corrected it.
    const asked = erp.requests.length;
    await match();
    expect(erp.requests).toHaveLength(asked);
    erp.lines[0]!.matched = null;
    await later();
    expect(await match()).toEqual({ matched: 1, unmatched: 0, left: 0 });
    expect(await remarks()).toEqual([]);
  });

  test('of an entry that the ERP no longer has does not affect the rest', async () => {
    await deliver([invoice(1, '100'), payment(5, 1, '60'), payment(6, 1, '40')]);
    erp.entries.delete(`E ${installation}/payment/6/1`);
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 0 });
  });

  test('to get the lease sends no request', async () => {
    await deliver([invoice(1, '100'), payment(5, 1, '100')]);
    const other = await takeCompany(db, erp.target.company, 'another', { mayWorkMs: 60_000 });
    expect(await match()).toEqual({ matched: 0, unmatched: 0, left: 1 });
    expect(erp.requests).toEqual([]);
    await releaseLease(db, other.lease!, { isInOrder: true });
    expect(await match()).toMatchObject({ matched: 1, left: 0 });
  });

  test('of a delivery is looked up first', async () => {
    await deliver([invoice(1, '100'), payment(5, 1, '100'), invoice(2, '7')]);
    await execute(db, `update erp_unit set state = 'sending' where unit_id like '%invoice/2/%' and installation = ?`, [
      installation,
    ]);
    await execute(db, 'update erp_unit set company = ? where installation = ?', [
      companyKey(erp.target.company),
      installation,
    ]);
    const other = await takeCompany(db, erp.target.company, 'another', { mayWorkMs: 0 });
    await releaseLease(db, other.lease!, { isInOrder: false });
    const canBeDone = 'update erp_company set look_up_from = clock_timestamp() where name = ?';
    await execute(owner, canBeDone, [String(installation)]);
    expect(await match()).toMatchObject({ matched: 0, left: 1 });
    await execute(db, `update erp_unit set state = 'pending' where state = 'sending' and installation = ?`, [
      installation,
    ]);
    expect(await match()).toMatchObject({ matched: 1, left: 0 });
  });

  test('by an abort ends it', async () => {
    await deliver([invoice(1, '100'), payment(5, 1, '100')]);
    const stopped = matchOpenItems({
      ...{ db, target: erp.target, holder: 'us', clock: systemClock, log },
      installation: { id: installation } as InstallationConfig,
      signal: AbortSignal.abort(new Error('stop')),
    });
    await expect(stopped).rejects.toThrow('stop');
  });
});

const outcomes = ['unsent', 'locked', 'doubt', 'doubt_done', 'refused'] as const;

test('at any request still leaves every settled invoice matched, and every group at zero', async () => {
  const amounts = fc.constantFrom(10, 20, 50);
  const step = fc.record({ invoice: fc.integer({ min: 1, max: 3 }), correct: fc.boolean(), amount: amounts });
  const faults = fc.array(fc.option(fc.constantFrom(...outcomes), { freq: 2 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), faults, async (steps, wrongs) => {
      installation += 1;
      erp = new MemoryErp();
      const left = [...wrongs];
      erp.fault = () => {
        const means = left.shift() ?? null;
        if (means === null) return null;
        if (means === 'doubt_done') return { error: new ErpError('doubt', 'no answer'), done: true };
        return { error: new ErpError(means, means), done: false };
      };
      const inForce = new Map<number, { id: string; entry: DraftEntry }>();
      for (const [n, { invoice: id, correct, amount }] of steps.entries()) {
        const old = inForce.get(id);
        const entry = invoice(id, String(amount));
        if (old && correct && old.entry.inputHash !== entry.inputHash) {
          const ids = await deliver([reversal(old.id, old.entry), { ...entry, reason: 'source_changed' }]);
          inForce.set(id, { id: ids.at(-1)!, entry });
        } else if (old) {
          const open = balanceOf(id);
          if (!open.isZero()) await deliver([payment(n, id, open.toFixed())]);
        } else {
          const [posted] = await deliver([entry]);
          inForce.set(id, { id: posted!, entry });
        }
        await match();
        await later();
      }
      erp.fault = () => null;
      // Refused items are touched once more.
      await execute(owner, 'update erp_open_item set touched = touched + 1, failures = 0 where installation = ?', [
        installation,
      ]);
      expect((await match()).left).toBe(0);
      for (const group of erp.groups()) {
        const lines = erp.lines.filter(({ id }) => group.includes(id!));
        expect(lines.reduce((all, { amount }) => all.plus(amount), zero).toFixed()).toBe('0');
      }
      for (const id of inForce.keys()) {
        if (balanceOf(id).isZero()) expect(linesOf(id).filter(({ matched }) => matched === null)).toEqual([]);
      }
      expect(await remarks()).toEqual([]);
    }),
    { numRuns: runs(8) },
  );
});

/** The invoice's receivable lines in the ERP. */
function linesOf(invoiceId: number): FoundLine[] {
  return erp.lines.filter(({ id }) => erp.invoiceOf.get(id!) === invoiceId);
}

function balanceOf(invoiceId: number): Money {
  return linesOf(invoiceId).reduce((all, { amount }) => all.plus(amount), new Money(0));
}
