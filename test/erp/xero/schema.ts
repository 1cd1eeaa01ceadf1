// The form of Xero's requests and answers, from its specification (accounting API 16.1). Only the fields that vetledger
// uses; the objects of requests are strict, so an unknown field is found.

import { z } from 'zod';

const guid = z.guid();
const int = z.int();
const day = z.iso.date();
const msDate = z.string().regex(/^\/Date\(-?\d+(?:\+0000)?\)\/$/);
const amount = z.number();
const message = z.strictObject({ Message: z.string() });

const newLine = z.strictObject({
  LineAmount: amount,
  AccountCode: z.string().max(10),
  Description: z.string().optional(),
  TaxType: z.string().optional(),
  Tracking: z
    .array(
      z.strictObject({
        ...{ TrackingCategoryID: guid.optional(), TrackingOptionID: guid.optional() },
        ...{ Name: z.string().max(100).optional(), Option: z.string().max(100).optional() },
      }),
    )
    .optional(),
});
const amountTypes = z.enum(['Exclusive', 'Inclusive', 'NoTax']);
const newJournal = z.strictObject({
  Narration: z.string().min(1),
  Date: day.optional(),
  LineAmountTypes: amountTypes.optional(),
  Status: z.enum(['DRAFT', 'POSTED']).optional(),
  JournalLines: z.array(newLine),
});
export type NewJournal = z.infer<typeof newJournal>;
export const newJournals = z.strictObject({ ManualJournals: z.array(newJournal).min(1) });
export const changedJournal = z.strictObject({
  ManualJournals: z
    .array(
      z.strictObject({ ManualJournalID: guid, Narration: z.string(), Status: z.enum(['POSTED', 'DELETED', 'VOIDED']) }),
    )
    .length(1),
});

const line = z.strictObject({
  ...{ Description: z.string().optional(), TaxType: z.string(), TaxAmount: amount, LineAmount: amount },
  ...{ AccountCode: z.string().optional(), AccountID: guid.optional(), IsBlank: z.boolean() },
  Tracking: z.array(
    z.strictObject({ Name: z.string(), Option: z.string(), TrackingCategoryID: guid, TrackingOptionID: guid }),
  ),
});
const journal = z.strictObject({
  Date: msDate,
  Status: z.enum(['DRAFT', 'POSTED', 'DELETED', 'VOIDED', 'ARCHIVED']),
  LineAmountTypes: amountTypes,
  UpdatedDateUTC: msDate,
  ManualJournalID: guid,
  Narration: z.string(),
  JournalLines: z.array(line),
  ShowOnCashBasisReports: z.boolean(),
  HasAttachments: z.boolean(),
});
export type Journal = z.infer<typeof journal>;
export type JournalLine = z.infer<typeof line>;
const writtenJournal = journal.partial().extend({
  StatusAttributeString: z.enum(['OK', 'ERROR', 'WARNING']).optional(),
  Warnings: z.array(message).optional(),
  ValidationErrors: z.array(message).optional(),
});
const envelope = { Id: guid, Status: z.literal('OK'), ProviderName: z.string(), DateTimeUTC: msDate };
const pagination = z.strictObject({ page: int, pageSize: int, pageCount: int, itemCount: int });

export const listed = z.strictObject({
  page: z.string().regex(/^\d+$/).optional(),
  pageSize: z.string().regex(/^\d+$/).optional(),
  order: z.enum(['UpdatedDateUTC ASC']).optional(),
  where: z.string().optional(),
});

const account = z.strictObject({
  ...{ AccountID: guid, Code: z.string().max(10).optional(), Name: z.string().max(150), Status: z.string() },
  ...{ Type: z.string(), TaxType: z.string(), Class: z.string(), SystemAccount: z.string().nullish() },
});
const taxRate = z.strictObject({
  ...{ Name: z.string(), TaxType: z.string(), Status: z.string(), DisplayTaxRate: z.number() },
  EffectiveRate: z.number(),
});
const option = z.strictObject({ TrackingOptionID: guid, Name: z.string().max(100), Status: z.string() });
const category = z.strictObject({
  ...{ TrackingCategoryID: guid, Name: z.string().max(100), Status: z.string(), Options: z.array(option) },
});
const organisation = z.strictObject({
  ...{ OrganisationID: guid, Name: z.string(), BaseCurrency: z.string().length(3), CountryCode: z.string().length(2) },
  ...{ IsDemoCompany: z.boolean(), ShortCode: z.string() },
  ...{ PeriodLockDate: msDate.optional(), EndOfYearLockDate: msDate.optional() },
});

/** Answers by request. */
export const answers = {
  'POST /connect/token': z.strictObject({
    ...{ access_token: z.string(), expires_in: int, token_type: z.literal('Bearer'), scope: z.string() },
  }),
  'GET /connections': z.array(
    z.strictObject({ id: guid, tenantId: guid, tenantType: z.string(), tenantName: z.string() }),
  ),
  'GET /Organisation': z.strictObject({ ...envelope, Organisations: z.array(organisation).length(1) }),
  'GET /Accounts': z.strictObject({ ...envelope, Accounts: z.array(account) }),
  'GET /TaxRates': z.strictObject({ ...envelope, TaxRates: z.array(taxRate) }),
  'GET /TrackingCategories': z.strictObject({ ...envelope, TrackingCategories: z.array(category) }),
  'GET /ManualJournals': z.strictObject({
    ...envelope,
    pagination: pagination.optional(),
    ManualJournals: z.array(journal),
  }),
  'GET /ManualJournals/#': z.strictObject({ ...envelope, ManualJournals: z.array(journal).length(1) }),
  'PUT /ManualJournals': z.strictObject({ ...envelope, ManualJournals: z.array(writtenJournal) }),
  'POST /ManualJournals/#': z.strictObject({ ...envelope, ManualJournals: z.array(writtenJournal).length(1) }),
};

export const refusal = z.strictObject({
  ErrorNumber: int,
  Type: z.literal('ValidationException'),
  Message: z.string(),
  Elements: z.array(writtenJournal),
});
