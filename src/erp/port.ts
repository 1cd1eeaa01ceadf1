import type { Problem } from '../domain/problems.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import type { Capabilities, ErrorMeaning, LockKind } from './capabilities.ts';
import type { ErpEntry, FoundEntry } from './erp-entry.ts';

/**
 * What a target does; everything that decides (order, retries, look-ups, comparison) is in src/erp and the same for all. Each
 * method throws ErpError, and nothing else, for what the ERP or the way to it does wrong. Requests are not repeated by a target,
 * except after a session's end, before anything was written.
 */
export interface ErpTarget {
  readonly capabilities: Capabilities;
  /** The company as the configuration names it. */
  readonly company: CompanyRef;
  /**
   * The company as the ERP itself tells it apart, however the configuration names it. The ERP is asked at the first contact only.
   * Absent where the configuration has no two names for one company.
   */
  identify?(request: RequestOptions): Promise<IdentifiedCompany>;
  /**
   * Entries that carry one of these keys, drafts included, several with one key where the ERP has several. `isComplete` is false
   * where some may be missing from the answer.
   */
  find(keys: readonly KeyToFind[], request: RequestOptions): Promise<{ found: FoundEntry[]; isComplete: boolean }>;
  /**
   * Entries, drafts included, whose record holds a key of our form, of whatever database, and names a unit of the installation: by
   * these a company is seen to be another database's, too. A page at a time. Only asked where `key.lookup` is not `none`.
   */
  keyed(which: KeyedQuestion, request: RequestOptions): Promise<KeyedPage>;
  /** Creates entries, as drafts where `steps` is not `one`. Their ids by key, as far as the ERP tells them. */
  create(entries: readonly ErpEntry[], request: WriteOptions): Promise<Map<string, string>>;
  /** Posts drafts by the ERP's ids. Only where `steps` is not `one`. */
  post(ids: readonly string[], request: WriteOptions): Promise<void>;
  /** Deletes drafts by the ERP's ids. Only where drafts are deletable. */
  deleteDrafts(ids: readonly string[], request: WriteOptions): Promise<void>;
  /**
   * Entries by the ERP's ids; those that are gone are left out. `only`: lines of these accounts, without tax codes and dimensions,
   * are enough; a target may answer more.
   */
  read(ids: readonly string[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]>;
  /** What is closed in the ERP, and the periods that it has. */
  periods(request: RequestOptions): Promise<ErpPeriods>;
  /**
   * Matches posted lines, or undoes that; each group is the ids of lines of one account and party that sum to zero. A request has
   * several groups; where it fails, the ERP has taken all, none or the first of them, and is asked. Absent where the ERP cannot.
   */
  matching?: {
    match(groups: readonly (readonly string[])[], request: WriteOptions): Promise<void>;
    unmatch(groups: readonly (readonly string[])[], request: WriteOptions): Promise<void>;
  };
  /** The description of an entry as the target writes it and reads it back, without the key. Absent where it writes none. */
  describe?(entry: ErpEntry): string;
  /** Reads the books for E7. Absent where they cannot be read. */
  books?: ErpBooks;
  /** Tries for real what `vetledger erp check` tells; what it makes, it removes. */
  check(plan: CheckPlan, request: RequestOptions): AsyncIterable<CheckResult>;
  /** Secrets of the API user that end by themselves, and when. Absent where none does. */
  expiries?(request: RequestOptions): Promise<{ name: string; at: Date }[]>;
  close(): Promise<void>;
}

/** What of the lines somebody wants to know who looks at their amounts, parties and groups. */
export interface LinesOnly {
  accounts: readonly string[];
}

export interface CompanyRef {
  kind: string;
  url: string;
  id: string;
}

/** A company as the ERP tells it apart. */
export interface IdentifiedCompany extends CompanyRef {
  /** ISO 4217 code of the currency of its books; absent where the ERP does not say. */
  currency?: string;
}

/** A key with the days, from the first to the last, on which an entry may be found where the ERP looks up by date. */
export interface KeyToFind {
  key: string;
  /** In order, each day of them. */
  dates: readonly CalendarDate[];
}

/** Which entries with a key of our form are asked for. */
export interface KeyedQuestion {
  installation: InstallationId;
  /** Only those that were written since, by the ERP's clock; null: all. */
  changedSince: Date | null;
  /** `next` of the page before; null for the first page. */
  after: string | null;
}

/** An entry with a key of our form, without its lines. */
export interface KeyedEntry {
  /** The ERP's own id. */
  id: string;
  key: string;
  /** The unit that its text names. */
  unitId: string;
  number: string | null;
  state: FoundEntry['state'];
  date: CalendarDate;
}

export interface KeyedPage {
  entries: KeyedEntry[];
  /** Asks for the page after it; null where there is none. */
  next: string | null;
  /** False where some of this page may be missing. */
  isComplete: boolean;
}

export interface RequestOptions {
  signal: AbortSignal;
  priority: number;
}

export interface WriteOptions extends RequestOptions {
  /** Belongs to one request body; a retry of the same body keeps it. */
  attemptId: string;
}

export interface ErpPeriods {
  /** Null where the ERP has none: any day that no lock covers is open. */
  periods: { from: CalendarDate; through: CalendarDate; isOpen: boolean; kind: LockKind }[] | null;
  /** Days up to and including these are closed. */
  lockedThrough: { kind: LockKind; date: CalendarDate }[];
}

export interface ErpBooks {
  /** Balance per account of posted entries dated in the interval, debit positive, and how many entries. */
  balances(
    range: { from: CalendarDate; through: CalendarDate },
    request: RequestOptions,
  ): Promise<{ entries: number; balances: Map<string, string> }>;
  /**
   * Posted and void entries that have a line on one of these accounts or carry a key of ours, in pages: those dated in the interval;
   * with `changedSince` only those of them that were written since, by the ERP's clock (the entry, a line, or what hangs on one).
   */
  entries(
    which: { from: CalendarDate; through: CalendarDate; changedSince: Date | null; accounts: readonly string[] },
    request: RequestOptions,
  ): AsyncIterable<FoundEntry[]>;
  /**
   * Posted entries without a key of ours that the ERP may have made out of ours, in pages: those that name an entry as their origin,
   * and those in these journals. Absent where a copy keeps our key.
   */
  copies?(
    which: { from: CalendarDate; through: CalendarDate; changedSince: Date | null; journals: readonly string[] },
    request: RequestOptions,
  ): AsyncIterable<FoundEntry[]>;
}

/** What the mapping and the books use, to be tried against the ERP. */
export interface CheckPlan {
  /** Whether entries may be tried: one that balances, one that does not, one in a closed period. Otherwise it only reads. */
  writes: boolean;
  /** The practice's, in which the company has to keep its books. */
  currency: string;
  /** Whether clients are made in the ERP where it lacks them. */
  makesParties: boolean;
  /** `isControl`: its lines name a party. `receivable` is among the roles of one whose lines are matched. */
  accounts: { account: string; roles: string[]; isControl: boolean }[];
  /** Codes of parties that have to exist; a client's is made when it is needed. */
  parties: string[];
  taxes: string[];
  dimensions: { theirs: string; values: string[] }[];
  journals: string[];
  /** Days on which entries are to be posted. */
  dates: CalendarDate[];
}

export interface CheckResult {
  /** What was tried: `connection`, `right to post`, `account 1700`. */
  name: string;
  ok: boolean;
  /** What is wrong and what to do; empty where it is right. */
  message: string;
  todo: string;
}

/** What an ERP answered instead of doing what it was asked to, or that it did not answer. */
export class ErpError extends Error {
  override readonly name = 'ErpError';
  readonly means: ErrorMeaning;
  /**
   * The problem code where it means `refused`. Where it means `doubt`: `erp_refused_unknown` for an answer that no pattern knows,
   * null where there was none (time-out, 5xx, HTML).
   */
  readonly problem: string | null;
  /** The entries that it names, by key; empty where it names none. */
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
