import type { Capabilities } from '../../capabilities.ts';

export const longestDescription = 255;
/** Maximum number of ids in a request that reads vouchers, and in one that invalidates them. */
export const mostRead = 500;
export const mostInvalidated = 100;

/**
 * Netvisor. The facts come from its documentation; docs/developers/erp-measurements.md lists what is only assumed,
 * because no company was available.
 */
export const netvisorCapabilities: Capabilities = {
  kind: 'api',
  // A person may change the date of a voucher, so a look-up also searches by the time of the change.
  key: { unique: 'none', duplicate_reply: 'doubled', lookup: 'scan_since', lookup_lag_seconds: 2, longest_text: 255 },
  request_id: {
    ...{ header: 'X-Netvisor-Authentication-TransactionId', max: 36 },
    ...{ on_repeat: 'refused', remembered_seconds: 'unknown', survives: 'all' },
  },
  write: { steps: 'one', max_entries: 1, max_lines: 500, max_bytes: 1_000_000, withdraw: 'void' },
  // Netvisor's advice is to wait for an answer for 120 or 360 seconds.
  doubt: { server_may_work_seconds: 420 },
  pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
  lines: { decimals: 2, party: 'none', max_dimensions: null },
  vat: { mode: 'tagged_bases', tolerance_minor: 0 },
  periods: { readable: true, on_locked: 'refused' },
  text: {
    encoding: 'iso-8859-15',
    lengths: {
      ...{ description: longestDescription, reference: 100, party_name: 200 },
      line_description: longestDescription,
    },
    forbidden: '',
  },
  read_back: { by: 'id', normalises: ['date', 'order'] },
  errors: [
    { match: { code: 'PERIOD_LOCK' }, means: 'refused', problem: 'period_closed_in_erp' },
    { match: { code: 'INVALID_DATA' }, means: 'refused', problem: 'erp_refused' },
    { match: { code: 'INVALID_DATA_SIZE' }, means: 'refused', problem: 'erp_refused' },
    { match: { code: 'DUPLICATE_DATA' }, means: 'duplicate' },
    { match: { code: 'REQUEST_NOT_UNIQUE' }, means: 'repeated' },
    { match: { code: 'AUTHENTICATION_FAILED' }, means: 'auth' },
    { match: { code: 'SERVICE_ACCESS_ERROR' }, means: 'auth' },
    // Netvisor's documentation has both spellings.
    { match: { code: 'SYSTEM_MAINTENANCE' }, means: 'locked' },
    { match: { code: 'SYSTEM_MAINTANANCE' }, means: 'locked' },
    { match: { code: 'TECHNICAL_ERROR' }, means: 'doubt' },
    { match: { http: 401 }, means: 'auth' },
    { match: { http: 403 }, means: 'auth' },
    { match: { http: 413 }, means: 'refused', problem: 'erp_too_large' },
    { match: { http: 429 }, means: 'throttled' },
  ],
};
