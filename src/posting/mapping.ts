import { z } from 'zod';
import { parseMoney } from '../domain/money.ts';
import { nearest } from '../nearest.ts';
import { type Role, roles } from '../terms.ts';

// YAML reads 1700 as a number. One that is not a whole number has already lost its text (an exponent, a decimal point).
const account = z
  .union([z.string(), z.int().nonnegative(), z.null()], { error: 'must be an account code (put it in quotes)' })
  .transform((code) => (code === null ? '' : String(code).trim()));
const code = z.union([z.string(), z.int()], { error: 'must be a code (put it in quotes)' }).transform(String);

const accountTable = z.record(z.string(), account, { error: 'must be a table of accounts' });
const rateTable = z.record(z.string(), account).transform((table, context) => {
  const byRate: Record<string, string> = {};
  for (const [rate, code] of Object.entries(table)) {
    // 25.50 and 25.5 are one rate, and looked up as the latter.
    const exact = rate === '*' ? rate : parseMoney(rate)?.toFixed();
    if (exact === undefined)
      context.addIssue({ code: 'custom', path: [rate], message: 'must be a rate in per cent, or "*"' });
    else byRate[exact] = code;
  }
  return byRate;
});
const vatTable = z.record(
  z.string(),
  z.union([account, rateTable], { error: 'must be an account or a table by rate' }),
  {
    error: 'must be `same` or a table by VAT group name',
  },
);

/** The five roles whose balance must close against other documents of their own kind: no payment type is sent there. */
const closingRoles: readonly Role[] = [
  'receivable',
  'opening_receivable',
  'prepayment_liability',
  'credit_settlement',
  'consolidation_clearing',
];
const openRoles = roles.filter((role) => !closingRoles.includes(role));

const target = {
  role: z.enum(openRoles, { error: (issue) => roleError(issue.input) }).optional(),
  account: account.optional(),
};
const paymentType = z.strictObject({
  ...target,
  departments: z.record(z.string().regex(/^\d+$/, 'must be the id of a department'), z.strictObject(target)).optional(),
});
/** Types whose role has one account: payments of these kinds close against each other (ACCOUNTING "Payment types"). */
const fixedTypes: Record<string, Role> = {
  6: 'consolidation_clearing',
  8: 'prepayment_liability',
  12: 'credit_settlement',
};

const mappingSchema = z.strictObject({
  roles: z.strictObject(Object.fromEntries(roles.map((role) => [role, account.optional()])) as RoleShape).default({}),
  revenue: z
    .union([z.literal('same'), accountTable], { error: 'must be `same` or a table by account number' })
    .default({}),
  revenue_by_department: z
    .record(z.string().regex(/^\d+$/, 'must be the id of a department'), accountTable)
    .default({}),
  vat: z.union([z.literal('same'), vatTable], { error: 'must be `same` or a table by VAT group name' }).default({}),
  payment_types: z
    .record(z.string().regex(/^\d+$/, 'must be the number of a payment type'), paymentType)
    .default({})
    .superRefine((types, context) => {
      for (const type of Object.keys(types)) {
        const role = fixedTypes[type];
        if (!role) continue;
        context.addIssue({
          code: 'custom',
          path: [type],
          message: `always posts to roles.${role}: sent elsewhere, it would never close`,
        });
      }
    }),
  policies: z
    .strictObject({
      locked_period: z.enum(['hold', 'redate'], { error: 'must be hold or redate' }).default('hold'),
      follow_source_lock: z.boolean({ error: 'must be true or false' }).default(false),
    })
    .prefault({}),
  cash_customer: code.nullable().default(null),
  counterparties: z
    .strictObject({ insurance_receivable: code.optional(), financing_receivable: code.optional() })
    .default({}),
});

type RoleShape = Record<Role, z.ZodOptional<typeof account>>;

/**
 * From roles, revenue accounts, VAT groups and payment types to the ERP's accounts (DESIGN "A short mapping file"). What is
 * left out, or left empty, holds the documents that need it.
 */
export type Mapping = z.output<typeof mappingSchema>;

/** A mapping file's parsed YAML as a Mapping, or everything that is wrong with it, each with its path. */
export function parseMapping(data: unknown): { mapping: Mapping } | { errors: string[] } {
  const result = mappingSchema.safeParse(data ?? {});
  return result.success ? { mapping: result.data } : { errors: result.error.issues.flatMap(describe) };
}

function describe(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return [`${path || 'the file'}: ${nested(issue) ?? issue.message}`];
  return issue.keys.map((key) => {
    const known = knownKeys(issue.path);
    const meant = nearest(key, known);
    return `${[...issue.path, key].join('.')}: unknown key; ${meant ? `did you mean ${meant}?` : `known are ${known.join(', ')}`}`;
  });
}

/** A record key's own message is one level down. */
function nested(issue: z.core.$ZodIssue): string | null {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? null) : null;
}

function knownKeys(path: PropertyKey[]): string[] {
  const [section] = path;
  if (section === undefined) return Object.keys(mappingSchema.shape);
  if (section === 'roles') return [...roles];
  if (section === 'payment_types') return path.length > 2 ? Object.keys(target) : Object.keys(paymentType.shape);
  return section === 'policies'
    ? ['locked_period', 'follow_source_lock']
    : ['insurance_receivable', 'financing_receivable'];
}

function roleError(input: unknown): string {
  if (closingRoles.some((role) => role === input))
    return `no payment type can be sent to ${String(input)}: it would never close`;
  const meant = nearest(String(input), openRoles);
  return `unknown role ${String(input)}; ${meant ? `did you mean ${meant}?` : `known are ${openRoles.join(', ')}`}`;
}
