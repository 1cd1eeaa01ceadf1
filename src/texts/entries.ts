import { catalogue } from './catalogue.ts';

/** Descriptions of entries. The journal stores them. */
export const entryDescriptions = catalogue('entries.entryDescriptions', {
  /** `number`: the number printed on the original; null if it is unknown. */
  invoice: ({ name, original, number }: { name: string; original: number | null; number: string | null }): string =>
    original === null ? name : number === null ? `${name} of invoice id ${original}` : `${name} of ${number}`,
  payment: ({ title, id, invoice }: { title: string; id: number; invoice: string }): string =>
    `${title} ${id} on ${invoice}`,
  prepayment: ({ id }: { id: number }): string => `Prepayment ${id}`,
  refund: ({ id, prepayment }: { id: number; prepayment: number | null }): string =>
    prepayment === null ? `Refund ${id}` : `Refund ${id} of prepayment ${prepayment}`,
  reversal: ({ entryId, description, change }: Record<'entryId' | 'description' | 'change', string>): string =>
    `Reversal of ${entryId}: ${description}, ${change}`,
  vatDue: ({ invoice }: { invoice: string }): string => `VAT due without payment, ${invoice}`,
  /** `latePeriod`: the VAT period of late lines; null if they are not late. */
  summary: (of: {
    date: string;
    departmentId: number | null;
    isCorrection: boolean;
    latePeriod: string | null;
  }): string => {
    const kind = of.isCorrection ? 'Correction summary' : 'Summary';
    const department = of.departmentId === null ? 'no department' : `department ${of.departmentId}`;
    return `${kind} of ${of.date}, ${department}${of.latePeriod === null ? '' : `, late for VAT ${of.latePeriod}`}`;
  },
  /** `at`: date and time in UTC. `mappings`: empty if none is known. */
  recordedSummary: (of: { description: string; at: string; mappings: string }): string =>
    `${of.description}, recorded ${of.at} UTC${of.mappings === '' ? '' : `, mapping ${of.mappings}`}`,
  and: ' and ',
  takenBack: ({ description }: { description: string }): string => `${description}, cancelled`,
});

/** Titles of payments, as their entries' descriptions begin. */
export const paymentTitles = catalogue('entries.paymentTitles', {
  payment: 'Payment',
  cancelled: 'Cancelled or refunded payment',
  rounding: 'Cash rounding',
  consolidation: 'Consolidation',
  creditSettlement: 'Credit settlement',
});

/** The change of a document that led to its entry, by the reason of the entry. */
export const entryReasons = catalogue('entries.entryReasons', {
  posted: 'posted',
  source_changed: 'changed in the source',
  vat_due_changed: 'with another VAT due, since its invoice or another payment changed',
  prepayment_matched: 'matched with another client’s prepayment',
  voided: 'voided in the source',
  not_final_any_more: 'no longer final in the source',
  not_money_any_more: 'no longer money in the source',
  gone: 'gone from the source',
  came_back: 'shown by the source again',
  mapping_changed: 'mapped differently',
  redated: 'posted on another day, since its period is closed in the ERP',
});

/** The reason why an entry is not balanced or complete (P5). */
export const entryDefects = catalogue('entries.entryDefects', {
  noLines: 'it has no lines',
  notPositive: ({ account }: { account: string }): string => `its line on ${account} is not positive`,
  tooPrecise: ({ account }: { account: string }): string => `its line on ${account} has too many decimals`,
  unbalanced: ({ difference }: { difference: string }): string => `its debits and credits differ by ${difference}`,
});
