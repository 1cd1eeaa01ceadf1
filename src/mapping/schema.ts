import { z } from 'zod';
import { parseMoney } from '../domain/money.ts';
import { documentKinds, type Role, roles, soldRoles } from '../terms.ts';
import { mappingFaults } from '../texts/mapping/faults.ts';
import { mappingMeanings, roleMeanings } from '../texts/mapping/meanings.ts';
import { closingRoles, faultsOfPaymentTypes, oneAccountRoles, openRoles } from './closing-roles.ts';
import {
  account,
  accountOr,
  code,
  date,
  departmentCondition,
  departmentId,
  knownHint,
  oneOrMore,
  rateCondition,
  textCondition,
  word,
} from './fields.ts';
import { fixedPaymentRoles } from './payment-types.ts';
import { policies } from './policies.ts';
import { vatGroups, vatKinds } from './vat-group-lines.ts';

const accountTable = z.record(z.string(), account, { error: mappingFaults.accountTable });
function rateTable<Leaf extends z.ZodType<string>>(leaf: Leaf) {
  return z.record(z.string(), leaf).transform((table, context) => {
    const byRate: Record<string, string> = {};
    for (const [rate, code] of Object.entries(table)) {
      // Look-ups use the shortest form of a rate: 25.50 becomes 25.5.
      const exact = rate === '*' ? rate : parseMoney(rate)?.toFixed();
      if (exact === undefined) context.addIssue({ code: 'custom', path: [rate], message: mappingFaults.rateOrAny });
      else byRate[exact] = code;
    }
    return byRate;
  });
}
function vatTable<Leaf extends z.ZodType<string>>(leaf: Leaf) {
  const entry = z.union([leaf, rateTable(leaf)], { error: mappingFaults.accountOrRates });
  return z.record(z.string(), entry, { error: mappingFaults.sameOrByGroup });
}

export const vatConditions = {
  department: departmentCondition.optional().describe(mappingMeanings.department),
  vat_group: textCondition.optional().describe(mappingMeanings.vatGroup),
  vat_rate: rateCondition.optional().describe(mappingMeanings.vatRate),
  vat_kind: oneOrMore(z.enum(vatKinds, { error: mappingFaults.oneOf({ values: vatKinds.join(', ') }) }))
    .optional()
    .describe(mappingMeanings.vatKind),
  from: date.optional().describe(mappingMeanings.from),
  to: date.optional().describe(mappingMeanings.to),
};
export const revenueConditions = {
  account: textCondition.optional().describe(mappingMeanings.account),
  ...vatConditions,
  dimension_1: textCondition.optional().describe(mappingMeanings.dimension1),
  dimension_2: textCondition.optional().describe(mappingMeanings.dimension2),
  dimension_3: textCondition.optional().describe(mappingMeanings.dimension3),
  internal_account: textCondition.optional().describe(mappingMeanings.internalAccount),
  internal_dimension_1: textCondition.optional().describe(mappingMeanings.internalDimension1),
  internal_dimension_2: textCondition.optional().describe(mappingMeanings.internalDimension2),
};

const ruleAccount = account.describe(mappingMeanings.ruleAccount);

function whenOf<Conditions extends z.ZodRawShape>(conditions: Conditions) {
  return z
    .strictObject(conditions)
    .prefault({} as never)
    .describe(mappingMeanings.when);
}

/** Ordered rules: the first whose conditions all match gives the account; a rule without conditions always matches. */
function rulesOf<Rule extends z.ZodType>(rule: Rule) {
  return z.array(rule, { error: mappingFaults.rules }).default([]);
}

const revenueRule = z
  .strictObject({
    when: whenOf(revenueConditions),
    account: ruleAccount.optional(),
    role: z
      .enum(soldRoles, { error: mappingFaults.either({ values: soldRoles.join(mappingFaults.or) }) })
      .optional()
      .describe(mappingMeanings.ruleRole),
  })
  .superRefine(({ account: code, role }, context) => {
    if ((code === undefined) !== (role === undefined)) return;
    const message = role ? mappingFaults.besideRole : mappingFaults.accountOrRole;
    context.addIssue({ code: 'custom', path: ['account'], message });
  });
const vatRule = z.strictObject({ when: whenOf(vatConditions), account: ruleAccount });

export const target = {
  role: z
    .enum(openRoles, { error: (issue) => roleError(issue.input) })
    .optional()
    .describe(mappingMeanings.typeRole),
  account: account.optional().describe(mappingMeanings.typeAccount),
};
export const paymentType = z.strictObject({
  ...target,
  departments: z.record(departmentId, z.strictObject(target)).optional().describe(mappingMeanings.typeDepartments),
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

export const mappingSchema = z.strictObject({
  version: code.optional().describe(mappingMeanings.version),
  approved_by: z.string().trim().min(1, mappingFaults.empty).optional().describe(mappingMeanings.approvedBy),
  roles: z
    .strictObject(Object.fromEntries(roles.map((role) => [role, roleAccount(role)])) as RoleShape)
    .default({})
    .describe(mappingMeanings.roles),
  revenue: z
    .union([z.literal('same'), accountTable], { error: mappingFaults.sameOrByAccount })
    .default({})
    .describe(mappingMeanings.revenue),
  revenue_by_department: z.record(departmentId, accountTable).default({}).describe(mappingMeanings.revenueByDepartment),
  revenue_rules: rulesOf(revenueRule).describe(mappingMeanings.revenueRules),
  vat: z
    .union([z.literal('same'), vatTable(account)], { error: mappingFaults.sameOrByGroup })
    .default({})
    .describe(mappingMeanings.vat),
  vat_rules: rulesOf(vatRule).describe(mappingMeanings.vatRules),
  vat_groups: vatGroups,
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, mappingFaults.country)
    .nullable()
    .default(null)
    .describe(mappingMeanings.country),
  accepted: z
    .record(z.string(), z.string({ error: mappingFaults.reasonText }).trim().min(1, mappingFaults.reasonMissing), {
      error: mappingFaults.acceptedTable,
    })
    .default({})
    .describe(mappingMeanings.accepted),
  payment_types: z
    .record(z.string().regex(/^\d+$/, mappingFaults.paymentTypeNumber), paymentType)
    .default({})
    .superRefine((types, context) => {
      for (const fault of faultsOfPaymentTypes(types)) context.addIssue({ code: 'custom', ...fault });
    })
    .describe(mappingMeanings.paymentTypes),
  policies: z.strictObject(policies).prefault({}),
  chart: z
    .string({ error: mappingFaults.chart })
    .min(1, mappingFaults.chart)
    .nullable()
    .default(null)
    .describe(mappingMeanings.chart),
  cash_customer: code.nullable().default(null).describe(mappingMeanings.cashCustomer),
  counterparties: z
    .strictObject({ insurance_receivable: code.optional(), financing_receivable: code.optional() })
    .default({})
    .describe(mappingMeanings.counterparties),
  erp: z
    .strictObject({
      vat_codes: z
        .union([z.literal('same'), vatTable(word)], { error: mappingFaults.sameOrByGroup })
        .default('same')
        .describe(mappingMeanings.vatCodes),
      dimensions: z
        .partialRecord(
          z.enum(mappedDimensions, { error: mappingFaults.oneOf({ values: mappedDimensions.join(', ') }) }),
          z.strictObject({
            name: code.describe(mappingMeanings.dimensionName),
            values: z
              .union([z.literal('same'), z.record(z.string(), code)], { error: mappingFaults.sameOrValues })
              .default('same')
              .describe(mappingMeanings.dimensionValues),
          }),
        )
        .default({})
        .describe(mappingMeanings.dimensions),
      journals: z
        .partialRecord(z.enum(journalKinds, { error: mappingFaults.oneOf({ values: journalKinds.join(', ') }) }), code)
        .default({})
        .describe(mappingMeanings.journals),
      parties: z
        .enum(['per_client', 'collective'], { error: mappingFaults.parties })
        .default('collective')
        .describe(mappingMeanings.parties),
      collective_party: code.nullable().default(null).describe(mappingMeanings.collectiveParty),
    })
    .prefault({})
    .describe(mappingMeanings.erp),
});

function roleAccount(role: Role) {
  const one = oneAccountRoles.includes(role) ? accountOr(mappingFaults.oneAccount) : account;
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
  return { title: mappingMeanings.title, ...schema };
}

function roleError(input: unknown): string {
  if (closingRoles.some((role) => role === input)) return mappingFaults.closingRole({ role: String(input) });
  return mappingFaults.roleUnknown({ role: String(input), hint: knownHint(String(input), openRoles) });
}
