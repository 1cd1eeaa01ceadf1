import type { Finding, Rule } from './money-guard.ts';

interface Allowance {
  file: RegExp;
  rule: Rule;
  code: RegExp;
  why: string;
}

/** Allowed findings of the guard with the reason, by folder. An unused entry fails the test. */
export const allowed: Allowance[] = [
  {
    file: /^sandbox\/src\/state\/care\.ts$/,
    rule: 'declaration',
    code: /invoicePaid/,
    why: "the code of a consultation's status",
  },
  {
    file: /^src\/queries\/(explain-summary|mail-days|mail-events)\.ts$/,
    rule: 'conversion',
    code: /^Number\((installation|documentId|before|day\.slice\(8\))\)$/,
    why: 'ids, the number of a mapping version and the day of a month',
  },
  {
    file: /^src\/erp\/open-items\/prepayment-parts\.ts$/,
    rule: 'conversion',
    code: /document\.split/,
    why: 'the id in an entry code',
  },
  {
    file: /^src\/ledger\/summaries\/summarise\.ts$/,
    rule: 'conversion',
    code: /fiscalYearStart/,
    why: 'the number of a year',
  },
  {
    file: /^src\/ledger\/vat-returns\.ts$/,
    rule: 'json',
    code: /JSON\.parse/,
    why: 'the input of an action, whose figures are texts',
  },
  {
    file: /^src\/languages\/translations\.ts$/,
    rule: 'json',
    code: /JSON\.parse/,
    why: 'texts in another language',
  },
  {
    file: /^src\/queries\/find-document\.ts$/,
    rule: 'conversion',
    code: /^Number\((installation|id)\)$/,
    why: 'the ids in an entry code',
  },
  {
    file: /^src\/posting\/vat-due-policy\.ts$/,
    rule: 'conversion',
    code: /date\.s/,
    why: 'numbers of years and months',
  },
  {
    file: /^src\/mapping\/vat-group-lines\.ts$/,
    rule: 'declaration',
    code: /^not_due/,
    why: 'an account',
  },
  {
    file: /^src\/domain\/vat-period\.ts$/,
    rule: 'conversion',
    code: /month|quarter|(date|through)\.slice/,
    why: 'numbers of months and quarters',
  },
  {
    file: /^src\/reconcile\/loaded-books\.ts$/,
    rule: 'json',
    code: /./,
    why: 'changed fields of a held change, whose amounts are texts',
  },
  {
    file: /^src\/reconcile\/unused-prepayments\.ts$/,
    rule: 'conversion',
    code: /^month\.split/,
    why: 'year and month',
  },
  {
    file: /^src\/posting\/correct\.ts$/,
    rule: 'conversion',
    code: /^Number\(client\)$/,
    why: 'the id of a client',
  },
  {
    file: /^src\/posting\/late\.ts$/,
    rule: 'conversion',
    code: /^date\.split/,
    why: 'year, month and day',
  },
  {
    file: /^src\/practice\/raw-record\.ts$/,
    rule: 'conversion',
    code: /^Number\(id\)$/,
    why: 'the ids that a question asked between',
  },
  {
    file: /^src\/erp\/targets\/files\/format\.ts$/,
    rule: 'conversion',
    code: /^Number\(digits\)$/,
    why: 'the number of an installation or a batch',
  },
  {
    file: /^src\/ledger\/general-ledger\.ts$/,
    rule: 'conversion',
    code: /^Number\(n\)$/,
    why: 'the number of an undo',
  },
  {
    file: /^src\/sync\/scrub\/scrub-pace\.ts$/,
    rule: 'declaration',
    code: /^due = /,
    why: 'the instant at which a step is due',
  },
  {
    file: /^src\/sync\/scrub\/scrub-pace\.ts$/,
    rule: 'conversion',
    code: /^Math\.max\(0, due/,
    why: 'milliseconds',
  },
  {
    file: /^src\/sync\/scrub\/scrub-pace\.ts$/,
    rule: 'operator',
    code: /^due - now/,
    why: 'milliseconds',
  },
  {
    file: /^src\/runtime\/version\.ts$/,
    rule: 'json',
    code: /./,
    why: 'package.json',
  },
  {
    file: /^src\/queries\/figures\.ts$/,
    rule: 'sql',
    code: /from scrub_pass p/,
    why: 'the share of records that a pass has read',
  },
  {
    file: /^src\/records\/json\.ts$/,
    rule: 'json',
    code: /./,
    why: 'numbers of at most 15 digits, which survive binary64; the others are read by their digits',
  },
  {
    file: /^src\/records\/json\.ts$/,
    rule: 'conversion',
    code: /^Number\(written\)$/,
    why: 'a number of at most 15 digits, which survives binary64',
  },
  {
    file: /^src\/mirror\/put-aside\.ts$/,
    rule: 'conversion',
    code: /^Number\(record\)$/,
    why: 'the id of a document',
  },
  {
    file: /^src\/ledger\/head\.ts$/,
    rule: 'conversion',
    code: /^Number\((installation|seq|entries|summaries)\)$/,
    why: 'ids and counts of a head line',
  },
  {
    file: /^src\/domain\/money\.ts$/,
    rule: 'conversion',
    code: /^Number\(exponent\)$/,
    why: 'the power of ten of a text, for counting its digits',
  },
  {
    file: /^src\/mapping\//,
    rule: 'operator',
    code: /^total \+ (use\.)?count$/,
    why: 'counts of rows and documents',
  },
  { file: /^src\/mapping\//, rule: 'declaration', code: /^total$/, why: 'counts of rows and documents' },
  {
    file: /^src\/mapping\//,
    rule: 'conversion',
    code: /^Number\((id|type)\)$/,
    why: 'the id of a document or of a department, or a payment type',
  },
  {
    file: /^src\/queries\//,
    rule: 'conversion',
    code: /^Number\(number\.toFixed\(\)\)$/,
    why: 'the number of a payment type',
  },
  {
    file: /^src\/(cli|bookkeeping)\//,
    rule: 'declaration',
    code: /^total( = await countInForce\(.*|: number \| null;?)?$/,
    why: 'a count of documents',
  },
  {
    file: /^src\/db\/pool\.ts$/,
    rule: 'type_parser',
    code: /^types\.setTypeParser\(1231, \(text\) => \(text === '{}' \? \[\] : text\.slice\(1, -1\)\.split\(','\)\)\)$/,
    why: 'a list of amounts, each as its text',
  },
  {
    file: /^(src\/(cli|queries|sync)\/|activities\/)/,
    rule: 'declaration',
    code: /^total\b/,
    why: 'a count of records to come',
  },
  {
    file: /^src\/(cli|sync)\//,
    rule: 'conversion',
    code: /^Math\.(max|floor)\(.*\btotal\b/,
    why: 'a count of records to come',
  },
  {
    file: /^src\/(cli|queries)\//,
    rule: 'operator',
    code: /(\/|done >=) total$|^total - done$/,
    why: 'a count of records to come',
  },
  {
    file: /^src\/(cli|bookkeeping)\//,
    rule: 'operator',
    code: /^sum \+ (n|entryIds\.length)$/,
    why: 'counts of documents and entries',
  },
  { file: /^src\/bookkeeping\//, rule: 'declaration', code: /^sum$/, why: 'a count of entries' },
  {
    file: /^sandbox\/src\/(http\/rate|rng)\.ts$/,
    rule: 'operator',
    code: /^sum \+ (slot\.)?weight$/,
    why: 'weights of requests and chances',
  },
  {
    file: /^sandbox\/src\/(http\/rate|rng)\.ts$/,
    rule: 'declaration',
    code: /^sum$/,
    why: 'weights of requests and chances',
  },
  {
    file: /^sandbox\/src\/(supply|resources)\//,
    rule: 'declaration',
    code: /^(rows|lines)_total\b/,
    why: 'counts of rows and lines, by the names of the specification',
  },
  {
    file: /^sandbox\/src\/invoicing\.ts$/,
    rule: 'declaration',
    code: /^(sum = \[\.\.\.digits\]|total$)/,
    why: 'the check digit of a bank reference',
  },
  {
    file: /^sandbox\/src\/invoicing\.ts$/,
    rule: 'operator',
    code: /^(total \+ Number\(digit\)|sum % 10)/,
    why: 'the check digit of a bank reference',
  },
  {
    file: /^sandbox\/src\/invoicing\.ts$/,
    rule: 'conversion',
    code: /^Number\(digit\)$/,
    why: 'the check digit of a bank reference',
  },
  {
    file: /^src\/posting\/settle\.ts$/,
    rule: 'conversion',
    code: /^left\.abs\(\)\.toNumber$/,
    why: 'how many groups get a cent: a whole number of groups',
  },
  {
    file: /^src\/records\/values\.ts$/,
    rule: 'conversion',
    code: /^(exact\.toNumber|Number\(text\))$/,
    why: 'whole codes, counts and ids, checked to be safe integers',
  },
  {
    file: /^src\/domain\/retry-after\.ts$/,
    rule: 'conversion',
    code: /^Number\(text\)$/,
    why: 'seconds of Retry-After',
  },
  {
    file: /^src\/records\/unusable\.ts$/,
    rule: 'conversion',
    code: /^Number\.parseInt\(hash/,
    why: 'the key of a record without a usable id',
  },
  {
    file: /^src\/erp\/targets\/(odoo|tryton)\/(check|read)\.ts$/,
    rule: 'conversion',
    code: /^Number\((after|id) \?\? 0\)$/,
    why: 'the id after which a page begins',
  },
  { file: /^src\/erp\/targets\/files\/folder-claim\.ts$/, rule: 'json', code: /./, why: 'whose folder it is' },
  { file: /^src\/actions\/verify\.ts$/, rule: 'json', code: /./, why: 'the input of an action, as it was hashed' },
  { file: /^src\/config\/mapping-files\.ts$/, rule: 'json', code: /./, why: 'a mapping as the database keeps it' },
  {
    file: /^src\/db\/rows\.ts$/,
    rule: 'json',
    code: /./,
    why: 'stored JSON, checked by a schema: errors, counts, cursors',
  },
  {
    file: /^src\/domain\/dates\.ts$/,
    rule: 'conversion',
    code: /^Number\((day|date\.slice|\(?time|hours|minutes)/,
    why: 'parts of a date',
  },
  {
    file: /^src\/reconcile\/reconcile-report\.ts$/,
    rule: 'conversion',
    code: /^this\.#total\.toNumber$/,
    why: 'E6 counts documents',
  },
  {
    file: /^src\/erp\/targets\/tryton\/(check|moves)\.ts$/,
    rule: 'declaration',
    code: /^tax: (taxId|id)$/,
    why: 'Tryton’s field for the id of a tax',
  },
  {
    file: /^src\/erp\/targets\/api\/form\.ts$/,
    rule: 'conversion',
    code: /^Number\.parseInt\(digits, 10\)$/,
    why: 'ids and parts of a date',
  },
  {
    file: /^scripts\/odoo\/compare\.ts$/,
    rule: 'declaration',
    code: /^(balance|amount_residual|tax_base_amount): number;$/,
    why: 'Odoo’s numbers as they come, which `amountOf` makes cents of',
  },
  {
    file: /^scripts\/odoo\/compare\.ts$/,
    rule: 'declaration',
    code: /^tax = idOf\(/,
    why: 'the id of a tax',
  },
  {
    file: /^sandbox\/src\/(http\/examples|examples\/record)\.ts$/,
    rule: 'json',
    code: /./,
    why: 'answers of the sandbox, which the description shows as they are',
  },
  {
    file: /^sandbox\/src\/(settings|journal\/verify|http\/strikes)\.ts$/,
    rule: 'json',
    code: /./,
    why: 'settings, where amounts are text; bodies that are compared as they came; faults',
  },
  { file: /^scripts\//, rule: 'json', code: /./, why: 'package-lock.json and the test report' },
  { file: /^src\/(cli|embedded)\//, rule: 'json', code: /./, why: 'package.json, and notes of our own servers' },
  {
    file: /^src\/(sync|queries)\//,
    rule: 'json',
    code: /./,
    why: 'cursors, counts, lock dates and plain errors written by ourselves',
  },
  {
    file: /^sandbox\/src\/(http\/(app|body|deliver)|persist|supply\/uploads)\.ts$/,
    rule: 'json',
    code: /./,
    why: 'bodies and policies that the sandbox validates; its amounts rest as text',
  },
];

export function isAllowed(entry: Allowance, { file, rule, code }: Finding): boolean {
  return entry.rule === rule && entry.file.test(file) && entry.code.test(code);
}
