import { z } from 'zod';
import { vatPeriodLengths } from '../domain/vat-period.ts';
import { mappingFaults } from '../texts/mapping/faults.ts';
import { mappingMeanings } from '../texts/mapping/meanings.ts';
import { amount, date, departmentId, monthAndDay, rateOf } from './fields.ts';

const groupOfPrepayments = z
  .strictObject({
    name: z.string({ error: mappingFaults.groupName }).nullable().default(null),
    rate: rateOf.describe(mappingMeanings.prepaymentRate),
  })
  .describe(mappingMeanings.prepaymentGroup);

/** The section `policies.prepayment_vat` in its long form. */
const atReceipt = z.strictObject({
  at_receipt: date.describe(mappingMeanings.atReceipt),
  group: groupOfPrepayments.optional(),
  payment_types: z.record(z.string().regex(/^\d+$/, mappingFaults.paymentTypeNumber), groupOfPrepayments).default({}),
  departments: z.record(departmentId, groupOfPrepayments).default({}),
});

/** The section `policies.vat_due` (ACCOUNTING R13). */
const vatDue = z
  .strictObject({
    payment: date.describe(mappingMeanings.vatDuePayment),
    until: date.optional().describe(mappingMeanings.vatDueUntil),
    latest: z
      .union([z.strictObject({ months: z.int().positive() }), z.strictObject({ year_end: monthAndDay })], {
        error: mappingFaults.vatDueLatest,
      })
      .optional()
      .describe(mappingMeanings.vatDueLatest),
    rest_at_end: z.boolean({ error: mappingFaults.trueOrFalse }).default(false).describe(mappingMeanings.vatDueRest),
  })
  .superRefine(({ payment, until, rest_at_end: rest }, context) => {
    const add = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (until !== undefined && until < payment) add('until', mappingFaults.beforeFrom({ from: payment }));
    if (rest && until === undefined) add('rest_at_end', mappingFaults.needsUntil);
  })
  .transform(({ rest_at_end: restAtEnd, until = null, latest = null, payment: from }) => ({
    ...{ from, until, latest, restAtEnd },
  }));
export type VatDuePolicy = z.output<typeof vatDue>;

export const policies = {
  vat_due: vatDue.nullable().default(null).describe(mappingMeanings.vatDue),
  prepayment_vat: z
    .union([z.literal('listed'), atReceipt], {
      error: mappingFaults.prepaymentVat,
    })
    .default('listed')
    .transform((policy) => {
      if (policy === 'listed') return policy;
      const { at_receipt: from, ...groups } = policy;
      return { from, ...groups };
    })
    .describe(mappingMeanings.prepaymentVat),
  locked_period: z
    .enum(['hold', 'redate'], { error: mappingFaults.lockedPeriod })
    .default('hold')
    .describe(mappingMeanings.lockedPeriod),
  follow_source_lock: z
    .boolean({ error: mappingFaults.trueOrFalse })
    .default(false)
    .describe(mappingMeanings.followSourceLock),
  vat_period: z
    .enum(vatPeriodLengths, { error: mappingFaults.oneOf({ values: vatPeriodLengths.join(', ') }) })
    .default('month')
    .describe(mappingMeanings.vatPeriod),
  oldest_months: z
    .int(mappingFaults.months)
    .positive(mappingFaults.monthsAboveZero)
    .default(24)
    .describe(mappingMeanings.oldestMonths),
  vat_rate_expired: z
    .enum(['remark', 'hold'], { error: mappingFaults.remarkOrHold })
    .default('remark')
    .describe(mappingMeanings.vatRateExpired),
  rounding_limit: amount('1.00').describe(mappingMeanings.roundingLimit),
};
