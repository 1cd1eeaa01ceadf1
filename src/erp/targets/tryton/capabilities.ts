import type { Capabilities } from '../../capabilities.ts';
import { longestText } from '../api/keyed-text.ts';

/**
 * Tryton 8.0 with the modules account and analytic_account. All facts were measured on trytond 8.0.12 (see
 * docs/developers/erp-measurements.md). Error texts are in English, because each request sets the language.
 */
export const trytonCapabilities: Capabilities = {
  kind: 'api',
  key: { unique: 'none', duplicate_reply: 'doubled', lookup: 'exact', lookup_lag_seconds: 0 },
  request_id: null,
  write: {
    steps: 'draft_then_post',
    max_entries: 100,
    max_lines: 1_000,
    // trytond refuses larger requests (`max_size_authenticated`, 2 MB).
    max_bytes: 1_000_000,
    withdraw: 'delete',
  },
  // The server continues an aborted request: it created moves 6 s after the abort.
  doubt: { server_may_work_seconds: 60 },
  // Parallel requests in one company lock each other out.
  pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
  lines: { decimals: 2, party: 'per_line', max_dimensions: null },
  vat: { mode: 'explicit_rows', tolerance_minor: 0 },
  periods: { readable: true, on_locked: 'refused' },
  text: {
    encoding: 'utf-8',
    // Tryton has no limit.
    lengths: { description: longestText, reference: 100, line_description: longestText, party_name: 200 },
    forbidden: '',
  },
  read_back: { by: 'id', normalises: ['order'] },
  errors: [
    // Errors that concern every request.
    { match: { http: 401 }, means: 'auth' },
    { match: { http: 403 }, means: 'auth' },
    { match: { http: 404 }, means: 'auth' },
    { match: { http: 405 }, means: 'auth' },
    { match: { http: 413 }, means: 'refused', problem: 'erp_too_large' },
    { match: { http: 429 }, means: 'throttled' },
    // Another request holds a lock of the database; or the database does not exist, or is being restored.
    { match: { http: 503 }, means: 'locked' },
    { match: { code: 'LoginException' }, means: 'auth' },
    { match: { code: 'RateLimitException' }, means: 'throttled' },
    { match: { code: 'UserError', text: /^You are not allowed to access / }, means: 'auth' },

    // Errors that concern one entry.
    ...refusals([
      [/^You are not allowed to \w+ records of /, 'erp_right_missing'],
      [/^The value ".*" for field "Account" in record .* of "Account Move Line"/, 'erp_account_unknown'],
      [/^The value ".*" for field "Account" in "Account Move Line" does not exist/, 'erp_account_unknown'],
      [/^The value ".*" for field "Party" in "Account Move Line" does not exist/, 'erp_party_refused'],
      [/^The value ".*" for field "Tax" in "Account Tax Line" does not exist/, 'erp_tax_unknown'],
      [/^The value ".*" for field "Account" in "Analytic Account Line" does not exist/, 'erp_dimension_unknown'],
      [/^The value ".*" for field "Journal" in "Account Move" does not exist/, 'erp_journal_unknown'],
      [/^The value ".*" for field "Period" in "Account Move" does not exist/, 'erp_period_missing'],
      [/^To create a line on account .*, you must set a type or unclose it/, 'erp_account_unknown'],
      [/^A value is required for field "Account" in record .* of "Account Move Line"/, 'erp_account_unknown'],
      [/of "Account" that don't exist/, 'erp_account_unknown'],
      [/^The value ".*" for field "Tax" in record .* of "Account Tax Line"/, 'erp_tax_unknown'],
      [/of "Account Tax" that don't exist/, 'erp_tax_unknown'],
      [/^The value ".*" for field "Account" in record .* of "Analytic Account Line"/, 'erp_dimension_unknown'],
      [/of "Analytic Account" that don't exist/, 'erp_dimension_unknown'],
      [/of "Account Journal" that don't exist/, 'erp_journal_unknown'],
      [/^A value is required for field "Party" in record .* of "Account Move Line"/, 'erp_party_refused'],
      [/^To create a line on account .*, you must (?:set|remove) (?:a|the) party on line/, 'erp_party_refused'],
      [/of "Party" that don't exist/, 'erp_party_refused'],
      [/^To continue, you must create a (?:period|fiscal year) for the date/, 'erp_period_missing'],
      [/of "Account Period" that don't exist/, 'erp_period_missing'],
      [/^To continue, you must reopen the (?:period|fiscal year)/, 'period_closed_in_erp'],
      [/^The value ".*" for field "Period" in record .* of "Account Move"/, 'period_closed_in_erp'],
      [
        /^You cannot add\/modify\/delete (?:tax )?lines (?:in closed period|on closed journal-period)/,
        'period_closed_in_erp',
      ],
      [/^You cannot create a journal-period in closed period/, 'period_closed_in_erp'],
      [/^To post move ".*", you must balance all its lines/, 'erp_unbalanced'],
      [/^You cannot reconcile non-valid line/, 'erp_unbalanced'],
      [/^The number of digits in the value .* exceeds the limit/, 'erp_refused'],
      [/^You cannot set both debit and credit on the line/, 'erp_refused'],
      [/^The value ".*" for field "(?:Debit|Credit)" in record .* of "Account Move Line"/, 'erp_refused'],
      [/^To post move ".*", you must fill in its lines/, 'erp_refused'],
      [/^You cannot modify posted move/, 'erp_refused'],
      [/^You can not call "post" on/, 'erp_refused'],
      [/of "Account Move(?: Line)?" that don't exist/, 'erp_refused'],
      // Errors of matching lines.
      [/^You cannot reconcile (?:line|already reconciled line)/, 'erp_refused'],
      [/^To reconcile (?:line|lines)\b/, 'erp_refused'],
      [/^The reconciliation ".*" is (?:delegated|linked) to the/, 'erp_refused'],
    ]),
  ],
};

function refusals(patterns: [RegExp, string][]): Capabilities['errors'] {
  return patterns.map(([text, problem]) => ({ match: { text }, means: 'refused', problem }));
}
