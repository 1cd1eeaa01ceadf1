// What people do in the practice, as transactions of the simulated source. Amounts are whole euros: nothing here is posted.

import type { Rng } from '../../sandbox/src/rng.ts';
import { Zone } from '../../sandbox/src/zone.ts';
import type { RecordKind } from '../../src/terms.ts';
import { type Change, type Source, type Stored, stored } from './source.ts';
import { type Traits, timezone } from './traits.ts';

const zone = new Zone(timezone);
const finalStatus = 3;
const api = 'https://practice.example/1/api/0.1';

/** The facts that a new version is made from; `euros` is the total of an invoice, the sum of a row, the amount paid. */
interface Facts {
  name: string;
  euros: number;
  status?: number;
  invoice?: number;
}

type Deed = (practice: Practice, at: number) => Change[];

export class Practice {
  readonly source: Source;
  readonly rng: Rng;
  readonly #traits: Traits;
  readonly #facts = new Map<string, Facts>();
  #names = 0;

  constructor(source: Source, traits: Traits, rng: Rng) {
    this.source = source;
    this.#traits = traits;
    this.rng = rng;
  }

  /** One transaction that begins at `at`: one deed, or several at once; most commit at once, some late. */
  transact(at: number): void {
    this.source.schedule(at, () => {
      const changes: Change[] = [];
      const taken = new Set<string>();
      const deeds = this.rng.chance(0.15) ? this.rng.int(2, 6) : 1;
      for (let n = 0; n < deeds; n++) {
        const done = this.rng.weighted(this.#traits.deletes ? [...deedsAlways, ...deletions] : deedsAlways)(this, at);
        // Two deeds of one transaction leave each other's records alone, as do two transactions.
        if (done.some(({ kind, id }) => taken.has(`${kind}/${id}`) || this.source.isLocked(kind, id))) continue;
        for (const { kind, id } of done) taken.add(`${kind}/${id}`);
        changes.push(...done);
      }
      if (changes.length > 0) this.source.commit(changes, at + this.#lateness());
    });
  }

  /** A new invoice with a row that costs nothing, to be seen at once. */
  invoiceNow(at: number): void {
    this.source.schedule(at, () => {
      const changes = newInvoice(this, at, 4);
      const free = { name: this.name(), euros: 0, invoice: changes[0]!.id };
      this.source.commit([...changes, this.version('row', this.source.nextId('row'), at, free)], at + 1);
    });
  }

  /** Some invoices and prepayments are put back to an earlier version, `modified` included. */
  restoreSome(at: number): void {
    this.source.schedule(at, () => {
      for (let n = this.rng.int(1, 4); n > 0; n--) {
        const kind = this.rng.chance(0.7) ? 'invoice' : 'prepayment';
        const record = this.some(kind);
        if (record) this.source.restore(kind, record.id, at + 1);
      }
    });
  }

  /**
   * Changes an invoice's rows so that nothing of the invoice but its `modified` shows it: moves an amount from one row to another, or
   * takes away a row that costs nothing, which no list of changed rows shows either.
   */
  changeUnseen(id: number, at: number): void {
    this.source.schedule(at, () => {
      const invoice = this.source.tables.invoice.get(id);
      const rows = this.source.rowsOf(id);
      if (!invoice || [invoice, ...rows].some((record) => this.source.isLocked(record.kind, record.id))) return;
      this.source.commit(editRows(this, at, this.rng.pick(['shift', 'delete free']), invoice), at + 1);
    });
  }

  /** Many records in one transaction, with one and the same `modified`: an import. */
  importMany(at: number, kind: RecordKind, records: number, atOnce = true): void {
    this.source.schedule(at, () => {
      const changes: Change[] = [];
      const time = (n: number) => (atOnce ? at : at - n * 7_000);
      while (changes.length < records) {
        const left = records - changes.length;
        const when = time(left);
        if (kind === 'invoice') changes.push(this.version('invoice', this.source.nextId('invoice'), when, draft(this)));
        else if (kind === 'prepayment') changes.push(newPrepayment(this, when));
        else if (kind === 'payment') changes.push(newPayment(this, when));
        else changes.push(...newInvoice(this, when, 6));
      }
      this.source.commit(changes, at + this.#lateness());
    });
  }

  /** A version of a record as the server would show it, modified at `at`. */
  version(kind: RecordKind, id: number, at: number, facts: Facts): Change {
    this.#facts.set(`${kind}/${id}`, facts);
    const stampedMs = at + this.source.clockAheadMs;
    const modifiedMs = this.#traits.precision === 'seconds' ? Math.floor(stampedMs / 1000) * 1000 : stampedMs;
    const modified = this.stamp(modifiedMs);
    const money = `${facts.euros}.00`;
    const parent = facts.invoice;
    switch (kind) {
      case 'invoice': {
        const invoiceDate = zone.date(at - (id % 40) * 86_400_000);
        const fields = {
          ...{ id, status: facts.status, invoice_number: id, invoice_date: invoiceDate, payer_name: facts.name },
          ...{ total: money, total_vat: '0.00', total_with_vat: money, modified },
        };
        return { kind, id, record: stored(kind, fields, { modifiedMs, invoiceDate, status: facts.status! }) };
      }
      case 'row': {
        const fields = {
          ...{ id, invoice: `${api}/invoice/${parent}/`, name: facts.name, account_number: '3000' },
          ...{ sum: money, sum_vat: '0.00', sum_total: money, modified },
        };
        return { kind, id, record: stored(kind, fields, { modifiedMs, parent: parent! }) };
      }
      case 'payment': {
        const fields = { id, invoice: `${api}/invoice/${parent}/`, payment_type: 1, paid: money, date_added: modified };
        return { kind, id, record: stored(kind, fields, { modifiedMs, parent: parent! }) };
      }
      case 'prepayment': {
        const fields = { id, paid: '500.00', unused_amount: money, description: facts.name, modified };
        return { kind, id, record: stored(kind, fields, { modifiedMs }) };
      }
    }
  }

  /** Changes that move no `modified`, records that come with one of long ago, and one that goes: what no question can tell. */
  unseen(at: number): void {
    const changes: Change[] = [];
    const edits: [RecordKind, Record<string, unknown>][] = [
      ['invoice', { payer_name: this.name() }],
      ['row', { name: this.name() }],
      ['payment', { payment_type: 2 }],
      ['prepayment', { description: this.name() }],
    ];
    for (const [kind, edit] of edits) {
      const record = this.some(kind);
      if (record === null) continue;
      const { id, modifiedMs, parent, invoiceDate, status } = record;
      const known = {
        modifiedMs,
        ...(parent === null ? {} : { parent }),
        ...(invoiceDate === null ? {} : { invoiceDate }),
        ...(status === null ? {} : { status }),
      };
      changes.push({ kind, id, record: stored(kind, { ...JSON.parse(record.raw), ...edit }, known) });
    }
    const longAgo = at - 400 * 86_400_000;
    changes.push(...newInvoice(this, longAgo, 3));
    const gone = this.some('prepayment', ({ id }) => !changes.some((change) => change.id === id));
    if (gone !== null) changes.push({ kind: 'prepayment', id: gone.id, record: null }, newPrepayment(this, longAgo));
    this.source.commit(changes, at);
  }

  stamp(ms: number): string {
    const text = zone.timestamp(ms, this.#traits.style);
    return this.#traits.precision === 'seconds' ? text.replace(/\.\d+/, '') : text;
  }

  factsOf(record: Stored): Facts {
    return this.#facts.get(`${record.kind}/${record.id}`)!;
  }

  name(): string {
    this.#names += 1;
    return `name ${this.#names}`;
  }

  /** A committed record that nobody else is changing. */
  some(kind: RecordKind, fits: (record: Stored) => boolean = () => true): Stored | null {
    const all = [...this.source.tables[kind].values()];
    for (let tries = 0; tries < 8 && all.length > 0; tries++) {
      // People work on what is new.
      const at = this.rng.chance(0.6) ? Math.max(0, all.length - this.rng.int(1, 12)) : this.rng.int(0, all.length - 1);
      const record = all[at]!;
      if (fits(record) && !this.source.isLocked(kind, record.id)) return record;
    }
    return null;
  }

  /** The final part of a transaction's life: now, in a moment, or late, never later than the overlap covers. */
  #lateness(): number {
    const longest = this.#traits.overlapMs * this.#traits.latenessMs - 5_000;
    return Math.floor(
      this.rng.weighted([
        [this.rng.next() * 40, 6],
        [this.rng.next() * 3_000, 2],
        [this.rng.next() * longest, 2],
      ]),
    );
  }

  /** Whether changed rows can be told from a list filtered by `modified` at all. */
  get rowsTell(): boolean {
    return this.#traits.honoured.row.has('modified__gte');
  }

  get overlapMs(): number {
    return this.#traits.overlapMs;
  }
}

const draft = (practice: Practice): Facts => ({ name: practice.name(), euros: practice.rng.int(1, 99), status: 1 });

/** A final invoice with up to `most` rows. */
function newInvoice(practice: Practice, at: number, most: number, status = finalStatus): Change[] {
  const { source, rng } = practice;
  const id = source.nextId('invoice');
  const rows = rowsFor(practice, id, at, rng.int(1, most));
  return [practice.version('invoice', id, at, { name: practice.name(), euros: rows.total, status }), ...rows.changes];
}

function rowsFor(practice: Practice, invoice: number, at: number, count: number): { changes: Change[]; total: number } {
  let total = 0;
  const changes = Array.from({ length: count }, () => {
    const euros = practice.rng.int(1, 50);
    total += euros;
    return practice.version('row', practice.source.nextId('row'), at, { name: practice.name(), euros, invoice });
  });
  return { changes, total };
}

function newPayment(practice: Practice, at: number): Change {
  const { source, rng } = practice;
  const invoice = practice.some('invoice')?.id ?? 1000;
  return practice.version('payment', source.nextId('payment'), at, { name: '', euros: rng.int(-20, 90), invoice });
}

function newPrepayment(practice: Practice, at: number): Change {
  const facts = { name: practice.name(), euros: practice.rng.int(1, 500) };
  return practice.version('prepayment', practice.source.nextId('prepayment'), at, facts);
}

/** A change of an invoice's rows, and of the invoice with them where its total or its own fields change. */
function editRows(
  practice: Practice,
  at: number,
  change: 'amounts' | 'names only' | 'shift' | 'delete' | 'delete free',
  one: Stored | null = null,
): Change[] {
  const { source, rng } = practice;
  const invoice =
    one ?? practice.some('invoice', ({ id }) => source.rowsOf(id).every((row) => !source.isLocked('row', row.id)));
  const rows = invoice ? source.rowsOf(invoice.id) : [];
  if (!invoice || rows.length === 0) return [];
  const facts = practice.factsOf(invoice);
  const changes: Change[] = [];
  let total = facts.euros;
  const edit = (row: Stored, more: number) => {
    const before = practice.factsOf(row);
    total += more;
    changes.push(practice.version('row', row.id, at, { ...before, name: practice.name(), euros: before.euros + more }));
  };
  if (change === 'names only') edit(rng.pick(rows), 0);
  if (change === 'shift' && rows.length > 1) {
    edit(rows[0]!, 1);
    edit(rows[1]!, -1);
  }
  if (change === 'amounts') {
    edit(rng.pick(rows), rng.int(1, 9));
    const more = rowsFor(practice, invoice.id, at, rng.int(0, 2));
    changes.push(...more.changes);
    total += more.total;
  }
  // Committed late, the deletion of a row that costs nothing could only be told by reading all rows.
  const deletable = rows.filter((row) => (practice.factsOf(row).euros === 0) === (change === 'delete free'));
  if (change.startsWith('delete') && rows.length > 1 && deletable.length > 0) {
    const row = rng.pick(deletable);
    total -= practice.factsOf(row).euros;
    changes.push({ kind: 'row', id: row.id, record: null });
  }
  if (changes.length === 0) return [];
  changes.push(practice.version('invoice', invoice.id, at, { ...facts, euros: total }));
  return changes;
}

function deleteOne(kind: 'invoice' | 'payment' | 'prepayment'): Deed {
  return (practice) => {
    const { source } = practice;
    const record = practice.some(kind, ({ id }) =>
      kind === 'invoice' ? source.rowsOf(id).every((row) => !source.isLocked('row', row.id)) : true,
    );
    if (!record) return [];
    const rows = kind === 'invoice' ? source.rowsOf(record.id) : [];
    return [record, ...rows].map((each) => ({ kind: each.kind, id: each.id, record: null }));
  };
}

const deedsAlways: [Deed, number][] = [
  [(practice, at) => newInvoice(practice, at, 5), 6],
  [(practice, at) => newInvoice(practice, at, 3, 1), 2],
  [(practice, at) => [newPayment(practice, at)], 5],
  [(practice, at) => [newPrepayment(practice, at)], 2],
  [(practice, at) => editRows(practice, at, 'amounts'), 4],
  [(practice, at) => editRows(practice, at, 'shift'), 2],
  [(practice, at) => editRows(practice, at, 'names only'), 1],
  [(practice, at) => editRows(practice, at, 'delete'), 2],
  // A draft finalized, a payer corrected.
  [
    (practice, at) => {
      const invoice = practice.some('invoice');
      if (!invoice) return [];
      const facts = { ...practice.factsOf(invoice), name: practice.name(), status: finalStatus };
      return [practice.version('invoice', invoice.id, at, facts)];
    },
    4,
  ],
  [
    (practice, at) => {
      const prepayment = practice.some('prepayment');
      if (!prepayment) return [];
      const facts = { name: practice.name(), euros: practice.rng.int(0, 500) };
      return [practice.version('prepayment', prepayment.id, at, facts)];
    },
    2,
  ],
  // Rows that come later than their invoice, in a transaction of their own: the total tells.
  [
    (practice, at) => {
      const [invoice, ...rows] = newInvoice(practice, at, 5);
      if (rows.length < 2 || !invoice) return [];
      const later = at + Math.floor(practice.rng.next() * practice.overlapMs * 0.5);
      practice.source.schedule(later, () => {
        if (!practice.source.tables.invoice.has(invoice.id)) return;
        const { id } = rows[0]!;
        const facts = practice.factsOf(rows[0]!.record!);
        practice.source.commit([practice.version('row', id, later, facts)], later + 20);
      });
      return [invoice, ...rows.slice(1)];
    },
    2,
  ],
  // A row renamed and nothing else touched: to be known only where the list of rows can be asked by `modified`.
  [
    (practice, at) => {
      const row = practice.rowsTell ? practice.some('row') : null;
      if (!row || practice.source.isLocked('invoice', row.parent!)) return [];
      return [practice.version('row', row.id, at, { ...practice.factsOf(row), name: practice.name() })];
    },
    1,
  ],
  // Ids given out and never used.
  [
    (practice) => {
      practice.source.skipIds('payment', practice.rng.int(1, 3));
      practice.source.skipIds('invoice', 1);
      return [];
    },
    1,
  ],
];

const deletions: [Deed, number][] = [
  [deleteOne('invoice'), 2],
  [deleteOne('payment'), 1],
  [deleteOne('prepayment'), 1],
];
