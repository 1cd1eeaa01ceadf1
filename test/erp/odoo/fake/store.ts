// Tables in memory, with transactions: what is changed in one that fails is put back.

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
/** `false` where a field is empty, as in Odoo. */
export type Row = { readonly id: number; readonly [field: string]: Json };

export class Store {
  readonly #tables = new Map<string, Map<number, Row>>();
  readonly #lastIds = new Map<string, number>();
  /** How to put back what the open transactions have changed; the innermost is last. */
  readonly #undo: (() => void)[][] = [];

  rows(model: string): Row[] {
    return [...this.#table(model).values()];
  }

  get(model: string, id: number): Row | undefined {
    return this.#table(model).get(id);
  }

  /** An id that no record had: sequences do not go back with a transaction. */
  nextId(model: string): number {
    const id = (this.#lastIds.get(model) ?? 0) + 1;
    this.#lastIds.set(model, id);
    return id;
  }

  put(model: string, row: Row): void {
    this.#remember(model, row.id);
    this.#table(model).set(row.id, row);
  }

  remove(model: string, id: number): void {
    this.#remember(model, id);
    this.#table(model).delete(id);
  }

  /** All or nothing; within another one it is a savepoint. */
  transaction<Result>(work: () => Result): Result {
    const undo: (() => void)[] = [];
    this.#undo.push(undo);
    try {
      const result = work();
      this.#undo.pop();
      this.#undo.at(-1)?.push(...undo);
      return result;
    } catch (error) {
      this.#undo.pop();
      for (const putBack of undo.reverse()) putBack();
      throw error;
    }
  }

  #remember(model: string, id: number): void {
    const table = this.#table(model);
    const before = table.get(id);
    this.#undo.at(-1)?.push(() => {
      if (before === undefined) table.delete(id);
      else table.set(id, before);
    });
  }

  #table(model: string): Map<number, Row> {
    const known = this.#tables.get(model);
    if (known !== undefined) return known;
    const table = new Map<number, Row>();
    this.#tables.set(model, table);
    return table;
  }
}
