// Judges a life by the ERP's books and the plan of the practice. It uses nothing of src/erp.

import type { HeldEntry } from '../../erp/fake/server.ts';
import type { JudgedErp } from './erp.ts';
import { addTo, expectedKey, expectedLines, type Flaw, type PlannedEntry, texts } from './plan.ts';
import { rivalId } from './rival.ts';

/** The state of a unit in the outbox. */
export interface OutboxState {
  unitId: string;
  state: string;
  problem: string | null;
  /** True if the unit is searched again, because a draft may appear late. */
  isSweptLater: boolean;
}

export class Oracle {
  readonly #server: JudgedErp;
  readonly #databaseId: string;
  readonly #byName: Map<string, PlannedEntry>;
  readonly #wrong: string[] = [];
  /** The latest day that was ever closed. */
  #lockedThrough = '';
  /** The number of unknown errors of requests with a single entry, by key. */
  readonly #unknownAlone = new Map<string, number>();

  /** False if a process may pause between the check of its limit and its request. Then it may exceed the limit. */
  readonly #isPaceJudged: boolean;

  constructor(
    server: JudgedErp,
    databaseId: string,
    planned: readonly PlannedEntry[],
    { isPaceJudged }: { isPaceJudged: boolean },
  ) {
    this.#server = server;
    this.#isPaceJudged = isPaceJudged;
    this.#databaseId = databaseId;
    this.#byName = new Map(planned.map((entry) => [entry.name, entry]));
    server.onChange = (entry) => this.#watch(entry);
  }

  noteLock(through: string): void {
    if (through > this.#lockedThrough) this.#lockedThrough = through;
  }

  /** Records that a process received an unknown error. */
  noteUnknown(keys: readonly string[]): void {
    const [key] = keys;
    if (key !== undefined && keys.length === 1) this.#unknownAlone.set(key, (this.#unknownAlone.get(key) ?? 0) + 1);
  }

  /** The number of entries of another database in the ERP, by installation, until all of them are adopted. */
  readonly rivalled = new Map<number, number>();

  /** Records which entries another database has posted. */
  noteRival(): void {
    for (const { key, description } of this.#server.held()) {
      const planned = this.#byName.get(description);
      if (planned === undefined || key !== expectedKey(rivalId, planned.unitId)) continue;
      this.rivalled.set(planned.installation, (this.rivalled.get(planned.installation) ?? 0) + 1);
    }
  }

  /** The violations found so far. */
  get wrong(): string[] {
    const misdeeds = this.#server.misdeeds.filter(({ about }) => about !== 'pace' || this.#isPaceJudged);
    return [...this.#wrong, ...misdeeds.map(({ text }) => text)];
  }

  /** Always: an entry may be in the books only after the entry that it corrects. */
  #watch(entry: HeldEntry): void {
    const planned = this.#byName.get(entry.description);
    if (!planned) {
      this.#wrong.push(`the ERP has an entry "${entry.description}" that nobody posted`);
      return;
    }
    if (this.rivalled.has(planned.installation))
      this.#wrong.push(`${planned.name} was sent although another database has the company`);
    if (entry.state !== 'posted' || planned.follows === null) return;
    const before = this.#copies(planned.follows).some(({ state }) => state === 'posted');
    if (!before) this.#wrong.push(`${planned.name} was posted before ${planned.follows}`);
  }

  #copies(name: string): HeldEntry[] {
    return this.#server.held().filter(({ description, state }) => description === name && state !== 'void');
  }

  /** During the disturbances: each refusal must have a reason, and each delivered unit must be in the books. */
  judgeNow(states: readonly OutboxState[]): string[] {
    const wrong: string[] = [];
    for (const { planned, state, problem, isSweptLater } of this.#joined(states, wrong)) {
      if (state === 'refused' && !this.#mayBeRefused(planned, problem ?? ''))
        wrong.push(`${planned.name} is refused for ${problem}`);
      if (state === 'delivered') wrong.push(...this.#judgeDelivered(planned, { mayHaveTwins: isSweptLater }));
    }
    return wrong;
  }

  /** After the disturbances: each entry must be in the books once and equal, or refused for a reason, or wait for such an entry. */
  judgeAtEnd(states: readonly OutboxState[]): string[] {
    const wrong: string[] = [];
    const stateOf = new Map<string, string>();
    const joined = this.#joined(states, wrong);
    for (const { planned, state } of joined) stateOf.set(planned.name, state);
    if (joined.length < this.#byName.size)
      wrong.push(`${this.#byName.size - joined.length} entries are not in the outbox`);
    for (const { planned, state, problem } of joined) {
      const copies = this.#copies(planned.name);
      switch (state) {
        case 'delivered':
          if (mustBeRefused(planned.flaw, this.#server))
            wrong.push(`${planned.name} is delivered, although it is flawed (${planned.flaw})`);
          wrong.push(...this.#judgeDelivered(planned, { mayHaveTwins: false }));
          break;
        case 'refused':
          if (!this.#mayStayRefused(planned, problem ?? ''))
            wrong.push(`${planned.name} (flaw ${planned.flaw}) stays refused for ${problem}`);
          if (copies.length > 1) wrong.push(`${planned.name} is refused and ${copies.length} times in the ERP`);
          break;
        case 'pending':
          if (!isBehindRefused(planned, stateOf, this.#byName)) wrong.push(`${planned.name} was left pending`);
          if (copies.length > 0) wrong.push(`${planned.name} is pending and in the ERP`);
          break;
        default:
          wrong.push(`${planned.name} is ${state} at the end`);
      }
    }
    return wrong;
  }

  /** True if no work is left that delivery can do automatically. */
  isSettled(states: readonly OutboxState[]): boolean {
    const joined = this.#joined(states, []);
    const stateOf = new Map(joined.map(({ planned, state }) => [planned.name, state]));
    return (
      joined.length === this.#byName.size &&
      joined.every(
        ({ planned, state, isSweptLater }) =>
          (state === 'delivered' && !isSweptLater) ||
          state === 'refused' ||
          (state === 'pending' && isBehindRefused(planned, stateOf, this.#byName)),
      )
    );
  }

  #joined(states: readonly OutboxState[], wrong: string[]) {
    const byUnit = new Map([...this.#byName.values()].map((planned) => [planned.unitId, planned]));
    return states.flatMap(({ unitId, ...said }) => {
      const planned = byUnit.get(unitId);
      if (!planned) wrong.push(`the outbox has ${unitId}, which nobody posted`);
      return planned ? [{ planned, ...said }] : [];
    });
  }

  /** `mayHaveTwins`: drafts that appeared late may not be deleted yet. */
  #judgeDelivered(planned: PlannedEntry, { mayHaveTwins }: { mayHaveTwins: boolean }): string[] {
    const copies = this.#copies(planned.name).filter(({ state }) => state !== 'draft' || !mayHaveTwins);
    const [only] = copies;
    if (!only) return [`${planned.name} counts as delivered, and the ERP does not have it`];
    if (copies.length > 1) return [`the ERP has ${planned.name} ${copies.length} times`];
    return this.#differences(planned, only).map((difference) => `${planned.name}: ${difference}`);
  }

  #differences(planned: PlannedEntry, held: HeldEntry): string[] {
    const wrong: string[] = [];
    const expect = (what: string, is: string | null, ought: string) => {
      if (is !== ought) wrong.push(`${what} ${is}, not ${ought}`);
    };
    expect('state', held.state, 'posted');
    expect('date', held.date, planned.date);
    if (held.key !== expectedKey(rivalId, planned.unitId))
      expect('key', held.key, expectedKey(this.#databaseId, planned.unitId));
    expect('journal', held.journal, 'SALES');
    const lines = new Map();
    for (const { account, party, dimensions, amount, vat } of held.lines) {
      addTo(lines, `${account} ${party ?? ''} ${dimensions.project ?? ''}`, amount);
      for (const tax of vat) addTo(lines, `${tax.part} ${tax.code}`, tax.amount);
    }
    const found = texts(lines);
    const expected = expectedLines(planned, this.#server.record);
    for (const place of new Set([...found.keys(), ...expected.keys()]))
      expect(place, found.get(place) ?? 'none', expected.get(place) ?? 'none');
    return wrong;
  }

  #mayBeRefused(planned: PlannedEntry, problem: string): boolean {
    if (this.#mayStayRefused(planned, problem)) return true;
    if (problem === 'period_closed_in_erp') return planned.date <= this.#lockedThrough;
    const key = expectedKey(this.#databaseId, planned.unitId);
    return problem === 'erp_refused_unknown' && (this.#unknownAlone.get(key) ?? 0) >= 3;
  }

  /** True if the entry has a flaw, or if the ERP changed it, so that it may stay refused. */
  #mayStayRefused(planned: PlannedEntry, problem: string): boolean {
    const { dimensions, periods } = this.#server.record.capabilities;
    const isRedated =
      periods.on_locked === 'redated' && this.#copies(planned.name).some(({ date }) => date !== planned.date);
    if (problem === 'erp_differs' && isRedated) return planned.date <= this.#lockedThrough;
    switch (planned.flaw) {
      case '3991':
        return problem === 'erp_account_unknown';
      case '3992':
        return problem === 'erp_refused_unknown';
      case '3993':
      case '3994':
        return problem === 'erp_differs';
      case 'nowhere': {
        const unknown = dimensions.find(({ theirs }) => theirs === 'project')?.unknown;
        if (unknown === 'refused') return problem === 'erp_dimension_unknown';
        return unknown === 'dropped' && problem === 'erp_differs';
      }
      case null:
        return false;
    }
  }
}

function mustBeRefused(flaw: Flaw | null, { record }: JudgedErp): boolean {
  if (flaw !== 'nowhere') return flaw !== null;
  return record.capabilities.dimensions.find(({ theirs }) => theirs === 'project')?.unknown !== 'created';
}

function isBehindRefused(
  { follows }: PlannedEntry,
  states: ReadonlyMap<string, string>,
  byName: ReadonlyMap<string, PlannedEntry>,
): boolean {
  if (follows === null) return false;
  if (states.get(follows) === 'refused') return true;
  const before = byName.get(follows);
  return states.get(follows) === 'pending' && before !== undefined && isBehindRefused(before, states, byName);
}
