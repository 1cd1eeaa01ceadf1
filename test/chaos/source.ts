// The practice as a database sees it: transactions that begin, give out ids and `modified`, and commit later.

import type { JsonValue } from '../../src/records/json.ts';
import { canonicalJson } from '../../src/records/json.ts';
import type { RecordKind } from '../../src/terms.ts';

/** A record as committed. */
export interface Stored {
  kind: RecordKind;
  id: number;
  raw: string;
  value: JsonValue;
  /** Epoch ms, as precise as the server keeps it. */
  modifiedMs: number;
  /** The invoice of a row or payment. */
  parent: number | null;
  invoiceDate: string | null;
  status: number | null;
}

export interface Change {
  kind: RecordKind;
  id: number;
  /** Null: deleted. */
  record: Stored | null;
}

/** One commit's effect on an invoice and its row set. */
export interface InvoiceState {
  raw: string | null;
  rows: string;
}

interface Due {
  at: number;
  /** Order among equals: as they were scheduled. */
  serial: number;
  run(): void;
}

export function stored(
  kind: RecordKind,
  fields: Record<string, unknown> & { id: number },
  known: { modifiedMs: number; parent?: number; invoiceDate?: string; status?: number },
): Stored {
  return {
    kind,
    id: fields.id,
    raw: canonicalJson(fields),
    value: fields,
    modifiedMs: known.modifiedMs,
    parent: known.parent ?? null,
    invoiceDate: known.invoiceDate ?? null,
    status: known.status ?? null,
  };
}

/** Whether the lists show a document without the id that it has: every so many do. */
export function isUnusable(every: number, kind: RecordKind, id: number): boolean {
  return every > 0 && kind !== 'row' && id % every === 4;
}

/** One text for a set of rows. */
export function rowsText(rows: { id: number; raw: string }[]): string {
  return [...rows]
    .sort((a, b) => a.id - b.id)
    .map(({ raw }) => raw)
    .join('\n');
}

export class Source {
  now: number;
  readonly tables: Record<RecordKind, Map<number, Stored>> = {
    invoice: new Map(),
    row: new Map(),
    payment: new Map(),
    prepayment: new Map(),
  };
  /** Every state that an invoice and its rows have had, by commit. */
  readonly history = new Map<number, InvoiceState[]>();
  readonly #rowsOf = new Map<number, Set<number>>();
  readonly #locked = new Set<string>();
  readonly #next: Record<RecordKind, number> = { invoice: 1000, row: 5000, payment: 300, prepayment: 70 };
  /** The changes that first brought an invoice with its rows, or a prepayment. */
  readonly #firsts = new Map<string, Change[]>();
  #due: Due[] = [];
  #serial = 0;
  deletions = 0;
  /** The practice's own clock less the true time; it writes `modified` and the `Date` of answers. */
  clockAheadMs = 0;
  /** Records put back to an earlier version, as a restored backup leaves them. */
  restored = 0;

  constructor(now: number) {
    this.now = now;
  }

  /** Ids are given out in order, as a sequence does, whenever their transactions commit. */
  nextId(kind: RecordKind): number {
    return this.#next[kind]++;
  }

  skipIds(kind: RecordKind, count: number): void {
    this.#next[kind] += count;
  }

  schedule(at: number, run: () => void): void {
    this.#due.push({ at: Math.max(at, this.now), serial: this.#serial++, run });
  }

  /** Whether a transaction that has not committed yet holds the record. */
  isLocked(kind: RecordKind, id: number): boolean {
    return this.#locked.has(`${kind}/${id}`);
  }

  /** Commits at a later time; what it touches is locked until then. */
  commit(changes: Change[], at: number): void {
    const names = changes.map(({ kind, id }) => `${kind}/${id}`);
    for (const name of names) this.#locked.add(name);
    this.schedule(at, () => {
      for (const name of names) this.#locked.delete(name);
      this.#apply(changes);
    });
  }

  /** Lets time pass: everything due by then happens, in order. */
  advance(to: number): void {
    for (;;) {
      let first: Due | null = null;
      for (const due of this.#due) {
        if (due.at > to) continue;
        if (first === null || due.at < first.at || (due.at === first.at && due.serial < first.serial)) first = due;
      }
      if (first === null) break;
      this.#due.splice(this.#due.indexOf(first), 1);
      this.now = Math.max(this.now, first.at);
      first.run();
    }
    this.now = Math.max(this.now, to);
  }

  /** When the last thing that is scheduled happens. */
  get quietFrom(): number {
    return this.#due.reduce((latest, { at }) => Math.max(latest, at), this.now);
  }

  get isQuiet(): boolean {
    return this.#due.length === 0;
  }

  /** Puts an invoice and its rows, or another record, back to how they were at its first commit. */
  restore(kind: 'invoice' | 'prepayment', id: number, at: number): void {
    const first = this.#firsts.get(`${kind}/${id}`);
    const locked = [{ kind, id }, ...this.rowsOf(id).map((row) => ({ kind: row.kind, id: row.id }))];
    // Put back as it is, its rows could only be told by reading them all.
    const isSame = first?.some(
      (change) => change.kind === kind && change.record?.raw === this.tables[kind].get(id)?.raw,
    );
    if (!first || isSame || !this.tables[kind].has(id) || locked.some((one) => this.isLocked(one.kind, one.id))) return;
    const rows = kind === 'invoice' ? this.rowsOf(id) : [];
    const kept = new Set(first.map((change) => `${change.kind}/${change.id}`));
    const added = rows.filter((row) => !kept.has(`row/${row.id}`));
    this.restored += 1;
    this.commit([...first, ...added.map((row) => ({ kind: row.kind, id: row.id, record: null }))], at);
  }

  rowsOf(invoice: number): Stored[] {
    return [...(this.#rowsOf.get(invoice) ?? [])].map((id) => this.tables.row.get(id)!);
  }

  #apply(changes: Change[]): void {
    const invoices = new Set<number>();
    for (const { kind, id, record } of changes) {
      if (record && (kind === 'invoice' || kind === 'prepayment') && !this.#firsts.has(`${kind}/${id}`)) {
        this.#firsts.set(
          `${kind}/${id}`,
          changes.filter((one) => one.record && (one.id === id || one.record.parent === id) && one.kind !== 'payment'),
        );
      }
      const before = this.tables[kind].get(id);
      if (kind === 'invoice') invoices.add(id);
      if (kind === 'row') {
        const parent = (record ?? before)?.parent;
        if (parent != null) {
          invoices.add(parent);
          const rows = this.#rowsOf.get(parent) ?? new Set();
          if (record) rows.add(id);
          else rows.delete(id);
          this.#rowsOf.set(parent, rows);
        }
      }
      if (record) this.tables[kind].set(id, record);
      else if (this.tables[kind].delete(id) && kind !== 'row') this.deletions += 1;
    }
    for (const invoice of invoices) {
      const states = this.history.get(invoice) ?? [];
      const raw = this.tables.invoice.get(invoice)?.raw ?? null;
      states.push({ raw, rows: rowsText(this.rowsOf(invoice)) });
      this.history.set(invoice, states);
    }
  }
}
