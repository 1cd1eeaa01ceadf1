import type { Capabilities } from '../../capabilities.ts';
import { longestText } from '../api/keyed-text.ts';

/**
 * Odoo 17 to 19 with the module account. Every fact was measured against servers of these versions (docs/accountants/odoo.md tells how); the
 * error texts are those in English, which each request asks for.
 */
export const odooCapabilities: Capabilities = {
  kind: 'api',
  key: {
    // By the external id, `vetledger.<key>`. The key is in the reference, too, for users who may not look up external ids.
    unique: 'enforced',
    // Lines that carry external ids of their own are written to again, and not added; the target looks first all the same.
    duplicate_reply: 'overwrites',
    lookup: 'exact',
    lookup_lag_seconds: 0,
  },
  write: {
    steps: 'draft_then_post',
    max_entries: 100,
    max_lines: 1_000,
    max_bytes: 1_000_000,
    drafts_deletable: true,
  },
  // A worker may take as long as `limit_time_real` of the server lets it: 120 s by default; proxies retry nothing.
  doubt: { server_may_work_seconds: 180 },
  // Parallel requests that number entries of one journal wait for each other, and fail.
  pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
  // A receivable line without partner is taken; vetledger names one all the same, for the open items.
  lines: { decimals: 2, party: 'per_line' },
  vat: { mode: 'tagged_rows', tolerance_minor: 0 },
  periods: { readable: true, on_locked: 'redated' },
  text: {
    encoding: 'utf-8',
    // Odoo itself has no limit.
    lengths: { description: longestText, reference: 100, line_description: longestText, party_name: 200 },
    forbidden: '',
  },
  read_back: { by: 'id', normalises: ['order'] },
  errors: [
    // What is in the way of everything.
    { match: { http: 401 }, means: 'auth' },
    { match: { http: 403 }, means: 'auth' },
    { match: { http: 405 }, means: 'auth' },
    { match: { http: 413 }, means: 'refused', problem: 'erp_too_large' },
    { match: { http: 415 }, means: 'auth' },
    { match: { http: 429 }, means: 'throttled' },
    { match: { http: 503 }, means: 'locked' },
    { match: { code: 'odoo.exceptions.AccessDenied' }, means: 'auth' },
    { match: { code: 'odoo.exceptions.AccessError' }, means: 'auth' },
    { match: { text: /^You are not allowed to (?:access|create|modify|delete) / }, means: 'auth' },
    { match: { code: 'psycopg2.OperationalError', text: /database ".*" does not exist/ }, means: 'auth' },
    { match: { code: 'werkzeug.exceptions.NotFound' }, means: 'auth' },
    { match: { http: 404, code: 'odoo.exceptions.MissingError' }, means: 'refused', problem: 'erp_refused' },
    { match: { http: 404 }, means: 'auth' },
    // The transaction was rolled back: another one has the records, or numbers entries of the journal.
    { match: { code: 'odoo.exceptions.LockError' }, means: 'locked' },
    { match: { code: 'psycopg2.errors.SerializationFailure' }, means: 'locked' },
    { match: { code: 'psycopg2.errors.LockNotAvailable' }, means: 'locked' },
    { match: { code: 'psycopg2.errors.DeadlockDetected' }, means: 'locked' },
    // The same without its name, as the import passes it on.
    {
      match: {
        text: /^(?:could not serialize access|could not obtain lock|deadlock detected|canceling statement due to lock timeout)\b/,
      },
      means: 'locked',
    },

    // The answer to a question for an external id that nothing has.
    { match: { text: /^External ID not found in the system/ }, means: 'refused', problem: 'erp_refused' },

    // What is in the way of one entry. Odoo takes everything back that a request did before it ends with an error.
    ...refusals([
      [/\bis not balanced\b/, 'erp_unbalanced'],
      [/^No matching record found for .* in field '(?:Journal Items\/)?Account'/, 'erp_account_unknown'],
      [/^No matching record found for .* in field '(?:Journal Items\/)?Journal'/, 'erp_journal_unknown'],
      [/^No matching record found for .* in field '(?:Journal Items\/)?Partner'/, 'erp_party_refused'],
      [/^No matching record found for .* in field '(?:Journal Items\/)?(?:Tags|Originator Tax)/, 'erp_tax_unknown'],
      [/account_move_line_account_id_fkey/, 'erp_account_unknown'],
      [/\baccount\b.*\b(?:is deprecated|is archived|are deprecated|are archived)\b/i, 'erp_account_unknown'],
      [/^You cannot use (?:this|the) account\b/, 'erp_account_unknown'],
      [/\b(?:prior to and inclusive of|lock date)\b/i, 'period_closed_in_erp'],
      [/already issued tax statement/, 'period_closed_in_erp'],
      [/hard[- ]lock/i, 'period_closed_in_erp'],
      [/\banalytic\b.*\b(?:mandatory|required|100%)/i, 'erp_dimension_unknown'],
    ]),
    { match: { code: 'odoo.exceptions.UserError' }, means: 'refused', problem: 'erp_refused' },
    { match: { code: 'odoo.exceptions.ValidationError' }, means: 'refused', problem: 'erp_refused' },
    { match: { code: 'odoo.exceptions.RedirectWarning' }, means: 'refused', problem: 'erp_refused' },
    { match: { code: 'odoo.exceptions.MissingError' }, means: 'refused', problem: 'erp_refused' },
  ],
};

function refusals(patterns: [RegExp, string][]): Capabilities['errors'] {
  return patterns.map(([text, problem]) => ({ match: { text }, means: 'refused', problem }));
}
