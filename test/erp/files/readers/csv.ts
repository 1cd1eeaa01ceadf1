// Reads CSV by RFC 4180, character by character.

import type { ReadEntry } from './entry.ts';

/** The records of a text; every line must end with CR LF. */
export function readCsv(text: string, separator: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    let field = '';
    if (text[at] === '"') {
      at += 1;
      for (;;) {
        if (at >= text.length) throw new Error('a field does not end');
        if (text[at] === '"' && text[at + 1] === '"') {
          field += '"';
          at += 2;
        } else if (text[at] === '"') {
          at += 1;
          break;
        } else {
          field += text[at];
          at += 1;
        }
      }
    } else {
      for (; at < text.length && text[at] !== separator && text[at] !== '\r'; at += 1) {
        if (text[at] === '"' || text[at] === '\n')
          throw new Error(`at ${at}: ${JSON.stringify(text[at])} in a bare field`);
        field += text[at];
      }
    }
    record.push(field);
    if (text[at] === separator) at += 1;
    else if (text.startsWith('\r\n', at)) {
      records.push(record);
      record = [];
      at += 2;
    } else throw new Error(`at ${at}: neither the separator nor the end of a line`);
  }
  if (record.length > 0) throw new Error('the last line does not end');
  return records;
}

export type CsvRecord = Record<string, string>;

/** The rows with values by the names in the header. */
export function readCsvFile(bytes: Uint8Array, dialect: 'international' | 'semicolon'): CsvRecord[] {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  if (text.startsWith('\ufeff') !== (dialect === 'semicolon')) throw new Error('the byte order mark');
  const [header, ...records] = readCsv(text.replace(/^\ufeff/, ''), dialect === 'semicolon' ? ';' : ',');
  return records.map((record) => {
    if (record.length !== header!.length) throw new Error(`${record.length} cells under ${header!.length} headings`);
    return Object.fromEntries(header!.map((name, index) => [name, record[index]!]));
  });
}

/** Groups consecutive rows of one unit into an entry. */
export function entriesOfCsv(records: CsvRecord[], dialect: 'international' | 'semicolon'): ReadEntry[] {
  const point = (amount: string) => (dialect === 'semicolon' ? amount.replace(',', '.') : amount);
  const entries: ReadEntry[] = [];
  for (const row of records) {
    let entry = entries.at(-1);
    if (entry === undefined || entry.unit !== row.unit) {
      entry = { unit: row.unit!, key: row.key!, date: row.date!, lines: [] };
      entries.push(entry);
    }
    const [debit, credit] = [point(row.debit!), point(row.credit!)];
    if ((debit === '') === (credit === '')) throw new Error('a row is either debit or credit');
    const amount = debit === '' ? `-${credit}` : debit;
    if (amount !== point(row.amount!)) throw new Error(`amount ${row.amount} beside ${debit}|${credit}`);
    entry.lines.push({ account: row.account!, amount, description: row.description! });
  }
  return entries;
}
