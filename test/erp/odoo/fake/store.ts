// Tables in memory with transactions: a failed transaction restores its changes.

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
/** An empty field is `false`, as in Odoo. */
export type Row = { readonly id: number; readonly [field: string]: Json };

export class Store {
  readonly #tables = new Map<string, Map<number, Row>>();
  readonly #lastIds = new Map<string, number>();
  /** The functions that undo the changes of the open transactions; the innermost is last. */
  readonly #undo: (() => void)[][] = [];

  rows(model: string): Row[] {
    return [...this.#table(model).values()];
  }

  get(model: string, id: number): Row | undefined {
    return this.#table(model).get(id);
  }

  /** A new id. Like sequences in PostgreSQL, ids are not reused after a rollback. */
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

  /** Runs all of `work` or none of it. Inside another transaction it is a savepoint. */
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
