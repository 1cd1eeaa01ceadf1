/** Statuses of an invoice (practice-api: Invoice status). Only a final invoice is posted; a void one is reversed. */
export const finalStatus = 3;
export const voidStatus = 99;

/**
 * The payment type that settles the members of a consolidated invoice (practice-api: Invoice payment; ACCOUNTING R10).
 */
export const consolidatedPayment = 6;

/** The payment type of a prepayment that is applied to an invoice (practice-api: Invoice payment; ACCOUNTING R7). */
export const prepaymentUse = 8;

/** The payment type that settles an invoice with its credit note. It is no money (practice-api: Invoice payment). */
export const setOffPayment = 12;

/** The payment types that are claims on others: financing companies and insurance (practice-api: Invoice payment; ACCOUNTING R13). */
export const claimPayments = [10, 15] as const;

const money = ['ready', 'fully used'];
const notMoney = ['pending', 'failed', 'aborted'];

/** Whether the status shows that no money was received (ACCOUNTING R12). A missing status counts as `ready`. */
export function isNoMoney(status: string | null): boolean {
  return notMoney.includes(status ?? 'ready');
}

/** Whether the status is known. A prepayment with an unknown status may be money, so it is held. */
export function isKnownStatus(status: string | null): boolean {
  return isNoMoney(status) || money.includes(status ?? 'ready');
}

/** The most credit notes that are followed from one original to the next. A longer chain is treated as a circle. */
export const longestChain = 100;
