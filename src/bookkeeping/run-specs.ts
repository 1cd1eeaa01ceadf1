import { LosslessNumber } from 'lossless-json';
import type { DraftEntry } from '../domain/entry.ts';
import { parseMoney, roundHalfEven, sum } from '../domain/money.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { SpecCase, Specs, WrittenRecord } from '../mapping/specs.ts';
import { compareLines, writeLine } from '../mapping/written-entries.ts';
import { judge } from '../posting/index.ts';
import type { DocumentFacts, PostingContext } from '../posting/types.ts';
import type { Dialect } from '../records/dialect.ts';
import { parseRecord } from '../records/schema.ts';

/** A case's outcome: no differences where everything came out as it was written. */
export interface CaseResult {
  name: string;
  ok: boolean;
  /** For people: a line a difference, `-` expected and absent, `+` there and not expected. */
  differences: string[];
}

/** Judges every case's documents by the mapping and compares what comes of them with what was written. Pure. */
export function runSpecs(specs: Specs, mapping: Mapping, dialect: Dialect): CaseResult[] {
  const context: PostingContext = {
    installation: 1,
    timezone: specs.timezone,
    currency: specs.currency,
    decimals: specs.decimals,
    startDate: specs.startDate,
    mapping,
    closedThrough: null,
    sourceLockDates: new Map(),
  };
  return specs.cases.map((spec) => {
    const differences = differencesOf(spec, context, dialect);
    return { name: spec.name, ok: differences.length === 0, differences };
  });
}

function differencesOf(spec: SpecCase, context: PostingContext, dialect: Dialect): string[] {
  const posted = new Map<string, DraftEntry>();
  const held = new Map<string, { code: string; message: string }>();
  const states = new Map<string, string>();
  for (const facts of factsOf(spec, context.decimals, dialect)) {
    const name = nameOf(facts);
    const { state, entry, problem } = judge(facts, context);
    states.set(name, state);
    if (entry) posted.set(name, entry);
    if (problem) held.set(name, problem);
  }
  const differences: string[] = [];
  for (const wanted of spec.entries) {
    const name = `${wanted.kind} ${wanted.id}`;
    const entry = posted.get(name);
    posted.delete(name);
    if (!entry) {
      const state = states.get(name);
      const problem = held.get(name);
      const why = problem ? `it is held: ${problem.message} (${problem.code})` : `it is ${state}`;
      differences.push(`${name}: nothing is posted; ${state ? why : 'the case has no such document'}`);
      continue;
    }
    if (entry.date !== wanted.date) differences.push(`${name}: dated ${entry.date}, expected ${wanted.date}`);
    const { absent, surplus } = compareLines(wanted.lines, entry.lines);
    const write = (sign: string) => (line: Parameters<typeof writeLine>[0]) =>
      `${name}: ${sign} ${writeLine(line, context.decimals)}`;
    differences.push(...absent.map(write('-')), ...surplus.map(write('+')));
  }
  for (const [name, entry] of posted) {
    differences.push(`${name}: an entry that no case expects, dated ${entry.date}`);
    differences.push(...entry.lines.map((line) => `${name}: + ${writeLine(line, context.decimals)}`));
  }
  for (const [name, code] of Object.entries(spec.held)) {
    const found = held.get(name);
    if (found?.code !== code) {
      const state = states.get(name);
      const instead = found ? `held as ${found.code}: ${found.message}` : (state ?? 'no document of the case');
      differences.push(`${name}: expected to be held as ${code}; it is ${instead}`);
    }
    held.delete(name);
  }
  const explained = new Set(spec.entries.map(({ kind, id }) => `${kind} ${id}`));
  for (const [name, { code, message }] of held) {
    if (!explained.has(name)) differences.push(`${name}: held as ${code}, which no case expects: ${message}`);
  }
  return differences;
}

function nameOf(facts: DocumentFacts): string {
  switch (facts.kind) {
    case 'invoice':
      return `invoice ${facts.invoice.id}`;
    case 'payment':
      return `payment ${facts.payment.id}`;
    case 'prepayment':
      return `prepayment ${facts.prepayment.id}`;
  }
}

/** The case's records as posting gets them. What is not written is what an ordinary document has. */
function factsOf(spec: SpecCase, decimals: number, dialect: Dialect): DocumentFacts[] {
  const { fields } = dialect;
  const parsed = spec.invoices.map(({ rows: written, ...invoice }, index) => {
    const rows = written.map((row, at) => completeRow(row, at, index, dialect));
    const totals = totalsOf(rows, decimals, dialect);
    const defaults = {
      [fields.invoice.id]: index + 1,
      [fields.invoice.status]: 3,
      [fields.invoice.number]: `${1001 + index}`,
      [fields.invoice.client]: 1,
      ...totals,
    };
    return {
      invoice: parseRecord('invoice', lossless({ ...defaults, ...invoice }), dialect),
      rows: rows.map((row) => parseRecord('row', row, dialect)),
    };
  });
  const payments = spec.payments.map((payment, index) =>
    parseRecord(
      'payment',
      lossless({ [fields.payment.id]: index + 1, [fields.payment.invoice]: parsed[0]?.invoice.id ?? null, ...payment }),
      dialect,
    ),
  );
  const prepayments = spec.prepayments.map((prepayment, index) =>
    parseRecord(
      'prepayment',
      lossless({ [fields.prepayment.id]: index + 1, [fields.prepayment.client]: 1, ...prepayment }),
      dialect,
    ),
  );
  return [
    ...parsed.map(({ invoice, rows }): DocumentFacts => {
      const members = new Set(invoice.consolidatedInvoiceIds);
      return {
        kind: 'invoice',
        invoice,
        rows,
        rowsFresh: true,
        payments: payments.filter(({ invoiceId }) => invoiceId === invoice.id),
        memberPayments: payments.filter(
          ({ invoiceId, paymentType }) => paymentType === 6 && invoiceId !== null && members.has(invoiceId),
        ),
        gone: false,
      };
    }),
    ...payments.map((payment): DocumentFacts => {
      const invoice = parsed.find(({ invoice: { id } }) => id === payment.invoiceId)?.invoice ?? null;
      return { kind: 'payment', payment, invoice, gone: false };
    }),
    ...prepayments.map((prepayment): DocumentFacts => ({ kind: 'prepayment', prepayment, gone: false })),
  ];
}

/** A row's id, and its gross amount from net and VAT, unless they are written. */
function completeRow(row: WrittenRecord, index: number, invoice: number, dialect: Dialect): WrittenRecord {
  const names = dialect.fields.row;
  const gross = sumOf([row], names.sum).plus(sumOf([row], names.sum_vat));
  const defaults = {
    [names.id]: (invoice + 1) * 1000 + index + 1,
    [names.sum_vat]: '0',
    [names.sum_total]: gross.toFixed(),
  };
  return lossless({ ...defaults, ...row });
}

/** An invoice's totals as the source makes them: each sum rounded half-even by itself (field-notes: Invoice row). */
function totalsOf(rows: WrittenRecord[], decimals: number, { fields }: Dialect): WrittenRecord {
  const total = (field: string) => roundHalfEven(sumOf(rows, field), decimals).toFixed(decimals);
  return {
    [fields.invoice.total]: total(fields.row.sum),
    [fields.invoice.total_vat]: total(fields.row.sum_vat),
    [fields.invoice.total_with_vat]: total(fields.row.sum_total),
  };
}

function sumOf(rows: WrittenRecord[], field: string) {
  return sum(rows.flatMap((row) => parseMoney(String(row[field] ?? '')) ?? []));
}

/** Numbers of our own as the wire's are read. */
function lossless(record: WrittenRecord): WrittenRecord {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      typeof value === 'number' ? new LosslessNumber(String(value)) : value,
    ]),
  );
}
