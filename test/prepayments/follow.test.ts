import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { execute } from '../../src/db/rows.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import { setMatch } from '../../src/prepayments/decide.ts';
import { followClaimed, followMarked } from '../../src/prepayments/follow.ts';
import { usedPrepayments } from '../../src/prepayments/used.ts';
import { readJson } from '../../src/records/json.ts';
import type { SourceKind } from '../../src/terms.ts';
import { useDatabase } from '../support/database.ts';
import { answerTimes } from '../support/practice-list.ts';
import { runs } from '../support/runs.ts';
import { query } from '../support/sql.ts';

const { db } = useDatabase();
const dialect = loadDialect();
let nextInstallation = 1;
let world: World;
beforeEach(() => {
  world = new World();
});

const minute = (at: number) => new Date(Date.parse('2026-01-15T10:00:00Z') + at * 60_000).toISOString();

/** The mirror of an installation, written record by record, and the matches of its prepayments. */
class World {
  readonly id = nextInstallation++;
  #asked = Date.parse('2026-02-01T00:00:00Z');

  async see(kind: SourceKind, record: { id: number } & Record<string, unknown>): Promise<void> {
    this.#asked += 1_000;
    const raw = JSON.stringify(record);
    const page = { results: [{ id: record.id, raw, value: readJson(raw) }] };
    const scope = { installation: this.id, timezone: 'Europe/Helsinki', dialect, keepRaw: 'all' as const };
    await db.transaction((trx) =>
      savePage(trx, scope, kind, { ...page, ...answerTimes({ sourceTime: new Date(this.#asked) }) }),
    );
  }

  invoice(id: number, client: number) {
    return this.see('invoice', { id, client, status: 3, modified: minute(0) });
  }

  /** Adds a version of a prepayment with its `unused_amount` at a minute. */
  prepayment(id: number, client: number, paid: string, unused: string, at = 0, more: object = {}) {
    const times = { created: minute(0), modified: minute(at) };
    return this.see('prepayment', { id, client, paid, unused_amount: unused, payment_type: 1, ...times, ...more });
  }

  use(id: number, invoice: number, paid: string, at: number, more: object = {}) {
    const record = { id, invoice, paid, payment_type: 8, date_added: minute(at), modified: minute(at) };
    return this.see('payment', { ...record, ...more });
  }

  async follow(): Promise<void> {
    const installation = { id: this.id, timezone: 'Europe/Helsinki', dialect };
    await followMarked(db, installation, transactionsOf(db));
    await execute(db, 'update document set dirty = false where installation = ?', [this.id]);
  }

  /** One line per payment: `1: client 7 by 90`, or `1: client 7` without a match. */
  async used(): Promise<string[]> {
    const ids = Array.from({ length: 60 }, (_, n) => n + 1);
    return [...(await usedPrepayments(db, this.id, ids)).values()]
      .sort((a, b) => a.paymentId - b.paymentId)
      .map(({ paymentId, clientId, prepaymentIds }) =>
        [`${paymentId}: client ${clientId}`, ...prepaymentIds.map((id) => `by ${id}`)].join(' '),
      );
  }

  async marked(): Promise<string[]> {
    const found = await query<{ document: string }>(
      db,
      `select kind || ' ' || id as document from document where installation = ? and dirty order by kind, id`,
      [this.id],
    );
    return found.map(({ document }) => document);
  }

  async openChanges(): Promise<string[]> {
    const found = await query<{ text: string }>(
      db,
      `select prepayment_id || ' ' || amount as text from prepayment_change where installation = ? order by 1`,
      [this.id],
    );
    return found.map(({ text }) => text);
  }
}

describe('example 14: client A’s prepayment pays B’s invoice', () => {
  beforeEach(async () => {
    await world.invoice(1, 2);
    await world.prepayment(90, 1, '200.00', '200.00');
    await world.follow();
  });

  test('both come in one window', async () => {
    await world.use(1, 1, '119.00', 5);
    await world.prepayment(90, 1, '200.00', '81.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90']);
    expect(await world.openChanges()).toEqual([]);
  });

  test('the payment comes a window earlier: the invoice’s client until then, and it is judged again', async () => {
    await world.use(1, 1, '119.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 2']);
    await world.prepayment(90, 1, '200.00', '81.00', 5);
    expect(await world.marked()).toEqual(['prepayment 90']);
    const installation = { id: world.id, timezone: 'Europe/Helsinki', dialect };
    await followMarked(db, installation, transactionsOf(db));
    expect(await world.marked()).toEqual(['payment 1', 'prepayment 90']);
    expect(await world.used()).toEqual(['1: client 1 by 90']);
  });

  test('the payment comes a window later', async () => {
    await world.prepayment(90, 1, '200.00', '81.00', 5);
    await world.follow();
    expect(await world.openChanges()).toEqual(['90 119']);
    await world.use(1, 1, '119.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90']);
  });

  test('what another lane brought meanwhile is followed where it is claimed', async () => {
    await world.use(1, 1, '119.00', 5);
    await world.prepayment(90, 1, '200.00', '81.00', 5);
    const claimed = [
      { kind: 'payment' as const, id: 1 },
      { kind: 'prepayment' as const, id: 90 },
    ];
    const installation = { id: world.id, timezone: 'Europe/Helsinki', dialect };
    await db.transaction((trx) => followClaimed(trx, installation, claimed));
    expect(await world.used()).toEqual(['1: client 1 by 90']);
  });

  test('its cancellation takes the match; a second use is another one', async () => {
    await world.use(1, 1, '119.00', 5);
    await world.prepayment(90, 1, '200.00', '81.00', 5);
    await world.follow();
    await world.use(2, 1, '-119.00', 8);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90', '2: client 1 by 90']);
    await world.prepayment(90, 1, '200.00', '200.00', 8);
    await world.follow();
    expect(await world.openChanges()).toEqual([]);
    await world.prepayment(90, 1, '200.00', '150.00', 9);
    await world.use(3, 1, '50.00', 9);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90', '2: client 1 by 90', '3: client 1 by 90']);
  });

  test('cancelled before a match was found: nothing is to be found', async () => {
    await world.use(1, 1, '119.00', 5);
    await world.use(2, 1, '-119.00', 6);
    await world.prepayment(91, 3, '119.00', '0.00', 20);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 2', '2: client 2']);
  });

  test('a linked refund is no use; the original’s client is the refund’s, also when it changes', async () => {
    await world.prepayment(91, 1, '-119.00', '0.00', 5, { refunds: 90 });
    await world.prepayment(90, 1, '200.00', '81.00', 5);
    await world.use(1, 1, '119.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 2']);
    expect(await world.openChanges()).toEqual([]);
    await world.prepayment(90, 4, '200.00', '81.00', 9);
    const installation = { id: world.id, timezone: 'Europe/Helsinki', dialect };
    await followMarked(db, installation, transactionsOf(db));
    expect(await world.marked()).toEqual(['prepayment 90', 'prepayment 91']);
  });

  test('the client of the matched prepayment changes: its payments are judged again', async () => {
    await world.use(1, 1, '119.00', 5);
    await world.prepayment(90, 1, '200.00', '81.00', 5);
    await world.follow();
    await world.prepayment(90, 4, '200.00', '81.00', 9);
    const installation = { id: world.id, timezone: 'Europe/Helsinki', dialect };
    await followMarked(db, installation, transactionsOf(db));
    expect(await world.marked()).toEqual(['payment 1', 'prepayment 90']);
    expect(await world.used()).toEqual(['1: client 4 by 90']);
  });

  test('a payment that is of another type, or gone, loses its match', async () => {
    await world.use(1, 1, '119.00', 5);
    await world.prepayment(90, 1, '200.00', '81.00', 5);
    await world.follow();
    await world.use(1, 1, '119.00', 6, { payment_type: 0 });
    await world.follow();
    expect(await world.used()).toEqual([]);
    await world.use(2, 1, '119.00', 5);
    await world.prepayment(90, 1, '200.00', '80.00', 9);
    await world.follow();
    expect(await world.used()).toEqual(['2: client 2']);
  });

  test('until it is posted, the client without a match is the invoice’s present one; then it stays', async () => {
    await world.use(1, 1, '7.00', 5);
    await world.follow();
    await world.invoice(1, 3);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 3']);
    await execute(db, 'update document set entry_count = 1 where installation = ? and kind = ?', [world.id, 'payment']);
    await world.invoice(1, 4);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 3']);
  });
});

describe('own client first (R7)', () => {
  /** Invoices 1 and 2 belong to client 1, invoice 3 to client 2. */
  beforeEach(async () => {
    for (const [invoice, client] of [
      [1, 1],
      [2, 1],
      [3, 2],
    ] as const)
      await world.invoice(invoice, client);
  });

  test('example 16: one use of 180.00 on the client’s invoice, seen on the first load', async () => {
    await world.prepayment(90, 1, '180.00', '0.00', 5);
    await world.prepayment(91, 1, '220.00', '220.00');
    // Another client's prepayment has decreased by the same amount.
    await world.prepayment(92, 2, '180.00', '0.00', 5);
    await world.use(1, 1, '180.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90']);
    expect(await world.openChanges()).toEqual(['92 180']);
  });

  test('two uses that are seen as one drop, beside a stranger’s', async () => {
    await world.prepayment(90, 1, '200.00', '0.00', 5);
    await world.use(1, 1, '119.00', 4);
    await world.use(2, 2, '81.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90', '2: client 1 by 90']);
    expect(await world.openChanges()).toEqual([]);
  });

  test('from several, where one is not enough', async () => {
    await world.prepayment(90, 1, '60.00', '0.00', 5);
    await world.prepayment(91, 1, '100.00', '60.00', 5, { created: minute(1) });
    await world.use(1, 1, '100.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90 by 91']);
  });

  test('matches that stand stay', async () => {
    await world.prepayment(90, 1, '100.00', '100.00');
    await world.prepayment(91, 1, '100.00', '100.00', 0, { created: minute(1) });
    await world.use(1, 1, '50.00', 5);
    await world.prepayment(91, 1, '100.00', '50.00', 5, { created: minute(1) });
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 91']);
    await world.use(2, 1, '50.00', 9);
    await world.prepayment(90, 1, '100.00', '50.00', 9);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 91', '2: client 1 by 90']);
  });

  test('a use and its cancellation net out, and the use after them finds its prepayment', async () => {
    await world.use(1, 1, '119.00', 3);
    await world.use(2, 1, '-119.00', 4);
    await world.use(3, 1, '70.00', 5);
    await world.use(4, 2, '30.00', 6);
    await world.prepayment(90, 1, '200.00', '100.00', 6);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1', '2: client 1', '3: client 1 by 90', '4: client 1 by 90']);
    // The cancellation of a matched use removes its match.
    await world.use(5, 2, '-30.00', 9);
    await world.prepayment(90, 1, '200.00', '130.00', 9);
    await world.follow();
    expect((await world.used()).at(-1)).toBe('5: client 1 by 90');
  });

  test('a linked refund that lowers it is none of it', async () => {
    await world.prepayment(91, 1, '-20.00', '0.00', 6, { refunds: 90 });
    await world.prepayment(90, 1, '200.00', '30.00', 6);
    await world.use(1, 1, '100.00', 4);
    await world.use(2, 2, '50.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90', '2: client 1 by 90']);
  });

  test('paid after the day of the use: nothing is matched', async () => {
    const nextDay = { created: minute(24 * 60), modified: minute(25 * 60) };
    await world.prepayment(90, 1, '200.00', '0.00', 0, nextDay);
    await world.use(1, 1, '119.00', 5);
    await world.use(2, 1, '81.00', 6);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1', '2: client 1']);
  });

  test('the sums differ: the rule of the one set, over all clients', async () => {
    await world.prepayment(90, 1, '100.00', '0.00', 5);
    await world.prepayment(92, 2, '80.00', '0.00', 5);
    // Client 1's uses are of 80.00, but its prepayment has decreased by 100.00, so one use is on client 2's invoice.
    await world.use(1, 1, '80.00', 5);
    await world.use(2, 3, '100.00', 5);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 2 by 92', '2: client 1 by 90']);
  });

  test('once another client’s use is matched, what is left adds up', async () => {
    await world.prepayment(90, 1, '300.00', '45.00', 5);
    await world.use(1, 1, '100.00', 4);
    await world.use(2, 2, '80.00', 5);
    await world.use(3, 3, '75.00', 3);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1', '2: client 1', '3: client 2']);
    await db.transaction((trx) =>
      setMatch(trx, world.id, { payment: 3, prepayments: [90], actedBy: 'M. Virtanen', reason: 'receipt 881' }),
    );
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1 by 90', '2: client 1 by 90', '3: client 1 by 90']);
  });

  test('of what a person has said that it is not known, nothing is found', async () => {
    await world.prepayment(90, 1, '200.00', '0.00', 5);
    await world.use(1, 1, '119.00', 4);
    await world.use(2, 2, '81.00', 5);
    await world.follow();
    const said = { payment: 1, prepayments: [], actedBy: 'M. Virtanen', reason: 'of nobody we know' };
    await db.transaction((trx) => setMatch(trx, world.id, said));
    await world.prepayment(90, 1, '200.00', '0.00', 7);
    await world.follow();
    expect(await world.used()).toEqual(['1: client 1', '2: client 1 by 90']);
  });
});

test('the order in which records and windows come does not decide', async () => {
  // No sum of these amounts equals another, so each use has one explanation.
  const uses = fc.array(
    fc.record({ prepayment: fc.integer({ min: 0, max: 3 }), invoice: fc.integer({ min: 1, max: 4 }) }),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  await fc.assert(
    fc.asyncProperty(uses, fc.infiniteStream(fc.nat()), async (made, random) => {
      const life = new World();
      const next = (below: number) => (random.next().value as number) % below;
      for (let invoice = 1; invoice <= 4; invoice++) await life.invoice(invoice, 10 + invoice);
      // The events in the source. Records of one document come in order, and in any order relative to others.
      const unused = [0, 1, 2, 3].map(() => 100_000);
      const queues: (() => Promise<void>)[][] = unused.map((cents, n) => [
        () => life.prepayment(90 + n, n + 1, '1000.00', (cents / 100).toFixed(2)),
      ]);
      made.forEach(({ prepayment, invoice }, at) => {
        const cents = 2 ** at;
        unused[prepayment]! -= cents;
        const left = (unused[prepayment]! / 100).toFixed(2);
        queues[prepayment]?.push(() => life.prepayment(90 + prepayment, prepayment + 1, '1000.00', left, at + 1));
        queues.push([() => life.use(at + 1, invoice, (cents / 100).toFixed(2), at + 1)]);
      });
      // A window has any number of documents, none twice: two decreases of one prepayment that appear as one explain
      // neither use.
      for (let waiting = queues; waiting.length > 0; waiting = queues.filter((queue) => queue.length > 0)) {
        for (const queue of waiting) if (next(2) === 0) await queue.shift()?.();
        await life.follow();
      }
      expect(await life.used()).toEqual(
        made.map(({ prepayment }, at) => `${at + 1}: client ${prepayment + 1} by ${90 + prepayment}`),
      );
    }),
    { numRuns: runs(25) },
  );
}, 60_000);
