// The clinic's tables by name. The state file and the records of changes use these names.
import type { RecordBase } from '../records.ts';
import { Table } from '../table.ts';

export class Tables {
  readonly byName = new Map<string, Table<RecordBase>>();
  readonly #names = new Map<unknown, string>();

  /**
   * Adds an empty table. `name` is its resource's name, `firstId` its first id, `groupOf` the parent by which it is
   * indexed.
   */
  add<T extends RecordBase>(name: string, firstId: number, groupOf: ((record: T) => number) | null = null): Table<T> {
    const table = new Table<T>(firstId, groupOf);
    // Code that uses all tables copies records unchanged, so the type of the records does not matter there.
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
