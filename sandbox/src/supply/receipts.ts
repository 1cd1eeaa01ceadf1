// Receipt lines (practice-api: Receipts request, response and matching rules; Receipt line rejection reasons). Choices
// of the sandbox: all reason codes except `department_unresolved`. `barcode` is the other value of `matched_by`. An
// identifier is unique per available wholesaler, over all its credential sets. A rejected line is not stored, so the
// caller can correct it and send it again. An `order_id` that is not an order of the caller leaves the line unlinked,
// even if it has an invoice number. Staff match and accept lines later.
import type { Clinic } from '../clinic.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import { type Order, orderStatus, type ReceiptLine, receiptGroup, type Wholesaler } from '../state/supply.ts';
import { isDate } from '../zone.ts';
import { defaultDepartment } from './orders.ts';

export const rejections = [
  'missing_product_code',
  'invalid_quantity',
  'invalid_field',
  'invalid_line',
  'department_unresolved',
] as const;
export type Rejection = (typeof rejections)[number];

/** The outcome of one line in the answer. */
export interface LineOutcome {
  id: string | null;
  status: 'accepted' | 'rejected' | 'duplicate';
  reason?: Rejection;
  order_id: number | null;
  matched_item: boolean;
  matched_by: 'product_code' | 'barcode' | null;
}

/** A line with valid values. */
interface Line {
  id: string;
  quantity: string;
  product_number: string | null;
  barcode: string | null;
  product_name: string | null;
  order_id: number | null;
  invoice_number: string | null;
  invoice_date: string | null;
  batch_number: string | null;
  expiry_date: string | null;
}

/** The maximum length of each text of a line. */
export const lineLengths = {
  id: 255,
  product_number: 63,
  barcode: 30,
  product_name: 255,
  invoice_number: 63,
  batch_number: 63,
} as const;
/** Package units with at most 9 whole digits and 3 decimals. */
export const quantityPattern = /^\d{1,9}(\.\d{1,3})?$/;

class Rejected extends Error {
  readonly reason: Rejection;

  constructor(reason: Rejection) {
    super(reason);
    this.reason = reason;
  }
}

/** Stores the lines that were posted to a credential set. A rejected line does not affect the others. */
export const takeReceipts = (clinic: Clinic, wholesaler: Wholesaler, lines: readonly unknown[]): LineOutcome[] => {
  const products = new Products(clinic, wholesaler.available_wholesaler ?? 0);
  return lines.map((line) => takeLine(clinic, wholesaler, products, line));
};

const takeLine = (clinic: Clinic, wholesaler: Wholesaler, products: Products, sent: unknown): LineOutcome => {
  const available = wholesaler.available_wholesaler ?? 0;
  const id = idOf(sent);
  const known = id === null ? undefined : storedLine(clinic, available, id.trim());
  if (known) return { ...outcomeOf(known, id), status: 'duplicate' };
  try {
    return outcomeOf(store(clinic, wholesaler, products, read(sent)), id);
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    return { id, status: 'rejected', reason: error.reason, order_id: null, matched_item: false, matched_by: null };
  }
};

const idOf = (sent: unknown): string | null => {
  const id = typeof sent === 'object' && sent !== null ? (sent as { id?: unknown }).id : undefined;
  return typeof id === 'string' ? id : null;
};

/** The stored line with this identifier, compared without regard to case. */
const storedLine = (clinic: Clinic, available: number, id: string): ReceiptLine | undefined =>
  clinic.supply.receiptLines
    .of(receiptGroup(available, id))
    .find((line) => line.available_wholesaler === available && line.line_id.toLowerCase() === id.toLowerCase());

const outcomeOf = (line: ReceiptLine, id: string | null): LineOutcome => ({
  id,
  status: 'accepted',
  order_id: line.order,
  matched_item: line.item !== null,
  matched_by: line.matched_by,
});

/** Checks and reads the values of a line. Throws Rejected. */
const read = (sent: unknown): Line => {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw new Rejected('invalid_line');
  const fields = sent as Record<string, unknown>;
  const id = text(fields.id, lineLengths.id);
  if (id === null) throw new Rejected('invalid_field');
  const product_number = text(fields.product_number, lineLengths.product_number);
  const barcode = text(fields.barcode, lineLengths.barcode);
  if (product_number === null && barcode === null) throw new Rejected('missing_product_code');
  const quantity = String(fields.quantity ?? '').trim();
  if (!/^(string|number)$/.test(typeof fields.quantity) || !quantityPattern.test(quantity)) {
    throw new Rejected('invalid_quantity');
  }
  return {
    ...{ id, quantity, product_number, barcode },
    product_name: text(fields.product_name, lineLengths.product_name),
    order_id: wholeNumber(fields.order_id),
    invoice_number: text(fields.invoice_number, lineLengths.invoice_number),
    invoice_date: calendarDate(fields.invoice_date),
    batch_number: text(fields.batch_number, lineLengths.batch_number),
    expiry_date: calendarDate(fields.expiry_date),
  };
};

/** The trimmed text; null if it is absent or blank. */
const text = (value: unknown, max: number): string | null => {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || value.includes('\0')) throw new Rejected('invalid_field');
  const trimmed = value.trim();
  if (trimmed.length > max) throw new Rejected('invalid_line');
  return trimmed === '' ? null : trimmed;
};

const wholeNumber = (value: unknown): number | null => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' ? !/^\d{1,15}$/.test(value) : !Number.isSafeInteger(value)) {
    throw new Rejected('invalid_field');
  }
  return Number(value);
};

/** A calendar date; null for a text with a time or an offset. */
const calendarDate = (value: unknown): string | null => {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw new Rejected('invalid_field');
  if (/^\d{4}-\d{2}-\d{2}([Tt ]\d[\d:.,]*)?( ?([Zz]|[+-]\d{2}:?\d{2}))?$/.test(value) && value.length > 10) return null;
  if (!isDate(value)) throw new Rejected('invalid_field');
  return value;
};

const store = (clinic: Clinic, wholesaler: Wholesaler, products: Products, line: Line): ReceiptLine => {
  const available = wholesaler.available_wholesaler ?? 0;
  const order = linkedOrder(clinic, available, line);
  const department = order?.department ?? wholesaler.department ?? defaultDepartment(clinic);
  if (department === null) throw new Rejected('department_unresolved');
  const { id, order_id, ...fields } = line;
  return clinic.insert(clinic.supply.receiptLines, {
    ...fields,
    ...{ available_wholesaler: available, wholesaler: wholesaler.id, line_id: id },
    ...{ order: order?.id ?? null, department, batch_accepted: false },
    ...products.match(line),
  });
};

/** The caller's order: by its id; without an id, the only order with that invoice number. */
const linkedOrder = (clinic: Clinic, available: number, line: Line): Order | undefined => {
  const { orders, wholesalers } = clinic.supply;
  if (line.order_id !== null) {
    const order = orders.get(line.order_id);
    const isOwn = order && wholesalers.get(order.wholesaler)?.available_wholesaler === available;
    return isOwn && order.status !== orderStatus.ordering ? order : undefined;
  }
  if (line.invoice_number === null) return undefined;
  const named = wholesalers
    .of(available)
    .flatMap((set) => orders.of(set.id))
    .filter((order) => order.wholesaler_reference_number === line.invoice_number);
  return named.length === 1 ? named[0] : undefined;
};

/** The items that the caller supplies to the clinic, by code and barcode. */
class Products {
  readonly #items = new Map<string, Set<number>>();

  constructor(clinic: Clinic, available: number) {
    const { suppliedItems, wholesalers } = clinic.supply;
    for (const { id } of wholesalers.of(available)) {
      for (const { item, codes, barcode } of suppliedItems.of(id)) {
        for (const [level, code] of codes.entries()) this.#add(`${level}/${code}`, item);
        if (barcode !== null) this.#add(`barcode/${barcode}`, item);
      }
    }
  }

  /**
   * Matches by product number (primary, secondary, then tertiary code), then by barcode. An ambiguous code matches
   * nothing.
   */
  match({ product_number, barcode }: Line): Pick<ReceiptLine, 'item' | 'matched_by'> {
    const keys = [0, 1, 2].map((level) => `${level}/${product_number}`);
    const level = product_number === null ? undefined : keys.find((key) => this.#items.has(key));
    const byCode = level === undefined ? null : this.#only(level);
    if (byCode !== null) return { item: byCode, matched_by: 'product_code' };
    const byBarcode = barcode === null ? null : this.#only(`barcode/${barcode}`);
    return byBarcode === null ? { item: null, matched_by: null } : { item: byBarcode, matched_by: 'barcode' };
  }

  #add(key: string, item: number): void {
    const items = this.#items.get(key);
    if (items) items.add(item);
    else this.#items.set(key, new Set([item]));
  }

  #only(key: string): number | null {
    const items = this.#items.get(key);
    return items?.size === 1 ? ([...items][0] as number) : null;
  }
}

const receiptLine = (clinic: Clinic, id: number): ReceiptLine => {
  const line = clinic.supply.receiptLines.get(id);
  if (!line) throw new NotFound();
  return line;
};

/** Matches a line by hand, for staff. */
export const matchReceipt = (clinic: Clinic, id: number, item: number): ReceiptLine =>
  clinic.commit(() => {
    if (!clinic.registers.items.get(item)) throw new ValidationProblem('item', 'There is no such item.');
    return clinic.update(clinic.supply.receiptLines, receiptLine(clinic, id), { item });
  }, 'request');

/**
 * Accepts the batch of a matched line into stock, for staff. If its order was marked delivered, the stock does not
 * change, because the order already added the goods.
 */
export const acceptBatch = (clinic: Clinic, id: number): ReceiptLine =>
  clinic.commit(() => {
    const line = receiptLine(clinic, id);
    if (line.item === null) throw new ValidationProblem('item', 'The line must be matched with an item first.');
    if (line.batch_accepted) throw new ValidationProblem('non_field_errors', 'The batch is accepted already.');
    const { item, department, order, batch_number, expiry_date } = line;
    const isDelivered = order !== null && clinic.supply.orders.get(order)?.status === orderStatus.delivered;
    const quantity = isDelivered ? '0.000' : line.quantity;
    clinic.insert(clinic.supply.stock, {
      ...{ item, department, quantity, order, receipt_line: line.id, batch_number, expiry_date },
    });
    return clinic.update(clinic.supply.receiptLines, line, { batch_accepted: true });
  }, 'request');
