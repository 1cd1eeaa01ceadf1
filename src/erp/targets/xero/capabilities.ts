import type { Capabilities } from '../../capabilities.ts';

/** Maximum length of the narration's description, before our unit id and key. */
const longestDescription = 200;
/** The type of an error about the content of a journal. */
const code = 'ValidationException';

/**
 * Xero, accounting API 16.1. The facts come from its specification and help pages; docs/developers/erp-measurements.md
 * lists what is only assumed, because no organisation was available.
 */
export const xeroCapabilities: Capabilities = {
  kind: 'api',
  // A journal has no field for a key that can be searched. The key is in the narration.
  key: { unique: 'none', duplicate_reply: 'doubled', lookup: 'scan_since', lookup_lag_seconds: 0 },
  request_id: {
    header: 'Idempotency-Key',
    max: 128,
    on_repeat: 'replayed',
    remembered_seconds: 'unknown',
    survives: 'all',
  },
  write: { steps: 'one', max_entries: 50, max_lines: 200, max_bytes: 3_000_000, withdraw: 'delete' },
  doubt: { server_may_work_seconds: 180 },
  pace: {
    in_flight_per_company: 5,
    limits: [
      { per_seconds: 60, n: 60, weight: 1, left_header: 'X-MinLimit-Remaining' },
      { per_seconds: 86_400, n: 5_000, weight: 1, left_header: 'X-DayLimit-Remaining' },
    ],
    errors_allowed: null,
  },
  lines: { decimals: 2, party: 'none', max_dimensions: 2 },
  vat: { mode: 'from_net', rounding: 'half_up', shows: 'posted', tolerance_minor: 0 },
  periods: { readable: true, on_locked: 'refused' },
  text: {
    encoding: 'utf-8',
    lengths: { description: longestDescription, reference: 100, party_name: 200, line_description: 500 },
    forbidden: '',
  },
  // One list of the changed journals reads a whole batch back; by id, each journal is a request of the day's limit.
  read_back: { by: 'key', normalises: ['date', 'merged_lines', 'order'] },
  errors: [
    { match: { code, text: /lock date/i }, means: 'refused', problem: 'period_closed_in_erp' },
    { match: { code, text: /total debits .* equal total credits/i }, means: 'refused', problem: 'erp_unbalanced' },
    { match: { code, text: /tax ?type|tax rate/i }, means: 'refused', problem: 'erp_tax_unknown' },
    { match: { code, text: /tracking/i }, means: 'refused', problem: 'erp_dimension_unknown' },
    { match: { code, text: /\baccount\b/i }, means: 'refused', problem: 'erp_account_unknown' },
    { match: { http: 401 }, means: 'auth' },
    { match: { http: 403 }, means: 'auth' },
    { match: { http: 413 }, means: 'refused', problem: 'erp_too_large' },
    { match: { http: 429 }, means: 'throttled' },
  ],
};
