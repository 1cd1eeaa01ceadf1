// What posting depends on besides the documents: mapping, locks, cut-over. Plain data, read by the oracle as it stands.

import { Rng } from '../../sandbox/rng.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import type { PostingContext } from '../../src/posting/types.ts';
import { contextOf } from '../posting/support.ts';
import { accountsByRole } from '../support/accounts.ts';
import type { Setting } from './clinic.ts';

export interface MappingData {
  roles: Record<string, string>;
  revenue_rules: { when: { account: string }; role: string }[];
  revenue: 'same' | Record<string, string>;
  vat: 'same' | Record<string, string>;
  payment_types: Record<string, Target & { departments?: Record<string, Target> }>;
  policies: { locked_period: 'hold' | 'redate'; follow_source_lock: boolean; oldest_months: number };
  cash_customer: string | null;
  counterparties: Partial<Record<'insurance_receivable' | 'financing_receivable', string>>;
}

export interface Target {
  role?: string;
  account?: string;
}

/** The conditions of one moment; replaced as a whole when one changes. */
export interface Conditions {
  mapping: MappingData;
  closedThrough: string | null;
  /** Department id to its earliest open day in the source. */
  locks: Map<number, string>;
  startDate: string | null;
  /** The day it is in the installation's zone. */
  today: string;
  /** What posting is given of them. */
  context: PostingContext;
}

/** A complete mapping, of one of the forms that a mapping can have. */
export function firstMapping(setting: Setting): MappingData {
  const rng = new Rng(setting.seed, 'mapping');
  const vatTable = { 'VAT 25.5 %': '2931', 'VAT 14 %': '2932', '*': '2939' };
  return {
    roles: { ...accountsByRole },
    revenue: rng.chance(0.6) ? 'same' : { '3000': '4000', '3010': '4010', '3020': 'same', '*': '4900' },
    revenue_rules: [{ when: { account: '2411' }, role: 'gift_card_liability' }],
    // Rows without a group name no account of their own.
    vat: setting.exposeVatGroup && rng.chance(0.6) ? 'same' : vatTable,
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
    },
    cash_customer: 'CASH',
    counterparties: rng.chance(0.5) ? { insurance_receivable: 'INSURANCE', financing_receivable: 'FINANCING' } : {},
  };
}

/** The same on another day. */
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
