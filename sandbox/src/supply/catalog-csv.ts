// Reads a catalog file row by row (practice-api: Catalog CSV; Events: catalog.processed; Errors).
// Choices of the sandbox: the names of the optional columns; the values of `product_type`; all codes but
// `missing_required_field`. Column names and product types are compared without regard to case. The separator is a
// comma. A row with more values than the header fails, for instance after an unquoted decimal comma. Of several rows
// with one product type and number, the last one counts. Each problem of a row has an entry.
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { dec, fixed } from '../money.ts';
import type { CatalogProduct } from '../state/supply.ts';

export const expectedColumns = [
  'product_type',
  'product_number',
  'product_name',
  'wholesale_price',
  'product_price',
  'vat',
  'unit',
  'barcode',
  'currency',
  'total_dosable_units',
  'dosable_units_per_package',
  'packages_per_wholesale_unit',
  'active_ingredient',
  'route_of_administration',
  'strength',
  'controlled_substance',
] as const;
type Column = (typeof expectedColumns)[number];

export const productTypes = ['Medicine', 'Supply', 'Food'] as const;

export const catalogErrorCodes = [
  ...(['invalid_file', 'missing_header', 'missing_column', 'no_rows'] as const),
  ...(['missing_required_field', 'invalid_value'] as const),
] as const;

export interface CatalogError {
  /** The line of the file, from 1; null if the problem is of the whole file. */
  row: number | null;
  code: (typeof catalogErrorCodes)[number];
  field: Column | null;
  detail: string;
}

/** The maximum number of errors in the event. If there are more, the event has counts and the report has the errors. */
export const maxErrors = 100;
/** The maximum number of errors in a report; the counts are exact beyond it. */
const maxReported = 100_000;
const maxRowBytes = 100_000;

export class CatalogErrors {
  readonly kept: CatalogError[] = [];
  readonly #counts = new Map<string, number>();
  #found = 0;

  add(error: CatalogError): void {
    this.#found++;
    this.#counts.set(error.code, (this.#counts.get(error.code) ?? 0) + 1);
    if (this.kept.length < maxReported) this.kept.push(error);
  }

  get isTooMany(): boolean {
    return this.#found > maxErrors;
  }

  /** The exact number of errors of each code. */
  summary(): { code: string; count: number }[] {
    return [...this.#counts].map(([code, count]) => ({ code, count }));
  }

  /** The errors as CSV. */
  report(): string {
    const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const lines = this.kept.map(
      ({ row, code, field, detail }) => `${row ?? ''},${code},${field ?? ''},${quote(detail)}`,
    );
    const left = this.#found - this.kept.length;
    if (left > 0) lines.push(`,,,${quote(`${left} more errors are not listed.`)}`);
    return `${['row,code,field,detail', ...lines].join('\n')}\n`;
  }
}

export interface CatalogOutcome {
  status: 'accepted' | 'partially_accepted' | 'rejected';
  rows_total: number;
  rows_accepted: number;
  rows_rejected: number;
  products: CatalogProduct[];
  errors: CatalogErrors;
}

/** A problem of the whole file, after which reading stops. */
class Unusable extends Error {
  readonly errors: CatalogError[];

  constructor(...errors: CatalogError[]) {
    super('the file is unusable');
    this.errors = errors;
  }
}

const ofFile = (code: CatalogError['code'], detail: string, field: Column | null = null): CatalogError => ({
  row: null,
  code,
  field,
  detail,
});

/** Reads a file of any size as a stream. */
export const readCatalog = async (file: AsyncIterable<Uint8Array>): Promise<CatalogOutcome> => {
  const reading = new Reading();
  try {
    const rows = parse({
      ...{ info: true, relax_column_count: true, skip_empty_lines: true, trim: true, max_record_size: maxRowBytes },
    });
    await pipeline(
      decoded(file),
      rows,
      async (records: AsyncIterable<{ record: string[]; info: { lines: number } }>) => {
        for await (const { record, info } of records) reading.row(record, info.lines);
      },
    );
    return reading.end();
  } catch (error) {
    if (error instanceof Unusable) return reading.unusable(error.errors);
    if (error instanceof CsvError || (error as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      return reading.unusable([
        ofFile('invalid_file', `The file is not readable as UTF-8 CSV: ${(error as Error).message}`),
      ]);
    }
    throw error;
  }
};

/** Decodes the file and removes its byte-order mark. Throws for bytes that are not UTF-8. */
async function* decoded(file: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const bytes of file) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

class Reading {
  readonly #errors = new CatalogErrors();
  readonly #products = new Map<string, CatalogProduct>();
  #columns: (Column | null)[] | null = null;
  #rows = 0;
  #accepted = 0;

  row(values: string[], lastLine: number): void {
    if (this.#columns === null) {
      this.#columns = headerOf(values);
      return;
    }
    this.#rows++;
    const row = lastLine - values.reduce((lines, value) => lines + (value.match(/\n/g)?.length ?? 0), 0);
    const problems: CatalogError[] = [];
    const product = productOf(new Cells(this.#columns, values, row, problems));
    if (problems.length > 0) {
      for (const problem of problems) this.#errors.add(problem);
      return;
    }
    this.#accepted++;
    this.#products.set(`${product.product_type}/${product.product_number}`, product);
  }

  end(): CatalogOutcome {
    if (this.#columns === null) throw new Unusable(ofFile('missing_header', 'The file has no header row.'));
    if (this.#rows === 0) throw new Unusable(ofFile('no_rows', 'The file has no data rows.'));
    const isWhole = this.#accepted === this.#rows;
    return this.#outcome(isWhole ? 'accepted' : this.#accepted > 0 ? 'partially_accepted' : 'rejected');
  }

  /** The outcome of a file with a problem: none of its rows are used, even those before the problem. */
  unusable(errors: CatalogError[]): CatalogOutcome {
    for (const error of errors) this.#errors.add(error);
    this.#accepted = 0;
    return this.#outcome('rejected');
  }

  #outcome(status: CatalogOutcome['status']): CatalogOutcome {
    return {
      status,
      rows_total: this.#rows,
      rows_accepted: this.#accepted,
      rows_rejected: this.#rows - this.#accepted,
      products: status === 'rejected' ? [] : [...this.#products.values()],
      errors: this.#errors,
    };
  }
}

/** The columns of the header; null for an unknown column, which is ignored. */
const headerOf = (values: string[]): (Column | null)[] => {
  const names = values.map((value) => value.trim().toLowerCase());
  const columns = names.map((name, at) =>
    names.indexOf(name) === at ? (expectedColumns.find((column) => column === name) ?? null) : null,
  );
  if (columns.every((column) => column === null)) {
    throw new Unusable(
      ofFile('missing_header', `The first row names no column of a catalog: ${expectedColumns.join(', ')}.`),
    );
  }
  const has = (column: Column): boolean => columns.includes(column);
  const absent = (['product_type', 'product_number', 'product_name'] as const)
    .filter((column) => !has(column))
    .map((column) => ofFile('missing_column', `The column ${column} is required.`, column));
  if (!has('wholesale_price') && !has('product_price')) {
    const detail = 'At least one of the columns wholesale_price and product_price is required.';
    absent.push(ofFile('missing_column', detail, 'wholesale_price'));
  }
  if (absent.length > 0) throw new Unusable(...absent);
  return columns;
};

/** The values of one row by column, and their problems. */
class Cells {
  readonly #values = new Map<Column, string>();
  readonly #row: number;
  readonly #problems: CatalogError[];

  constructor(columns: (Column | null)[], values: string[], row: number, problems: CatalogError[]) {
    this.#row = row;
    this.#problems = problems;
    for (const [at, column] of columns.entries()) {
      const value = (values[at] ?? '').trim();
      if (column !== null && value !== '') this.#values.set(column, value);
    }
    if (values.slice(columns.length).some((value) => value.trim() !== '')) {
      this.#fail('invalid_value', null, `The row has ${values.length} values and the header ${columns.length}.`);
    }
  }

  has(column: Column): boolean {
    return this.#values.has(column);
  }

  required(column: Column, max: number): string {
    const value = this.text(column, max);
    if (!this.has(column)) this.missing(column, `${column} must not be empty.`);
    return value ?? '';
  }

  missing(column: Column, detail: string): void {
    this.#fail('missing_required_field', column, detail);
  }

  text(column: Column, max: number): string | null {
    const value = this.#values.get(column) ?? null;
    if (value !== null && (value.length > max || value.includes('\0'))) {
      this.#fail('invalid_value', column, `${column} must be text of at most ${max} characters.`);
    }
    return value;
  }

  /** Reads one of several words, without regard to case. */
  word<const W extends string>(column: Column, words: readonly W[]): W | null {
    const value = this.#values.get(column);
    if (value === undefined) return null;
    const known = words.find((word) => word.toLowerCase() === value.toLowerCase());
    if (known === undefined) this.#fail('invalid_value', column, `${column} must be one of ${words.join(', ')}.`);
    return known ?? null;
  }

  decimal(column: Column, { max = '999999999999', signed = false } = {}): string | null {
    const value = this.#values.get(column);
    if (value === undefined) return null;
    const pattern = signed ? /^-?\d{1,12}(\.\d{1,6})?$/ : /^\d{1,12}(\.\d{1,6})?$/;
    if (pattern.test(value) && dec(value).lessThanOrEqualTo(max)) return value;
    this.#fail('invalid_value', column, `${column} must be a number with a decimal point, from 0 to ${max}.`);
    return null;
  }

  pattern(column: Column, pattern: RegExp, what: string): string | null {
    const value = this.#values.get(column);
    if (value === undefined) return null;
    if (!pattern.test(value)) this.#fail('invalid_value', column, `${column} must be ${what}.`);
    return value;
  }

  #fail(code: CatalogError['code'], field: Column | null, detail: string): void {
    this.#problems.push({ row: this.#row, code, field, detail });
  }
}

const productOf = (cells: Cells): CatalogProduct => {
  const product_type = cells.word('product_type', productTypes) ?? '';
  if (!cells.has('product_type')) cells.missing('product_type', 'product_type must not be empty.');
  const product_number = cells.required('product_number', 63);
  const product_name = cells.required('product_name', 255);
  const wholesale_price = cells.decimal('wholesale_price');
  const product_price = cells.decimal('product_price');
  if (!cells.has('wholesale_price') && !cells.has('product_price')) {
    cells.missing('wholesale_price', 'At least one of wholesale_price and product_price must not be empty.');
  }
  return {
    ...{ product_type, product_number, product_name, wholesale_price, product_price },
    vat: cells.decimal('vat', { max: '100' }),
    unit: cells.text('unit', 255),
    barcode: cells.text('barcode', 30),
    currency: cells.pattern('currency', /^[A-Z]{3}$/, 'a code of three capital letters (ISO 4217)'),
    total_dosable_units: dosableUnits(cells),
    active_ingredient: cells.text('active_ingredient', 255),
    route_of_administration: cells.text('route_of_administration', 63),
    strength: cells.text('strength', 255),
    controlled_substance: /^(true|1|yes)$/.test(
      cells.word('controlled_substance', ['true', 'false', '1', '0', 'yes', 'no']) ?? '',
    ),
  };
};

/**
 * The total of dosable units. If it is absent or not above zero, it is computed as units per package times packages, if
 * both are known.
 */
const dosableUnits = (cells: Cells): string | null => {
  const total = cells.decimal('total_dosable_units', { signed: true });
  const perPackage = cells.decimal('dosable_units_per_package');
  const packages = cells.decimal('packages_per_wholesale_unit');
  if (total !== null && dec(total).greaterThan(0)) return total;
  if (perPackage === null) return null;
  const units = dec(perPackage).times(packages ?? '1');
  return fixed(units, Math.min(6, units.decimalPlaces()));
};
