type Names = 'invoice' | 'group' | 'rate' | 'vat' | 'total' | 'paid' | 'due' | 'before' | 'moved' | 'base';

/** Why VAT of an invoice becomes due, with the numbers. A paid amount counts at most up to the total. */
export const explainDueText = ({ isAll, ...of }: Record<Names, string> & { isAll: boolean }): string =>
  isAll
    ? `invoice ${of.invoice}, ${of.group} ${of.rate} %: all of ${of.vat} is due, since its latest day is over; less ${of.before} that was due before: ${of.moved} (base ${of.base})`
    : `invoice ${of.invoice}, ${of.group} ${of.rate} %: ${of.vat} × ${of.paid} paid / ${of.total} = ${of.due}, less ${of.before} that was due before: ${of.moved} (base ${of.base})`;
