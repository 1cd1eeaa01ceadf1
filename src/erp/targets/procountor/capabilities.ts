import type { Capabilities } from '../../capabilities.ts';

const longestDescription = 255;

/**
 * Procountor, API 26.04. The facts come from its specification and documentation; docs/developers/erp-measurements.md
 * lists what is only assumed, because no company was available.
 */
export const procountorCapabilities: Capabilities = {
  kind: 'api',
  // A person may change the date of a receipt, so a look-up also searches by the time of creation.
  key: { unique: 'none', duplicate_reply: 'doubled', lookup: 'scan_since', lookup_lag_seconds: 0, longest_text: 80 },
  request_id: null,
  write: { steps: 'draft_then_post', max_entries: 1, max_lines: 500, max_bytes: 1_000_000, withdraw: 'void' },
  doubt: { server_may_work_seconds: 180 },
  // The test server allows 20 a second, production 60.
  pace: { in_flight_per_company: 1, limits: [{ per_seconds: 1, n: 15, weight: 1 }], errors_allowed: null },
  lines: { decimals: 2, party: 'none', max_dimensions: null },
  vat: { mode: 'from_net', rounding: 'half_up', shows: 'sent', tolerance_minor: 0 },
  periods: { readable: true, on_locked: 'refused' },
  text: {
    encoding: 'windows-1252',
    lengths: {
      ...{ description: longestDescription, reference: 100, party_name: 200 },
      line_description: longestDescription,
    },
    forbidden: '',
  },
  read_back: { by: 'id', normalises: ['merged_lines', 'order'] },
  errors: [
    { match: { code: 'CLOSED_FISCAL_PERIOD' }, means: 'refused', problem: 'period_closed_in_erp' },
    { match: { code: 'ERROR_LEDGERACCOUNT_VATPERCENTAGE_COMBINATION' }, means: 'refused', problem: 'erp_tax_unknown' },
    { match: { code: 'ERROR_VATSTATUS_VATPERC' }, means: 'refused', problem: 'erp_tax_unknown' },
    {
      match: { code: 'DIMENSION_OR_DIMENSION_ITEM_IDENTIFIERS_DOES_NOT_MATCH' },
      ...{ means: 'refused', problem: 'erp_dimension_unknown' },
    },
    { match: { http: 403, text: /closed|fiscal/i }, means: 'refused', problem: 'period_closed_in_erp' },
    { match: { http: 401 }, means: 'auth' },
    { match: { http: 403 }, means: 'auth' },
    { match: { http: 413 }, means: 'refused', problem: 'erp_too_large' },
    { match: { http: 429 }, means: 'throttled' },
  ],
};
