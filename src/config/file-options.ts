import { z } from 'zod';

/** The options of file targets: `erp.options` of an installation, by kind. docs/accountants/files.md describes each option. */

/** When a batch is written: immediately, or after the end of the local day or month. */
export const batchings = ['at_once', 'daily', 'monthly'] as const;
export type Batching = (typeof batchings)[number];

export const csvDialects = ['international', 'semicolon'] as const;

export interface CsvOptions {
  dialect: (typeof csvDialects)[number];
  batches: Batching;
}

export interface Sie4Options {
  companyName: string;
  organisationNumber: string | null;
  /** Whether the file declares its accounts, named after our roles, so that the importing program can create missing ones. */
  declareAccounts: boolean;
  /** The number of the dimension for parties. Null if the file contains no parties. */
  customerDimension: string | null;
  batches: Batching;
}

export interface DatevOptions {
  consultantNumber: string;
  clientNumber: string;
  accountLength: number;
  /** First month of the fiscal year, two digits. */
  fiscalYearMonth: string;
  /** Chart of accounts (SKR), `03` or `04`, for the header of the file. */
  chart: string | null;
  /** Whether DATEV locks the imported postings against changes. */
  locked: boolean;
  /** Whether DATEV moves VAT on payment itself (Ist-Versteuerung), so that `policies.vat_due` must not move it, too. */
  cashAccounting: boolean;
  /** Accounts whose automatic tax is switched off (BU key 40), because the file has separate lines for the tax. */
  automaticAccounts: string[];
  batches: Batching;
}

export type FileOptions =
  | { kind: 'csv'; options: CsvOptions }
  | { kind: 'sie4'; options: Sie4Options }
  | { kind: 'datev'; options: DatevOptions };

function textLike(pattern: RegExp, message: string) {
  return z.string().regex(pattern, message);
}

function oneOf<const Word extends string>(words: readonly Word[], fallback: Word) {
  return z.enum(words, { error: `must be ${words.join(' or ')}` }).default(fallback);
}

function flag(fallback: boolean) {
  return z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default(fallback ? 'true' : 'false')
    .transform((word) => word === 'true');
}

const batches = oneOf(batchings, 'at_once');

const csv = z.strictObject({ dialect: oneOf(csvDialects, 'international'), batches });

const sie4 = z
  .strictObject({
    company_name: z.string().max(100, 'must have at most 100 characters'),
    organisation_number: textLike(/^\d{6}-?\d{4}$/, 'must be ten digits, for example 556677-8899').optional(),
    declare_accounts: flag(true),
    customer_dimension: textLike(/^[1-9]\d{0,3}$/, 'must be the number of a dimension, for example 8').optional(),
    batches,
  })
  .transform(
    (options): Sie4Options => ({
      companyName: options.company_name,
      organisationNumber: options.organisation_number ?? null,
      declareAccounts: options.declare_accounts,
      customerDimension: options.customer_dimension ?? null,
      batches: options.batches,
    }),
  );

const datev = z
  .strictObject({
    consultant_number: textLike(
      /^(100[1-9]|10[1-9]\d|1[1-9]\d\d|[2-9]\d{3}|[1-9]\d{4,6})$/,
      'must be from 1001 to 9999999',
    ),
    client_number: textLike(/^[1-9]\d{0,4}$/, 'must be from 1 to 99999'),
    account_length: textLike(/^[4-8]$/, 'must be from 4 to 8'),
    fiscal_year_start: textLike(/^(0[1-9]|1[0-2])-01$/, 'must be the first day of a month, for example 01-01').default(
      '01-01',
    ),
    chart: textLike(/^\d{2}$/, 'must be two digits, for example 03').optional(),
    locked: flag(false),
    cash_accounting: flag(false),
    automatic_accounts: textLike(/^\d{4,9}(\s*,\s*\d{4,9})*$/, 'must be accounts with commas between them').optional(),
    batches,
  })
  .transform(
    (options): DatevOptions => ({
      consultantNumber: options.consultant_number,
      clientNumber: options.client_number,
      accountLength: Number(options.account_length),
      fiscalYearMonth: options.fiscal_year_start.slice(0, 2),
      chart: options.chart ?? null,
      locked: options.locked,
      cashAccounting: options.cash_accounting,
      automaticAccounts: (options.automatic_accounts ?? '').split(',').flatMap((account) => account.trim() || []),
      batches: options.batches,
    }),
  );

const schemas = { csv, sie4, datev };

/** Formats whose amounts have two decimals. */
const twoDecimals: readonly FileOptions['kind'][] = ['sie4', 'datev'];

export interface OptionFault {
  /** The name of the option. Empty if the fault concerns the kind of file. */
  option: string;
  message: string;
}

/** Reads the options of a kind of file, or returns the first fault. `decimals` are those of the installation's currency. */
export function readFileOptions(
  kind: FileOptions['kind'],
  written: Record<string, string>,
  decimals: number,
): { read: FileOptions } | { fault: OptionFault } {
  if (twoDecimals.includes(kind) && decimals > 2) {
    return {
      fault: { option: '', message: `cannot be used: ${kind} has two decimals, but the currency has ${decimals}` },
    };
  }
  const result = schemas[kind].safeParse(written);
  if (result.success) return { read: { kind, options: result.data } as FileOptions };
  const { issues } = result.error;
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) {
    const known = Object.keys(schemas[kind] instanceof z.ZodPipe ? schemas[kind].in.shape : schemas[kind].shape);
    return {
      fault: { option: unknown.keys[0] ?? '', message: `is not an option of ${kind}; known are ${known.join(', ')}` },
    };
  }
  const [first] = issues;
  const option = String(first?.path[0] ?? '');
  const isMissing = !Object.hasOwn(written, option);
  return { fault: { option, message: isMissing ? `is required for ${kind}` : (first?.message ?? 'is wrong') } };
}
