/**
 * What an ERP can do, as data: every target declares this record, and how entries are sent, looked up and retried is derived from
 * it (strategy.ts), never written per target.
 */
export interface Capabilities {
  kind: 'api' | 'file';
  key: {
    unique: 'enforced' | 'per_period' | 'none';
    /** What the ERP answers to a key that it has already. */
    duplicate_reply: 'refused' | 'replayed' | 'overwrites' | 'doubled';
    lookup: 'exact' | 'scan_by_date' | 'scan_since' | 'none';
    /** What was created may be missing from look-ups for so long. */
    lookup_lag_seconds: number;
  };
  write: {
    steps: 'one' | 'draft_then_post' | 'journal_then_post';
    max_entries: number;
    max_lines: number;
    max_bytes: number;
    drafts_deletable: boolean;
  };
  /** No look-up is final before the server can be done with a request that ended without an answer. */
  doubt: { server_may_work_seconds: number };
  pace: {
    in_flight_per_company: number;
    limits: { per_seconds: number; n: number; weight: number }[];
    errors_allowed: { n: number; per_seconds: number } | null;
  };
  lines: {
    decimals: number;
    party: 'none' | 'per_entry' | 'per_line';
  };
  vat: {
    mode: 'explicit_rows' | 'tagged_rows' | 'from_net' | 'from_gross';
    tolerance_minor: number;
  };
  periods: {
    readable: boolean;
    on_locked: 'refused' | 'redated' | 'warned';
  };
  /**
   * `lengths`: of `description`, `reference`, `line_description` and `party_name`, in UTF-16 units; a field that is left out has no
   * limit. `forbidden`: inside of a character class of a regular expression; empty where nothing is.
   */
  text: { encoding: string; lengths: Record<string, number>; forbidden: string };
  read_back: {
    by: 'id' | 'key' | 'period' | 'none';
    normalises: ('date' | 'sign' | 'merged_lines' | 'order')[];
  };
  /** The first pattern that matches an error's text or status decides what it means; without one it is doubt. */
  errors: ErrorPattern[];
}

/** What a period is closed for. */
export const lockKinds = ['general', 'vat', 'purchase', 'year'] as const;
export type LockKind = (typeof lockKinds)[number];

export interface ErrorPattern {
  match: { http?: number; code?: string; text?: RegExp };
  means: ErrorMeaning;
  /** The problem code that documents get (src/texts/erp-problems.ts); only where it means `refused`. */
  problem?: string;
}

/**
 * `refused`: the ERP says no to what was sent, and nothing was created. `locked`: something of its own is in the way now. `auth`:
 * the credentials or rights. `throttled`: too many requests. `duplicate`: it has that key already. `unsent`: the request never
 * reached it. `doubt`: nobody knows whether it took effect.
 */
export type ErrorMeaning = 'refused' | 'locked' | 'auth' | 'throttled' | 'duplicate' | 'unsent' | 'doubt';
