/** Statuses of an invoice (practice-api: Invoice status): only a final one posts, and a void one is reversed. */
export const finalStatus = 3;
export const voidStatus = 99;

/** The payment type by which members of a consolidated invoice are settled (practice-api: Invoice payment; ACCOUNTING R10). */
export const consolidatedPayment = 6;

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

/** Credit notes of a chain that are followed: more than any practice writes, so that a longer chain is taken for a circle. */
export const longestChain = 100;
