// Capability records of real ERPs, from research, for the fake. A record here describes how an ERP is known or believed
// to behave. Records of supported ERPs are verified separately, in src/erp/targets.

import type { Capabilities, ErrorPattern, LockKind } from '../../../src/erp/capabilities.ts';

/** A capability record with further behaviour of the ERP that does not change delivery. */
export interface PlayedErp extends Capabilities {
  write: Capabilities['write'] & {
    /** The unit that the ERP creates or refuses as a whole. */
    atomic: 'entry' | 'batch' | 'journal';
    result_per_entry: boolean;
    drafts: 'visible_in_books' | 'block_closing' | 'harmless';
  };
  lines: Capabilities['lines'] & { matching: boolean };
  /** Whether posted entries have a number. */
  numbered: 'yes' | 'no';
  imbalance: 'refused' | 'extra_line' | 'within_tolerance';
  /** The ERP's dimensions, and its reaction to an unknown value. */
  dimensions: { theirs: string; unknown: 'refused' | 'created' | 'dropped' }[];
  periods: Capabilities['periods'] & { kinds: LockKind[] };
}

/** The kinds of failures of an entry or a request. Each ERP has a different text for them. */
export const faultKinds = [
  'account',
  'dimension',
  'party',
  'period',
  'unbalanced',
  'too_large',
  'duplicate',
  'repeated',
  'throttled',
  'busy',
  'auth',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** An error in an HTTP answer. */
export interface SaidError {
  http: number;
  code: string;
  text: string;
}

export interface FakeRecord {
  capabilities: PlayedErp;
  says: Record<FaultKind, SaidError>;
  /** The effect of posting a posted entry again. */
  postedAgain: 'ignored' | 'refused';
}

/** The fields of a capability record that differ from the common ones, by section. */
type Differences = {
  [Section in keyof PlayedErp]?: PlayedErp[Section] extends readonly unknown[] | string
    ? PlayedErp[Section]
    : Partial<PlayedErp[Section]>;
};

const commonSays: Record<FaultKind, SaidError> = {
  account: { http: 400, code: 'ACCOUNT', text: 'The account does not exist or is not active' },
  dimension: { http: 400, code: 'DIMENSION', text: 'The dimension item does not exist' },
  party: { http: 400, code: 'PARTY', text: 'The line needs a business partner' },
  period: { http: 400, code: 'PERIOD', text: 'The accounting period is closed' },
  unbalanced: { http: 400, code: 'BALANCE', text: 'Debit and credit do not balance' },
  too_large: { http: 413, code: 'SIZE', text: 'The request is too large' },
  duplicate: { http: 409, code: 'DUPLICATE', text: 'A record with this reference exists already' },
  repeated: { http: 409, code: 'REQUEST_NOT_UNIQUE', text: 'A request with this id was sent before' },
  throttled: { http: 429, code: '', text: 'Too many requests' },
  busy: { http: 503, code: 'LOCKED', text: 'The company is locked by another process' },
  auth: { http: 401, code: '', text: 'The session has expired' },
};

const meanings: Record<FaultKind, Omit<ErrorPattern, 'match'>> = {
  account: { means: 'refused', problem: 'erp_account_unknown' },
  dimension: { means: 'refused', problem: 'erp_dimension_unknown' },
  party: { means: 'refused', problem: 'erp_party_refused' },
  period: { means: 'refused', problem: 'period_closed_in_erp' },
  unbalanced: { means: 'refused', problem: 'erp_unbalanced' },
  too_large: { means: 'refused', problem: 'erp_too_large' },
  duplicate: { means: 'duplicate' },
  repeated: { means: 'repeated' },
  throttled: { means: 'throttled' },
  busy: { means: 'locked' },
  auth: { means: 'auth' },
};

/** The tax codes of a company whose ERP computes VAT: the rate in per cent, and the account. */
export const taxes: Record<string, { percent: string; account: string }> = {
  S25: { percent: '25.5', account: '2931' },
};

/** The common properties of most ERPs: entries are created one by one, in one step, without a key. */
const common: PlayedErp = {
  kind: 'api',
  key: {
    unique: 'none',
    duplicate_reply: 'doubled',
    lookup: 'exact',
    lookup_lag_seconds: 0,
  },
  request_id: null,
  write: {
    steps: 'one',
    atomic: 'entry',
    result_per_entry: true,
    max_entries: 1,
    max_lines: 500,
    max_bytes: 1_000_000,
    drafts: 'harmless',
    withdraw: 'none',
  },
  doubt: { server_may_work_seconds: 120 },
  pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
  lines: {
    decimals: 2,
    party: 'none',
    max_dimensions: null,
    matching: false,
  },
  numbered: 'yes',
  vat: { mode: 'explicit_rows', tolerance_minor: 0 },
  imbalance: 'refused',
  dimensions: [
    { theirs: 'department', unknown: 'refused' },
    { theirs: 'project', unknown: 'refused' },
  ],
  periods: { readable: true, kinds: ['general'], on_locked: 'refused' },
  text: { encoding: 'utf-8', lengths: { description: 200, reference: 60 }, forbidden: '' },
  read_back: { by: 'id', normalises: [] },
  errors: [],
};

/** The record with the common fields, and with patterns for its error texts. */
function record(
  differences: Differences,
  says: Partial<Record<FaultKind, SaidError>> = {},
  postedAgain: FakeRecord['postedAgain'] = 'ignored',
): FakeRecord {
  const said = { ...commonSays, ...says };
  const merged = Object.fromEntries(
    Object.entries(common).map(([section, fields]) => {
      const given = differences[section as keyof PlayedErp];
      const isWhole = typeof fields !== 'object' || fields === null || Array.isArray(fields);
      return [section, isWhole ? (given ?? fields) : { ...fields, ...(given as object | undefined) }];
    }),
  ) as unknown as PlayedErp;
  return { capabilities: { ...merged, errors: patternsOf(said) }, says: said, postedAgain };
}

function patternsOf(says: Record<FaultKind, SaidError>): ErrorPattern[] {
  return faultKinds.map((kind) => {
    const { http, code, text } = says[kind];
    const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const match = code === '' ? { http, text: new RegExp(escaped) } : { http, code };
    return { match, ...meanings[kind] };
  });
}

const idempotency: NonNullable<Capabilities['request_id']> = {
  ...{ header: 'Idempotency-Key', max: 50 },
  ...{ on_repeat: 'replayed', remembered_seconds: 'unknown', survives: 'all' },
};

const journalDimensions: PlayedErp['dimensions'] = [
  { theirs: 'department', unknown: 'dropped' },
  { theirs: 'project', unknown: 'dropped' },
];

/** Records by name. Rounds and the contract suite use those of kind `api`. */
export const records: Record<string, FakeRecord> = {
  tryton: record(
    {
      write: {
        steps: 'draft_then_post',
        atomic: 'batch',
        result_per_entry: false,
        max_entries: 100,
        drafts: 'block_closing',
        withdraw: 'delete',
      },
      doubt: { server_may_work_seconds: 60 },
      lines: { party: 'per_line', matching: true },
    },
    // Parallel requests can lock each other; then a proxy answers with its page.
    { busy: { http: 503, code: '', text: '<html><body>Service Unavailable</body></html>' } },
  ),
  odoo: record({
    key: { unique: 'enforced', duplicate_reply: 'doubled', lookup: 'exact' },
    write: {
      steps: 'draft_then_post',
      atomic: 'batch',
      result_per_entry: false,
      max_entries: 100,
      drafts: 'harmless',
      withdraw: 'delete',
    },
    lines: { party: 'per_line', matching: true },
    vat: { mode: 'tagged_rows' },
    imbalance: 'extra_line',
    periods: { kinds: ['general', 'vat'], on_locked: 'redated' },
  }),
  xero: record(
    {
      key: { lookup: 'scan_since' },
      request_id: { ...idempotency, max: 128 },
      write: { atomic: 'entry', result_per_entry: true, max_entries: 50, withdraw: 'delete' },
      doubt: { server_may_work_seconds: 180 },
      pace: {
        in_flight_per_company: 5,
        limits: [
          { per_seconds: 60, n: 60, weight: 1 },
          { per_seconds: 86_400, n: 5_000, weight: 1 },
        ],
      },
      lines: { max_dimensions: 2 },
      vat: { mode: 'from_net', rounding: 'half_up', shows: 'posted' },
      numbered: 'no',
      dimensions: journalDimensions,
      periods: { kinds: ['general', 'year'] },
      read_back: { by: 'key', normalises: ['date', 'merged_lines', 'order'] },
    },
    {
      period: { http: 400, code: 'ValidationException', text: 'The date cannot be before the period lock date' },
      account: { http: 400, code: 'AccountCode', text: "Account code '3999' is not a valid code for this document" },
    },
  ),
  quickbooks: record(
    {
      key: {
        lookup: 'exact',
        lookup_lag_seconds: 5,
      },
      request_id: { ...idempotency, header: 'requestid' },
      write: { max_entries: 30 },
      pace: {
        in_flight_per_company: 10,
        limits: [
          { per_seconds: 60, n: 500, weight: 1 },
          { per_seconds: 1, n: 10, weight: 1 },
        ],
      },
      lines: { party: 'per_line' },
      periods: { readable: false, kinds: [] },
    },
    { period: { http: 400, code: '6210', text: 'Account Period Closed' } },
  ),
  business_central: record(
    {
      key: { lookup: 'exact', lookup_lag_seconds: 10 },
      write: {
        steps: 'journal_then_post',
        atomic: 'journal',
        result_per_entry: false,
        max_entries: 50,
        drafts: 'harmless',
        withdraw: 'delete',
      },
      doubt: { server_may_work_seconds: 600 },
      pace: { in_flight_per_company: 5, limits: [{ per_seconds: 300, n: 6_000, weight: 1 }] },
      read_back: { by: 'key', normalises: ['sign', 'order'] },
      periods: { readable: false, kinds: [] },
    },
    { period: { http: 400, code: '', text: 'is not within your range of allowed posting dates' } },
    'refused',
  ),
  fortnox: record({
    key: { lookup: 'scan_by_date' },
    pace: { in_flight_per_company: 1, limits: [{ per_seconds: 5, n: 25, weight: 1 }] },
  }),
  procountor: record({
    key: { lookup: 'scan_by_date' },
    write: { steps: 'draft_then_post', withdraw: 'void' },
    doubt: { server_may_work_seconds: 180 },
    pace: { in_flight_per_company: 1, limits: [{ per_seconds: 1, n: 20, weight: 1 }] },
    lines: { party: 'per_entry' },
    vat: { mode: 'from_net', rounding: 'half_up', shows: 'posted' },
    text: { encoding: 'windows-1252', lengths: { description: 80, reference: 255 }, forbidden: '' },
    read_back: { by: 'id', normalises: ['merged_lines'] },
  }),
  netvisor: record({
    key: { lookup: 'scan_since', lookup_lag_seconds: 2 },
    request_id: { ...idempotency, header: 'X-Netvisor-Authentication-TransactionId', on_repeat: 'refused' },
    write: { withdraw: 'void' },
    doubt: { server_may_work_seconds: 420 },
    vat: { mode: 'tagged_bases' },
    text: { encoding: 'iso-8859-15', lengths: { description: 255 }, forbidden: '' },
    imbalance: 'within_tolerance',
    dimensions: [
      { theirs: 'department', unknown: 'created' },
      { theirs: 'project', unknown: 'created' },
    ],
    periods: { kinds: ['general', 'vat', 'purchase'] },
    read_back: { by: 'id', normalises: ['date', 'order'] },
  }),
  e_conomic: record({
    key: { lookup: 'scan_since' },
    request_id: { ...idempotency, remembered_seconds: 3_600 },
    write: {
      steps: 'draft_then_post',
      atomic: 'batch',
      max_entries: 50,
      drafts: 'visible_in_books',
      withdraw: 'delete',
    },
    pace: { in_flight_per_company: 2, limits: [{ per_seconds: 86_400, n: 50_000, weight: 1 }] },
  }),
  tripletex: record({
    key: { lookup: 'exact' },
    vat: { mode: 'from_gross', rounding: 'half_up', shows: 'posted' },
    pace: { in_flight_per_company: 2, limits: [{ per_seconds: 60, n: 100, weight: 1 }] },
    read_back: { by: 'id', normalises: ['merged_lines', 'order'] },
  }),
  poweroffice: record({
    key: { unique: 'enforced', duplicate_reply: 'refused' },
    write: { max_entries: 20, result_per_entry: true },
  }),
  spiris: record(
    {
      key: { lookup: 'scan_by_date' },
      pace: { in_flight_per_company: 1, limits: [{ per_seconds: 60, n: 600, weight: 1 }] },
    },
    { period: { http: 400, code: '4026', text: 'The voucher date is in a locked period' } },
  ),
  exact: record({
    key: { lookup: 'scan_since', lookup_lag_seconds: 3 },
    pace: {
      in_flight_per_company: 1,
      limits: [
        { per_seconds: 60, n: 60, weight: 1 },
        { per_seconds: 86_400, n: 5_000, weight: 1 },
      ],
      errors_allowed: { n: 10, per_seconds: 3_600 },
    },
    dimensions: journalDimensions,
  }),
  datev: record({
    kind: 'file',
    key: { lookup: 'none' },
    write: { atomic: 'batch', result_per_entry: false, max_entries: 100_000 },
    periods: { readable: false, kinds: [] },
    read_back: { by: 'none', normalises: [] },
    text: { encoding: 'windows-1252', lengths: { description: 60, reference: 36 }, forbidden: '"' },
  }),
  sie4: record({
    kind: 'file',
    key: { lookup: 'none' },
    write: { atomic: 'batch', result_per_entry: false, max_entries: 100_000 },
    periods: { readable: false, kinds: [] },
    read_back: { by: 'none', normalises: [] },
    text: { encoding: 'cp437', lengths: {}, forbidden: '' },
  }),

  // No known ERP behaves like these, but an ERP could.
  overwriting: record({
    key: { unique: 'enforced', duplicate_reply: 'overwrites' },
    write: { max_entries: 10, atomic: 'batch', result_per_entry: false },
  }),
  stubborn_drafts: record(
    {
      key: { lookup: 'exact' },
      write: {
        steps: 'draft_then_post',
        atomic: 'entry',
        max_entries: 10,
        drafts: 'visible_in_books',
        withdraw: 'none',
      },
      read_back: { by: 'key', normalises: ['order'] },
    },
    {},
    'refused',
  ),
  asynchronous: record({
    key: { lookup: 'exact', lookup_lag_seconds: 30 },
    write: { max_entries: 50, atomic: 'entry' },
    doubt: { server_may_work_seconds: 300 },
  }),
  keys_by_period: record({
    key: { unique: 'per_period', duplicate_reply: 'refused', lookup: 'scan_by_date' },
    write: { max_entries: 5, atomic: 'entry', result_per_entry: false },
    periods: { on_locked: 'warned' },
  }),
};

/** The names of the records that the rounds and the contract suite use. */
export const playedRecords = Object.keys(records).filter((name) => records[name]?.capabilities.kind === 'api');
