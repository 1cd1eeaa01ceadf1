import { type ParsedNode, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { isTimezone } from '../domain/dates.ts';
import { isCurrency, minorUnitDecimals } from '../domain/money.ts';
import { exactNumber } from '../records/json.ts';
import { mappingFaults } from '../texts/mapping/faults.ts';
import { specsMeanings } from '../texts/mapping/meanings.ts';
import { knownHint } from './fields.ts';
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

const record = z.record(z.string(), z.unknown(), { error: mappingFaults.record });
const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, mappingFaults.dateLike);

const documentName = z.string().regex(/^(invoice|payment|prepayment) \d+$/, mappingFaults.documentName);

const caseSchema = z.strictObject({
  name: z.string({ error: mappingFaults.text }).min(1, mappingFaults.empty).describe(specsMeanings.name),
  invoices: z
    .array(z.looseObject({ rows: z.array(record).optional().describe(specsMeanings.rows) }))
    .default([])
    .describe(specsMeanings.invoices),
  payments: z.array(record).default([]).describe(specsMeanings.payments),
  prepayments: z.array(record).default([]).describe(specsMeanings.prepayments),
  entries: z
    .string({ error: mappingFaults.entriesText })
    .default('')
    .describe(specsMeanings.entries({ tags: writtenTags.join(', ') })),
  remarks: z
    .record(documentName, z.union([z.string(), z.array(z.string())]))
    .optional()
    .describe(specsMeanings.remarks),
  held: z.record(documentName, z.string()).default({}).describe(specsMeanings.held),
});

const specsSchema = z.strictObject({
  timezone: z.string().default('UTC').refine(isTimezone, mappingFaults.timezone).describe(specsMeanings.timezone),
  currency: z.string().default('EUR').refine(isCurrency, mappingFaults.currency).describe(specsMeanings.currency),
  start_date: date.optional().describe(specsMeanings.startDate),
  cases: z.array(caseSchema, { error: mappingFaults.cases }).min(1, mappingFaults.noCase).describe(specsMeanings.cases),
});

/** The JSON schema of a `.specs.yaml` file. */
export function specsJsonSchema(): Record<string, unknown> {
  return {
    title: specsMeanings.title,
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
    if ('errors' in entries) errors.push(...entries.errors.map((error) => mappingFaults.inEntries({ index, error })));
    const invoices = written.invoices.map((invoice) => ({ ...invoice, rows: invoice.rows ?? [] }));
    const remarks = written.remarks
      ? Object.fromEntries(Object.entries(written.remarks).map(([name, codes]) => [name, [codes].flat()]))
      : null;
    return { ...written, invoices, remarks, entries: 'errors' in entries ? [] : entries.entries };
  });
  const names = cases.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) errors.push(mappingFaults.sameName({ name: twice }));
  if (errors.length > 0) return { errors };
  return {
    specs: { timezone, currency, decimals: minorUnitDecimals(currency), startDate: start_date ?? null, cases: read },
  };
}

function describe(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.') || mappingFaults.theFile;
  if (issue.code === 'invalid_key') return [`${path}: ${issue.issues[0]?.message ?? issue.message}`];
  if (issue.code !== 'unrecognized_keys') return [`${path}: ${issue.message}`];
  const known = Object.keys(issue.path.length === 0 ? specsSchema.shape : caseSchema.shape);
  return issue.keys.map((key) => {
    return mappingFaults.unknownKey({ path: [...issue.path, key].join('.'), hint: knownHint(key, known) });
  });
}
