import type { FileOptions } from '../../../config/file-options.ts';
import type { Capabilities } from '../../capabilities.ts';

/**
 * What files can do: nothing is asked of a file, so that nothing is looked up and nothing is read back. What keeps an entry from
 * being told twice is the batch, which is stored before it is written (hand-over.ts).
 */
const file: Omit<Capabilities, 'verified'> = {
  kind: 'file',
  auth: {
    flow: 'none',
    token_seconds: null,
    refresh_single_use: false,
    secret_expires_days: null,
    company_selector: null,
  },
  key: {
    field: 'key',
    max: 20,
    charset: 'unicode',
    unique: 'none',
    duplicate_reply: 'doubled',
    replay_seconds: 'none',
    lookup: 'none',
    lookup_lag_seconds: 0,
    installable: false,
  },
  write: {
    steps: 'one',
    atomic: 'batch',
    ordered: true,
    result_per_entry: false,
    max_entries: 5_000,
    max_lines: 50_000,
    max_bytes: Number.MAX_SAFE_INTEGER,
    async: false,
    drafts: 'harmless',
    drafts_deletable: false,
  },
  doubt: { server_may_work_seconds: 0 },
  pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
  lines: {
    shape: 'list',
    amount: 'debit_credit',
    decimals: 4,
    control_accounts: 'free',
    party: 'per_line',
    find_party_by: 'our_id',
    matching: false,
  },
  vat: { mode: 'explicit_rows', account_default_applies: false, tolerance_minor: 0 },
  imbalance: 'refused',
  dimensions: [],
  periods: { readable: false, kinds: [], on_locked: 'warned' },
  text: { encoding: 'utf-8', lengths: {}, forbidden: '' },
  number: { by: 'erp', gapless: false },
  correct: 'own_reversal',
  read_back: { by: 'none', normalises: [] },
  errors: [],
};

/** The capability records of the kinds of files. */
export const fileCapabilities: Record<FileOptions['kind'], Capabilities> = {
  csv: { ...file, verified: { by: 'spec', on: '2026-11-22' } },
  sie4: {
    ...file,
    verified: { by: 'docs', on: '2026-11-22' },
    key: { ...file.key, field: '#VER', charset: 'latin1' },
    lines: { ...file.lines, amount: 'signed', decimals: 2 },
    text: { ...file.text, encoding: 'cp437' },
  },
  datev: {
    ...file,
    verified: { by: 'docs', on: '2026-11-22' },
    key: { ...file.key, field: 'Zusatzinformation', charset: 'latin1' },
    lines: { ...file.lines, shape: 'pairs', amount: 'positive_side', decimals: 2 },
    // Automatic tax of an account is switched off by BU key.
    vat: { ...file.vat, account_default_applies: true },
    text: { ...file.text, encoding: 'windows-1252', lengths: { description: 60, line_description: 60, reference: 36 } },
  },
};
