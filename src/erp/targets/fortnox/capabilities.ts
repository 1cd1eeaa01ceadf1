import type { Capabilities } from '../../capabilities.ts';

export const longestRowText = 100;

/** Fortnox allows these characters in texts, and some that code page 437 lacks. `&` is left out: answers may encode it. */
const allowed = '\\p{L}0-9 \\-_.,:;!?=+*/()#%@^°$£¢¥²½';

/**
 * Fortnox, API version 3. The facts come from its OpenAPI description and documentation;
 * docs/developers/erp-measurements.md lists what is only assumed, because no company was available.
 */
export const fortnoxCapabilities: Capabilities = {
  kind: 'api',
  key: { unique: 'none', duplicate_reply: 'doubled', lookup: 'scan_since', lookup_lag_seconds: 0, longest_text: 200 },
  request_id: null,
  write: { steps: 'one', max_entries: 1, max_lines: 500, max_bytes: 1_000_000, withdraw: 'none' },
  doubt: { server_may_work_seconds: 180 },
  // Fortnox allows 25 requests in 5 seconds.
  pace: { in_flight_per_company: 1, limits: [{ per_seconds: 5, n: 20, weight: 1 }], errors_allowed: null },
  lines: { decimals: 2, party: 'none', max_dimensions: 2 },
  vat: { mode: 'from_account', tolerance_minor: 0 },
  periods: { readable: true, on_locked: 'refused' },
  text: {
    // The SIE file, from which the books are read, has this code page.
    encoding: 'cp437',
    lengths: {
      ...{ description: 200, reference: longestRowText, party_name: longestRowText },
      line_description: longestRowText,
    },
    forbidden: `^${allowed}`,
  },
  read_back: { by: 'id', normalises: ['order'] },
  errors: [
    { match: { code: '2000401' }, means: 'refused', problem: 'period_closed_in_erp' },
    { match: { code: '2001304' }, means: 'refused', problem: 'erp_account_unknown' },
    { match: { code: '2000946' }, means: 'refused', problem: 'erp_dimension_unknown' },
    { match: { code: '2000947' }, means: 'refused', problem: 'erp_dimension_unknown' },
    // A character that is not allowed, fewer than two rows, a wrong field, a body that cannot be read.
    ...['2000359', '2001897', '2001399', '2001392', '2002115'].map((code) => ({
      ...{ match: { code }, means: 'refused' as const, problem: 'erp_refused' },
    })),
    ...['2000310', '2000311', '2001101', '2001103'].map((code) => ({ match: { code }, means: 'auth' as const })),
    // Errors without a known code, by their Swedish texts.
    { match: { http: 400, text: /låst period|perioden är låst/i }, means: 'refused', problem: 'period_closed_in_erp' },
    { match: { http: 400, text: /räkenskapsår/i }, means: 'refused', problem: 'erp_period_missing' },
    { match: { http: 400, text: /verifikationsserie/i }, means: 'refused', problem: 'erp_journal_unknown' },
    { match: { http: 400, text: /kostnadsställe|projekt/i }, means: 'refused', problem: 'erp_dimension_unknown' },
    {
      match: { http: 400, text: /konto.*(?:inte aktivt|finns inte)/i },
      means: 'refused',
      problem: 'erp_account_unknown',
    },
    { match: { http: 400, text: /balanser/i }, means: 'refused', problem: 'erp_unbalanced' },
    { match: { http: 401 }, means: 'auth' },
    { match: { http: 403 }, means: 'auth' },
    { match: { http: 413 }, means: 'refused', problem: 'erp_too_large' },
    { match: { http: 429 }, means: 'throttled' },
  ],
};
