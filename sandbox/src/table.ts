// A table of records, sorted by id and indexed by parent and by `modified`. Changes can become visible later (late
// commits).
import type { RecordBase } from './records.ts';

/** Conditions that an index can use. The candidates may include other records, which the filters remove. */
export interface Selection {
  ids?: number[];
  groups?: number[];
  idGreaterThan?: number;
  idLessThan?: number;
  modifiedFrom?: number;
}

interface LateCommit<T> {
  /** The version that lists show until `visibleAt`; null if the record is new. */
  previous: T | null;
  visibleAt: number;
}

export class Table<T extends RecordBase> {
  readonly #records: T[] = [];
  readonly #groups = new Map<number, T[]>();
  readonly #groupOf: ((record: T) => number) | null;
  readonly #late = new Map<number, LateCommit<T>>();
  // Every change appends (modified, id). If a record has changed again, its older entry is skipped.
  #changedAt: number[] = [];
  #changedId: number[] = [];
  #changesInOrder = true;
  readonly #firstId: number;
  #nextId: number;
  /** Ids of records that were added, changed or deleted since the last save. */
  #unsaved = new Set<number>();

  constructor(firstId: number, groupOf: ((record: T) => number) | null = null) {
    this.#firstId = firstId;
    this.#nextId = firstId;
    this.#groupOf = groupOf;
  }

  /** Empties the table; ids start again at the first id. */
  clear(): void {
    this.#records.length = 0;
    this.#groups.clear();
    this.#late.clear();
    this.#unsaved.clear();
    this.#rebuildChanges();
    this.#nextId = this.#firstId;
  }

  /** The changes since the last call: records by id; null for a deleted record. */
  takeUnsaved(): [number, T | null][] {
    const taken = [...this.#unsaved]
      .sort((a, b) => a - b)
      .map((id) => [id, this.get(id) ?? null] as [number, T | null]);
    this.#unsaved = new Set();
    return taken;
  }

  get size(): number {
    return this.#records.length;
  }

  get nextId(): number {
    return this.#nextId;
  }

  set nextId(id: number) {
    this.#nextId = id;
  }

  /** All records in order of id, including changes that are not visible yet. Callers must not modify them. */
  all(): readonly T[] {
    return this.#records;
  }

  get(id: number): T | undefined {
    // Ids are consecutive except for deleted records, so the record is usually at this index.
    const expected = this.#records[id - (this.#records[0]?.id ?? 0)];
    if (expected?.id === id) return expected;
    const found = this.#records[this.#firstAbove(id - 1)];
    return found?.id === id ? found : undefined;
  }

  /** The records of one parent, in order of id. */
  of(group: number): readonly T[] {
    return this.#groups.get(group) ?? [];
  }

  /** Adds a record; its id must be the highest. With `visibleAt` 0 it is visible at once. */
  add(record: T, visibleAt = 0): T {
    const last = this.#records[this.#records.length - 1];
    if (last && record.id <= last.id) throw new Error(`id ${record.id} is not above ${last.id}`);
    this.#nextId = Math.max(this.#nextId, record.id + 1);
    this.#records.push(record);
    this.#unsaved.add(record.id);
    if (this.#groupOf) {
      const group = this.#groupOf(record);
      const members = this.#groups.get(group);
      if (members) members.push(record);
      else this.#groups.set(group, [record]);
    }
    this.#noteChange(record);
    if (visibleAt > 0) this.#late.set(record.id, { previous: null, visibleAt });
    return record;
  }

  /** Changes fields of a record in place. With `visibleAt`, lists show the old version until that time. */
  change(record: T, changes: Partial<T>, visibleAt = 0): T {
    if (visibleAt > 0) {
      const earlier = this.#late.get(record.id);
      this.#late.set(record.id, {
        previous: earlier ? earlier.previous : { ...record },
        visibleAt: Math.max(visibleAt, earlier?.visibleAt ?? 0),
      });
    } else {
      this.#late.delete(record.id);
    }
    this.#unsaved.add(record.id);
    const before = record.modified;
    const group = this.#groupOf?.(record);
    Object.assign(record, changes);
    if (group !== undefined) this.#regroup(record, group);
    if (record.modified !== before) this.#noteChange(record);
    return record;
  }

  /** Moves a record whose parent has changed. A parent's records stay in order of id. */
  #regroup(record: T, from: number): void {
    const to = this.#groupOf?.(record) ?? from;
    if (to === from) return;
    this.#groups.set(
      from,
      this.of(from).filter((member) => member !== record),
    );
    this.#groups.set(
      to,
      [...this.of(to), record].sort((a, b) => a.id - b.id),
    );
  }

  delete(id: number): void {
    const record = this.get(id);
    if (!record) return;
    this.#records.splice(this.#firstAbove(id - 1), 1);
    this.#late.delete(id);
    this.#unsaved.add(id);
    if (this.#groupOf) {
      const members = this.#groups.get(this.#groupOf(record)) ?? [];
      members.splice(members.indexOf(record), 1);
    }
  }

  /** The version of a record that is visible at an instant; undefined before its insertion is committed. */
  visible(record: T, atMs: number): T | undefined {
    if (this.#late.size === 0) return record;
    const late = this.#late.get(record.id);
    if (!late) return record;
    // If the clock was set back, changes count as visible, so that no transaction lasts longer than planned.
    const wasPutBack = atMs < record.modified;
    if (late.visibleAt > atMs && !wasPutBack) return late.previous ?? undefined;
    this.#late.delete(record.id);
    return record;
  }

  /** Candidates for a list by id, from the most selective index. */
  select(selection: Selection): T[] {
    const { ids, groups, modifiedFrom, idGreaterThan = -1, idLessThan = Number.POSITIVE_INFINITY } = selection;
    if (ids) return this.#inIdOrder(ids.map((id) => this.get(id)).filter((record) => record !== undefined));
    if (groups) return this.#inIdOrder([...new Set(groups)].flatMap((group) => this.of(group)));
    const start = this.#firstAbove(idGreaterThan);
    const end = idLessThan === Number.POSITIVE_INFINITY ? this.#records.length : this.#firstAbove(idLessThan - 1);
    if (modifiedFrom === undefined) return this.#records.slice(start, end);
    return this.#changedSince(modifiedFrom);
  }

  #changedSince(instantMs: number): T[] {
    if (!this.#changesInOrder) this.#rebuildChanges();
    const found = new Set<T>();
    for (let at = lowerBound(this.#changedAt, instantMs); at < this.#changedAt.length; at++) {
      const record = this.get(this.#changedId[at] as number);
      if (record && record.modified === this.#changedAt[at]) found.add(record);
    }
    return this.#inIdOrder([...found]);
  }

  #inIdOrder(records: T[]): T[] {
    return [...new Set(records)].sort((a, b) => a.id - b.id);
  }

  #firstAbove(id: number): number {
    let low = 0;
    let high = this.#records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#records[middle] as T).id <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #noteChange(record: T): void {
    const last = this.#changedAt[this.#changedAt.length - 1];
    this.#changedAt.push(record.modified);
    this.#changedId.push(record.id);
    if (last !== undefined && record.modified < last) this.#changesInOrder = false;
    if (this.#changedAt.length > 1000 && this.#changedAt.length > 4 * this.#records.length) this.#rebuildChanges();
  }

  /**
   * Rebuilds the index by `modified` with one entry per record: after a load, a clock set back, or many stale entries.
   */
  #rebuildChanges(): void {
    const ordered = [...this.#records].sort((a, b) => a.modified - b.modified);
    this.#changedAt = ordered.map((record) => record.modified);
    this.#changedId = ordered.map((record) => record.id);
    this.#changesInOrder = true;
  }
}

const lowerBound = (sorted: readonly number[], value: number): number => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
};
