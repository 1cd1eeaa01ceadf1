import { catalogue } from '../catalogue.ts';

/** The proofs that `vetledger explain` lists (ACCOUNTING "Proofs before posting"). */
export const proofTexts = catalogue('findings/proofs.proofTexts', {
  totals: 'P1 rows add up to the totals',
  collector: 'P1 the payments of the members add up to the total of this collector',
  fresh: 'P2 rows are no older than the invoice',
  due: 'P3 due_sum is the total less the payments',
  mapped: 'P4 every account is in the mapping',
  balanced: 'P5 the entry balances',
  plausible: 'P6 amounts and references are plausible',

  rowsAndTotal: ({ rows, of, total }: { rows: string; of: string; total: string }) =>
    `rows ${rows} ${of}, total ${total}`,
  header: ({ net, vat, sum, total }: Record<'net' | 'vat' | 'sum' | 'total', string>) =>
    `the document’s totals do not add up: ${net} net + ${vat} VAT is ${sum}, not ${total}`,
  net: 'net',
  vat: 'VAT',
  withVat: 'with VAT',
  paidAndTotal: ({ paid, total }: { paid: string; total: string }) => `${paid} paid by it, total ${total}`,
  changed: ({ at }: { at: string }) => `changed ${at}`,
  unknownTime: 'at a time that the source does not give',
  dueTotalPaid: ({ due, total, paid }: { due: string; total: string; paid: string }) =>
    `due ${due}, total ${total}, paid ${paid}`,
  notGiven: '(not given)',
});
