import { z } from 'zod';
import { parseMoney } from '../domain/money.ts';
import { nearest } from '../domain/nearest.ts';
import { vatPeriodLengths } from '../domain/vat-period.ts';
import { documentKinds, type Role, roles, soldRoles } from '../terms.ts';
import { closingRoles, faultsOfPaymentTypes, neverCloses, oneAccountRoles, openRoles } from './closing-roles.ts';
import {
  account,
  accountOr,
  amount,
  code,
  date,
  departmentCondition,
  notOne,
  oneOrMore,
  rateCondition,
  rateOf,
  textCondition,
  word,
} from './fields.ts';
import { fixedPaymentRoles } from './payment-types.ts';
import { roleMeanings } from './role-meanings.ts';
import { vatGroups, vatKinds } from './vat-group-lines.ts';

const accountTable = z.record(z.string(), account, { error: 'must be a table of accounts' });
function rateTable<Leaf extends z.ZodType<string>>(leaf: Leaf) {
  return z.record(z.string(), leaf).transform((table, context) => {
    const byRate: Record<string, string> = {};
    for (const [rate, code] of Object.entries(table)) {
      // Look-ups use the shortest form of a rate: 25.50 becomes 25.5.
      const exact = rate === '*' ? rate : parseMoney(rate)?.toFixed();
      if (exact === undefined)
        context.addIssue({ code: 'custom', path: [rate], message: 'must be a rate in per cent, or "*"' });
      else byRate[exact] = code;
    }
    return byRate;
  });
}
function vatTable<Leaf extends z.ZodType<string>>(leaf: Leaf) {
  const entry = z.union([leaf, rateTable(leaf)], { error: 'must be an account or a table by rate' });
  return z.record(z.string(), entry, { error: 'must be `same` or a table by VAT group name' });
}

export const vatConditions = {
  department: departmentCondition.optional().describe("the department's id"),
  vat_group: textCondition.optional().describe("the VAT group's name"),
  vat_rate: rateCondition.optional().describe("the VAT group's rate in per cent"),
  vat_kind: oneOrMore(z.enum(vatKinds, { error: `must be one of ${vatKinds.join(', ')}` }))
    .optional()
    .describe("the VAT group's kind, as `vat_groups` has it"),
  from: date.optional().describe('invoices dated on that day or later; for a credit note its first original counts'),
  to: date.optional().describe('invoices dated on that day or earlier'),
};
export const revenueConditions = {
  account: textCondition.optional().describe('the account number that the row names'),
  ...vatConditions,
  dimension_1: textCondition.optional().describe("the row's first reporting dimension"),
  dimension_2: textCondition.optional().describe("the row's second reporting dimension"),
  dimension_3: textCondition.optional().describe("the row's third reporting dimension"),
  internal_account: textCondition.optional().describe("the row's internal account"),
  internal_dimension_1: textCondition.optional().describe("the row's first internal dimension"),
  internal_dimension_2: textCondition.optional().describe("the row's second internal dimension"),
};

const ruleAccount = account.describe('the account, or `same`: the source’s own');

function whenOf<Conditions extends z.ZodRawShape>(conditions: Conditions) {
  return z
    .strictObject(conditions)
    .prefault({} as never)
    .describe('every condition must hold; null means: names none');
}

/** Ordered rules: the first whose conditions all match gives the account; a rule without conditions always matches. */
function rulesOf<Rule extends z.ZodType>(rule: Rule) {
  return z.array(rule, { error: 'must be a list of rules' }).default([]);
}

const revenueRule = z
  .strictObject({
    when: whenOf(revenueConditions),
    account: ruleAccount.optional(),
    role: z
      .enum(soldRoles, { error: `must be ${soldRoles.join(' or ')}` })
      .optional()
      .describe(
        'instead of an account: what was sold is owed, and no revenue. Such rules are looked at before all others; rows with VAT are held',
      ),
  })
  .superRefine(({ account: code, role }, context) => {
    if ((code === undefined) !== (role === undefined)) return;
    const message = role ? 'must not be given beside `role`' : `${notOne}, or give a \`role\``;
    context.addIssue({ code: 'custom', path: ['account'], message });
  });
const vatRule = z.strictObject({ when: whenOf(vatConditions), account: ruleAccount });

export const target = {
  role: z
    .enum(openRoles, { error: (issue) => roleError(issue.input) })
    .optional()
    .describe('the role instead of the type’s own'),
  account: account.optional().describe("the account instead of the role's"),
};
const departmentId = z.string().regex(/^\d+$/, 'must be the id of a department');
export const paymentType = z.strictObject({
  ...target,
  departments: z
    .record(departmentId, z.strictObject(target))
    .optional()
    .describe('another role or account by department'),
});
/** Dimensions of vetledger that can be delivered to an ERP. */
export const mappedDimensions = [
  'department',
  'dimension_1',
  'dimension_2',
  'dimension_3',
  'internal_account',
  'internal_dimension_1',
  'internal_dimension_2',
] as const;
export type MappedDimension = (typeof mappedDimensions)[number];

export const journalKinds = [...documentKinds, 'daily_summary', '*'] as const;

const groupOfPrepayments = z
  .strictObject({
    name: z.string({ error: 'must be the name of a VAT group' }).nullable().default(null),
    rate: rateOf.describe('its rate in per cent'),
  })
  .describe('the VAT group of prepayments');

/** The section `policies.prepayment_vat` in its long form. */
const atReceipt = z.strictObject({
  at_receipt: date.describe('prepayments received on that day or later are posted with VAT'),
  group: groupOfPrepayments.optional(),
  payment_types: z
    .record(z.string().regex(/^\d+$/, 'must be the number of a payment type'), groupOfPrepayments)
    .default({}),
  departments: z.record(departmentId, groupOfPrepayments).default({}),
});

export const policies = {
  prepayment_vat: z
    .union([z.literal('listed'), atReceipt], {
      error: 'must be `listed`, or a table with `at_receipt` (a date) and `group`, `payment_types` or `departments`',
    })
    .default('listed')
    .transform((policy) => {
      if (policy === 'listed') return policy;
      const { at_receipt: from, ...groups } = policy;
      return { from, ...groups };
    })
    .describe(
      'VAT on prepayments: `listed` at each month’s end, none posted; or posted at receipt from a day on, by department, payment type or for all',
    ),
  locked_period: z
    .enum(['hold', 'redate'], { error: 'must be hold or redate' })
    .default('hold')
    .describe('documents dated in a closed period: hold them, or post them on the first open day'),
  follow_source_lock: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe("whether the practice software's financial_period_lock_date closes our books, too"),
  vat_period: z
    .enum(vatPeriodLengths, { error: `must be ${vatPeriodLengths.join(', ')}` })
    .default('month')
    .describe('the period that VAT is declared for: every line keeps the period of its document’s date'),
  oldest_months: z
    .int('must be a whole number of months')
    .positive('must be a whole number of months above 0')
    .default(24)
    .describe('a document dated more months before it was recorded is held until its date is accepted'),
  vat_rate_expired: z
    .enum(['remark', 'hold'], { error: 'must be remark or hold' })
    .default('remark')
    .describe('invoices dated outside the validity of a VAT group: post them with a remark, or hold them'),
  rounding_limit: amount('1.00').describe('a payment of type 3 (rounding) above this amount is held'),
};

export const mappingSchema = z.strictObject({
  version: code.optional().describe('what this mapping is called, such as `2026-2`; every entry keeps it'),
  approved_by: z.string().trim().min(1, 'must not be empty').optional().describe('who approved this mapping'),
  roles: z
    .strictObject(Object.fromEntries(roles.map((role) => [role, roleAccount(role)])) as RoleShape)
    .default({})
    .describe('the account of each role; one that is left empty holds the documents that need it'),
  revenue: z
    .union([z.literal('same'), accountTable], { error: 'must be `same` or a table by account number' })
    .default({})
    .describe('`same`: the account number of the row itself; or a table by account number, "*" for the rest'),
  revenue_by_department: z
    .record(departmentId, accountTable)
    .default({})
    .describe('tables like `revenue` by department, looked at before it'),
  revenue_rules: rulesOf(revenueRule).describe(
    'ordered rules, looked at before `revenue_by_department` and `revenue`: those with a `role` first, then the others; the first that holds gives the account',
  ),
  vat: z
    .union([z.literal('same'), vatTable(account)], { error: 'must be `same` or a table by VAT group name' })
    .default({})
    .describe('`same`: the account of the VAT group itself; or a table by VAT group name and rate, "*" for the rest'),
  vat_rules: rulesOf(vatRule).describe('ordered rules, looked at before `vat`: the first that holds gives the account'),
  vat_groups: vatGroups,
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be two capital letters such as FI')
    .nullable()
    .default(null)
    .describe('our own country: sales to other EU countries must not name a VAT number of it'),
  accepted: z
    .record(z.string(), z.string({ error: 'must be the reason, as a text' }).trim().min(1, 'must say why'), {
      error: 'must be a table by account number or VAT group, each with the reason',
    })
    .default({})
    .describe(
      'revenue that is named as gift cards, vouchers or prepayments, and is revenue all the same: account number or VAT group of the rows, with the reason. It ends the warning of `mapping check`, `doctor` and the closing checklist, and changes no posting',
    ),
  payment_types: z
    .record(z.string().regex(/^\d+$/, 'must be the number of a payment type'), paymentType)
    .default({})
    .superRefine((types, context) => {
      for (const fault of faultsOfPaymentTypes(types)) context.addIssue({ code: 'custom', ...fault });
    })
    .describe('where a payment type goes when not to its own role; 6, 8 and 12 always go to theirs'),
  policies: z.strictObject(policies).prefault({}),
  chart: z
    .string({ error: 'must be the path of a CSV file, or `erp`' })
    .min(1, 'must be the path of a CSV file, or `erp`')
    .nullable()
    .default(null)
    .describe(
      'the chart of accounts that `mapping check` compares with: a CSV file (number, name, type, open) beside this one, or `erp`',
    ),
  cash_customer: code.nullable().default(null).describe('the party of counter sales without a client'),
  counterparties: z
    .strictObject({ insurance_receivable: code.optional(), financing_receivable: code.optional() })
    .default({})
    .describe('the party of insurance and financing payments, instead of the payer'),
  erp: z
    .strictObject({
      vat_codes: z
        .union([z.literal('same'), vatTable(word)], { error: 'must be `same` or a table by VAT group name' })
        .default('same')
        .describe(
          'the ERP’s tax code of a VAT group and rate; `same`: the name of the group; `none`: no tax code; "*" for the rest',
        ),
      dimensions: z
        .partialRecord(
          z.enum(mappedDimensions, { error: `must be one of ${mappedDimensions.join(', ')}` }),
          z.strictObject({
            name: code.describe('the ERP’s name of the dimension'),
            values: z
              .union([z.literal('same'), z.record(z.string(), code)], { error: 'must be `same` or a table of values' })
              .default('same')
              .describe('the ERP’s value by ours; `same`: our own; "" for lines without one, "*" for the rest'),
          }),
        )
        .default({})
        .describe('dimensions that are delivered, on revenue and rounding lines; others stay in our books'),
      journals: z
        .partialRecord(z.enum(journalKinds, { error: `must be one of ${journalKinds.join(', ')}` }), code)
        .default({})
        .describe('the ERP’s journal by kind of document; "*" for the rest'),
      parties: z
        .enum(['per_client', 'collective'], { error: 'must be per_client or collective' })
        .default('collective')
        .describe(
          '`per_client`: a party of the ERP for each client, made where it is missing and found by our id; `collective`: one party for all',
        ),
      collective_party: code
        .nullable()
        .default(null)
        .describe('code of the party of lines that need one: for `collective`, of cash sales and of daily summaries'),
    })
    .prefault({})
    .describe('the words of the ERP that entries are delivered to'),
});

function roleAccount(role: Role) {
  const one = oneAccountRoles.includes(role) ? accountOr(neverCloses) : account;
  return one.optional().describe(roleMeanings[role]);
}

type RoleShape = Record<Role, z.ZodOptional<typeof account>>;

/**
 * The accounts of the ERP for roles, revenue accounts, VAT groups and payment types (DESIGN "A short mapping file"). An
 * absent or empty account holds the documents that require it.
 */
export type Mapping = z.output<typeof mappingSchema>;

/** The JSON schema of a mapping file, for editors. */
export function mappingJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(mappingSchema, { io: 'input', target: 'draft-7' });
  const paymentTypes = schema.properties?.payment_types;
  if (typeof paymentTypes !== 'object') throw new Error('the schema of a mapping has no payment_types');
  const fixed = [...fixedPaymentRoles.keys()].join('|');
  paymentTypes.propertyNames = { type: 'string', pattern: `^(?!(${fixed})$)\\d+$` };
  return { title: 'A mapping of vetledger', ...schema };
}

function roleError(input: unknown): string {
  if (closingRoles.some((role) => role === input))
    return `no payment type can be sent to ${String(input)}: it would never close`;
  const meant = nearest(String(input), openRoles);
  return `unknown role ${String(input)}; ${meant ? `did you mean ${meant}?` : `known are ${openRoles.join(', ')}`}`;
}
