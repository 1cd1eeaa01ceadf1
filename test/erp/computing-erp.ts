// An ERP that computes VAT, calculated with decimal.js on texts. It shares no code with the division of lines.

import { Decimal } from 'decimal.js';
import type { DraftEntry, LedgerEntry } from '../../src/domain/entry.ts';
import type { Capabilities } from '../../src/erp/capabilities.ts';
import type { ErpLine } from '../../src/erp/erp-entry.ts';
import { translate } from '../../src/erp/translate.ts';
import type { GeneralLedgerUnit } from '../../src/ledger/general-ledger.ts';
import { mappingOf } from '../posting/support.ts';
import { capabilitiesOf } from './capabilities.ts';

export type Mode = 'from_net' | 'from_gross';
export type Rounding = 'half_up' | 'half_even';
export const modes: Mode[] = ['from_net', 'from_gross'];
export const roundings: Rounding[] = ['half_up', 'half_even'];

const mapping = mappingOf({
  erp: {
    vat_codes: 'same',
    dimensions: { dimension_1: { name: 'D' } },
    journals: { '*': 'J' },
    collective_party: 'ALL',
  },
});

function capabilities(mode: Mode, rounding: Rounding): Capabilities {
  const normalises: Capabilities['read_back'] = { by: 'id', normalises: ['merged_lines'] };
  return capabilitiesOf({ vat: { mode, rounding, shows: 'posted', tolerance_minor: 0 }, read_back: normalises });
}

export function told(unit: GeneralLedgerUnit, mode: Mode, rounding: Rounding) {
  return translate(unit, { databaseId: 'db', mapping, capabilities: capabilities(mode, rounding) });
}

/** Sums of the lines that a unit has, or that the ERP posts for sent lines: by account and dimension, and by code. */
export function sums(lines: readonly ErpLine[], computed?: { mode: Mode; rounding: Rounding }): Record<string, string> {
  const found = new Map<string, Decimal>();
  const add = (place: string, amount: Decimal) => found.set(place, (found.get(place) ?? new Decimal(0)).plus(amount));
  for (const { account, side, amount, vat, dimensions } of lines) {
    const digits = new Decimal(side === 'debit' ? amount.toFixed() : `-${amount.toFixed()}`);
    let base = digits;
    if (computed !== undefined && vat !== null) {
      const rate = new Decimal(vat.rate?.toFixed() ?? 0);
      const exact = digits.times(rate).div(computed.mode === 'from_net' ? 100 : rate.plus(100));
      const tax = new Decimal(exact.toFixed(2, computed.rounding === 'half_up' ? 4 : 6));
      if (computed.mode === 'from_gross') base = digits.minus(tax);
      add(`vat ${vat.code}`, tax);
      add(`account ${accountOf(vat.code)} {}`, tax);
    }
    add(`account ${account} ${JSON.stringify(dimensions)}`, base);
    if (vat !== null) add(vat.part === 'base' ? `base ${vat.code}` : `vat ${vat.code}`, base);
  }
  return Object.fromEntries(
    [...found].flatMap(([place, sum]) => (sum.isZero() ? [] : [[place, sum.toFixed(2)]])).sort(),
  );
}

export const accountOf = (code: string) => `V${code}`;

export function ledgerEntry(entry: DraftEntry): LedgerEntry {
  const { id } = entry.document;
  const chain = { seq: id, idempotencyKey: '', previousHash: '', hash: '', mappingHash: null };
  return {
    ...entry,
    id: '1/invoice/1/1',
    installation: 1,
    n: 1,
    postingMode: 'document',
    vatPeriod: '2026-01',
    isLate: false,
    ...chain,
  };
}
