// The numeric codes of the API and their meanings (practice-api: Resources and their fields; States and transitions).
import { z } from 'zod';
import { appointmentTypes } from '../state/online.ts';
import { choice } from './fields.ts';

type Meanings = Readonly<Record<number, string>>;
type Code<M> = keyof M & number;

export const invoiceStatuses = {
  ...{ 0: 'Draft', 1: 'Sent', 2: 'Open', 3: 'Finalized', 4: 'Invoicing', 99: 'Voided' },
} as const;

/** The payment types that a request may send; only answers have type 8. */
export const acceptedPaymentTypes = {
  ...{ 0: 'Card', 1: 'Cash', 2: 'Bank payment', 3: 'Rounding', 4: 'Cheque', 5: 'Voucher' },
  ...{ 6: 'Consolidated invoice', 7: 'Mobile payment', 9: 'Gift card', 10: 'Financing company' },
  ...{ 11: 'Other', 12: 'Credit invoice', 15: 'Insurance claim' },
} as const;
export const paymentTypes = { ...acceptedPaymentTypes, 8: 'Prepayment' } as const;

export const customerTypes = {
  ...{ 0: 'Private person', 1: 'Company', 2: 'EU Company', 3: 'Charitable organization', 4: 'UK charity' },
} as const;
export const phoneTypes = { 0: 'Landline', 1: 'Mobile' } as const;

export const consultationTypes = {
  ...{ 0: 'Inpatient', 1: 'Outpatient', 2: 'Home call', 3: 'Farm visit', 4: 'Boarding', 5: 'Pet service' },
} as const;
export const consultationStatuses = {
  ...{ 0: 'Admitted', 5: 'Ready for Discharge', 6: 'Discharged', 7: 'Invoicing', 8: 'In Progress' },
  ...{ 9: 'Invoice Paid', 10: 'Finalized', 11: 'Draft' },
} as const;
export const itemTypeCodes = {
  ...{ 1: 'Procedure', 2: 'Medicine', 3: 'Supply', 4: 'Food' },
  ...{ 5: 'Laboratory analysis', 6: 'Laboratory analysis panel' },
} as const;
export const usageTypes = { 1: 'Administered', 2: 'Dispensed', 3: 'Prescribed', 4: 'Home delivery' } as const;
export const usageSizes = { 1: 'Package', 2: 'Dosage units' } as const;
export const diagnosisCategories = { 0: 'Primary', 1: 'Secondary' } as const;
export const diagnosisTypes = { 0: 'Differential', 1: 'Final' } as const;
export const noteTypes = { 0: 'Clinical note', 1: 'Anamnesis', 2: 'Preliminary note' } as const;

export const bookingTypes = Object.fromEntries(appointmentTypes.map((name, index) => [index + 1, name])) as Readonly<
  Record<1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9, string>
>;

export const reminderMethods = { 1: 'Send by SMS and email', 2: 'Email only', 3: 'SMS only' } as const;
export const deliveryMethods = { 0: 'Do not send', ...reminderMethods } as const;
export const deliveryStatuses = { 1: 'Not sent', 2: 'Sent', 3: 'Failed' } as const;
/** The only codes that a payment link has. */
export const linkTerminals = { 0: 'No terminal' } as const;
export const linkPaymentTypes = { 5003: 'Payment link' } as const;
export const linkTransactionTypes = { 4: 'Payment link' } as const;
export const paymentStatuses = { 1: 'Pending', 2: 'Failed', 3: 'Expired', 4: 'Aborted', 5: 'Accepted' } as const;

export const prescriptionStatuses = {
  ...{ 1: 'Draft', 2: 'Sending', 3: 'Sent', 4: 'Accepted', 5: 'Rejected', 6: 'Canceled', 7: 'Error' },
  8: 'Accepted with warning',
} as const;

const numbersOf = <M extends Meanings>(meanings: M): Code<M>[] => Object.keys(meanings).map(Number) as Code<M>[];

/** The codes with their meanings, on one line. */
export const inWords = (meanings: Meanings): string =>
  Object.entries(meanings)
    .map(([number, meaning]) => `${number} ${meaning}`)
    .join(', ');

/** A code in an answer. */
export const code = <M extends Meanings>(meanings: M) => z.literal(numbersOf(meanings)).describe(inWords(meanings));

/** A code in a request. */
export const codeInput = <M extends Meanings>(meanings: M): z.ZodType<Code<M>> =>
  choice(numbersOf(meanings), inWords(meanings));
