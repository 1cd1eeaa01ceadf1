import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

type Todo = PlainError['todo'];

/** What to do if `vetledger erp check` could not continue, by the meaning of the ERP's error. */
export const erpCheckTodos: Record<'auth' | 'unsent' | 'throttled' | 'locked' | 'other', Todo> = catalogue(
  'findings/erp-check-results.erpCheckTodos',
  {
    auth: 'Check `erp.user` and `erp.password` of the installation, and the rights of that user in the ERP.',
    unsent: 'Check `erp.url` of the installation, and check that the ERP is running.',
    throttled: 'Try again later: the ERP does not accept more requests at the moment.',
    locked: 'Try again later: other work locks the ERP now.',
    other: 'Read the log of the ERP. Then run `vetledger erp check` again.',
  },
);

/** Names of checks. */
export const erpCheckNames = catalogue('findings/erp-check-results.erpCheckNames', {
  foreign: 'entries of other databases',
  facts: 'facts about the ERP',
  assumed: ({ facts }: { facts: string }) => `assumed, and not yet measured: ${facts}`,
  credentials: 'credentials',
  ends: ({ name, day }: { name: string; day: string }) => `${name}: until ${day}`,
  lacking: ({ what, message }: { what: string; message: string }) => `${what}: ${message}`,
});

export const deliveryTexts = catalogue('findings/erp-check-results.deliveryTexts', {
  dailySummary: ({ date }: { date: string }) => `daily summary of ${date}`,
  unknownCode: 'Run `vetledger deliver retry` with its id: this release then judges it again.',
});

/** A company in DATEV with Ist-Versteuerung, beside VAT on payment in the mapping. */
export const erpVatDue = catalogue('findings/erp-check-results.erpVatDue', {
  message: 'DATEV moves VAT on payment itself (erp.cash_accounting), and the mapping has policies.vat_due.',
  todo: 'Use one of them: remove policies.vat_due, or set the company in DATEV to Soll-Versteuerung and remove erp.cash_accounting.',
});

/** VAT of the mapping that an ERP does not compute. */
export const vatNotComputed = catalogue('findings/erp-check-results.vatNotComputed', {
  onPayment: {
    message:
      'The ERP computes VAT itself, and only on sales. VAT on payment has no sale, and the mapping has policies.vat_due.',
    todo: 'Use an ERP or a file format that accepts VAT lines, or remove policies.vat_due.',
  },
  onPrepayments: {
    message:
      'The ERP computes VAT itself, and only on sales. VAT on prepayments has no sale, and policies.prepayment_vat of the mapping is at_receipt.',
    todo: 'Use an ERP or a file format that accepts VAT lines, or set policies.prepayment_vat: listed and declare the VAT on prepayments by hand.',
  },
});

/** A capability record whose text for the key is too short. */
export const keyRoom = catalogue('findings/erp-check-results.keyRoom', {
  message: ({ least, most }: { least: number; most: number }) =>
    `The text with the key may have ${most} characters in the ERP; vetledger needs ${least}.`,
  todo: 'Report this to the vendor of vetledger. Nothing can be delivered to this ERP.',
});

/** A mapping with more dimensions than a line of the ERP can have. */
export const dimensionLimit = catalogue('findings/erp-check-results.dimensionLimit', {
  message: ({ n, most }: { n: number; most: number }) =>
    `erp.dimensions names ${n} dimensions; the ERP accepts at most ${most} on a line.`,
  todo: 'Remove dimensions from `erp.dimensions` in the mapping file.',
});
