import type { Capabilities } from '../../capabilities.ts';
import { longestText } from '../api/keyed-text.ts';

/**
 * Odoo 17 to 19 with the module account. All facts were measured on servers of these versions (see docs/developers/erp-measurements.md).
 * Error texts are in English, because each request sets the language.
 */
export const odooCapabilities: Capabilities = {
  kind: 'api',
  key: {
    // The external id `vetledger.<key>` is unique. The key is also in the reference, for users who may not search
    // external ids.
    unique: 'enforced',
    // An import with a known external id overwrites the move's lines. The target therefore looks the key up before it
    // sends an entry.
    duplicate_reply: 'overwrites',
    lookup: 'exact',
    lookup_lag_seconds: 0,
  },
  request_id: null,
  write: {
    steps: 'draft_then_post',
    max_entries: 100,
    max_lines: 1_000,
    max_bytes: 1_000_000,
    withdraw: 'delete',
  },
  // A worker may run for `limit_time_real`, 120 s by default. Proxies do not repeat requests.
  doubt: { server_may_work_seconds: 180 },
  // Parallel requests that number entries of one journal block each other, and fail.
  pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
  // Odoo accepts receivable lines without a partner. vetledger sends one anyway, for the open items.
  lines: { decimals: 2, party: 'per_line', max_dimensions: null },
  vat: { mode: 'tagged_rows', tolerance_minor: 0 },
  periods: { readable: true, on_locked: 'redated' },
  text: {
    encoding: 'utf-8',
    // Odoo has no limit.
    lengths: { description: longestText, reference: 100, line_description: longestText, party_name: 200 },
    forbidden: '',
  },
  read_back: { by: 'id', normalises: ['order'] },
  errors: [
    // Errors that concern every request.
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
    // Odoo rolled the transaction back, because another one locks the records or numbers entries of the same journal.
    { match: { code: 'odoo.exceptions.LockError' }, means: 'locked' },
    { match: { code: 'psycopg2.errors.SerializationFailure' }, means: 'locked' },
    { match: { code: 'psycopg2.errors.LockNotAvailable' }, means: 'locked' },
    { match: { code: 'psycopg2.errors.DeadlockDetected' }, means: 'locked' },
    // Odoo's import reports the errors above with their text, but without the exception's name.
    {
      match: {
        text: /^(?:could not serialize access|could not obtain lock|deadlock detected|canceling statement due to lock timeout)\b/,
      },
      means: 'locked',
    },

    // The answer of `check_object_reference` for an unknown external id.
    { match: { text: /^External ID not found in the system/ }, means: 'refused', problem: 'erp_refused' },

    // Errors that concern one entry. Odoo rolls a request back before it answers with an error.
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
