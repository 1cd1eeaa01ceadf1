import { hash } from 'node:crypto';
import type { DraftEntry, Line } from '../domain/entry.ts';
import { postgresText } from '../domain/text.ts';
import type { LineRole } from '../terms.ts';

/** Whether two sets of lines are equal in the books. The order, and the mapping's path of each line, do not count. */
export function sameLines(some: readonly Line[], others: readonly Line[]): boolean {
  return linesText(some) === linesText(others);
}

const vatOfShares: readonly LineRole[] = ['vat', 'prepayment_vat'];

/**
 * SHA-256 of an entry's facts and lines, in hex: two versions or mappings with the same entry have the same hash. The VAT
 * of shares of prepayments is left out, because it depends on other postings.
 */
export function entryContentHash({ inputHash, lines, shares = [] }: Content): string {
  const own = shares.length === 0 ? lines : lines.filter(({ role }) => !vatOfShares.includes(role));
  return hash('sha256', `${inputHash}\n${linesText(own)}`, 'hex');
}

type Content = Pick<DraftEntry, 'inputHash' | 'lines' | 'shares'>;

function linesText(lines: readonly Line[]): string {
  return lines.map(lineText).sort().join('\n');
}

/**
 * The posted fields of a line as one text. The party's name, row ids, rule and `mappedBy` only explain the line and are
 * not compared.
 */
function lineText(line: Line): string {
  const { party, internal, vat } = line;
  const said = [
    line.account,
    line.role,
    line.side,
    line.amount.toFixed(),
    party && [party.code, party.vatNumber, party.countryCode],
    line.departmentId,
    line.dimensions,
    [internal.account, internal.dimension1, internal.dimension2],
    line.invoiceId,
    line.paymentType,
    line.documentNumber,
    line.dueDate,
    line.bankReference,
    vat && [vat.group, vat.rate?.toFixed() ?? null, vat.base?.toFixed() ?? null],
  ];
  // Lines from the database contain no NUL, so both sides are compared without it.
  return JSON.stringify(said, (_, value: unknown) => (typeof value === 'string' ? postgresText(value) : value));
}
