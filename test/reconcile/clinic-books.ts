import { loadDialect } from '../../src/config/dialect.ts';
import type { Db } from '../../src/db/pool.ts';
import { execute } from '../../src/db/rows.ts';
import { Money } from '../../src/domain/money.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import type { ReconcileInput } from '../../src/reconcile/index.ts';
import type { DocumentState, RecordKind, SourceKind } from '../../src/terms.ts';
import { type DraftLine, draft, party } from '../ledger/drafts.ts';

const dialect = loadDialect();

/** A document as the test writes it by hand: the record, the judgement and the entries. */
export interface Written {
  record: Record<string, unknown> & { id: number };
  state?: DocumentState | null;
  /** The lines of the document's entry in force. */
  lines?: DraftLine[];
  date?: string;
  /** True if the entry was reversed. */
  reversed?: boolean;
  problem?: string;
  changes?: { field: string; old: string | null; new: string | null }[];
  gone?: boolean;
}

/**
 * Small books of one installation, written by hand. Mirror and journal are written separately, so a test can make
 * either of them wrong.
 */
export class ClinicBooks {
  readonly db: Db;
  readonly input: ReconcileInput;

  constructor(db: Db, id: number, overrides: Partial<ReconcileInput> = {}) {
    this.db = db;
    this.input = {
      id,
      currency: 'EUR',
      decimals: 2,
      timezone: 'Europe/Helsinki',
      startDate: '2026-01-01',
      today: '2026-04-10',
      dialect,
      refundLowersUnused: true,
      sourceCounts: {},
      ...overrides,
    };
  }

  async mirror(kind: RecordKind, record: Record<string, unknown> & { id: number }, gone = false): Promise<void> {
    await execute(
      this.db,
      `insert into mirror_record (installation, kind, id, parent_id, version, source_time, first_seen_at, content_hash, raw, gone_at)
       values (?, ?, ?, ?, 1, now(), now(), 'h', ?, ?)`,
      [
        this.input.id,
        kind,
        record.id,
        (record.invoice as number | undefined) ?? null,
        JSON.stringify(record),
        gone ? new Date() : null,
      ],
    );
  }

  async document(kind: SourceKind, written: Written): Promise<void> {
    const { record, lines, reversed = false, date = '2026-01-15' } = written;
    await this.mirror(kind, record, written.gone);
    let entryId: string | null = null;
    if (lines) entryId = await this.post(kind, record.id, date, lines, reversed);
    const state = written.state === undefined ? (lines ? (reversed ? 'reversed' : 'posted') : 'held') : written.state;
    if (state === null) return;
    await execute(
      this.db,
      `insert into document (installation, kind, id, state, dirty, entry_id, document_date, problem_code, problem_details)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb)`,
      [
        this.input.id,
        kind,
        record.id,
        state,
        state === 'pending',
        entryId,
        date,
        written.problem ?? null,
        written.changes ? JSON.stringify({ changes: written.changes }) : null,
      ],
    );
  }

  /** Posts an entry, and optionally its reversal. Returns the id of the entry in force. */
  post(kind: SourceKind, id: number, date: string, lines: DraftLine[], reversed = false): Promise<string | null> {
    return this.db.transaction(async (trx) => {
      const options = { decimals: this.input.decimals, windowId: null };
      const [entryId] = await appendEntries(trx, this.input.id, [draft({ kind, id, date, lines })], options);
      if (!reversed) return entryId!;
      const negated = lines.map(([account, role, amount, tags = {}]): DraftLine => {
        return [account, role, amount.startsWith('-') ? amount.slice(1) : `-${amount}`, tags];
      });
      const reversal = draft({
        kind,
        id,
        date,
        reason: 'voided',
        reverses: entryId!,
        inputHash: 'undone',
        lines: negated,
      });
      await appendEntries(trx, this.input.id, [reversal], options);
      return null;
    });
  }

  /** Stores the client that a payment's invoice had when the payment was first posted, and the matched prepayments. */
  async used(
    payment: number,
    firstClient: number,
    client: number,
    match: [prepayment: number, amount: string] | null,
  ): Promise<void> {
    const { id } = this.input;
    await execute(
      this.db,
      `insert into prepayment_use (installation, payment_id, amount, version, first_client_id, state)
       values (?, ?, ?, 1, ?, ?)`,
      [id, payment, match?.[1] ?? '0', firstClient, match ? 'matched' : 'open'],
    );
    if (match === null) return;
    const [prepayment, amount] = match;
    await execute(
      this.db,
      `insert into prepayment_balance (installation, prepayment_id, client_id, paid, unused, version)
       values (?, ?, ?, 0, 0, 1)`,
      [id, prepayment, client],
    );
    await execute(
      this.db,
      'insert into prepayment_match (installation, payment_id, prepayment_id, amount) values (?, ?, ?, ?)',
      [id, payment, prepayment, amount],
    );
  }

  async rows(invoice: number, rows: [id: number, net: string, vat: string, rate?: string][]): Promise<void> {
    for (const [id, sum, vat, rate = '24'] of rows) {
      const invoicerow_vat_group = { name: `VAT ${rate}`, percentage: rate };
      await this.mirror('row', {
        id,
        invoice,
        sum,
        sum_vat: vat,
        sum_total: '0',
        account_number: '3000',
        invoicerow_vat_group,
      });
    }
  }
}

export function receivable(
  invoice: number,
  amount: string,
  client = 5,
  role: 'receivable' | 'opening_receivable' = 'receivable',
): DraftLine {
  return ['1700', role, amount, { invoiceId: invoice, party: party(client), departmentId: 11 }];
}

export function revenue(account: string, amount: string, rowIds: number[]): DraftLine {
  return [account, 'revenue', amount, { rowIds, departmentId: 11 }];
}

export function vat(amount: string, rate = '24'): DraftLine {
  return ['2930', 'vat', amount, { vat: vatTag(rate), departmentId: 11 }];
}

function vatTag(rate: string) {
  return { group: `VAT ${rate}`, rate: moneyOf(rate), base: null };
}

/** Both lines of a payment, with the tags of R4 and R7. */
export function paid(
  type: number,
  role: DraftLine[1],
  amount: string,
  invoice: number,
  other: Partial<{ client: number; opening: boolean; department: number }> = {},
): DraftLine[] {
  const { client = 5, opening = false, department = 11 } = other;
  const minus = amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
  const tags = { paymentType: type, departmentId: department, party: party(client) };
  return [
    [`19${String(type).padStart(2, '0')}`, role, amount, tags],
    ['1700', opening ? 'opening_receivable' : 'receivable', minus, { ...tags, invoiceId: invoice }],
  ];
}

/** Both lines of a prepayment or its refund, with the tags of R5 and R6. */
export function prepaid(type: number, role: DraftLine[1], amount: string, client = 5): DraftLine[] {
  const minus = amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
  const tags = { paymentType: type, departmentId: 11, party: party(client) };
  return [
    [`19${String(type).padStart(2, '0')}`, role, amount, tags],
    ['2400', 'prepayment_liability', minus, tags],
  ];
}

export function invoiceRecord(id: number, total: string, totalVat: string, due: string | null, more: object = {}) {
  const with_vat = moneyOf(total).plus(totalVat).toFixed(2);
  return {
    id,
    status: 3,
    invoice_date: '2026-01-15',
    total,
    total_vat: totalVat,
    total_with_vat: with_vat,
    due_sum: due,
    client: 5,
    department: 11,
    ...more,
  };
}

export function paymentRecord(id: number, invoice: number, type: number, amount: string | null, more: object = {}) {
  return { id, invoice, payment_type: type, paid: amount, date_added: '2026-01-15T12:00:00+02:00', ...more };
}

export function prepaymentRecord(
  id: number,
  type: number,
  amount: string | null,
  unused: string | null,
  more: object = {},
) {
  return {
    id,
    client: 5,
    department: 11,
    payment_type: type,
    paid: amount,
    unused_amount: unused,
    created: '2026-01-15T12:00:00+02:00',
    ...more,
  };
}

function moneyOf(text: string): Money {
  return new Money(text);
}
