import type { Capabilities } from '../../src/erp/capabilities.ts';

/** The record of an ERP that takes everything; `changes` replaces whole sections. */
export function capabilitiesOf(changes: Partial<Capabilities> = {}): Capabilities {
  return {
    kind: 'api',
    verified: { by: 'spec', on: '2026-10-01' },
    auth: {
      flow: 'session',
      token_seconds: null,
      refresh_single_use: false,
      secret_expires_days: null,
      company_selector: null,
    },
    key: {
      field: 'description',
      max: 200,
      charset: 'unicode',
      unique: 'none',
      duplicate_reply: 'doubled',
      replay_seconds: 'none',
      lookup: 'exact',
      lookup_lag_seconds: 0,
      installable: false,
    },
    write: {
      steps: 'draft_then_post',
      atomic: 'batch',
      ordered: false,
      result_per_entry: false,
      max_entries: 100,
      max_lines: 500,
      max_bytes: 1_000_000,
      async: false,
      drafts: 'harmless',
      drafts_deletable: true,
    },
    doubt: { server_may_work_seconds: 1 },
    pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
    lines: {
      shape: 'list',
      amount: 'debit_credit',
      decimals: 2,
      control_accounts: 'with_party',
      party: 'per_line',
      find_party_by: 'our_id',
      matching: true,
    },
    vat: { mode: 'explicit_rows', account_default_applies: false, tolerance_minor: 0 },
    imbalance: 'refused',
    dimensions: [],
    periods: { readable: true, kinds: ['general'], on_locked: 'refused' },
    text: { encoding: 'utf-8', lengths: {}, forbidden: '' },
    number: { by: 'erp', gapless: true },
    correct: 'own_reversal',
    read_back: { by: 'id', normalises: [] },
    errors: [],
    ...changes,
  };
}

/** Members of a capability record, at any depth. */
export type Changes = {
  [Key in keyof Capabilities]?: Capabilities[Key] extends readonly unknown[] | string
    ? Capabilities[Key]
    : Partial<Capabilities[Key]>;
};

/** The same record with single members of its sections replaced. */
export function capabilitiesWith(changes: Changes = {}): Capabilities {
  const record = capabilitiesOf();
  const changed = Object.entries(changes).map(([name, change]) => {
    const before = record[name as keyof Capabilities];
    const isSection = typeof before === 'object' && !Array.isArray(before);
    return [name, isSection ? { ...before, ...(change as object) } : change];
  });
  return { ...record, ...Object.fromEntries(changed) };
}
