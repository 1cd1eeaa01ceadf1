// The uses of prepayments that the rules leave to the accountant: only those of other clients' prepayments.

import type { World } from './world.ts';

const fromPrepayment = 8;

/** The payments that `report prepayments` lists without their prepayment. */
export function unmatchedIn(printed: string): number[] {
  return [...printed.matchAll(/ payment (\d+) /g)].map(([, id]) => Number(id));
}

/**
 * Returns the differences: each use on an invoice of the prepayment's client must be matched, and uses by other clients
 * must not.
 */
export function unmatchedDifferences({ sandbox: { clinic } }: World, printed: string): string[] {
  const left = unmatchedIn(printed);
  const isOwn = (id: number) => {
    const { invoice, prepayment } = clinic.payment(id);
    return prepayment !== null && clinic.prepayment(prepayment).client === clinic.invoice(invoice).client;
  };
  const uses = clinic.invoicePayments.all().filter(({ payment_type }) => payment_type === fromPrepayment);
  const twice = uses.filter(({ id, prepayment }) =>
    uses.some((other) => other.id !== id && other.prepayment === prepayment && isOwn(id) && isOwn(other.id)),
  );
  return [
    ...left.filter(isOwn).map((id) => `payment ${id} used its client's own prepayment, and is unmatched`),
    ...(left.length > 0 ? [] : ['no use of a prepayment is left to be matched by a person']),
    ...(twice.length > 0 ? [] : ['no prepayment was used twice by its own client']),
  ];
}
