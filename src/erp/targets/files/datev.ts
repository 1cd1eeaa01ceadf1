import type { DatevOptions } from '../../../config/file-options.ts';
import { formatMoney, Money, zero } from '../../../domain/money.ts';
import type { CalendarDate } from '../../../terms.ts';
import { fileFormatFindings } from '../../../texts/findings/file-formats.ts';
import { encode, fieldText, inCodePage, plainText } from '../../code-pages.ts';
import type { ErpProblem } from '../../port.ts';
import type { FileEntry, FileLine } from './file-entry.ts';
import { type BatchFacts, batchCode, type FileFormat, type FileValues, type FileWriter, wordsOf } from './format.ts';
import { expandedWithTax, type TaxedPair, taxedPairsOf } from './tax-keys.ts';

const page = 'windows-1252';
const decimals = 2;
/** Maximum number of rows in a booking batch. */
const maxRows = 99_999;
/** Amounts have at most ten digits before the decimal comma. */
const tooLarge = new Money(10).pow(10);
/** Tax key that turns off the automatic tax of an account. */
const withoutAutomaticTax = '40';

const additional = Array.from({ length: 20 }, (_, index) => [
  `Zusatzinformation - Art ${index + 1}`,
  `Zusatzinformation- Inhalt ${index + 1}`,
]).flat();
const receipts = Array.from({ length: 8 }, (_, index) => [
  `Beleginfo - Art ${index + 1}`,
  `Beleginfo - Inhalt ${index + 1}`,
]).flat();

/** The column headings of a booking batch in format version 13, exactly as DATEV defines them. */
export const datevColumns = [
  ...[
    'Umsatz (ohne Soll/Haben-Kz)',
    'Soll/Haben-Kennzeichen',
    'WKZ Umsatz',
    'Kurs',
    'Basis-Umsatz',
    'WKZ Basis-Umsatz',
  ],
  ...['Konto', 'Gegenkonto (ohne BU-Schlüssel)', 'BU-Schlüssel', 'Belegdatum', 'Belegfeld 1', 'Belegfeld 2', 'Skonto'],
  ...['Buchungstext', 'Postensperre', 'Diverse Adressnummer', 'Geschäftspartnerbank', 'Sachverhalt', 'Zinssperre'],
  ...['Beleglink', ...receipts, 'KOST1 - Kostenstelle', 'KOST2 - Kostenstelle', 'Kost-Menge'],
  ...['EU-Land u. UStID (Bestimmung)', 'EU-Steuersatz (Bestimmung)', 'Abw. Versteuerungsart', 'Sachverhalt L+L'],
  ...['Funktionsergänzung L+L', 'BU 49 Hauptfunktionstyp', 'BU 49 Hauptfunktionsnummer', 'BU 49 Funktionsergänzung'],
  ...[...additional, 'Stück', 'Gewicht', 'Zahlweise', 'Forderungsart', 'Veranlagungsjahr', 'Zugeordnete Fälligkeit'],
  ...['Skontotyp', 'Auftragsnummer', 'Buchungstyp', 'USt-Schlüssel (Anzahlungen)', 'EU-Land (Anzahlungen)'],
  ...['Sachverhalt L+L (Anzahlungen)', 'EU-Steuersatz (Anzahlungen)', 'Erlöskonto (Anzahlungen)', 'Herkunft-Kz'],
  ...['Buchungs GUID', 'KOST-Datum', 'SEPA-Mandatsreferenz', 'Skontosperre', 'Gesellschaftername'],
  ...['Beteiligtennummer', 'Identifikationsnummer', 'Zeichnernummer', 'Postensperre bis'],
  ...['Bezeichnung SoBil-Sachverhalt', 'Kennzeichen SoBil-Buchung', 'Festschreibung', 'Leistungsdatum'],
  ...['Datum Zuord. Steuerperiode', 'Fälligkeit', 'Generalumkehr (GU)', 'Steuersatz', 'Land', 'Abrechnungsreferenz'],
  ...['BVV-Position', 'EU-Land u. UStID (Ursprung)', 'EU-Steuersatz (Ursprung)', 'Abw. Skontokonto'],
];

/** Positions of text fields, counted from 1. Text is in quotation marks, even if it is empty. */
const textFields = new Set([
  ...[2, 3, 6, 9, 11, 12, 14, 16, 20, 40, 42, 91, 95, 96, 98, 102, 103, 105, 107, 109, 110, 112, 118, 120, 121, 123],
  ...span(21, 38),
  ...span(48, 87),
]);

/** Positions of the fields that vetledger fills, counted from 1. */
const field = {
  ...{ turnover: 1, side: 2, currency: 3, account: 7, contraAccount: 8, buKey: 9, date: 10, number: 11, text: 14 },
  ...{ costCentre1: 37, costCentre2: 38, vatNumber: 40, additional: 48, locked: 114, dueDate: 117 },
} as const;
const costCentres: Record<string, number> = { KOST1: field.costCentre1, KOST2: field.costCentre2 };

/** A booking batch in DATEV's format (EXTF): one file per month, one row per pair of account and contra account. */
export function datevFormat(options: DatevOptions, currency: string): FileFormat {
  return {
    // DATEV recommends monthly batches. A batch must not exceed a fiscal year, because rows contain only day and month.
    periodOf: (date) => date.slice(0, 7),
    daysOf: (month) => ({ from: `${month}-01`, through: lastDayOf(month) }),
    fileName: (batch) => `EXTF_${batchCode(batch)}_${batch.period}.csv`,
    maxRows,
    problemsOf: (values) => problemsOf(values, options),
    begin: () => new DatevWriter(options, currency),
  };
}

class DatevWriter implements FileWriter {
  readonly #options: DatevOptions;
  readonly #currency: string;

  constructor(options: DatevOptions, currency: string) {
    this.#options = options;
    this.#currency = currency;
  }

  entry(entry: FileEntry): ReturnType<FileWriter['entry']> {
    const problems = problemsOf(wordsOf(entry), this.#options);
    if (entry.lines.some(({ amount }) => amount.greaterThanOrEqualTo(tooLarge))) {
      problems.push({ code: 'erp_too_large', message: fileFormatFindings.tenDigits });
    }
    if (problems.length > 0) return { problems };
    const pairs = taxedPairsOf(entry.lines, this.#options);
    if (pairs === null) {
      return { problems: [{ code: 'erp_not_in_pairs', message: fileFormatFindings.notInPairs }] };
    }
    const rows = pairs.map((pair) => rowText(this.#cells(entry, pair)));
    return { bytes: encode(rows.join(''), page), rows: rows.length, posted: expandedWithTax(pairs) };
  }

  head(batch: BatchFacts): Uint8Array {
    const { consultantNumber, clientNumber, accountLength, chart, locked } = this.#options;
    const [from, through] = [`${batch.period}-01`, lastDayOf(batch.period)];
    const cells = [
      ...['"EXTF"', '700', '21', '"Buchungsstapel"', '13', batch.createdAt.toISOString().replace(/\D/g, ''), ''],
      ...['"RE"', '"vetledger"', '""', consultantNumber, clientNumber, compact(this.#fiscalYearOf(from))],
      ...[String(accountLength), compact(from), compact(through), quoted(`vetledger ${batchCode(batch)}`, 30)],
      ...['""', '1', '0', locked ? '1' : '0', quoted(batch.currency, 3), '', '""', '', '', quoted(chart ?? '', 4)],
      ...['', '', '""', quoted('vetledger', 16)],
    ];
    return encode(`${cells.join(';')}\r\n${datevColumns.join(';')}\r\n`, page);
  }

  /** The first day of the fiscal year that contains a day. */
  #fiscalYearOf(day: CalendarDate): CalendarDate {
    const start = `${day.slice(0, 4)}-${this.#options.fiscalYearMonth}-01`;
    if (start <= day) return start;
    const before = new Date(`${start}T00:00:00Z`);
    before.setUTCFullYear(before.getUTCFullYear() - 1);
    return before.toISOString().slice(0, 10);
  }

  #cells(entry: FileEntry, { line, against, amount, tax }: TaxedPair<FileLine>): Map<number, string> {
    const { automaticAccounts, locked } = this.#options;
    const isAutomatic = [line, against].some(({ account }) => automaticAccounts.includes(account));
    const dueDate = line.dueDate ?? against.dueDate;
    const cells = new Map<number, string>([
      [field.turnover, formatMoney(amount, decimals).replace('.', ',')],
      // The side of the account in field 7, which is the opposite of the line's side.
      [field.side, line.side === 'debit' ? 'H' : 'S'],
      [field.currency, this.#currency],
      [field.account, against.account],
      [field.contraAccount, line.account],
      [field.buKey, tax?.key ?? (isAutomatic ? withoutAutomaticTax : '')],
      [field.date, `${entry.date.slice(8, 10)}${entry.date.slice(5, 7)}`],
      [field.number, documentNumber(line.documentNumber ?? against.documentNumber ?? entry.reference ?? '')],
      [field.text, fieldText(line.description, page, 60)],
      [field.vatNumber, vatNumberOf(line) || vatNumberOf(against)],
      [field.locked, locked ? '1' : '0'],
      [field.dueDate, dueDate === null ? '' : `${dueDate.slice(8, 10)}${dueDate.slice(5, 7)}${dueDate.slice(0, 4)}`],
    ]);
    const facts: [kind: string, content: string][] = [
      ['vetledger', entry.unitId],
      ['vetledger key', entry.key],
      ...recordFacts(entry),
    ];
    for (const [name, value] of Object.entries({ ...against.dimensions, ...line.dimensions })) {
      const centre = Object.hasOwn(costCentres, name) ? costCentres[name] : undefined;
      if (centre === undefined) facts.push([name, value]);
      else cells.set(centre, value);
    }
    if (entry.documentDate !== null && entry.documentDate !== entry.date) facts.push(['Datum', entry.documentDate]);
    const bankReference = line.bankReference ?? against.bankReference;
    if (bankReference !== null) facts.push(['Referenz', bankReference]);
    for (const [index, [kind, content]] of facts.slice(0, additional.length / 2).entries()) {
      cells.set(field.additional + 2 * index, fieldText(kind, page, 20));
      cells.set(field.additional + 2 * index + 1, fieldText(content, page, 210));
    }
    return cells;
  }
}

function problemsOf({ accounts, dimensions }: FileValues, { accountLength }: DatevOptions): ErpProblem[] {
  const named = accounts.map(({ account }) => account);
  const wrong = named.filter((account) => !/^\d{1,9}$/.test(account) || /^0+$/.test(account));
  const long = named.filter((account) => !wrong.includes(account) && account.length > accountLength + 1);
  const centres = dimensions.filter(({ theirs }) => Object.hasOwn(costCentres, theirs)).flatMap(({ values }) => values);
  const unwritable = centres.filter((value) => fieldText(value, page, 36) !== value);
  return [
    ...wrong.map((account) => ({
      code: 'erp_account_unknown',
      message: fileFormatFindings.digitsOnly({ format: 'DATEV', account: plainText(account, 50) }),
    })),
    ...long.map((account) => ({
      code: 'erp_account_unknown',
      message: fileFormatFindings.accountTooLong({ account, length: accountLength, partyLength: accountLength + 1 }),
    })),
    ...unwritable.map((value) => ({
      code: 'erp_dimension_unknown',
      message: fileFormatFindings.costCentre({ value: plainText(value, 50) }),
    })),
  ];
}

/** The buyer's VAT number, if the line is zero-rated revenue: such sales are reported under the number. */
function vatNumberOf({ role, vatRate, vatGroup, party }: FileLine): string {
  if (role !== 'revenue' || vatGroup === null || !(vatRate ?? zero).isZero()) return '';
  const number = (party.vatNumber ?? '').replace(/[^A-Za-z\d]/g, '');
  return number.length <= 15 ? number : '';
}

/** Voucher number, mapping and time of the books, as additional information. */
function recordFacts({ record }: FileEntry): [kind: string, content: string][] {
  if (record === null) return [];
  const { voucher, mapping, recordedAt } = record;
  const facts: [kind: string, content: string][] = [
    ['Belegnummer', voucher],
    ['Mapping', mapping],
    ['Erfasst', recordedAt.toISOString()],
  ];
  return facts.filter(([, content]) => content !== '');
}

const longestText = 4_000;

/** The field Belegfeld 1, by which DATEV matches open items. It allows few characters. */
function documentNumber(text: string): string {
  return inCodePage(text.slice(0, longestText), page)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\w$&%*+\-/]/g, '-')
    .slice(0, 36);
}

function rowText(cells: ReadonlyMap<number, string>): string {
  const row = datevColumns.map((_, index) => {
    const value = cells.get(index + 1) ?? '';
    return textFields.has(index + 1) ? quoted(value, value.length) : value;
  });
  return `${row.join(';')}\r\n`;
}

function quoted(value: string, longest: number): string {
  return `"${value.slice(0, longest).replaceAll('"', '""')}"`;
}

function lastDayOf(month: string): CalendarDate {
  const next = new Date(`${month}-01T00:00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1, 0);
  return next.toISOString().slice(0, 10);
}

function compact(date: CalendarDate): string {
  return date.replaceAll('-', '');
}

function span(from: number, through: number): number[] {
  return Array.from({ length: through - from + 1 }, (_, index) => from + index);
}
