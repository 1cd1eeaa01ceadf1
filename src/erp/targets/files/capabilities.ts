import type { FileOptions } from '../../../config/file-options.ts';
import type { Capabilities } from '../../capabilities.ts';

/**
 * The capabilities of files. Files cannot be queried, so nothing is looked up or read back. Instead, each batch is
 * stored before it is written (hand-over.ts), so no entry is handed over twice.
 */
const file: Capabilities = {
  kind: 'file',
  key: {
    unique: 'none',
    duplicate_reply: 'doubled',
    lookup: 'none',
    lookup_lag_seconds: 0,
  },
  request_id: null,
  write: {
    steps: 'one',
    max_entries: 5_000,
    max_lines: 50_000,
    max_bytes: Number.MAX_SAFE_INTEGER,
    withdraw: 'none',
  },
  doubt: { server_may_work_seconds: 0 },
  pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
  lines: {
    decimals: 4,
    party: 'per_line',
    max_dimensions: null,
  },
  vat: { mode: 'explicit_rows', tolerance_minor: 0 },
  periods: { readable: false, on_locked: 'warned' },
  text: { encoding: 'utf-8', lengths: {}, forbidden: '' },
  read_back: { by: 'none', normalises: [] },
  errors: [],
};

export const fileCapabilities: Record<FileOptions['kind'], Capabilities> = {
  csv: file,
  sie4: {
    ...file,
    lines: { ...file.lines, decimals: 2 },
    text: { ...file.text, encoding: 'cp437' },
  },
  datev: {
    ...file,
    lines: { ...file.lines, decimals: 2 },
    text: { ...file.text, encoding: 'windows-1252', lengths: { description: 60, line_description: 60, reference: 36 } },
  },
};
