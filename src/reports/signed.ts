/**
 * SQL sums over entry lines `l`, signed: each report says once which side is positive. `of` is a numeric column of `l`; the sum of no
 * lines is null.
 */

type Amount = 'l.amount' | 'l.vat_base';

/** Debits less credits: what assets have grown by. */
export function debitLessCredit(of: Amount = 'l.amount'): string {
  return `sum(case l.side when 'debit' then ${of} else -${of} end)`;
}

/** Credits less debits: what liabilities and revenue have grown by. */
export function creditLessDebit(of: Amount = 'l.amount'): string {
  return `sum(case l.side when 'credit' then ${of} else -${of} end)`;
}
