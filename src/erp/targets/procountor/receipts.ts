import type { Money } from '../../../domain/money.ts';
import { isJsonObject, type JsonObject, verbatimNumber } from '../../../records/json.ts';
import type { ErpEntry, ErpLine, FoundEntry, FoundLine } from '../../erp-entry.ts';
import { erpText } from '../../erp-text.ts';
import type { ResolvedEntry, ResolvedLine } from '../api/erp-api.ts';
import { asAmount, asId, asList, asRecord, asText, toAmount, wrongForm } from '../api/form.ts';
import { keyedText, keyIn, withoutKey } from '../api/keyed-text.ts';
import { procountorCapabilities } from './capabilities.ts';
import { dimensionKey, plainStatus, receiptType, taxCode } from './codes.ts';
import type { ProcountorNames, ProcountorRecords } from './names.ts';

const { decimals } = procountorCapabilities.lines;

/** Replacing characters may make a text longer, so that comes before the text is cut. */
export function receiptName(entry: ErpEntry): string {
  const description = erpText(entry.description, 'description', procountorCapabilities);
  return keyedText({ ...entry, description }, procountorCapabilities.key.longest_text);
}

/** The body of a new receipt. */
export function toReceipt({ entry, lines }: ResolvedEntry<ProcountorRecords>): JsonObject {
  const sent = entry.sentLines ?? entry.lines;
  return {
    type: receiptType,
    name: erpText(receiptName(entry), 'line_description', procountorCapabilities),
    receiptDate: entry.date,
    vatType: 'SALES',
    vatStatus: plainStatus,
    transactionDescription: erpText(entry.description, 'description', procountorCapabilities),
    transactions: sent.map((line, index) => toTransaction(line, lines[index])),
  };
}

function toTransaction(line: ErpLine, resolved: ResolvedLine<ProcountorRecords> | undefined): JsonObject {
  if (resolved === undefined) throw new Error('a line was not resolved');
  const amount = line.side === 'debit' ? line.amount : line.amount.negated();
  const value = toAmount(amount, decimals);
  const description = erpText(line.description, 'line_description', procountorCapabilities);
  const { account, tax, dimensions } = resolved;
  return {
    transactionType: 'ENTRY',
    account: account.code,
    accountingValue: value,
    vatPercent: tax === null ? 0 : verbatimNumber(tax.percent.toFixed()),
    ...(tax === null ? {} : { vatType: 'SALES', vatStatus: tax.status }),
    ...(description === '' ? {} : { description }),
    ...(dimensions.length === 0
      ? {}
      : { dimensionItemValues: dimensions.map(({ dimensionId, itemId }) => ({ dimensionId, itemId, value })) }),
  };
}

const states: Record<string, FoundEntry['state']> = {
  ...{ UNFINISHED: 'draft', APPROVED: 'posted', INVALIDATED: 'void', DELETED: 'void' },
};

/** The state of a receipt. A person's receipt may have another status; it counts as a draft. */
export function stateOf(receipt: JsonObject): FoundEntry['state'] {
  return states[asText(receipt.status ?? null)] ?? 'draft';
}

/** The receipt's number, or its id if it has none; null for a draft. */
export function numberOf(receipt: JsonObject): string | null {
  if (stateOf(receipt) === 'draft') return null;
  return String(asId(receipt.receiptNumber ?? receipt.id ?? null));
}

/** The entry in a receipt. Procountor shows the lines as they were sent, without the VAT that it computes. */
export function foundEntry(receipt: JsonObject, names: DimensionNames): FoundEntry {
  const name = asText(receipt.name ?? null);
  const key = keyIn(name);
  return {
    id: String(asId(receipt.id ?? null)),
    key,
    number: numberOf(receipt),
    state: stateOf(receipt),
    date: asText(receipt.receiptDate ?? null),
    journal: asText(receipt.type ?? null),
    description: withoutKey(name, key),
    lines: asList(receipt.transactions ?? null).map((line) => foundLine(asRecord(line), names)),
  };
}

/** Dimension and item by their ids. */
export type DimensionNames = Awaited<ReturnType<ProcountorNames['dimensionNames']>>;

function foundLine(line: JsonObject, names: DimensionNames): FoundLine {
  const amount = asAmount(line.accountingValue ?? null);
  const status = line.vatStatus == null ? plainStatus : asId(line.vatStatus);
  const percent = asAmount(line.vatPercent ?? null);
  const hasVat = status !== plainStatus || !percent.isZero();
  const values = line.dimensionItemValues == null ? [] : asList(line.dimensionItemValues).map(asRecord);
  return {
    id: line.id == null ? null : String(asId(line.id)),
    account: asText(line.account ?? null),
    amount,
    party: null,
    vat: hasVat ? [{ code: taxCode(status, percent), part: 'base', amount }] : [],
    dimensions: Object.fromEntries(values.map((value) => dimensionIn(value, amount, names))),
    matched: null,
    ...(typeof line.description === 'string' ? { label: line.description } : {}),
  };
}

/** Name and item of a dimension. If it does not get the whole line, its amount is added. */
function dimensionIn(value: JsonObject, amount: Money, names: DimensionNames): [string, string] {
  const key = dimensionKey({ dimensionId: asId(value.dimensionId ?? null), itemId: asId(value.itemId ?? null) });
  const { dimension, item } = names.get(key) ?? { dimension: key, item: key };
  const part = asAmount(value.value ?? null);
  return [dimension, part.equals(amount) ? item : `${item} ${part.toFixed()}`];
}

/** The receipts of an answer: one, or a list. Throws FormError. */
export function receiptsIn(value: unknown): JsonObject[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.map(asRecord);
  if (isJsonObject(value)) return [value];
  throw wrongForm('a receipt', value);
}
