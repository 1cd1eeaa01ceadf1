// The contract of every target, tested through the delivery engine. The same cases run for the fake with each
// capability record, for files, and for a real ERP in the tests of its target. They are plain functions, so that the
// mutant tests can run them with broken delivery and see them fail.

import { deepStrictEqual, ok } from 'node:assert/strict';
import { Rng } from '../../../sandbox/src/rng.ts';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import { transactionsOf } from '../../../src/db/lease.ts';
import type { Db } from '../../../src/db/pool.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import type { DraftEntry } from '../../../src/domain/entry.ts';
import { Money, sum } from '../../../src/domain/money.ts';
import type { Capabilities } from '../../../src/erp/capabilities.ts';
import { adoptForeign, recordSearch } from '../../../src/erp/claims/claim-store.ts';
import { companyKeyOf } from '../../../src/erp/company.ts';
import { type Delivery, openDelivery } from '../../../src/erp/delivery.ts';
import { retryUnits } from '../../../src/erp/outbox/state.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import { appendEntries } from '../../../src/ledger/journal/append-entries.ts';
import { summariseDays } from '../../../src/ledger/summaries/summarise.ts';
import { draft } from '../../ledger/drafts.ts';
import { append, type PlannedEntry, plan } from '../../simulator/delivery/plan.ts';
import { query } from '../../support/sql.ts';
import type { SimulatedTime } from '../fake/time.ts';
import type { Troubles } from './troubled.ts';

/** An entry in the ERP's books, read in another way than by the target. */
export interface HeldInErp {
  description: string;
  state: string;
  date: string;
  /** Amounts are positive for debits. `matched`: the group of lines with which the ERP matches the line. */
  lines: { account: string; amount: Money; matched?: string | null }[];
}

/** A company of an ERP with empty books, and the operations of a test on it. */
export interface ContractSubject {
  capabilities: Capabilities;
  db: Db;
  databaseId: string;
  installation: InstallationConfig;
  time: SimulatedTime;
  /** Opens a new connection, as another process would. File targets do not use it. */
  open(): ErpTarget;
  /** The failures of requests on the opened connections. */
  troubles: Troubles;
  /** Makes the target unwritable, or writable again. */
  setAway(isAway: boolean): void;
  /** Closes the days up to and including this one. */
  lock(through: string): Promise<void>;
  unlock(): Promise<void>;
  /** All entries in the books, including drafts. */
  held(): Promise<HeldInErp[]>;
  /**
   * Others' entries fill the first page of a list. After the returned call, one of them is deleted, and another is
   * added, each time before a second page is answered. Absent if no page of a list can lose an entry to another.
   */
  crowd?(): () => void;
  /** Violations of the ERP's rules by its client, as the ERP recorded them. */
  misdeeds(): string[];
  close(): Promise<void>;
}

export interface ContractCase {
  name: string;
  /** The reason why the case does not apply to a target with this record; null if it applies. */
  doesNotApply(capabilities: Capabilities): string | null;
  run(delivery: ContractDelivery, subject: ContractSubject): Promise<void>;
}

/** An account that is in no chart, among the `flaws` of the rounds. */
const unknownAccount = '3991';
/** A VAT group without a code in the mapping. */
const unmappedGroup = 'Z';

const always = () => null;
const ifAnswers = ({ kind }: Capabilities) =>
  kind === 'file' ? 'a file answers nothing: what a crash leaves is told by the stored batch' : null;
const ifLooksUp = (record: Capabilities) =>
  ifAnswers(record) ?? (record.key.lookup === 'none' ? 'nothing can be looked up' : null);
const ifDrafts = (record: Capabilities) =>
  ifLooksUp(record) ?? (record.write.steps === 'one' ? 'it has no drafts' : null);
const ifRefusesIds = (record: Capabilities) =>
  record.request_id?.on_repeat === 'refused' ? null : 'deliveries do not rely on the refusal of a repeated id';
const ifSweeps = (record: Capabilities) =>
  ifDrafts(record) ??
  (record.write.withdraw !== 'none' ? null : 'its drafts cannot be withdrawn') ??
  (ifRefusesIds(record) === null ? 'it refuses a late request, whose id it has received before' : null) ??
  (record.key.unique === 'none' ? null : 'it has no second draft of a key');
const ifReadBack = (record: Capabilities) =>
  ifLooksUp(record) ?? (record.read_back.by === 'none' ? 'nothing can be read back' : null);
const ifLocks = (record: Capabilities) =>
  record.periods.readable || record.periods.on_locked === 'refused'
    ? null
    : 'its closed periods can neither be read nor do they refuse anything';

/** For an ERP whose lists have numbered pages, and can lose an entry; its subject has `crowd`. */
export const changingList: ContractCase = {
  name: 'a list of which entries are deleted and added while it is read misses none',
  doesNotApply: ifLooksUp,
  async run(delivery, subject) {
    const change = subject.crowd?.() ?? (() => undefined);
    const planned = await delivery.post(3, { corrections: false });
    await delivery.drain();
    await delivery.forget();
    change();
    await delivery.drain();
    await delivery.expectDelivered(planned);
  },
};

export const contractCases: ContractCase[] = [
  {
    name: 'a company that has another database’s entries gets nothing before they are adopted, and each once then',
    doesNotApply: ifLooksUp,
    async run(delivery, subject) {
      delivery.isClaimed = false;
      const planned = await delivery.post(3, { corrections: false });
      delivery.databaseId = 'another';
      await delivery.drain();
      await delivery.forget();
      delivery.databaseId = null;
      // Waits until the ERP's look-ups show all entries.
      await delivery.wait((subject.capabilities.key.lookup_lag_seconds + 1) * 1000);
      const before = told(await subject.held());
      await delivery.drain();
      // The second pass reads entries again that the first one saw.
      for (let look = 0; look < 2; look++) {
        if (look > 0) await delivery.drain();
        deepStrictEqual(delivery.waitedFor, 'erp_company_foreign');
        deepStrictEqual(told(await subject.held()), before);
      }
      await delivery.adopt();
      await delivery.drain();
      await delivery.expectDelivered(planned);
    },
  },
  {
    name: 'a database that has forgotten what it sent looks it up, and doubles nothing',
    doesNotApply: ifLooksUp,
    async run(delivery) {
      delivery.isClaimed = false;
      const planned = await delivery.post(3, { corrections: false });
      await delivery.drain();
      await delivery.forget();
      planned.push(...(await delivery.post(2, { corrections: false, from: 3 })));
      await delivery.drain();
      await delivery.expectDelivered(planned);
    },
  },
  {
    name: 'nothing is sent while the list of entries with keys is not complete',
    doesNotApply: ifLooksUp,
    async run(delivery, subject) {
      delivery.isClaimed = false;
      const planned = await delivery.post(2, { corrections: false });
      subject.troubles.add('keyed', { is: 'incomplete' });
      await delivery.tryFor(1);
      deepStrictEqual(await subject.held(), []);
      await delivery.drain();
      await delivery.expectDelivered(planned);
    },
  },
  {
    name: 'entries and their corrections are there once, as they were posted',
    doesNotApply: always,
    async run(delivery) {
      const planned = await delivery.post(4);
      await delivery.drain();
      await delivery.expectDelivered(planned);
    },
  },
  {
    name: 'a target that is away keeps everything waiting, and has it once when it is back',
    doesNotApply: always,
    async run(delivery, subject) {
      const planned = await delivery.post(2, { corrections: false });
      subject.setAway(true);
      await delivery.tryFor(2);
      deepStrictEqual(await subject.held(), []);
      subject.setAway(false);
      await delivery.drain();
      await delivery.expectDelivered(planned);
    },
  },
  ...(['create', 'post'] as const).flatMap((kind) => [
    ...(['lost', 'answer_lost', 'refused_though_done'] as const).map((trouble) => ({
      name: `a request to ${kind} with the trouble «${trouble}» loses and doubles nothing`,
      doesNotApply: kind === 'create' ? ifLooksUp : ifDrafts,
      async run(delivery: ContractDelivery, subject: ContractSubject) {
        const planned = await delivery.post(2, { corrections: false });
        subject.troubles.add(kind, { is: trouble });
        await delivery.drain();
        const { steps, max_entries: atATime } = subject.capabilities.write;
        if (trouble === 'refused_though_done' && kind === 'create' && steps !== 'one' && atATime === 1) {
          // The refusal names the entry, so its draft is withdrawn, and the entry waits for a person.
          deepStrictEqual((await delivery.unitsIn('refused')).length, 1);
          deepStrictEqual((await subject.held()).length, planned.length - 1);
          await delivery.retry();
          await delivery.drain();
        }
        await delivery.expectDelivered(planned);
      },
    })),
    {
      name: `a request to ${kind} that takes effect when nobody waits for it any more loses and doubles nothing`,
      doesNotApply: kind === 'create' ? ifLooksUp : ifDrafts,
      async run(delivery, subject) {
        const planned = await delivery.post(2, { corrections: false });
        const mayWorkMs = subject.capabilities.doubt.server_may_work_seconds * 1_000;
        subject.troubles.add(kind, { is: 'late', ms: mayWorkMs - 2_000 });
        await delivery.drain();
        await delivery.wait(mayWorkMs);
        await delivery.expectDelivered(planned);
      },
    } satisfies ContractCase,
  ]),
  ...(['lost', 'answer_lost'] as const).map(
    (trouble): ContractCase => ({
      name: `a repeated request with the id of a request with the trouble «${trouble}» tells at once what became of it`,
      doesNotApply: ifRefusesIds,
      async run(delivery, subject) {
        const planned = await delivery.post(2, { corrections: false });
        const beganMs = subject.time.nowMs;
        subject.troubles.add('create', { is: trouble });
        await delivery.drain();
        ok(subject.time.nowMs - beganMs < subject.capabilities.doubt.server_may_work_seconds * 1_000, 'it waited');
        await delivery.expectDelivered(planned);
      },
    }),
  ),
  {
    name: 'a draft that comes later than any is known to come is swept',
    doesNotApply: ifSweeps,
    async run(delivery, subject) {
      const planned = await delivery.post(2, { corrections: false });
      const mayWorkMs = subject.capabilities.doubt.server_may_work_seconds * 1_000;
      subject.troubles.add('create', { is: 'late', ms: 3 * mayWorkMs });
      await delivery.drain();
      await delivery.wait(4 * mayWorkMs);
      deepStrictEqual((await delivery.unitsIn('delivered')).length, planned.length);
      ok((await subject.held()).length > planned.length, 'no draft has come late');
      await delivery.wait(8 * mayWorkMs);
      await delivery.drain();
      await delivery.expectDelivered(planned);
      await delivery.wait(80 * mayWorkMs);
      await delivery.drain();
      deepStrictEqual(await delivery.sweepsLeft(), 0);
    },
  },
  {
    name: 'a draft that came late and that the ERP keeps at first is swept later',
    doesNotApply: ifSweeps,
    async run(delivery, subject) {
      const planned = await delivery.post(1, { corrections: false });
      const mayWorkMs = subject.capabilities.doubt.server_may_work_seconds * 1_000;
      subject.troubles.add('create', { is: 'late', ms: 3 * mayWorkMs });
      subject.troubles.add('withdrawDrafts', { is: 'strange' }, { is: 'strange' });
      await delivery.drain();
      await delivery.wait(4 * mayWorkMs);
      for (let looks = 0; looks < 3; looks++) {
        ok((await subject.held()).length > planned.length, 'no draft has come late, or it was not kept');
        await delivery.wait(80 * mayWorkMs);
        await delivery.drain();
      }
      await delivery.expectDelivered(planned);
      deepStrictEqual(await delivery.sweepsLeft(), 0);
    },
  },
  {
    name: 'an answer to a creation that names no ids loses and doubles nothing',
    doesNotApply: ifLooksUp,
    async run(delivery, subject) {
      const planned = await delivery.post(2, { corrections: false });
      subject.troubles.add('create', { is: 'no_ids' });
      await delivery.drain();
      await delivery.expectDelivered(planned);
    },
  },
  {
    name: 'an incomplete look-up proves no absence',
    doesNotApply: ifLooksUp,
    async run(delivery, subject) {
      const planned = await delivery.post(2, { corrections: false });
      subject.troubles.add('create', { is: 'answer_lost' });
      subject.troubles.add('find', { is: 'incomplete' }, { is: 'incomplete' });
      await delivery.drain();
      await delivery.expectDelivered(planned);
    },
  },
  {
    name: 'a success is not believed: what the ERP made otherwise is refused, and corrected by nothing',
    doesNotApply: ifReadBack,
    async run(delivery, subject) {
      const planned = await delivery.post(2, { corrections: false });
      subject.troubles.add('create', { is: 'altered' });
      await delivery.drain();
      const units = await delivery.units();
      const differing = units.filter(({ problem }) => problem === 'erp_differs');
      ok(differing.length > 0, 'nothing was found to differ');
      // Delivered units are in the ERP as posted. Drafts that differ were deleted if the ERP allows that.
      const delivered = planned.filter((entry) =>
        units.some((unit) => unit.id === entry.unitId && unit.state === 'delivered'),
      );
      const held = await subject.held();
      const names = new Set(delivered.map(({ name }) => name));
      deepStrictEqual(told(held.filter(({ description }) => names.has(description))), expected(delivered));
      if (subject.capabilities.write.steps !== 'one' && subject.capabilities.write.withdraw !== 'none') {
        deepStrictEqual(told(held), expected(delivered));
      }
    },
  },
  {
    name: 'an entry that the ERP refuses leaves the rest of its batch delivered',
    doesNotApply: ifAnswers,
    async run(delivery) {
      const good = await delivery.post(2, { corrections: false });
      const [bad] = await delivery.postSale(99, { account: unknownAccount, group: 'A' });
      const more = await delivery.post(1, { corrections: false, from: 100 });
      await delivery.drain();
      deepStrictEqual(await delivery.unitsIn('refused'), [
        { id: bad?.unitId, state: 'refused', problem: 'erp_account_unknown' },
      ]);
      await delivery.expectDelivered([...good, ...more], { besides: 1 });
    },
  },
  {
    name: 'a correction waits for what it corrects',
    doesNotApply: always,
    async run(delivery, subject) {
      const flaw =
        subject.capabilities.kind === 'file'
          ? { account: '3000', group: unmappedGroup }
          : { account: unknownAccount, group: 'A' };
      const [sale] = await delivery.postSale(1, flaw);
      if (!sale) throw new Error('a sale');
      const [reversal] = await delivery.postReversal(sale);
      const good = await delivery.post(1, { corrections: false, from: 10 });
      await delivery.drain();
      const states = new Map((await delivery.units()).map(({ id, state }) => [id, state]));
      deepStrictEqual([states.get(sale.unitId), states.get(reversal?.unitId ?? '')], ['refused', 'pending']);
      await delivery.expectDelivered(good, { besides: 2 });
    },
  },
  {
    name: 'what is dated in a closed period waits, and is sent when it is open again',
    doesNotApply: ifLocks,
    async run(delivery, subject) {
      const planned = await delivery.post(2);
      await subject.lock('2026-12-31');
      await delivery.drain();
      // If periods can be read, entries that depend on a late entry are late, too. Otherwise they wait.
      const { readable } = subject.capabilities.periods;
      const late = readable ? planned : planned.filter(({ follows }) => follows === null);
      deepStrictEqual(
        (await delivery.unitsIn('refused')).map(({ problem }) => problem),
        late.map(() => 'period_closed_in_erp'),
      );
      // A draft that cannot be deleted stays until its period is open.
      const held = await subject.held();
      deepStrictEqual(
        held.filter(({ state }) => state === 'posted'),
        [],
      );
      if (subject.capabilities.write.withdraw !== 'none') deepStrictEqual(held, []);
      await subject.unlock();
      await delivery.retry();
      await delivery.drain();
      await delivery.expectDelivered(planned);
    },
  },
];

/** Delivery ends when nothing has been due for this many slices. */
const mostSlices = 80;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined };

/** The delivery of one installation into the subject. */
export class ContractDelivery {
  readonly #subject: ContractSubject;

  constructor(subject: ContractSubject) {
    this.#subject = subject;
  }

  /** Posts documents, and by default corrections of some of them. */
  async post(documents: number, { corrections = true, from = 0 } = {}): Promise<PlannedEntry[]> {
    const { installation } = this.#subject;
    const all = plan(new Rng(documents + from, 'contract'), {
      ...{ installations: [installation.id], documents: documents + from, fromMs: 0, throughMs: 0, flawShare: 0 },
    });
    const wanted = all.filter(
      ({ draft: { document }, follows }) => document.id > from && (corrections || follows === null),
    );
    return this.#append(wanted);
  }

  /** Posts a sale of 12.55 with the given account and VAT group. */
  postSale(id: number, { account, group }: { account: string; group: string }): Promise<PlannedEntry[]> {
    const vat = { group, rate: new Money('25.5') };
    const sale = draft({
      ...{ kind: 'invoice', id, date: '2026-03-02' },
      lines: [
        ['1700', 'receivable', '12.55', { invoiceId: id, party: null }],
        [account, 'revenue', '-10', { vat: { ...vat, base: null } }],
        ['2931', 'vat', '-2.55', { vat: { ...vat, base: new Money('10') } }],
      ],
    });
    return this.#append([this.#planned(sale, id, 1, null)]);
  }

  postReversal(of: PlannedEntry): Promise<PlannedEntry[]> {
    const { document, lines } = of.draft;
    const opposite = lines.map((line) => ({ ...line, side: line.side === 'debit' ? 'credit' : 'debit' }) as const);
    const reversal = {
      ...of.draft,
      reason: 'source_changed',
      reverses: of.unitId,
      lines: opposite,
      inputHash: 'none',
    } as const;
    return this.#append([this.#planned(reversal, document.id, 2, of.name)]);
  }

  #planned(entry: PlannedEntry['draft'], id: number, n: number, follows: string | null): PlannedEntry {
    const installation = this.#subject.installation.id;
    const name = `invoice ${id} of ${installation}, ${n}`;
    return {
      ...{
        installation,
        name,
        unitId: `${installation}/invoice/${id}/${n}`,
        date: entry.date,
        follows,
        flaw: null,
        atMs: 0,
      },
      draft: { ...entry, description: name },
    };
  }

  /** Posts these entries, and makes the daily summaries of their days if they have that posting mode. */
  postDrafts(drafts: DraftEntry[], postingMode: 'document' | 'daily_summary'): Promise<void> {
    const { db, installation } = this.#subject;
    return this.#run(async () => {
      const options = { decimals: 2, windowId: null, postingMode };
      await db.transaction((trx) => appendEntries(trx, installation.id, drafts, options));
      await summariseDays(transactionsOf(db), installation.id, { before: '2026-12-31', windowId: null });
    });
  }

  /** Runs a statement whose only parameter is the installation. */
  async write(sql: string): Promise<void> {
    await this.#run(() => query(this.#subject.db, sql, [this.#subject.installation.id]));
  }

  /** Matches the open items that deliveries have changed. */
  matchItems(): Promise<void> {
    return this.#withDelivery(async (delivery, clock) => {
      const { installation } = this.#subject;
      const { signal } = new AbortController();
      // The lease of the last slice is free after the instant of its release.
      await clock.sleep(1_000);
      await delivery.matchItems({ installation, holder: 'contract', signal }, { longestMs: 60_000 });
    });
  }

  async #append(planned: PlannedEntry[]): Promise<PlannedEntry[]> {
    await this.#run(() => append(this.#subject.db, planned));
    return planned;
  }

  /** Delivers until nothing is due. */
  async drain(): Promise<void> {
    if (!(await this.#deliver(mostSlices))) throw new Error(`delivery does not come to an end in ${mostSlices} slices`);
  }

  /** Delivers for some slices and expects units to remain due. */
  async tryFor(slices: number): Promise<void> {
    if (await this.#deliver(slices)) throw new Error('delivery came to an end');
  }

  /** True if this database has already claimed the company. Otherwise it sends the first unit alone. */
  isClaimed = true;
  /** The id of another database that delivers; null for the subject's database. */
  databaseId: string | null = null;
  /** The problem that kept the last slice from sending; null if there was none. */
  waitedFor: string | null = null;

  /** The claim of this installation, as the outbox names it. */
  get #claim() {
    const { erp, id } = this.#subject.installation;
    return { company: companyKeyOf(erp) ?? '', installation: id };
  }

  /** Deletes the outbox's record of sent units, as if the database were new or restored. */
  async forget(): Promise<void> {
    const { db, installation } = this.#subject;
    const tables = ['erp_unit', 'erp_cursor', 'erp_claim', 'erp_keyed_entry', 'erp_sweep', 'erp_open_item'];
    for (const table of [
      ...tables,
      'erp_delivered',
      'erp_settled_day',
      'erp_batch',
      'erp_number_due',
      'erp_open_line',
    ]) {
      await this.#run(() => query(db, `delete from ${table} where installation = ?`, [installation.id]));
    }
  }

  /** An operator accepts the entries of the other database. */
  async adopt(): Promise<void> {
    const { db } = this.#subject;
    await this.#run(() => db.transaction((trx) => adoptForeign(trx, this.#claim)));
  }

  async #deliver(slices: number): Promise<boolean> {
    const { db, installation, time } = this.#subject;
    if (this.isClaimed) {
      await this.#run(() => recordSearch(db, this.#claim, { beganAt: new Date(time.nowMs), claims: true }));
    }
    return this.#withDelivery(async (delivery, clock) => {
      const { signal } = new AbortController();
      await delivery.enqueue(installation);
      for (let left = slices; left > 0; left--) {
        const pause = (ms: number) => clock.sleep(ms, signal);
        const { nextDueMs, waitingFor } = await delivery.slice({
          installation,
          holder: 'contract',
          signal,
          pause,
          onProgress: () => undefined,
        });
        this.waitedFor = waitingFor?.code ?? null;
        if (nextDueMs === null) return true;
        await clock.sleep(Math.max(100, nextDueMs));
      }
      return false;
    });
  }

  /** Does the work of a process that opens the target anew. */
  async #withDelivery<Result>(work: (delivery: Delivery, clock: Clock) => Promise<Result>): Promise<Result> {
    const { db, time, open } = this.#subject;
    const clock = time.clock();
    const databaseId = this.databaseId ?? this.#subject.databaseId;
    const delivery = openDelivery({ db, databaseId, clock, log: silent as never, open });
    try {
      return await this.#run(() => work(delivery, clock));
    } finally {
      await delivery.close();
    }
  }

  wait(ms: number): Promise<void> {
    return this.#run(() => this.#subject.time.sleep(ms));
  }

  async retry(): Promise<void> {
    const { db, installation } = this.#subject;
    const by = { actedBy: 'the contract', reason: 'the period is open' };
    await this.#run(() => db.transaction((trx) => retryUnits(trx, installation.id, null, by)));
  }

  units(): Promise<{ id: string; state: string; problem: string | null }[]> {
    const { db, installation } = this.#subject;
    return this.#run(() =>
      query(
        db,
        'select unit_id as id, state, problem_code as problem from erp_unit where installation = ? order by seq',
        [installation.id],
      ),
    );
  }

  async sweepsLeft(): Promise<number> {
    const { db, installation } = this.#subject;
    const left = await this.#run(() => query(db, 'select from erp_sweep where installation = ?', [installation.id]));
    return left.length;
  }

  async unitsIn(state: string) {
    return (await this.units()).filter((unit) => unit.state === state);
  }

  /**
   * Expects exactly these entries in the books, posted and unchanged. `besides` is the number of units in other states.
   */
  async expectDelivered(planned: readonly PlannedEntry[], { besides = 0 } = {}): Promise<void> {
    const done = this.#subject.capabilities.kind === 'file' ? 'handed_over' : 'delivered';
    const ids = (await this.unitsIn(done)).map(({ id }) => id);
    deepStrictEqual(ids.toSorted(), planned.map(({ unitId }) => unitId).toSorted());
    ok((await this.units()).length === planned.length + besides, 'the outbox has other units, too');
    deepStrictEqual(told(await this.#subject.held()), expected(planned));
    deepStrictEqual(this.#subject.misdeeds(), []);
  }

  #run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#subject.time.run(work());
  }
}

/** Entries as texts with a total per account, because targets may divide lines differently. */
function told(held: readonly HeldInErp[]): string[] {
  const texts = held.map(({ description, state, date, lines }) => {
    const totals = [...Map.groupBy(lines, ({ account }) => account)].map(
      ([account, same]) => `${account} ${sum(same.map(({ amount }) => amount)).toFixed(2)}`,
    );
    return [description, state, date, ...totals.toSorted()].join('; ');
  });
  return texts.toSorted();
}

function expected(planned: readonly PlannedEntry[]): string[] {
  return told(
    planned.map(({ name, date, draft: { lines } }) => ({
      ...{ description: name, state: 'posted', date },
      lines: lines.map(({ account, side, amount }) => ({
        account,
        amount: side === 'debit' ? amount : amount.negated(),
      })),
    })),
  );
}
