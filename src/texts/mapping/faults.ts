import { catalogue } from '../catalogue.ts';

/** Messages about a wrong value in a mapping file or a specs file. They follow the path of the value. */
export const mappingFaults = catalogue('mapping/faults.mappingFaults', {
  accountCode: 'must be an account code (put it in quotes)',
  blankInside: ({ code, without }: { code: string; without: string }): string =>
    `must not contain a blank: "${code}"; did you mean "${without}"?`,
  nearSame: ({ code }: { code: string }): string => `is "${code}"; did you mean \`same\`?`,
  code: 'must be a code (put it in quotes)',
  empty: 'must not be empty',
  textOrList: 'must be a text, a number or a list of them',
  departmentId: 'must be the id of a department',
  rate: 'must be a rate in per cent',
  rateOrAny: 'must be a rate in per cent, or "*"',
  amount: 'must be an amount',
  date: 'must be a date such as 2026-01-31',
  oneOf: ({ values }: { values: string }): string => `must be one of ${values}`,
  either: ({ values }: { values: string }): string => `must be ${values}`,
  or: ' or ',
  unknownKey: ({ path, hint }: { path: string; hint: string }): string => `${path}: unknown key; ${hint}`,
  didYouMean: ({ near }: { near: string }): string => `did you mean ${near}?`,
  known: ({ values }: { values: string }): string => `known are ${values}`,
  theFile: 'the file',

  // Sections
  accountTable: 'must be a table of accounts',
  accountOrRates: 'must be an account or a table by rate',
  sameOrByAccount: 'must be `same` or a table by account number',
  sameOrByGroup: 'must be `same` or a table by VAT group name',
  sameOrValues: 'must be `same` or a table of values',
  rules: 'must be a list of rules',
  besideRole: 'must not be given together with `role`',
  accountOrRole: 'must be an account code (put it in quotes), or give a `role`',
  groupName: 'must be the name of a VAT group',
  paymentTypeNumber: 'must be the number of a payment type',
  prepaymentVat:
    'must be `listed`, or a table with `at_receipt` (a date) and `group`, `payment_types` or `departments`',
  monthAndDay: 'must be a day such as "12-31"',
  vatDueLatest: 'must be `months: 12` or `year_end: "12-31"`',
  needsUntil: 'must be given together with `until`',
  lockedPeriod: 'must be hold or redate',
  trueOrFalse: 'must be true or false',
  months: 'must be a whole number of months',
  monthsAboveZero: 'must be a whole number of months above 0',
  remarkOrHold: 'must be remark or hold',
  country: 'must be two capital letters such as FI',
  reasonText: 'must be the reason, as a text',
  reasonMissing: 'must contain the reason',
  acceptedTable: 'must be a table by account number or VAT group, each with the reason',
  chart: 'must be the path of a CSV file, or `erp`',
  parties: 'must be per_client or collective',
  vatGroups: 'must be a list of VAT groups',
  rateMustBeZero: ({ kind }: { kind: string }): string => `must be 0: ${kind} has no VAT`,
  rateMissing: 'is missing: the kind domestic requires a rate',
  beforeFrom: ({ from }: { from: string }): string => `must not be before ${from}`,
  sameDays: ({ other, days, otherDays }: { other: number; days: string; otherDays: string }): string =>
    `is valid on the same days as vat_groups.${other}, which has the same group and rate (${days}, ${otherDays})`,

  // Roles
  oneAccount: 'must have only one account: on several accounts, its balance would never become zero',
  roleOneAccount: ({ role }: { role: string }): string =>
    `roles.${role} must have only one account: on several accounts, its balance would never become zero`,
  fixedType: ({ role }: { role: string }): string =>
    `must post to roles.${role}: on another account, the balance would never become zero`,
  closingRole: ({ role }: { role: string }): string =>
    `no payment type can have the role ${role}, since its balance would never become zero`,
  roleUnknown: ({ role, hint }: { role: string; hint: string }): string => `unknown role ${role}; ${hint}`,

  // Specs files
  record: 'must be a record in the field names of the practice API',
  dateLike: 'must be a date like 2026-01-31',
  documentName: 'must be a document such as `invoice 1`',
  text: 'must be a text',
  entriesText: 'must be a text of entries',
  timezone: 'is not a time zone',
  currency: 'is not a currency',
  cases: 'must be a list of cases',
  noCase: 'must contain a case',
  sameName: ({ name }: { name: string }): string => `cases: two cases have the name "${name}"`,
  inEntries: ({ index, error }: { index: number; error: string }): string => `cases.${index}.entries: ${error}`,

  // Written entries
  atLine: ({ line, message }: { line: number; message: string }): string => `line ${line}: ${message}`,
  noEntry: 'there is no entry for this line: write a line "DATE KIND ID" above it',
  notAnEntry: ({ kinds }: { kinds: string }): string => `is not "DATE KIND ID" with one of the kinds ${kinds}`,
  unbalanced: ({ kind, id, left }: { kind: string; id: number; left: string }): string =>
    `${kind} ${id} does not balance: debits and credits differ by ${left}`,
  noLines: ({ kind, id }: { kind: string; id: number }): string => `${kind} ${id} has no lines`,
  notALine: ({ line }: { line: string }): string => `"${line}" is not "ACCOUNT  AMOUNT"`,
  tagUnknown: ({ tag, hint }: { tag: string; hint: string }): string => `unknown tag "${tag}"; ${hint}`,
});
