// The form of Procountor's requests and answers, from its specification (API 26.04). Only the fields that vetledger
// uses; the objects of requests are strict, so an unknown field is found.

import { z } from 'zod';

const int = z.int();
const day = z.iso.date();
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/);

/** Procountor keeps texts in Windows-1252. */
const known = new Set(new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, code) => code)));
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => [...value].every((character) => known.has(character)), 'INVALID_CHARACTER');
/** Amounts have at most two decimals. */
const amount = z.number().refine((value) => /^-?\d+(?:\.\d{1,2})?$/.test(String(value)), 'TOO_MANY_DECIMALS');

const dimensionValue = z.strictObject({ dimensionId: int, itemId: int, value: amount });
const newTransaction = z.strictObject({
  transactionType: z.enum(['ENTRY', 'RECONCILIATION_ENTRY', 'REVERSING_ENTRY']),
  account: z.string().min(1),
  accountingValue: amount,
  vatPercent: z.number(),
  vatType: z.enum(['PURCHASE', 'SALES']).optional(),
  vatStatus: int.optional(),
  description: text(255).optional(),
  dimensionItemValues: z.array(dimensionValue).optional(),
});
export const newReceipt = z.strictObject({
  type: z.literal('JOURNAL'),
  name: text(80),
  receiptDate: day,
  vatType: z.enum(['PURCHASE', 'SALES']),
  vatStatus: int,
  transactionDescription: text(255).optional(),
  transactions: z.array(newTransaction).min(1),
});
export type NewReceipt = z.infer<typeof newReceipt>;

const status = z.enum(['UNFINISHED', 'APPROVED', 'INVALIDATED']);
const basicInfo = z.strictObject({
  ...{ id: int, type: z.literal('JOURNAL'), status, name: text(80), receiptDate: day, receiptNumber: int.optional() },
  ...{ created: time, version: time },
});
export const receipt = newReceipt.extend({
  ...{ id: int, status, receiptNumber: int.optional(), version: time },
  transactions: z.array(newTransaction.extend({ id: int })),
});
export type Receipt = z.infer<typeof receipt>;

export const searched = z.strictObject({
  startDate: day.optional(),
  endDate: day.optional(),
  createdStartDate: time.optional(),
  versionStartDate: time.optional(),
  types: z.string().optional(),
  status: z.string().optional(),
  orderById: z.enum(['ASC', 'DESC']).optional(),
  previousId: z.string().regex(/^\d+$/).optional(),
  size: z
    .string()
    .regex(/^\d+$/)
    .refine((size) => Number(size) <= 200)
    .optional(),
});

const period = z.strictObject({ id: int, startDate: day, endDate: day, status: z.enum(['OPEN', 'PENDING', 'CLOSED']) });
const item = z.strictObject({ id: int, codeName: z.string(), status: z.string().optional() });

/** Answers by request. */
export const answers = {
  'POST /oauth/token': z.strictObject({ access_token: z.string(), expires_in: int }),
  'GET /company': z.strictObject({ id: int, name: z.string() }),
  'GET /currencies/company': z.strictObject({ companyCurrency: z.enum(['DKK', 'EUR', 'NOK', 'SEK']) }),
  'GET /coa': z.strictObject({
    ledgerAccounts: z.array(z.strictObject({ ledgerAccountCode: z.string(), name: z.string(), active: z.boolean() })),
  }),
  'GET /vats/default': z.strictObject({
    vatInformation: z.array(
      z.strictObject({
        country: z.string(),
        percentages: z.array(z.strictObject({ vatPercent: z.number(), sales: z.boolean(), purchase: z.boolean() })),
      }),
    ),
    vatStatuses: z.array(
      z.strictObject({ vatStatus: int, description: z.string(), sales: z.boolean(), purchase: z.boolean() }),
    ),
  }),
  'GET /dimensions': z.array(z.strictObject({ id: int, name: z.string(), items: z.array(item) })),
  'GET /fiscalyears': z.strictObject({
    fiscalYears: z.array(
      z.strictObject({ id: int, startDate: day, endDate: day, isOpen: z.boolean(), trackingPeriods: z.array(period) }),
    ),
  }),
  'GET /ledgerreceipts': z.strictObject({
    results: z.array(basicInfo),
    meta: z.strictObject({ pageNumber: int, pageSize: int, resultCount: int }),
  }),
  'GET /ledgerreceipts/#': z.union([receipt, z.array(receipt)]),
  'POST /ledgerreceipts': receipt,
  'PUT /ledgerreceipts/#/approve': z.strictObject({ message: z.string() }),
  'PUT /ledgerreceipts/#/invalidate': z.strictObject({ message: z.string() }),
};

export const refusal = z.strictObject({
  errors: z.array(z.strictObject({ status: int, field: z.string().optional(), message: z.string() })).min(1),
});
