import { z } from 'zod';
import type { CalendarDate } from '../terms.ts';
import { mappingFaults } from '../texts/mapping/faults.ts';
import { mappingMeanings } from '../texts/mapping/meanings.ts';
import { account, code, date, rateCondition, textCondition } from './fields.ts';

/**
 * The kind of a VAT group in the VAT return (ACCOUNTING "The mapping knows validity and kind"). Domestic; reverse
 * charge; goods and services to companies of other EU countries; exports; exempt; outside VAT, which is in no return.
 */
export const vatKinds = [
  'domestic',
  'reverse_charge',
  'eu_goods',
  'eu_services',
  'export',
  'exempt',
  'outside',
] as const;
export type VatKind = (typeof vatKinds)[number];

/** Kinds that have no VAT. */
const zeroRated: readonly VatKind[] = ['eu_goods', 'eu_services', 'export', 'exempt', 'outside'];

const line = z
  .strictObject({
    group: textCondition.optional().describe(mappingMeanings.groupNames),
    rate: rateCondition.optional().describe(mappingMeanings.groupRate),
    kind: z
      .enum(vatKinds, { error: mappingFaults.oneOf({ values: vatKinds.join(', ') }) })
      .describe(mappingMeanings.groupKind),
    account: account.optional().describe(mappingMeanings.groupAccount),
    not_due: account.optional().describe(mappingMeanings.groupNotDue),
    code: code.optional().describe(mappingMeanings.groupCode),
    from: date.optional().describe(mappingMeanings.validFrom),
    to: date.optional().describe(mappingMeanings.validTo),
  })
  .superRefine(({ rate, kind, from, to }, context) => {
    const add = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (zeroRated.includes(kind) && rate?.some((each) => each !== '0'))
      add('rate', mappingFaults.rateMustBeZero({ kind }));
    if (kind === 'domestic' && rate === undefined) add('rate', mappingFaults.rateMissing);
    if (from !== undefined && to !== undefined && from > to) add('to', mappingFaults.beforeFrom({ from }));
  })
  .transform(({ rate, ...rest }) => ({ ...rest, rate: rate ?? ['0'] }));

/**
 * A line of `vat_groups`. Each rate has its shortest form, or is null for no rate. `group` is null for rows without a
 * group name.
 */
export type VatGroupLine = z.output<typeof line>;

/** The section `vat_groups`. Two lines for the same group and rate must not be valid on the same day. */
export const vatGroups = z
  .array(line, { error: mappingFaults.vatGroups })
  .default([])
  .superRefine((lines, context) => {
    for (const [index, one] of lines.entries()) {
      const other = lines.slice(0, index).findIndex((each) => isSameGroup(each, one) && overlap(each, one));
      if (other < 0) continue;
      const message = mappingFaults.sameDays({ other, days: days(one), otherDays: days(lines[other] ?? one) });
      context.addIssue({ code: 'custom', path: [index], message });
    }
  })
  .describe(mappingMeanings.vatGroups);

function isSameGroup(one: VatGroupLine, other: VatGroupLine): boolean {
  if (!one.rate.some((rate) => other.rate.includes(rate))) return false;
  if (one.group === undefined || other.group === undefined) return one.group === other.group;
  return one.group.some((name) => other.group?.includes(name));
}

const [firstDay, lastDay] = ['0000-01-01', '9999-12-31'];

function overlap(one: VatGroupLine, other: VatGroupLine): boolean {
  return (one.from ?? firstDay) <= (other.to ?? lastDay) && (other.from ?? firstDay) <= (one.to ?? lastDay);
}

/** `2024-09-01 to 2025-12-31`, `since 2024-09-01`, `until 2024-08-31`, `always`. */
export function days({ from, to }: { from?: CalendarDate | undefined; to?: CalendarDate | undefined }): string {
  if (from === undefined) return to === undefined ? 'always' : `until ${to}`;
  return to === undefined ? `since ${from}` : `${from} to ${to}`;
}
