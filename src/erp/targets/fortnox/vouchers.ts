import type { Money } from '../../../domain/money.ts';
import { type JsonObject, verbatimNumber } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { ErpEntry, ErpLine, FoundEntry, FoundLine } from '../../erp-entry.ts';
import { erpText, type TextField } from '../../erp-text.ts';
import type { ResolvedEntry, ResolvedLine } from '../api/erp-api.ts';
import { asAmount, asId, asList, asRecord, asText, toAmount } from '../api/form.ts';
import { keyedText, keyIn, withoutKey } from '../api/keyed-text.ts';
import { fortnoxCapabilities } from './capabilities.ts';
import { type VoucherNumber, voucherId } from './codes.ts';
import { type FortnoxRecords, valuesIn } from './names.ts';
import { type FinancialYear, yearLabel } from './years.ts';

const { decimals } = fortnoxCapabilities.lines;

/** Fortnox allows neither the brackets of our key nor the dot before the unit's id. */
const ourMarks = / · (\d+\/[^[\]\s]+) \[([A-Z2-7]{20})\]$/;
const theirMarks = / - (\d+\/[^()\s]+) \(([A-Z2-7]{20})\)/g;

/**
 * The description of a voucher: text, id of the unit, and key. Replacing characters may make a text longer, so that
 * comes first, and never cuts the key.
 */
export function voucherText(entry: ErpEntry): string {
  const description = allowed(entry.description, 'description');
  const reference = entry.reference === null ? null : allowed(entry.reference, 'reference');
  const text = keyedText({ ...entry, description, reference }, fortnoxCapabilities.key.longest_text);
  return text.replaceAll('…', '.').replace(ourMarks, ' - $1 ($2)');
}

/** The description with the marks that keyed texts have in other ERPs. */
export function readable(description: string): string {
  return description.replaceAll(theirMarks, ' · $1 [$2]');
}

/** Letters with separate accents become single characters, since Fortnox refuses most separate accents. */
function allowed(text: string, field: TextField): string {
  return erpText(text.normalize('NFC').replaceAll('·', '-'), field, fortnoxCapabilities);
}

/** The body of a new voucher. The description of a row is left out, because Fortnox writes the account's name there. */
export function toVoucher({ entry, journal, lines }: ResolvedEntry<FortnoxRecords>): JsonObject {
  return {
    Voucher: {
      Description: voucherText(entry),
      VoucherSeries: journal.id,
      TransactionDate: entry.date,
      VoucherRows: entry.lines.flatMap((line, index) => (line.amount.isZero() ? [] : toRow(line, lines[index]))),
    },
  };
}

function toRow(line: ErpLine, resolved: ResolvedLine<FortnoxRecords> | undefined): JsonObject {
  if (resolved === undefined) throw new Error('a line was not resolved');
  const isDebit = line.side === 'debit';
  const amount = toAmount(line.amount, decimals);
  const text = allowed(line.description, 'line_description');
  return {
    Account: verbatimNumber(resolved.account.code),
    Debit: isDebit ? amount : 0,
    Credit: isDebit ? 0 : amount,
    ...(text === '' ? {} : { TransactionInformation: text }),
    ...Object.fromEntries(resolved.dimensions.map(({ field, id }) => [field, id])),
  };
}

/** What identifies the voucher of an answer. Throws FormError. */
export function numberIn(voucher: JsonObject): VoucherNumber {
  const { VoucherSeries: series, VoucherNumber: number, Year: year } = voucher;
  return { series: asText(series ?? null), number: asId(number ?? null), year: asId(year ?? null) };
}

/** The lines of a voucher. A row that a person has removed stays in it, without effect. Throws FormError. */
export function linesIn(voucher: JsonObject): FoundLine[] {
  return asList(voucher.VoucherRows ?? null)
    .map(asRecord)
    .filter(({ Removed }) => Removed !== true)
    .map((row) => {
      const amount = asAmount(row.Debit ?? 0).minus(asAmount(row.Credit ?? 0));
      return foundLine(String(asId(row.Account ?? null)), amount, valuesIn(row));
    });
}

export function foundLine(account: string, amount: Money, dimensions: Partial<Record<string, string>>): FoundLine {
  const named = Object.entries(dimensions).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return {
    ...{ id: null, account, amount, party: null, vat: [], matched: null },
    dimensions: Object.fromEntries(named),
  };
}

/** Number and label of a voucher in the books, such as `V 12/2026`. */
export function numberLabel({ series, number }: VoucherNumber, year: FinancialYear | undefined): string {
  return `${series} ${number}${year === undefined ? '' : `/${yearLabel(year)}`}`;
}

export function foundVoucher(
  which: VoucherNumber,
  year: FinancialYear | undefined,
  { date, text, lines }: { date: CalendarDate; text: string; lines: FoundLine[] },
): FoundEntry {
  const whole = readable(text);
  const key = keyIn(whole);
  return {
    ...{ id: voucherId(which), key, number: numberLabel(which, year), state: 'posted', date, journal: which.series },
    ...{ description: withoutKey(whole, key), lines },
  };
}
