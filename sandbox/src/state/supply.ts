// Records of the wholesaler integration (practice-api: Wholesaler integration records). The specification does not show
// these fields; the sandbox chose them: the type of a wholesaler, the order's fields and the codes of its status,
// products, stock.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Amount } from '../money.ts';
import type { RecordBase } from '../records.ts';
import type { Tables } from './tables.ts';

/** practice-api: Available wholesaler. */
export interface AvailableWholesaler extends RecordBase {
  name: string;
  email: string | null;
  register_number: string | null;
  webhook_callback_url: string;
  verification_salt: string;
  /** The client id of the OAuth2 application that registered the wholesaler. */
  owner: string;
}

/** Orders to an `Integration` are sent as webhooks. Orders to `E-mail` are not sent to any program. */
export const wholesalerTypes = ['Integration', 'E-mail'] as const;
export type WholesalerType = (typeof wholesalerTypes)[number];

/** A credential set of the clinic (practice-api: Wholesaler). */
export interface Wholesaler extends RecordBase {
  name: string;
  type: WholesalerType;
  /** The wholesaler. Null for other types, and after the available wholesaler is deleted. */
  available_wholesaler: number | null;
  customer_number: string | null;
  customer_username: string | null;
  customer_password: string | null;
  /** The department that uses the credential set. Null means the whole clinic. */
  department: number | null;
  archived: boolean;
}

/** An event for a wholesaler, with the state of its delivery. */
export interface WholesalerEvent extends RecordBase {
  available_wholesaler: number;
  wholesaler: number;
  event: string;
  event_id: string;
  /** The JSON text of the event, the same at every attempt. */
  body: string;
  attempts: number;
  /** The state is `waiting` until the event is delivered or given up. */
  state: 'waiting' | 'delivered' | 'given up';
}

export type UploadStatus = 'pending' | 'accepted' | 'partially_accepted' | 'rejected';

/** practice-api: Catalog upload. */
export interface CatalogUpload extends RecordBase {
  wholesaler: number;
  catalog_id: string;
  filename: string;
  content_type: string;
  status: UploadStatus;
  /** The rejected rows as CSV, and the secret part of the report's link; null if the event contains all errors. */
  report: { token: string; csv: string } | null;
}

/** A valid row of a catalog. */
export interface CatalogProduct {
  product_type: string;
  product_number: string;
  product_name: string;
  wholesale_price: Amount | null;
  product_price: Amount | null;
  vat: Amount | null;
  unit: string | null;
  barcode: string | null;
  currency: string | null;
  total_dosable_units: Amount | null;
  active_ingredient: string | null;
  route_of_administration: string | null;
  strength: string | null;
  controlled_substance: boolean;
}

/** The current catalog of a credential set. */
export interface Catalog extends RecordBase {
  wholesaler: number;
  upload: number;
  products: CatalogProduct[];
}

/** Records that a wholesaler supplies an item of the clinic, with its product codes. */
export interface SuppliedItem extends RecordBase {
  item: number;
  wholesaler: number;
  product_type: string;
  name: string;
  /** Primary, secondary and tertiary wholesaler code; the primary code may be empty. */
  codes: string[];
  barcode: string | null;
  discontinued: boolean;
}

export const orderStatus = { ordering: 0, ordered: 1, delivered: 2 } as const;

export interface OrderLine {
  /** The clinic's item; null if the clinic has no such item. */
  item: number | null;
  product_number: string;
  product_name: string;
  quantity: Amount;
  unit: string | null;
  barcode: string | null;
  notes: string | null;
}

export interface Order extends RecordBase {
  wholesaler: number;
  department: number;
  status: number;
  notes: string | null;
  /** The member of staff who placed the order. */
  purchaser: number | null;
  wholesaler_reference_number: string;
  delivery_date: number | null;
  lines: OrderLine[];
}

/** An accepted receipt line. Staff decide about its batch, even if the line matches an item. */
export interface ReceiptLine extends RecordBase {
  available_wholesaler: number;
  wholesaler: number;
  /** The wholesaler's identifier of the line. */
  line_id: string;
  quantity: Amount;
  product_number: string | null;
  barcode: string | null;
  product_name: string | null;
  order: number | null;
  invoice_number: string | null;
  invoice_date: string | null;
  batch_number: string | null;
  expiry_date: string | null;
  item: number | null;
  matched_by: 'product_code' | 'barcode' | null;
  department: number;
  batch_accepted: boolean;
}

/** A receipt of goods into stock. */
export interface StockEntry extends RecordBase {
  item: number;
  department: number;
  quantity: Amount;
  order: number | null;
  receipt_line: number | null;
  batch_number: string | null;
  expiry_date: string | null;
}

/** The single record of the clinic's organisation, for wholesalers. */
export interface Organisation extends RecordBase {
  name: string;
  phone: string;
  postal_address: string;
  postal_code: string;
  city: string;
  country_code: string;
  /** The department that gets goods without an order or location; null if there is none. */
  default_department: number | null;
}

/** The index key of a receipt line's identifier. Identifiers that differ only in case have the same key. */
export const receiptGroup = (availableWholesaler: number, lineId: string): number =>
  createHash('sha256').update(`${availableWholesaler}/${lineId.toLowerCase()}`).digest().readUIntBE(0, 6);

export const supplyTables = (tables: Tables) => ({
  available: tables.add<AvailableWholesaler>('available_wholesaler', 51),
  wholesalers: tables.add<Wholesaler>('wholesaler', 901, (wholesaler) => wholesaler.available_wholesaler ?? 0),
  events: tables.add<WholesalerEvent>('wholesaler_event', 1, (event) => event.wholesaler),
  uploads: tables.add<CatalogUpload>('catalog_upload', 7101, (upload) => upload.wholesaler),
  catalogs: tables.add<Catalog>('catalog', 1, (catalog) => catalog.wholesaler),
  suppliedItems: tables.add<SuppliedItem>('supplied_item', 1, (supplied) => supplied.wholesaler),
  orders: tables.add<Order>('order', 6101, (order) => order.wholesaler),
  receiptLines: tables.add<ReceiptLine>('receipt_line', 1, (line) =>
    receiptGroup(line.available_wholesaler, line.line_id),
  ),
  stock: tables.add<StockEntry>('stock_entry', 1, (entry) => entry.order ?? 0),
  organisations: tables.add<Organisation>('organisation', 1),
  /** Generates ids of events and catalogs, and the secret parts of links. */
  uuid: (): string => randomUUID(),
  /**
   * Signs upload policies. A restart makes a new key; policies signed before it have expired by then or must be
   * requested again.
   */
  storageKey: randomBytes(32).toString('base64'),
});
