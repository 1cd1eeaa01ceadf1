import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** Errors of `vetledger report vat --mark-filed`. */
export const vatReturnErrors = catalogue('errors/vat-returns.vatReturnErrors', {
  periodOpen: ({ period, through }: { period: string; through: string }): PlainError => ({
    code: 'vat_period_open',
    message: `The VAT period ${period} is not closed, so its return cannot be filed.`,
    todo: `Close the books with \`vetledger ledger close --through ${through}\`, or the period in the ERP, and try again.`,
  }),
  filed: ({ period, version, by }: { period: string; version: number; by: string }): PlainError => ({
    code: 'vat_return_filed',
    message: `The return of ${period} is filed: version ${version}, by ${by}.`,
    todo: 'To file what has changed since, give --correction.',
  }),
  notFiled: ({ period }: { period: string }): PlainError => ({
    code: 'vat_return_not_filed',
    message: `The return of ${period} is not filed, so there is nothing to correct.`,
    todo: 'File it without --correction.',
  }),
  overlaps: ({ period, other }: { period: string; other: string }): PlainError => ({
    code: 'vat_return_overlaps',
    message: `The filed return of ${other} contains days of ${period}.`,
    todo: 'Set `policies.vat_period` of the mapping so that no day is in two returns.',
  }),
  nothingToCorrect: ({ period }: { period: string }): PlainError => ({
    code: 'vat_return_unchanged',
    message: `Nothing has changed since the return of ${period} was filed, and no late line was chosen.`,
    todo: 'Nothing: no correction is needed. To take late lines, name their entries with --take-late.',
  }),
  lateUnknown: ({ entries }: { entries: string }): PlainError => ({
    code: 'late_line_unknown',
    message: `These entries have no late line for a correction to take: ${entries}.`,
    todo: 'Choose from the late lines that `vetledger report vat --mark-filed --dry-run --documents` lists.',
  }),
});
