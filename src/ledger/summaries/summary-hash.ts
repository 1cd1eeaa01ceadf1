import { createHash } from 'node:crypto';
import { canonicalAmount } from '../journal/entry-hash.ts';
import type { ChainedSummary } from './summary.ts';

/** sha256 of the previous summary's hash, the summary's facts and its entries' hashes, in hex. */
export function summaryHash(previousHash: string, summary: Omit<ChainedSummary, 'hash' | 'previousHash'>): string {
  const content = JSON.stringify([
    summary.id,
    summary.seq,
    summary.date,
    summary.departmentId,
    [summary.vatPeriod, summary.isLate, summary.isCorrection],
    [summary.fiscalYear, summary.voucherNumber],
    summary.lines.map((line) => [
      line.account,
      line.role,
      line.side,
      canonicalAmount(line.amount),
      line.rule,
      line.dimensions,
      [line.internal.account, line.internal.dimension1, line.internal.dimension2],
      line.paymentType,
      line.vat && [line.vat.group, canonicalAmount(line.vat.rate), canonicalAmount(line.vat.base)],
      line.buyer && [line.buyer.vatNumber, line.buyer.countryCode],
      line.entryIds,
    ]),
    summary.members.map(({ entryId, hash }) => [entryId, hash]),
  ]);
  return createHash('sha256').update(`${previousHash}\n${content}`).digest('hex');
}
