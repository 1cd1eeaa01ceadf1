import type { Problem } from '../domain/problems.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import type { Capabilities, ErrorMeaning, LockKind } from './capabilities.ts';
import type { ErpEntry, FoundEntry } from './erp-entry.ts';

/**
 * The interface of a target. The code in src/erp decides on order, retries, look-ups and comparison in the same way for
 * all targets. For every fault of the ERP or of the connection, a method throws an ErpError. A target does not repeat
 * requests, except after a session has ended and before anything was written.
 */
export interface ErpTarget {
  readonly capabilities: Capabilities;
  /** The company as the configuration names it. */
  readonly company: CompanyRef;
  /**
   * The company as the ERP identifies it. It is the same for every name in a configuration. Only the first call queries
   * the ERP. Absent if a configuration cannot name one company in two ways.
   */
  identify?(request: RequestOptions): Promise<IdentifiedCompany>;
  /**
   * Finds the entries, drafts included, that carry one of these keys. There are several per key if the ERP has several.
   * `isComplete` is false if the answer may lack some.
   */
  find(keys: readonly KeyToFind[], request: RequestOptions): Promise<{ found: FoundEntry[]; isComplete: boolean }>;
  /**
   * A page of the entries, drafts included, whose record has a key of our form and names a unit of the installation.
   * Keys of other databases are included, so a company that another database delivers to is noticed. Only used if
   * `key.lookup` is not `none`.
   */
  keyed(which: KeyedQuery, request: RequestOptions): Promise<KeyedPage>;
  /**
   * Creates entries, as drafts if `steps` is not `one`. Returns the ERP's ids by key, as far as the ERP answers them.
   */
  create(entries: readonly ErpEntry[], request: WriteOptions): Promise<Map<string, string>>;
  /** Posts drafts, given by the ERP's ids. Only used if `steps` is not `one`. */
  post(ids: readonly string[], request: WriteOptions): Promise<void>;
  /** Deletes or voids drafts, given by the ERP's ids. Only used if `write.withdraw` is not `none`. */
  withdrawDrafts(ids: readonly string[], request: WriteOptions): Promise<void>;
  /**
   * Reads entries by the ERP's ids; missing ones are left out. With `only`, the lines of these accounts are enough,
   * without tax codes and dimensions. A target may return more.
   */
  read(ids: readonly string[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]>;
  /** The ERP's periods, and the days that are closed. */
  periods(request: RequestOptions): Promise<ErpPeriods>;
  /**
   * Matches posted lines, or undoes a match. A group contains the ids of lines of one account and party that sum to
   * zero. If a request with several groups fails, the ERP may have processed all of them, none, or only the first; the
   * caller looks it up. Absent if the ERP cannot match lines.
   */
  matching?: {
    match(groups: readonly (readonly string[])[], request: WriteOptions): Promise<void>;
    unmatch(groups: readonly (readonly string[])[], request: WriteOptions): Promise<void>;
    /** Returns the accounts whose lines the ERP does not match. Absent if it matches lines of every account. */
    unmatchable?(accounts: ReadonlySet<string>, request: RequestOptions): Promise<ReadonlySet<string>>;
  };
  /**
   * The description of an entry as the target writes and reads it, without the key. Absent if the target writes none.
   */
  describe?(entry: ErpEntry): string;
  /** Reads the ERP's books for the equation E7. Absent if they cannot be read. */
  books?: ErpBooks;
  /** Runs the trials of `vetledger erp check`. A trial deletes the drafts that it makes. */
  check(plan: CheckPlan, request: RequestOptions): AsyncIterable<CheckResult>;
  /** The ERP's names of these accounts, without accounts that it does not have. Absent if it names none. */
  accountNames?(accounts: readonly string[], request: RequestOptions): Promise<Map<string, string>>;
  /**
   * What the last answers stated is left of the limits, once for each answer. Absent if the ERP does not state it.
   */
  limitsLeft?(): LimitLeft[];
  /** Secrets of the API user that expire, with their time. Absent if no secret of the ERP expires. */
  expiries?(request: RequestOptions): Promise<Expiry[]>;
  close(): Promise<void>;
}

/** The end of a credential. */
export interface Expiry {
  name: string;
  at: Date;
  /** A login by a person ends then unless it is used before. Any other secret ends in any case. */
  isLogin?: boolean;
}

/** Limits a read to the lines of some accounts. Such a read needs only amounts, parties and matches. */
export interface LinesOnly {
  accounts: readonly string[];
}

export interface CompanyRef {
  kind: string;
  url: string;
  id: string;
}

/** A company as the ERP identifies it. */
export interface IdentifiedCompany extends CompanyRef {
  /** ISO 4217 code of the currency of its books; absent if the ERP does not answer it. */
  currency?: string;
  /** Whether the ERP marks the company as one for trials; absent if the ERP has no such mark. */
  isSandbox?: boolean;
}

/** The number of requests that an ERP still allows under a limit in `capabilities.pace`. */
export interface LimitLeft {
  perSeconds: number;
  left: number;
}

/** A key, with what limits a search for its entry. */
export interface KeyToFind {
  key: string;
  /** The days on which the ERP may hold the entry: consecutive, in order. */
  dates: readonly CalendarDate[];
  /** The first attempt to send the entry, by our clock. Null if it is unknown, for instance after a restore. */
  since: Date | null;
}

/** Selects entries with a key of our form. */
export interface KeyedQuery {
  installation: InstallationId;
  /** The query returns only entries written since this time, by the ERP's clock. Null for all entries. */
  changedSince: Date | null;
  /** `next` of the page before; null for the first page. */
  after: string | null;
}

/** An entry with a key of our form, without its lines. */
export interface KeyedEntry {
  /** The ERP's id. */
  id: string;
  key: string;
  /** The unit that the entry's text names. */
  unitId: string;
  number: string | null;
  state: FoundEntry['state'];
  date: CalendarDate;
}

export interface KeyedPage {
  entries: KeyedEntry[];
  /** The value of `after` for the next page; null on the last page. */
  next: string | null;
  /** False if entries of this page may be missing. */
  isComplete: boolean;
}

export interface RequestOptions {
  signal: AbortSignal;
  priority: number;
  /** A target calls this for each request to the ERP. Limits count these calls. */
  sent?(): void;
}

export interface WriteOptions extends RequestOptions {
  /** Identifies a request body; a retry of the same body keeps it. */
  attemptId: string;
}

export interface ErpPeriods {
  /** Null if the ERP has no periods: every day is then open unless a lock covers it. */
  periods: { from: CalendarDate; through: CalendarDate; isOpen: boolean; kind: LockKind }[] | null;
  /** All days up to and including `date` are closed. */
  lockedThrough: { kind: LockKind; date: CalendarDate }[];
}

export interface ErpBooks {
  /** Balances per account of the posted entries in the date range, debit positive, and the number of these entries. */
  balances(
    range: { from: CalendarDate; through: CalendarDate },
    request: RequestOptions,
  ): Promise<{ entries: number; balances: Map<string, string> }>;
  /**
   * Pages of the posted and void entries in the date range that have a line on one of the accounts, or carry a key of
   * ours. With `changedSince`, only those written since then by the ERP's clock. A write to a line, or to a record that
   * belongs to a line, counts too.
   */
  entries(
    which: { from: CalendarDate; through: CalendarDate; changedSince: Date | null; accounts: readonly string[] },
    request: RequestOptions,
  ): AsyncIterable<FoundEntry[]>;
  /**
   * Pages of posted entries without a key of ours that may be copies of our entries: those that name an origin, and
   * those in these journals. Absent if copies keep our key.
   */
  copies?(
    which: { from: CalendarDate; through: CalendarDate; changedSince: Date | null; journals: readonly string[] },
    request: RequestOptions,
  ): AsyncIterable<FoundEntry[]>;
}

/** The ERP's records that the mapping and the books use, for `vetledger erp check`. */
export interface CheckPlan {
  /**
   * Whether the check may create drafts: a balanced one, an unbalanced one, and one in a closed period. Otherwise it
   * only reads.
   */
  writes: boolean;
  /** The clinic's currency, which must be the currency of the company's books. */
  currency: string;
  /** Whether deliveries create missing clients in the ERP. */
  makesParties: boolean;
  /**
   * `isControl`: lines of the account name a party. Lines of an account with the role `receivable` are matched. `taxes`:
   * the tax codes of its lines, as far as they are known.
   */
  accounts: {
    account: string;
    roles: string[];
    isControl: boolean;
    taxes?: { code: string; part: 'base' | 'tax' }[];
  }[];
  /** Codes of parties that must exist. Clients are not among them, because deliveries create them. */
  parties: string[];
  taxes: string[];
  dimensions: { theirs: string; values: string[] }[];
  journals: string[];
  /** Dates of the entries that will be delivered. */
  dates: CalendarDate[];
}

export interface CheckResult {
  /** The name of the test, such as `right to post` or `account 1700`. */
  name: string;
  ok: boolean;
  /** The fault that the test found. Usually empty if `ok` is true. */
  message: string;
  todo: string;
}

/** The ERP refused a request, or did not answer it. */
export class ErpError extends Error {
  override readonly name = 'ErpError';
  readonly means: ErrorMeaning;
  /**
   * The problem code if `means` is `refused`. If `means` is `doubt`: `erp_refused_unknown` for an answer that no
   * pattern matches, and null if there was no answer (time-out, 5xx, HTML).
   */
  readonly problem: string | null;
  /** Keys of the entries that the error names; empty if it names none. */
  readonly keys: readonly string[];
  readonly retryAfterMs: number | null;

  constructor(
    means: ErrorMeaning,
    message: string,
    options: { problem?: string; keys?: readonly string[]; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.means = means;
    this.problem = options.problem ?? null;
    this.keys = options.keys ?? [];
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

export type ErpProblem = Pick<Problem, 'message'> & { code: string };
