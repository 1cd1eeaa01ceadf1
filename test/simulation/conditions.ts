// The conditions of posting besides the documents: mapping, locks, cut-over. The oracle reads this plain data directly.

import { Rng } from '../../sandbox/src/rng.ts';
import { addDays } from '../../sandbox/src/zone.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import type { PostingContext } from '../../src/posting/types.ts';
import { contextOf } from '../posting/support.ts';
import { accountsByRole } from '../support/accounts.ts';
import type { Setting } from './clinic.ts';

export interface MappingData {
  roles: Record<string, string>;
  revenue_rules: RevenueRule[];
  revenue: 'same' | Record<string, string>;
  vat: 'same' | Record<string, string>;
  payment_types: Record<string, Target & { departments?: Record<string, Target> }>;
  vat_groups?: VatGroupData[];
  country?: string | null;
  policies: {
    locked_period: 'hold' | 'redate';
    follow_source_lock: boolean;
    oldest_months: number;
    vat_rate_expired?: 'remark' | 'hold';
    prepayment_vat?: 'listed' | PrepaymentVat;
  };
  cash_customer: string | null;
  counterparties: Partial<Record<'insurance_receivable' | 'financing_receivable', string>>;
}

export interface RevenueRule {
  when: { account?: string; vat_kind?: string; from?: string; to?: string };
  role?: string;
  account?: string;
}

export interface VatGroupData {
  group?: string;
  rate?: number | string;
  kind: string;
  account?: string;
  from?: string;
  to?: string;
}

export interface PrepaymentGroup {
  name: string;
  rate: string;
}

export interface PrepaymentVat {
  at_receipt: string;
  group?: PrepaymentGroup;
  payment_types?: Record<string, PrepaymentGroup>;
  departments?: Record<string, PrepaymentGroup>;
}

export interface Target {
  role?: string;
  account?: string;
}

/** The conditions at one moment; a change replaces the whole object. */
export interface Conditions {
  mapping: MappingData;
  closedThrough: string | null;
  /** The earliest open day in the source by department id. */
  locks: Map<number, string>;
  startDate: string | null;
  /** Today's date in the installation's zone. */
  today: string;
  /** The conditions above in the form for the posting core. */
  context: PostingContext;
}

/** A complete mapping in one of the possible forms. */
export function firstMapping(setting: Setting): MappingData {
  const rng = new Rng(setting.seed, 'mapping');
  const { changeOn, prepaymentVatFrom } = setting;
  const vatTable = { 'VAT 25.5 %': '2931', 'VAT 14 %': '2932', '*': '2939' };
  return {
    roles: { ...accountsByRole },
    revenue: rng.chance(0.6) ? 'same' : { '3000': '4000', '3010': '4010', '3020': 'same', '*': '4900' },
    // Rules by account for liabilities, and rules by date and kind as in the ready mappings.
    revenue_rules: [
      ...(changeOn === null ? [] : rulesByDate(changeOn)),
      { when: { account: '2411' }, role: 'gift_card_liability' },
      { when: { account: '2410' }, role: 'voucher_liability' },
    ],
    ...(changeOn === null ? {} : { vat_groups: groupsByDate(changeOn), country: rng.pick(['FI', 'DE']) }),
    // Rows without a group, and the group of a prepayment, have no account.
    vat: setting.exposeVatGroup && prepaymentVatFrom === null && rng.chance(0.6) ? 'same' : vatTable,
    payment_types: rng.chance(0.5)
      ? {}
      : {
          '7': { role: 'card_clearing' },
          '4': { account: '1923', departments: { '12': { account: '1924' }, '13': { role: 'cash' } } },
        },
    policies: {
      locked_period: setting.redate ? 'redate' : 'hold',
      follow_source_lock: setting.followSourceLock,
      oldest_months: setting.oldestMonths,
      ...(changeOn === null ? {} : { vat_rate_expired: setting.holdsExpired ? 'hold' : 'remark' }),
      ...(prepaymentVatFrom === null ? {} : { prepayment_vat: vatFrom(prepaymentVatFrom) }),
    },
    cash_customer: 'CASH',
    counterparties: rng.chance(0.5) ? { insurance_receivable: 'INSURANCE', financing_receivable: 'FINANCING' } : {},
  };
}

const rulesByDate = (changeOn: string): RevenueRule[] => [
  { when: { account: '3100', from: changeOn }, account: '4101' },
  { when: { account: '3020', to: changeOn }, account: '4021' },
  { when: { account: '3010', vat_kind: 'eu_services' }, account: '4019' },
];

/**
 * VAT groups whose mapping changes on this day: a rate gets another account, one rate ends and another begins. Kinds
 * without VAT differ by name.
 */
const groupsByDate = (changeOn: string): VatGroupData[] => [
  { group: 'VAT 25.5 %', rate: 25.5, kind: 'domestic', account: '2936', to: addDays(changeOn, -1) },
  { group: 'VAT 25.5 %', rate: 25.5, kind: 'domestic', account: '2937', from: changeOn },
  { group: 'VAT 14 %', rate: 14, kind: 'domestic', to: changeOn },
  { group: 'VAT 10 %', rate: 10, kind: 'domestic', from: changeOn },
  { group: 'VAT 0 %', kind: 'eu_services' },
  { group: 'Odd VAT', kind: 'outside' },
  { group: 'Odd VAT', rate: 14, kind: 'reverse_charge' },
  { kind: 'exempt' },
];

/** VAT on prepayments at receipt from a day on. `rate` applies unless the payment type or department has another. */
export const vatFrom = (day: string, rate = '25.5'): PrepaymentVat => ({
  at_receipt: day,
  group: { name: `VAT ${rate} %`, rate },
  payment_types: { '2': { name: 'VAT 14 %', rate: '14' } },
  departments: { '13': { name: 'VAT 10 %', rate: '10' } },
});

/** Moves the conditions to another day. */
export function onDay(conditions: Conditions, today: string): Conditions {
  return { ...conditions, today, context: { ...conditions.context, today } };
}

export function conditionsOf(setting: Setting, parts: Omit<Conditions, 'context'>): Conditions {
  const parsed = parseMapping(parts.mapping);
  if ('errors' in parsed) throw new Error(`the simulation's mapping is refused: ${parsed.errors.join('; ')}`);
  const { closedThrough, locks, startDate, today } = parts;
  const { timezone, currency, decimals } = setting;
  return {
    ...parts,
    context: contextOf({
      ...{ timezone, currency, decimals, startDate, closedThrough, today },
      mapping: parsed.mapping,
      sourceLockDates: locks,
    }),
  };
}
