import { inCodePage } from '../../code-pages.ts';
import type { ErpEntry, ErpLine, FoundEntry, FoundLine } from '../../erp-entry.ts';
import { erpText } from '../../erp-text.ts';
import type { ResolvedEntry, ResolvedLine } from '../api/erp-api.ts';
import { keyedText, keyIn, withoutKey } from '../api/keyed-text.ts';
import { elementIn, elementsIn, textIn, textOrNone, type Xml, type XmlElement } from '../api/xml.ts';
import { longestDescription, netvisorCapabilities } from './capabilities.ts';
import { amountIn, dateIn, noCode, taxRead, toAmount } from './form.ts';
import type { NetvisorRecords, VoucherType } from './names.ts';

const { decimals } = netvisorCapabilities.lines;
/** The code page has no ellipsis, so it becomes three characters. */
const longestText = longestDescription - 2;

/** The description of a voucher, with the key. */
export function voucherText(entry: ErpEntry): string {
  return inCodePage(keyedText(entry, longestText), 'iso-8859-15');
}

/**
 * A new voucher, with its elements in the order of the document type. In the mode `net`, Netvisor adds no lines for VAT
 * or rounding.
 */
export function toVoucher({ entry, journal, lines }: ResolvedEntry<NetvisorRecords>): Xml {
  return voucher({
    ...{ date: entry.date, description: voucherText(entry), type: journal.name },
    lines: entry.lines.map((line, index) => toLine(line, lines[index])),
  });
}

export interface NewVoucher {
  date: string;
  description: string;
  type: string;
  lines: Xml[];
}

export function voucher({ date, description, type, lines }: NewVoucher): Xml {
  return [
    'voucher',
    [
      ['calculationmode', 'net'],
      ['voucherdate', date, { format: 'ansi' }],
      ['description', description],
      ['voucherclass', type],
      ...lines,
    ],
  ];
}

function toLine(line: ErpLine, resolved: ResolvedLine<NetvisorRecords> | undefined): Xml {
  if (resolved === undefined) throw new Error('a line was not resolved');
  const amount = line.side === 'debit' ? line.amount : line.amount.negated();
  const { account, tax, dimensions } = resolved;
  // A VAT line has no code: Netvisor would report its amount as a sale.
  const { code, percent } = line.vat?.part === 'base' && tax !== null ? tax : { code: noCode, percent: null };
  const description = erpText(line.description, 'line_description', netvisorCapabilities);
  return voucherLine({
    ...{ amount: toAmount(amount, decimals), account: account.code, description },
    vat: { code, percent: percent === null ? '0' : toAmount(percent, 0) },
    dimensions: dimensions.map(({ dimension, item }) => [dimension, item]),
  });
}

export interface NewLine {
  amount: string;
  description: string;
  account: string;
  vat: { code: string; percent: string };
  dimensions: [name: string, item: string][];
}

export function voucherLine({ amount, description, account, vat, dimensions }: NewLine): Xml {
  return [
    'voucherline',
    [
      ['linesum', amount, { type: 'net' }],
      ...(description === '' ? [] : [['description', description] as const]),
      ['accountnumber', account],
      ['vatpercent', vat.percent, { vatcode: vat.code }],
      ...dimensions.map(
        ([name, item]): Xml => [
          'dimension',
          [
            ['dimensionname', name],
            ['dimensionitem', item],
          ],
        ],
      ),
    ],
  ];
}

/** The entry in a voucher of the ledger. Throws FormError. */
export function foundEntry(voucher: XmlElement, types: readonly VoucherType[]): FoundEntry {
  const text = textOrNone(voucher, 'voucherdescription');
  const key = keyIn(text);
  const written = textIn(voucher, 'voucherclass');
  const type = types.find((each) => namesOf(each).includes(written));
  const number = textIn(voucher, 'vouchernumber');
  return {
    id: textIn(voucher, 'netvisorkey'),
    key,
    number: type === undefined ? number : `${type.abbreviation} ${number}`,
    state: stateOf(voucher),
    date: dateIn(textIn(voucher, 'voucherdate')),
    journal: type?.name ?? written,
    description: withoutKey(text, key),
    lines: elementsIn(voucher, 'voucherline').map(foundLine),
  };
}

/** The ledger writes a voucher type as its abbreviation and its name, perhaps in another language. */
function namesOf({ name, otherNames, abbreviation }: VoucherType): string[] {
  return [name, ...otherNames].flatMap((each) => [each, `${abbreviation} ${each}`]);
}

function stateOf({ attributes }: XmlElement): FoundEntry['state'] {
  const status = attributes.get('status')?.toLowerCase() ?? 'valid';
  return status === 'valid' ? 'posted' : 'void';
}

function foundLine(line: XmlElement): FoundLine {
  const amount = amountIn(textIn(line, 'linesum'));
  const code = taxRead(textOrNone(line, 'vatcode'), amountIn(textIn(line, 'vatpercent')));
  const dimensions = elementsIn(line, 'dimension').map((each) => [
    elementIn(each, 'dimensionname').text.trim(),
    textIn(each, 'dimensionitem'),
  ]);
  return {
    id: textOrNone(line, 'netvisorkey') || null,
    account: textIn(line, 'accountnumber'),
    amount,
    party: null,
    vat: code === null ? [] : [{ code, part: 'base', amount }],
    // The ledger may name a dimension without a value.
    dimensions: Object.fromEntries(dimensions.filter(([, item]) => item !== '')),
    matched: null,
    label: textOrNone(line, 'description'),
  };
}
