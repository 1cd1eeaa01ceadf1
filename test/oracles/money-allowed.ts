import type { Finding, Rule } from './money-guard.ts';

interface Allowance {
  file: RegExp;
  rule: Rule;
  code: RegExp;
  why: string;
}

/** What the guard may find, and why it is no money. An entry that is no longer needed fails, too. */
export const allowed: Allowance[] = [
  { file: /^activities\/judging\.ts$/, rule: 'json', code: /./, why: 'lock dates written by ourselves' },
  {
    file: /^src\/mapping\/(lacks|propose)\.ts$/,
    rule: 'operator',
    code: /^total \+ (use\.)?count$/,
    why: 'counts of rows and documents',
  },
  {
    file: /^src\/mapping\/(lacks|propose)\.ts$/,
    rule: 'declaration',
    code: /^total$/,
    why: 'counts of rows and documents',
  },
  {
    file: /^src\/mapping\/uses\.ts$/,
    rule: 'conversion',
    code: /^Number\(number\.toFixed\(\)\)$/,
    why: 'the number of a payment type',
  },
  { file: /^src\/posting\/mapping\.ts$/, rule: 'conversion', code: /^Number\(id\)$/, why: 'the id of a department' },
  {
    file: /^src\/commands\/(preview|repost)\.ts$/,
    rule: 'declaration',
    code: /^total( = await countInForce\(.*|: number \| null)?$/,
    why: 'a count of documents',
  },
  {
    file: /^src\/db\/pool\.ts$/,
    rule: 'type_parser',
    code: /^types\.setTypeParser\(1231, \(text\) => \(text === '{}' \? \[\] : text\.slice\(1, -1\)\.split\(','\)\)\)$/,
    why: 'a list of amounts, each as its text',
  },
  {
    file: /^(src\/progress|src\/sync\/pull|activities\/\w+)\.ts$/,
    rule: 'declaration',
    code: /^total\b/,
    why: 'a count of records to come',
  },
  {
    file: /^src\/(progress|sync\/pull)\.ts$/,
    rule: 'conversion',
    code: /^Math\.(max|floor)\(.*\btotal\b/,
    why: 'a count of records to come',
  },
  { file: /^src\/progress\.ts$/, rule: 'operator', code: /\/ total$/, why: 'a count of records to come' },
  {
    file: /^src\/commands\/(status|window-text)\.ts$/,
    rule: 'operator',
    code: /^sum \+ (row\.problems|n)$/,
    why: 'counts of documents',
  },
  { file: /^src\/commands\/status\.ts$/, rule: 'declaration', code: /^sum$/, why: 'a count of problems' },
  {
    file: /^src\/sandbox\/(rate|rng)\.ts$/,
    rule: 'operator',
    code: /^sum \+ (slot\.)?weight$/,
    why: 'weights of requests and chances',
  },
  {
    file: /^src\/sandbox\/(rate|rng)\.ts$/,
    rule: 'declaration',
    code: /^sum$/,
    why: 'weights of requests and chances',
  },
  {
    file: /^src\/sandbox\/invoicing\.ts$/,
    rule: 'declaration',
    code: /^(sum = \[\.\.\.digits\]|total$)/,
    why: 'the check digit of a bank reference',
  },
  {
    file: /^src\/sandbox\/invoicing\.ts$/,
    rule: 'operator',
    code: /^(total \+ Number\(digit\)|sum % 10)/,
    why: 'the check digit of a bank reference',
  },
  {
    file: /^src\/sandbox\/invoicing\.ts$/,
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
    file: /^src\/practice\/values\.ts$/,
    rule: 'conversion',
    code: /^(exact\.toNumber|Number\(text\))$/,
    why: 'whole codes, counts and ids, checked to be safe integers',
  },
  { file: /^src\/practice\/retry\.ts$/, rule: 'conversion', code: /^Number\(text\)$/, why: 'seconds of Retry-After' },
  {
    file: /^src\/domain\/dates\.ts$/,
    rule: 'conversion',
    code: /^Number\((day|\(?time|hours|minutes)/,
    why: 'parts of a date',
  },
  {
    file: /^src\/reconcile\/report\.ts$/,
    rule: 'conversion',
    code: /^this\.#total\.toNumber$/,
    why: 'E6 counts documents',
  },
  { file: /^scripts\/\w[\w-]*\.ts$/, rule: 'json', code: /./, why: 'package-lock.json and the test report' },
  {
    file: /^src\/(cli|services\/[\w-]+)\.ts$/,
    rule: 'json',
    code: /./,
    why: 'package.json, lock files and notes of our own servers',
  },
  {
    file: /^src\/sync\/(facts|pull|window)\.ts$/,
    rule: 'json',
    code: /./,
    why: 'cursors, counts and dates written by ourselves',
  },
  {
    file: /^src\/commands\/(explain|status|windows)\.ts$/,
    rule: 'json',
    code: /./,
    why: 'lock dates and plain errors written by ourselves',
  },
  {
    file: /^src\/sandbox\/(control|http|persist)\.ts$/,
    rule: 'json',
    code: /./,
    why: 'switches of the sandbox; its amounts rest as text',
  },
];

export function isAllowed(entry: Allowance, { file, rule, code }: Finding): boolean {
  return entry.rule === rule && entry.file.test(file) && entry.code.test(code);
}
