// Reads a DATEV posting batch as its format description requires. The head has 31 fields and each row 125. Texts are in
// quotation marks, and the encoding is Windows-1252.

import type { ReadEntry } from './entry.ts';

export interface DatevRow {
  amount: string;
  side: 'S' | 'H';
  currency: string;
  account: string;
  contraAccount: string;
  buKey: string;
  date: string;
  number: string;
  text: string;
  costCentres: [string, string];
  vatNumber: string;
  locked: string;
  dueDate: string;
  additional: Record<string, string>;
}

export interface DatevFile {
  head: string[];
  columns: string[];
  rows: DatevRow[];
}

const headPatterns: Record<number, RegExp> = {
  ...{ 1: /^"EXTF"$/, 2: /^700$/, 3: /^21$/, 4: /^"Buchungsstapel"$/, 5: /^13$/, 6: /^20\d{15}$/, 7: /^$/ },
  ...{ 8: /^"\w{0,2}"$/, 9: /^"\w{0,25}"$/, 10: /^"\w{0,25}"$/, 11: /^(\d{4,6}|\d{7})$/, 12: /^\d{1,5}$/ },
  ...{ 13: /^20\d\d(0[1-9]|1[0-2])01$/, 14: /^[4-8]$/, 15: /^20\d{6}$/, 16: /^20\d{6}$/, 17: /^"[\w.\-/ ]{0,30}"$/ },
  ...{ 18: /^"([A-Z]{2}){0,2}"$/, 19: /^[12]$/, 20: /^(0|30|40|50|64)$/, 21: /^[01]$/, 22: /^"[A-Z]{3}"$/ },
  ...{ 23: /^$/, 24: /^""$/, 25: /^$/, 26: /^$/, 27: /^"(\d{2}){0,2}"$/, 28: /^\d{0,4}$/, 29: /^$/, 30: /^""$/ },
  31: /^".{0,16}"$/,
};
/** The patterns of the fields that a row may fill. All other fields are empty. */
const rowPatterns: Record<number, RegExp> = {
  ...{ 1: /^(?!0{1,10},00)\d{1,10},\d{2}$/, 2: /^"[SH]"$/, 3: /^"[A-Z]{3}"$/, 7: /^(?!0{1,9}$)\d{1,9}$/ },
  ...{ 8: /^(?!0{1,9}$)\d{1,9}$/, 9: /^"\d{0,4}"$/, 10: /^\d{4}$/, 11: /^"[\w$&%*+\-/]{0,36}"$/ },
  ...{ 14: /^"([^"]|""){0,60}"$/, 37: /^"([^"]|""){0,36}"$/, 38: /^"([^"]|""){0,36}"$/, 40: /^".{0,15}"$/ },
  ...{ 114: /^[01]$/, 117: /^(\d{8})?$/ },
};
for (let n = 48; n <= 87; n += 2) {
  rowPatterns[n] = /^"([^"]|""){0,20}"$/;
  rowPatterns[n + 1] = /^"([^"]|""){0,210}"$/;
}

export function readDatev(bytes: Uint8Array): DatevFile {
  const text = new TextDecoder('windows-1252').decode(bytes);
  const [head, columns, ...rows] = text.replace(/\r\n$/, '').split('\r\n').map(fieldsOf);
  if (!text.endsWith('\r\n') || !head || !columns) throw new Error('it has no two lines');
  if (head.length !== 31) throw new Error(`the head has ${head.length} fields`);
  for (const [index, value] of head.entries())
    check(headPatterns[index + 1] ?? /^$/, value, `head, field ${index + 1}`);
  if (columns.length !== 125) throw new Error(`${columns.length} columns`);
  return { head: head.map(plain), columns, rows: rows.map((row) => rowOf(row)) };
}

function rowOf(row: string[]): DatevRow {
  if (row.length !== 125) throw new Error(`a row has ${row.length} fields`);
  for (const [index, value] of row.entries()) check(rowPatterns[index + 1] ?? /^(|"")$/, value, `field ${index + 1}`);
  const at = (n: number) => plain(row[n - 1]!);
  const additional: Record<string, string> = {};
  for (let n = 48; n <= 87; n += 2) if (at(n) !== '') additional[at(n)] = at(n + 1);
  return {
    ...{ amount: at(1).replace(',', '.'), side: at(2) as 'S' | 'H', currency: at(3), account: at(7) },
    ...{ contraAccount: at(8), buKey: at(9), date: at(10), number: at(11), text: at(14) },
    ...{ costCentres: [at(37), at(38)], vatNumber: at(40), locked: at(114), dueDate: at(117), additional },
  };
}

/** Rate and tax account of each tax key and automatic account, by chart (SKR). Rates are in tenths of a per cent. */
const taxes: Record<string, Record<string, [rate: bigint, account: string]>> = {
  '03': { 2: [70n, '1771'], 3: [190n, '1776'], 8300: [70n, '1771'], 8400: [190n, '1776'] },
  '04': { 2: [70n, '3801'], 3: [190n, '3806'], 4300: [70n, '3801'], 4400: [190n, '3806'] },
};

/** The tax that DATEV takes out of a row, and its account. `automatic` are accounts that compute tax without a key. */
function taxOf({ amount, buKey, contraAccount }: DatevRow, head: string[], automatic: readonly string[]) {
  if (buKey === '40') return null;
  // Accounts of charts have zeros at the end if the client's accounts are longer.
  const length = Number(head[13]);
  const computes = automatic.includes(contraAccount) ? contraAccount.slice(0, 4) : '';
  const [rate, account] = taxes[head[26]!]?.[buKey || computes] ?? [];
  if (rate === undefined || account === undefined) return null;
  const cents = BigInt(amount.replace('.', ''));
  const tax = (2n * cents * rate + 1000n + rate) / (2n * (1000n + rate));
  return { account: account.padEnd(length, '0'), amount: `${tax / 100n}.${String(tax % 100n).padStart(2, '0')}` };
}

/**
 * The entries of the rows. Each row posts its amount on the account and the opposite amount on the contra account, of
 * which a tax goes to its account.
 */
export function entriesOfDatev({ head, rows }: DatevFile, automatic: readonly string[] = []): ReadEntry[] {
  const entries: ReadEntry[] = [];
  const [month, year] = [head[14]!.slice(4, 6), head[14]!.slice(0, 4)];
  for (const row of rows) {
    const unit = row.additional.vetledger!;
    if (row.date.slice(2) !== month) throw new Error(`day ${row.date} in the file of month ${month}`);
    if (row.account === row.contraAccount) throw new Error(`account ${row.account} on both sides`);
    let entry = entries.at(-1);
    if (entry === undefined || entry.unit !== unit) {
      const key = row.additional['vetledger key']!;
      entry = { unit, key, date: `${year}-${month}-${row.date.slice(0, 2)}`, lines: [] };
      entries.push(entry);
    }
    const other = row.side === 'S' ? `-${row.amount}` : row.amount;
    const own = row.side === 'S' ? row.amount : `-${row.amount}`;
    entry.lines.push({ account: row.account, amount: own, description: row.text });
    entry.lines.push({ account: row.contraAccount, amount: other, description: row.text });
    const tax = taxOf(row, head, automatic);
    if (tax === null) continue;
    const [more, less] = row.side === 'S' ? [`-${tax.amount}`, tax.amount] : [tax.amount, `-${tax.amount}`];
    entry.lines.push({ account: tax.account, amount: more, description: row.text });
    entry.lines.push({ account: row.contraAccount, amount: less, description: row.text });
  }
  return entries;
}

/** The fields of a line, with their quotation marks. */
function fieldsOf(line: string): string[] {
  const fields = line.match(/("(?:[^"]|"")*"|[^;"]*)(?:;|$)/g) ?? [];
  const parts = fields.map((part) => part.replace(/;$/, ''));
  // The expression also matches an empty text after the last field, unless the line ends with a separator.
  return line.endsWith(';') ? parts : parts.slice(0, -1);
}

function plain(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value;
}

function check(pattern: RegExp, value: string, what: string): void {
  if (/\p{Cc}/u.test(value)) throw new Error(`${what}: a control character`);
  if (!pattern.test(value)) throw new Error(`${what}: ${value}`);
}
