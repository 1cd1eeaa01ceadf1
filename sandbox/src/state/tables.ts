// The clinic's tables by name: what the state file saves, and what a change is called.
import type { RecordBase } from '../records.ts';
import { Table } from '../table.ts';

export class Tables {
  readonly byName = new Map<string, Table<RecordBase>>();
  readonly #names = new Map<unknown, string>();

  /** Adds an empty table. `name` is its resource's name, `firstId` its first id, `groupOf` the parent by which it is indexed. */
  add<T extends RecordBase>(name: string, firstId: number, groupOf: ((record: T) => number) | null = null): Table<T> {
    const table = new Table<T>(firstId, groupOf);
    // Whoever goes through all tables copies their records unchanged, so that their types do not matter there.
    this.byName.set(name, table as unknown as Table<RecordBase>);
    this.#names.set(table, name);
    return table;
  }

  nameOf(table: unknown): string {
    const name = this.#names.get(table);
    if (name === undefined) throw new Error('a table of another clinic');
    return name;
  }
}
