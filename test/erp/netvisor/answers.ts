// The company that the fake of Netvisor holds, and its answers as XML.

import { Decimal } from 'decimal.js';
import type { Element } from './documents.ts';

/** Accounts with the VAT code that lines without one get. */
export const accounts: Record<string, string> = {
  ...{ '1700': '-', '1900': '-', '2931': '-', '3000': 'KOMY', '3010': 'KOMY', '3020': 'KOMY' },
};
export const types = [
  { key: 121, abbreviation: 'ML', name: 'Myyntilasku', foreign: 'Sales invoice' },
  { key: 140, abbreviation: 'EL', name: 'Eläinlääkäri', foreign: 'Veterinary' },
];

export type Status = 'valid' | 'invalidated' | 'deleted';

export interface HeldLine {
  account: string;
  amount: Decimal;
  code: string;
  percent: string;
  description: string;
  dimensions: [string, string][];
}

export interface HeldVoucher {
  id: number;
  number: number;
  status: Status;
  date: string;
  description: string;
  type: string;
  lines: HeldLine[];
  madeMs: number;
  changedMs: number;
}

export function ledgerVoucher({ id, number, status, date, description, type, lines }: HeldVoucher): string {
  const named = types.find(({ abbreviation }) => abbreviation === type);
  return tag(
    'Voucher',
    [
      ...[tag('NetvisorKey', String(id)), tag('VoucherDate', finnish(date)), tag('VoucherNumber', String(number))],
      ...[tag('VoucherDescription', description), tag('VoucherClass', `${type} ${named?.name ?? ''}`)],
      ...[tag('LinkedSourceNetvisorKey', ''), tag('VoucherNetvisorURI', `https://netvisor.invalid/voucher/${id}`)],
      ...lines.map((line, index) => ledgerLine(line, id * 1_000 + index)),
    ],
    { Status: status },
  );
}

function ledgerLine({ account, amount, code, percent, description, dimensions }: HeldLine, key: number): string {
  return tag('VoucherLine', [
    ...[tag('NetvisorKey', String(key)), tag('LineSum', amount.toFixed().replace('.', ','))],
    ...[tag('Description', description), tag('AccountNumber', account)],
    ...[tag('VatPercent', percent), tag('VatCode', code)],
    ...dimensions.map(([name, item]) => tag('Dimension', [tag('DimensionName', name), tag('DimensionItem', item)])),
  ]);
}

export function accountList(): string {
  const group = ['1', '', 'Vastaavaa', 'accountgroup'];
  const rows = Object.keys(accounts).map((number) => [number, number, `Tili ${number}`, 'account']);
  const list = [group, ...rows].map(([key = '', number = '', name = '', type = '']) =>
    tag('Account', [
      ...[tag('NetvisorKey', key), tag('Number', number), tag('Name', name), tag('AccountType', type)],
      ...[tag('FatherNetvisorKey', '0'), tag('IsActive', '1')],
    ]),
  );
  return tag('AccountList', [tag('Accounts', list)]);
}

export function voucherTypeList(): string {
  const list = types.map(({ key, abbreviation, name, foreign }) =>
    tag('VoucherType', [
      ...[tag('NetvisorKey', String(key)), tag('Abbreviation', abbreviation), tag('Name', name)],
      tag('ForeignName', foreign, { 'ISO-639-1': 'en' }),
    ]),
  );
  return tag('VoucherTypeList', [tag('VoucherTypes', list)]);
}

const marks: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function tag(name: string, content: string | string[], attributes: Record<string, string> = {}): string {
  const start = [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${value}"`)].join(' ');
  const inner = typeof content === 'string' ? content.replace(/[&<>]/g, (mark) => marks[mark] ?? '') : content.join('');
  return `<${start}>${inner}</${name}>`;
}

export const truth = (value: boolean) => (value ? 'True' : 'False');

/** `2026-03-05…` as `5.3.2026`. */
export function finnish(date: string): string {
  const [year = '', month = '', day = ''] = date.slice(0, 10).split('-');
  return `${Number(day)}.${Number(month)}.${year}`;
}

const vatAccount = '2939';
const roundingAccount = '8570';

export function lineIn({ children }: Element): HeldLine {
  const one = (name: string) => children.find((each) => each.name === name);
  const account = one('accountnumber')?.text ?? '';
  const vat = one('vatpercent');
  const code = vat?.attributes.vatcode ?? accounts[account] ?? '-';
  return {
    ...{ account, amount: new Decimal((one('linesum')?.text ?? '').replace(',', '.')) },
    ...{ code: code === 'NONE' ? '-' : code, percent: vat?.text ?? '', description: one('description')?.text ?? '' },
    dimensions: children
      .filter(({ name }) => name === 'dimension')
      .map(({ children: [name, item] }) => [name?.text ?? '', item?.text ?? '']),
  };
}

/** The lines that Netvisor adds in the mode gross. */
export function addedLines(lines: readonly HeldLine[]): HeldLine[] {
  const added: HeldLine[] = [];
  for (const line of lines.filter(({ percent }) => percent !== '0')) {
    const tax = line.amount.minus(line.amount.div(new Decimal(line.percent.replace(',', '.')).div(100).plus(1)));
    added.push(plainLine(vatAccount, tax.toDecimalPlaces(2)));
    line.amount = line.amount.minus(tax.toDecimalPlaces(2));
  }
  const rest = [...lines, ...added].reduce((sum, { amount }) => sum.plus(amount), new Decimal(0));
  return rest.isZero() ? added : [...added, plainLine(roundingAccount, rest.negated())];
}

function plainLine(account: string, amount: Decimal): HeldLine {
  return { account, amount, code: '-', percent: '0', description: '', dimensions: [] };
}
