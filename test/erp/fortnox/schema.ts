// The form of Fortnox's requests and answers, from its OpenAPI description and its documentation. Only the fields that
// vetledger uses; the objects of requests are strict, so an unknown field is found.

import { z } from 'zod';

const int = z.int();
const day = z.iso.date();

/** The characters that the documentation lists as valid. */
const valid = /^(?:\u0308|\u030a|[\p{L}’\\0-9 –:.`´,;^¤#%§£$€¢¥©™°&/()=+\-*_!?²³®½@\u00a0\n\r])*$/u;
const text = (max: number) => z.string().max(max).regex(valid, '2000359');
/** Amounts have at most two decimals and 14 digits. */
const amount = z
  .number()
  .nonnegative()
  .refine((value) => /^\d{1,12}(?:\.\d{1,2})?$/.test(String(value)));

const newRow = z
  .strictObject({
    Account: int.min(1_000).max(9_999),
    Debit: amount,
    Credit: amount,
    TransactionInformation: text(100).optional(),
    CostCenter: z.string().min(1).max(6).optional(),
    Project: z.string().min(1).max(20).optional(),
  })
  .refine(({ Debit, Credit }) => (Debit === 0) !== (Credit === 0));
export const newVoucher = z.strictObject({
  Voucher: z.strictObject({
    Description: text(200).min(1),
    VoucherSeries: z.string().min(1).max(10),
    TransactionDate: day,
    VoucherRows: z.array(newRow).min(2, '2001897'),
  }),
});
export type NewVoucher = z.infer<typeof newVoucher>['Voucher'];

/** Rows in answers have the account's name as description, and all fields. */
const row = z.strictObject({
  ...{ Account: int, Debit: z.number(), Credit: z.number(), Description: z.string(), Removed: z.boolean() },
  ...{ TransactionInformation: z.string(), CostCenter: z.string(), Project: z.string() },
});
const head = z.strictObject({
  '@url': z.url(),
  ...{ Description: text(200), TransactionDate: day, VoucherNumber: int, VoucherSeries: z.string(), Year: int },
  ...{ ReferenceType: z.literal('MANUAL'), ApprovalState: int.min(0).max(3) },
});
const voucher = head.extend({ VoucherRows: z.array(row) });
export type Voucher = z.infer<typeof voucher>;

/** Parameters of lists, in lower case. */
export const listed = z.strictObject({
  ...{ limit: z.coerce.number().int().min(1).max(500), page: z.coerce.number().int().min(1) },
  ...{ financialyear: z.coerce.number().int().optional(), fromdate: day.optional(), todate: day.optional() },
  lastmodified: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?$/)
    .optional(),
});

const setting = z.enum(['ALLOWED', 'MANDATORY', 'NOTALLOWED']);
const account = z.strictObject({
  ...{ Number: int.min(1_000).max(9_999), Description: z.string().min(1), Active: z.boolean(), Year: int },
  ...{ VATCode: z.string().optional(), CostCenterSettings: setting, ProjectSettings: setting },
  ...{ CostCenter: z.string().optional(), Project: z.string().optional() },
});
export type Account = z.infer<typeof account>;
const series = z.strictObject({
  ...{ Code: z.string().min(1).max(10), Description: z.string(), Manual: z.boolean(), Year: int },
  Approver: z.strictObject({ Id: int, Name: z.string() }).optional(),
});
export type Series = z.infer<typeof series>;
export const financialYear = z.strictObject({ Id: int, FromDate: day, ToDate: day });
export type Year = z.infer<typeof financialYear>;

const meta = z.strictObject({ '@CurrentPage': int, '@TotalPages': int, '@TotalResources': int });
const list = <Name extends string, Item extends z.ZodType>(name: Name, item: Item) =>
  z.strictObject({ MetaInformation: meta, [name]: z.array(item) });

/** Answers by request. */
export const answers = {
  'POST /oauth-v1/token': z.strictObject({
    ...{ access_token: z.string(), expires_in: int, token_type: z.literal('bearer'), scope: z.string() },
  }),
  'GET /3/companyinformation': z.strictObject({
    CompanyInformation: z.strictObject({
      DatabaseNumber: int,
      CompanyName: z.string(),
      OrganizationNumber: z.string(),
    }),
  }),
  'GET /3/settings/lockedperiod': z.strictObject({ LockedPeriod: z.strictObject({ EndDate: day.optional() }) }),
  'GET /3/financialyears': list('FinancialYears', financialYear),
  'GET /3/accounts': list('Accounts', account),
  'GET /3/voucherseries': list('VoucherSeriesCollection', series),
  'GET /3/costcenters': list('CostCenters', z.strictObject({ Code: z.string().max(6), Active: z.boolean() })),
  'GET /3/projects': list('Projects', z.strictObject({ ProjectNumber: z.string().max(20), Description: z.string() })),
  'GET /3/vouchers': list('Vouchers', head),
  'GET /3/vouchers/#': z.strictObject({ Voucher: voucher }),
  'POST /3/vouchers': z.strictObject({ Voucher: voucher }),
};

export const refusal = z.strictObject({
  ErrorInformation: z.strictObject({ Error: int, Message: z.string(), Code: int }),
});
