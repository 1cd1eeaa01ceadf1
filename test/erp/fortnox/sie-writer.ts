// Writes the books of the fake as SIE 4, as Fortnox exports them: in code page 437, with removed rows as #BTRANS.

import { codePoints } from '../files/readers/sie.ts';
import type { Voucher, Year } from './schema.ts';

/** Each byte is a character of the text. */
export function writeSie(year: Year, vouchers: readonly Voucher[], names: ReadonlyMap<number, string>): string {
  const lines = [
    ...['#FLAGGA 0', '#PROGRAM "Fortnox" 3.0', '#FORMAT PC8', '#GEN 20260306', '#SIETYP 4', '#FNAMN "Djurkliniken AB"'],
    `#RAR 0 ${compact(year.FromDate)} ${compact(year.ToDate)}`,
    ...[...names].map(([number, name]) => `#KONTO ${number} ${quoted(name)}`),
    ...vouchers.flatMap((voucher) => [
      `#VER ${quoted(voucher.VoucherSeries)} ${voucher.VoucherNumber} ${compact(voucher.TransactionDate)} ${quoted(voucher.Description)} 20260306`,
      ...['{', ...voucher.VoucherRows.map((row) => rowOf(row, voucher)), '}'],
    ]),
  ];
  return bytesOf(lines.map((line) => `${line}\r\n`).join(''));
}

function rowOf(row: Voucher['VoucherRows'][number], { TransactionDate: date }: Voucher): string {
  const objects = [
    ...(row.CostCenter === '' ? [] : [`1 ${quoted(row.CostCenter)}`]),
    ...(row.Project === '' ? [] : [`6 ${quoted(row.Project)}`]),
  ];
  const amount = row.Debit === 0 ? `-${row.Credit.toFixed(2)}` : row.Debit.toFixed(2);
  const fields = `${row.Account} {${objects.join(' ')}} ${amount} ${compact(date)} ${quoted(row.TransactionInformation)}`;
  return row.Removed ? `#BTRANS ${fields} 0 "Anna"` : `#TRANS ${fields}`;
}

const compact = (date: string) => date.replaceAll('-', '');
const quoted = (value: string) => `"${value.replaceAll('"', '\\"')}"`;

function bytesOf(text: string): string {
  return [...text]
    .map((character) => {
      const at = codePoints.indexOf(character.codePointAt(0) ?? 0);
      if (character.charCodeAt(0) < 128) return character;
      return at < 0 ? '?' : String.fromCharCode(128 + at);
    })
    .join('');
}
