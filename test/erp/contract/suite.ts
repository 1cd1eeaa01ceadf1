// What every target has to keep to, tried through the engine that delivers: the same cases for the fake with each record and, by
// the tests of a target, for a real ERP.

import { expect, test } from 'vitest';
import { Rng } from '../../../sandbox/rng.ts';
import type { InstallationConfig } from '../../../src/config/load.ts';
import type { Db } from '../../../src/db/pool.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { openDelivery } from '../../../src/erp/delivery.ts';
import { retryUnits } from '../../../src/erp/outbox/state.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import { query } from '../../support/sql.ts';
import { append, type PlannedEntry, plan } from '../rounds/world.ts';

/** An entry in the ERP's books, read in another way than the target does. */
export interface HeldInErp {
  description: string;
  state: string;
  date: string;
  /** `account amount` of each line, debit positive, two decimals. */
  lines: string[];
}

/** A company of an ERP with empty books, and what a test does to it. */
export interface ContractSubject {
  db: Db;
  databaseId: string;
  installation: InstallationConfig;
  /** A connection of its own, as another process has one. */
  open(): ErpTarget;
  clock: Clock;
  /** Lets time pass while the work is done; the work itself where time passes by itself. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** The connection of the next request that creates entries breaks before it has arrived, or after. */
  breakNextCreate(when: 'before' | 'after'): void;
  /** Closes the days up to and including this one. */
  lock(through: string): Promise<void>;
  unlock(): Promise<void>;
  /** Everything in the books, drafts too. */
  held(): Promise<HeldInErp[]>;
  close(): Promise<void>;
}

/** A delivery ends when nothing has been due for this many slices. */
const mostSlices = 60;

/** Declares the cases; `begin` makes a company of its own for each. */
export function contractSuite(begin: () => Promise<ContractSubject>): void {
  const within = async (work: (subject: ContractSubject, delivery: Delivery) => Promise<void>) => {
    const subject = await begin();
    try {
      await work(subject, new Delivery(subject));
    } finally {
      await subject.close();
    }
  };

  test('entries and their corrections are in the ERP once, as they were posted', () =>
    within(async (_, delivery) => {
      const planned = await delivery.post(6);
      await delivery.drain();
      expect(await delivery.states()).toEqual(planned.map(() => 'delivered'));
      await delivery.expectHeld(planned);
    }));

  test.each(['before', 'after'] as const)(
    'a connection that breaks %s a request has arrived loses and doubles nothing',
    (when) =>
      within(async (subject, delivery) => {
        const planned = await delivery.post(3);
        subject.breakNextCreate(when);
        await delivery.drain();
        await delivery.expectHeld(planned);
        expect(new Set(await delivery.states())).toEqual(new Set(['delivered']));
      }),
  );

  test('what is dated in a closed period waits, and is sent when it is open again', () =>
    within(async (subject, delivery) => {
      const planned = await delivery.post(4);
      await subject.lock('2026-12-31');
      await delivery.drain();
      if (!subject.open().capabilities.periods.readable) return;
      const first = planned.filter(({ follows }) => follows === null).length;
      const states = await delivery.states();
      expect(states.filter((state) => state === 'refused')).toHaveLength(first);
      expect(await subject.held()).toEqual([]);
      await subject.unlock();
      await delivery.retry();
      await delivery.drain();
      await delivery.expectHeld(planned);
    }));
}

class Delivery {
  readonly #subject: ContractSubject;

  constructor(subject: ContractSubject) {
    this.#subject = subject;
  }

  /** Posts documents and corrections of them. */
  async post(documents: number): Promise<PlannedEntry[]> {
    const { db, installation, run } = this.#subject;
    const planned = plan(new Rng(documents, 'contract'), {
      ...{ installations: [installation.id], documents, fromMs: 0, throughMs: 0, flawShare: 0 },
    });
    await run(() => append(db, planned));
    return planned;
  }

  /** Delivers until nothing is due any more. */
  async drain(): Promise<void> {
    const { db, databaseId, installation, clock, run, open } = this.#subject;
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
    const delivery = openDelivery({ db, databaseId, clock, log: log as never, open });
    const { signal } = new AbortController();
    await run(async () => {
      await delivery.enqueue(installation);
      for (let slices = 0; slices < mostSlices; slices++) {
        const pause = (ms: number) => clock.sleep(ms, signal);
        const slice = { installation, holder: 'contract', signal, pause, onProgress: () => undefined };
        const { nextDueMs } = await delivery.slice(slice);
        if (nextDueMs === null) return;
        await clock.sleep(Math.max(100, nextDueMs));
      }
      throw new Error('delivery does not come to an end');
    });
    await delivery.close();
  }

  async retry(): Promise<void> {
    const { db, installation, run } = this.#subject;
    const by = { actedBy: 'the contract', reason: 'the period is open' };
    await run(() => db.transaction((trx) => retryUnits(trx, installation.id, null, by)));
  }

  states(): Promise<string[]> {
    const { db, installation, run } = this.#subject;
    return run(async () => {
      const units = await query<{ state: string }>(
        db,
        'select state from erp_unit where installation = ? order by seq',
        [installation.id],
      );
      return units.map(({ state }) => state);
    });
  }

  /** The books hold exactly these, posted. */
  async expectHeld(planned: readonly PlannedEntry[]): Promise<void> {
    const held = await this.#subject.held();
    const told = ({ description, state, date, lines }: HeldInErp) =>
      [description, state, date, ...lines.toSorted()].join('; ');
    const expected = planned.map(({ name, date, draft }) =>
      told({
        ...{ description: name, state: 'posted', date },
        lines: draft.lines.map(
          ({ account, side, amount }) => `${account} ${(side === 'debit' ? amount : amount.negated()).toFixed(2)}`,
        ),
      }),
    );
    expect(held.map(told).toSorted()).toEqual(expected.toSorted());
  }
}
