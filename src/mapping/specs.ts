import { type ParsedNode, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { isTimezone } from '../domain/dates.ts';
import { isCurrency, minorUnitDecimals } from '../domain/money.ts';
import { nearest } from '../domain/nearest.ts';
import { exactNumber } from '../records/json.ts';
import { type ExpectedEntry, parseEntries, writtenTags } from './written-entries.ts';

/** A record with the source's field names. Amounts keep their digits as written. */
export type WrittenRecord = Record<string, unknown>;

/** A test case of a mapping: records of the source, and the expected entries and problems. */
export interface SpecCase {
  name: string;
  invoices: (WrittenRecord & { rows: WrittenRecord[] })[];
  payments: WrittenRecord[];
  prepayments: WrittenRecord[];
  entries: ExpectedEntry[];
  /** Problem code by document (`invoice 1`). */
  held: Record<string, string>;
  /** Expected remark codes by document. Null if the case does not compare remarks. */
  remarks: Record<string, string[]> | null;
}

export interface Specs {
  timezone: string;
  currency: string;
  decimals: number;
  startDate: string | null;
  cases: SpecCase[];
}

const record = z.record(z.string(), z.unknown(), { error: 'must be a record in the field names of the practice API' });
const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date like 2026-01-31');

const documentName = z.string().regex(/^(invoice|payment|prepayment) \d+$/, 'must be a document such as `invoice 1`');

const caseSchema = z.strictObject({
  name: z.string({ error: 'must be a text' }).min(1, 'must not be empty').describe('what the case shows'),
  invoices: z
    .array(z.looseObject({ rows: z.array(record).optional().describe('its rows') }))
    .default([])
    .describe(
      'invoices and credit notes in the field names of the practice API, their rows in `rows`; final unless `status` says otherwise, totals from the rows unless given',
    ),
  payments: z
    .array(record)
    .default([])
    .describe('payments in the field names of the practice API; of the first invoice unless `invoice` says otherwise'),
  prepayments: z.array(record).default([]).describe('prepayments in the field names of the practice API'),
  entries: z
    .string({ error: 'must be a text of entries' })
    .default('')
    .describe(
      `every entry that must come of it, written by hand: a line "DATE KIND ID", below it indented lines "ACCOUNT  AMOUNT", credit negative. After a ";" tags that must be so: ${writtenTags.join(', ')}`,
    ),
  remarks: z
    .record(documentName, z.union([z.string(), z.array(z.string())]))
    .optional()
    .describe('every document that is remarked upon, with the codes; left out: remarks are not compared'),
  held: z
    .record(documentName, z.string())
    .default({})
    .describe('every document that must be held, with its problem code'),
});

const specsSchema = z.strictObject({
  timezone: z.string().default('UTC').refine(isTimezone, 'is no time zone').describe('time zone of the installation'),
  currency: z.string().default('EUR').refine(isCurrency, 'is no currency').describe('currency of the installation'),
  start_date: date.optional().describe('the cut-over, as in the configuration'),
  cases: z.array(caseSchema, { error: 'must be a list of cases' }).min(1, 'must hold a case').describe('the cases'),
});

/** The JSON schema of a `.specs.yaml` file. */
export function specsJsonSchema(): Record<string, unknown> {
  return {
    title: 'Cases of a mapping of vetledger',
    ...z.toJSONSchema(specsSchema, { io: 'input', target: 'draft-7' }),
  };
}

/** Parses a specs file. Returns every fault with its path if there is one. */
export function parseSpecs(text: string): { specs: Specs } | { errors: string[] } {
  const document = parseDocument<ParsedNode>(text, { prettyErrors: true });
  if (document.errors.length > 0) return { errors: document.errors.map(({ message }) => message.replace(/\n.*/s, '')) };
  // Numbers keep their digits as written, because an amount must not become a float.
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== 'number' || node.source === undefined) return;
      node.value = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(node.source) ? exactNumber(node.source) : node.source;
    },
  });
  const result = specsSchema.safeParse(document.toJS() ?? {});
  if (!result.success) return { errors: result.error.issues.flatMap(describe) };
  const { timezone, currency, start_date, cases } = result.data;
  const errors: string[] = [];
  const read = cases.map((written, index): SpecCase => {
    const entries = parseEntries(written.entries);
    if ('errors' in entries) errors.push(...entries.errors.map((error) => `cases.${index}.entries: ${error}`));
    const invoices = written.invoices.map((invoice) => ({ ...invoice, rows: invoice.rows ?? [] }));
    const remarks = written.remarks
      ? Object.fromEntries(Object.entries(written.remarks).map(([name, codes]) => [name, [codes].flat()]))
      : null;
    return { ...written, invoices, remarks, entries: 'errors' in entries ? [] : entries.entries };
  });
  const names = cases.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) errors.push(`cases: two cases are called "${twice}"`);
  if (errors.length > 0) return { errors };
  return {
    specs: { timezone, currency, decimals: minorUnitDecimals(currency), startDate: start_date ?? null, cases: read },
  };
}

function describe(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.') || 'the file';
  if (issue.code === 'invalid_key') return [`${path}: ${issue.issues[0]?.message ?? issue.message}`];
  if (issue.code !== 'unrecognized_keys') return [`${path}: ${issue.message}`];
  const known = Object.keys(issue.path.length === 0 ? specsSchema.shape : caseSchema.shape);
  return issue.keys.map((key) => {
    const meant = nearest(key, known);
    const hint = meant ? `did you mean ${meant}?` : `known are ${known.join(', ')}`;
    return `${[...issue.path, key].join('.')}: unknown key; ${hint}`;
  });
}
