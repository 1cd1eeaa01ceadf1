/**
 * Signed SQL sums over entry lines `l`. The name of each function states which side is positive. `of` is a numeric
 * column of `l`. The sum of no lines is null.
 */

type Amount = 'l.amount' | 'l.vat_base';

/** Debits less credits: the increase of assets. */
export function debitLessCredit(of: Amount = 'l.amount'): string {
  return `sum(case l.side when 'debit' then ${of} else -${of} end)`;
}

/** Credits less debits: the increase of liabilities and revenue. */
export function creditLessDebit(of: Amount = 'l.amount'): string {
  return `sum(case l.side when 'credit' then ${of} else -${of} end)`;
}
