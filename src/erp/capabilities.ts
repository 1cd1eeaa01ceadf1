import type { CodePage } from './code-pages.ts';

/**
 * What an ERP can do, as data. Every target declares this record. strategy.ts derives from it how entries are sent,
 * looked up and retried, so no target has its own code for that.
 */
export interface Capabilities {
  kind: 'api' | 'file';
  key: {
    unique: 'enforced' | 'per_period' | 'none';
    /** What the ERP does if it already has an entry with the key. */
    duplicate_reply: 'refused' | 'replayed' | 'overwrites' | 'doubled';
    lookup: 'exact' | 'scan_by_date' | 'scan_since' | 'none';
    /** A new entry may be missing from look-ups for this time. */
    lookup_lag_seconds: number;
    /** Maximum length of the text with the unit's id and the key, in UTF-16 units. Absent if any text fits. */
    longest_text?: number;
  };
  /**
   * An id of the request, in a header; it is not kept in the ERP's record. `survives`: the requests whose ids the ERP
   * remembers. Null if there is no such id.
   */
  request_id: {
    header: string;
    /** Maximum length. */
    max: number;
    /** What the ERP does with a request whose id it has received before. */
    on_repeat: 'refused' | 'replayed' | 'ignored';
    remembered_seconds: number | 'unknown';
    survives: 'all' | 'successes';
  } | null;
  write: {
    steps: 'one' | 'draft_then_post' | 'journal_then_post';
    max_entries: number;
    max_lines: number;
    max_bytes: number;
    /**
     * What happens to a draft that is withdrawn. A void one stays in the ERP with its key. `none`: drafts cannot be
     * withdrawn.
     */
    withdraw: 'delete' | 'void' | 'none';
  };
  /**
   * After a request without an answer, the server may still be working for this time. A look-up is only final
   * afterwards.
   */
  doubt: { server_may_work_seconds: number };
  pace: {
    in_flight_per_company: number;
    /** `left_header`: the header of an answer that states how much of the limit is left. Absent if there is none. */
    limits: { per_seconds: number; n: number; weight: number; left_header?: string }[];
    errors_allowed: { n: number; per_seconds: number } | null;
  };
  lines: {
    decimals: number;
    /** With `none`, the text of a line names its party. */
    party: 'none' | 'per_entry' | 'per_line';
    /** Maximum number of dimensions on a line; null if there is none. */
    max_dimensions: number | null;
  };
  /**
   * `explicit_rows`: each line of a sale or of VAT has a tax code. `tagged_rows`: the same, but a base counts by code
   * and not by account, since the ERP may report it on a VAT line. `tagged_bases`: the lines of sales have tax codes,
   * and the VAT lines have none, so VAT without a sale is in no VAT return. `from_net`, `from_gross`: entries have no
   * VAT lines, and the ERP computes the VAT of each line from its net or gross amount. `rounding`: of that VAT,
   * `half_up` being half away from zero. `shows`: whether a read-back has the VAT lines that the ERP posted, or only the
   * lines as they were sent. `from_account`: lines have no tax codes, since the ERP's chart has one for each account.
   */
  vat: { tolerance_minor: number } & (
    | { mode: 'explicit_rows' | 'tagged_rows' | 'tagged_bases' | 'from_account' }
    | { mode: 'from_net' | 'from_gross'; rounding: 'half_up' | 'half_even'; shows: 'posted' | 'sent' }
  );
  periods: {
    readable: boolean;
    on_locked: 'refused' | 'redated' | 'warned';
  };
  /**
   * `encoding`: a code page lacks characters, so other letters lose their accents. `lengths`: maximum length of `description`, `reference`, `line_description` and `party_name`, in UTF-16 units; an
   * absent field has no limit. `forbidden`: the inside of a character class of a regular expression; empty if every
   * character is allowed.
   */
  text: { encoding: 'utf-8' | CodePage; lengths: Record<string, number>; forbidden: string };
  /** `merged_lines`: of lines with equal account, party and dimensions, the sum counts. Needed if the ERP computes VAT. */
  read_back: {
    by: 'id' | 'key' | 'period' | 'none';
    normalises: ('date' | 'sign' | 'merged_lines' | 'order')[];
  };
  /**
   * The first pattern that matches an error's text or status gives its meaning. An error without a match means doubt.
   */
  errors: ErrorPattern[];
}

/** Kinds of postings that a lock can exclude. */
export const lockKinds = ['general', 'vat', 'purchase', 'year'] as const;
export type LockKind = (typeof lockKinds)[number];

export interface ErrorPattern {
  match: { http?: number; code?: string; text?: RegExp };
  means: ErrorMeaning;
  /** The problem code of the refused entries (src/texts/erp-problems.ts). Only with `means: 'refused'`. */
  problem?: string;
}

/**
 * `refused`: the ERP refused the request, and created nothing. `locked`: the ERP is busy with something else. `auth`:
 * wrong credentials or missing rights. `throttled`: too many requests. `duplicate`: the ERP already has the key.
 * `repeated`: the ERP has received the id of the request before, and did nothing this time.
 * `unsent`: the request did not reach the ERP. `doubt`: it is uncertain whether the request took effect.
 */
export type ErrorMeaning = 'refused' | 'locked' | 'auth' | 'throttled' | 'duplicate' | 'repeated' | 'unsent' | 'doubt';
