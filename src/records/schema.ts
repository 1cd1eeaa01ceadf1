import type { Money } from '../domain/money.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { redact } from '../domain/redact.ts';
import { postgresText } from '../domain/text.ts';
import type { RecordKind } from '../terms.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import { recordTexts } from '../texts/findings/records.ts';
import type { Resource } from './addresses.ts';
import type { Dialect } from './dialect.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from './json.ts';
import { tooLargeOf } from './shrink.ts';
import type {
  Defect,
  DefectCode,
  InvoiceRecord,
  PaymentRecord,
  PrepaymentRecord,
  RowRecord,
  SourceRecord,
} from './types.ts';
import { amount, failureOf, flag, id, integer, readReference, type Scalar, text } from './values.ts';

/** The most characters of a field's value that a defect quotes. */
const longestShown = 60;

export type RecordOf<Kind extends RecordKind> = Extract<SourceRecord, { kind: Kind }>;

/** A record's id. Undefined if it is not a positive safe integer. */
export function usableId(kind: RecordKind, value: JsonObject, dialect: Dialect): number | undefined {
  return id.read(at(value, dialect.fields[kind].id));
}

/**
 * A record's id. Throws PracticeError `malformed_record`. Records of the synchronised lists without a usable id are put
 * aside before this (unusable.ts).
 */
export function recordId(kind: string, value: JsonValue, idField: string): number {
  const found = isJsonObject(value) ? id.read(at(value, idField)) : undefined;
  if (found !== undefined) return found;
  throw new PracticeError('malformed_record', practiceTexts.recordWithoutId({ list: kind, field: idField }));
}

/**
 * Reads one raw record as facts. A field that cannot be read is null (false for a flag, empty for a list) and is listed
 * in `defects`. The same holds for an absent amount. Unknown fields are ignored. Throws PracticeError
 * `malformed_record` if there is no usable id.
 */
export function parseRecord<Kind extends RecordKind>(kind: Kind, value: JsonValue, dialect: Dialect): RecordOf<Kind> {
  return parsers[kind](value, dialect);
}

/** The facts of a record of a list answer. For the synchronised lists, the client has parsed them already. */
export function recordOf(
  kind: RecordKind,
  item: { value: JsonValue; record?: SourceRecord | undefined },
  dialect: Dialect,
): SourceRecord {
  return item.record?.kind === kind ? item.record : parseRecord(kind, item.value, dialect);
}

const parsers: { [K in RecordKind]: (value: JsonValue, dialect: Dialect) => RecordOf<K> } = {
  invoice: parseInvoice,
  row: parseRow,
  payment: parsePayment,
  prepayment: parsePrepayment,
};

function parseInvoice(value: JsonValue, dialect: Dialect): InvoiceRecord {
  const names = dialect.fields.invoice;
  const read = new RecordReader('invoice', value, dialect);
  return {
    kind: 'invoice',
    id: read.id,
    status: read.optional(names.status, integer),
    number: read.optional(names.number, text),
    prefix: read.optional(names.prefix, text),
    invoiceDate: read.optional(names.invoice_date, text),
    dueDate: read.optional(names.due_date, text),
    created: read.optional(names.created, text),
    modified: read.optional(names.modified, text),
    creditNote: read.optional(names.credit_note, flag) ?? false,
    countersale: read.optional(names.countersale, flag) ?? false,
    total: read.amount(names.total),
    totalVat: read.amount(names.total_vat),
    totalWithVat: read.amount(names.total_with_vat),
    dueSum: read.optional(names.due_sum, amount),
    bankReference: read.optional(names.bank_reference, text),
    clientId: read.reference(names.client, 'client'),
    departmentId: read.reference(names.department, 'department'),
    originalInvoiceId: read.reference(names.original_invoice, 'invoice'),
    consolidatedInvoiceIds: read.references(names.consolidated_invoices, 'invoice'),
    payer: {
      name: read.optional(names.payer_organization_name, text) ?? read.optional(names.payer_name, text),
      vatNumber: read.optional(names.payer_vat_number, text),
      registerNumber: read.optional(names.payer_register_number, text),
      countryCode: read.optional(names.payer_country_code, text),
    },
    defects: read.defects,
  };
}

function parseRow(value: JsonValue, dialect: Dialect): RowRecord {
  const names = dialect.fields.row;
  const read = new RecordReader('row', value, dialect);
  return {
    kind: 'row',
    id: read.id,
    invoiceId: read.reference(names.invoice, 'invoice'),
    name: read.optional(names.name, text),
    sum: read.amount(names.sum),
    sumVat: read.amount(names.sum_vat),
    sumTotal: read.amount(names.sum_total),
    accountNumber: read.optional(names.account_number, text),
    dimensions: [
      read.optional(names.dimension_1, text),
      read.optional(names.dimension_2, text),
      read.optional(names.dimension_3, text),
    ],
    internal: {
      account: read.optional(names.internal_account, text),
      dimension1: read.optional(names.internal_dimension_1, text),
      dimension2: read.optional(names.internal_dimension_2, text),
    },
    vatGroup: read.has(names.vat_group)
      ? {
          name: read.optional(names.vat_group_name, text),
          rate: read.optional(names.vat_group_rate, amount),
          account: read.optional(names.vat_group_account, text),
        }
      : null,
    vatPercentage: read.optional(names.vat_percentage, amount),
    creditedRowId: read.reference(names.credited_row, 'row'),
    modified: read.optional(names.modified, text),
    defects: read.defects,
  };
}

function parsePayment(value: JsonValue, dialect: Dialect): PaymentRecord {
  const names = dialect.fields.payment;
  const read = new RecordReader('payment', value, dialect);
  return {
    kind: 'payment',
    id: read.id,
    invoiceId: read.reference(names.invoice, 'invoice'),
    paymentType: read.optional(names.payment_type, integer),
    paid: read.amount(names.paid),
    dateAdded: read.optional(names.date_added, text),
    modified: read.optional(names.modified, text),
    defects: read.defects,
  };
}

function parsePrepayment(value: JsonValue, dialect: Dialect): PrepaymentRecord {
  const names = dialect.fields.prepayment;
  const read = new RecordReader('prepayment', value, dialect);
  return {
    kind: 'prepayment',
    id: read.id,
    clientId: read.reference(names.client, 'client'),
    departmentId: read.reference(names.department, 'department'),
    paymentType: read.optional(names.payment_type, integer),
    paid: read.amount(names.paid),
    unusedAmount: read.optional(names.unused_amount, amount),
    refundsId: read.reference(names.refunds, 'prepayment'),
    status: prepaymentStatus(read, dialect),
    created: read.optional(names.created, text),
    modified: read.optional(names.modified, text),
    description: read.optional(names.description, text),
    externalId: read.optional(names.external_id, text),
    defects: read.defects,
  };
}

/** An unknown status is a defect, because the prepayment may not be money (ACCOUNTING R12). */
function prepaymentStatus(read: RecordReader, dialect: Dialect): string | null {
  const name = dialect.fields.prepayment.status;
  const found = read.optional(name, text)?.trim().toLowerCase() ?? null;
  if (found === null) return null;
  const known = Object.entries(dialect.prepayment.statuses).find(([wire]) => wire.trim().toLowerCase() === found);
  if (known) return known[1];
  read.defects.push({
    code: 'field_invalid',
    field: name,
    message: recordTexts.statusUnknown({ value: postgresText(redact(JSON.stringify(found), longestShown)) }),
  });
  return found;
}

/**
 * The consultation from which an invoice was made. It is stored by reference only, since the source's record of it
 * names the patients.
 */
export interface InvoiceOrigin {
  consultation: number;
  /** The consultation's address in the practice API. Null if the source gives only an id. */
  url: string | null;
}

/**
 * The consultation that an invoice's record names. Null if the record names none that can be read. Posting does not
 * need it.
 */
export function originOf(value: JsonValue, dialect: Dialect): InvoiceOrigin | null {
  const named = isJsonObject(value) ? at(value, dialect.fields.invoice.consultation) : null;
  const consultation = named == null ? undefined : readReference(named, dialect, 'consultation');
  if (typeof consultation !== 'number') return null;
  const address = text.read((isJsonObject(named) ? named.url : named) ?? '') ?? null;
  return { consultation, url: address !== null && /^https?:\/\//.test(address) ? address : null };
}

/** Reads the fields of one record by their names in the source and collects the defects. */
class RecordReader {
  readonly id: number;
  readonly defects: Defect[] = [];
  readonly #record: JsonObject;
  readonly #dialect: Dialect;

  constructor(kind: RecordKind, value: JsonValue, dialect: Dialect) {
    this.id = recordId(kind, value, dialect.fields[kind].id);
    this.#dialect = dialect;
    this.#record = isJsonObject(value) ? value : {};
    const tooLarge = tooLargeOf(this.#record);
    if (tooLarge !== null)
      this.defects.push({ code: 'record_too_large', field: recordTexts.wholeRecord, message: tooLarge });
  }

  has(field: string): boolean {
    return at(this.#record, field) != null;
  }

  /** The field's value. Null if the field is absent, or if it cannot be read, which is a defect. */
  optional<T>(field: string, type: Scalar<T>): T | null {
    const value = at(this.#record, field);
    if (value == null) return null;
    const result = type.read(value);
    if (result !== undefined) return result;
    this.#defect(type.code, field, failureOf(type, value), value);
    return null;
  }

  /**
   * The id in a reference to a record of this resource. A reference to another installation is a defect (ACCOUNTING
   * P6).
   */
  reference(field: string, resource: Resource): number | null {
    const value = at(this.#record, field);
    if (value == null) return null;
    const found = readReference(value, this.#dialect, resource);
    if (typeof found === 'number') return found;
    if (found === 'foreign') this.#foreign(field, value);
    else this.#defect('field_invalid', field, recordTexts.notAReference, value);
    return null;
  }

  /** The ids in a list of references. Empty if one of them is a defect. */
  references(field: string, resource: Resource): number[] {
    const value = at(this.#record, field);
    if (value == null) return [];
    const found = Array.isArray(value)
      ? value.map((each) => readReference(each, this.#dialect, resource))
      : [undefined];
    const ids = found.filter((each) => typeof each === 'number');
    if (ids.length === found.length) return ids;
    if (found.includes('foreign')) this.#foreign(field, value);
    else this.#defect('field_invalid', field, recordTexts.notReferences, value);
    return [];
  }

  #foreign(field: string, value: JsonValue): void {
    this.#defect('foreign_reference', field, recordTexts.foreign, value);
  }

  #defect(code: DefectCode, field: string, message: string, value: JsonValue): void {
    const clipped = postgresText(redact(stringifyJson(value), longestShown));
    this.defects.push({ code, field, message: recordTexts.withValue({ message, value: clipped }) });
  }

  /** An amount that posting needs, so its absence is also a defect. */
  amount(field: string): Money | null {
    if (!this.has(field)) this.defects.push({ code: 'amount_missing', field, message: recordTexts.missing });
    return this.optional(field, amount);
  }
}

/** Cache: the parts of each dotted field name. */
const paths = new Map<string, string[]>();

/** The value at a field name, which may be a path with dots. */
export function at(record: JsonObject, field: string): JsonValue {
  let path = paths.get(field);
  if (path === undefined) {
    path = field.split('.');
    paths.set(field, path);
  }
  if (path.length === 1) return Object.hasOwn(record, field) ? record[field] : undefined;
  let value: JsonValue = record;
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}
