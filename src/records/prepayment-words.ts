/** The payment type of a prepayment that is applied to an invoice (practice-api: Invoice payment; ACCOUNTING R7). */
export const prepaymentUse = 8;

const money = ['ready', 'fully used'];
const notMoney = ['pending', 'failed', 'aborted'];

/** Whether a prepayment or refund in this status is certainly no money (ACCOUNTING R12). A missing status is `ready`. */
export function isNoMoney(status: string | null): boolean {
  return notMoney.includes(status ?? 'ready');
}

/** Whether the status is one that is known; an unknown one may be money, and is held. */
export function isKnownStatus(status: string | null): boolean {
  return isNoMoney(status) || money.includes(status ?? 'ready');
}
