import type { Money } from '../../../domain/money.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { ErpProblemCode } from '../../../texts/erp-problems.ts';
import type { ErpEntry, ErpLine, ErpParty, FoundEntry } from '../../erp-entry.ts';
import type {
  CheckPlan,
  CheckResult,
  ErpBooks,
  ErpError,
  ErpTarget,
  KeyedEntry,
  KeyedQuery,
  KeyToFind,
  RequestOptions,
  WriteOptions,
} from '../../port.ts';
import type { LimitsLeft } from './limits-left.ts';
import type { LookUp, YearlyLookUp } from './names.ts';

/** A record of the ERP that lines refer to by name or code. */
export interface NamedRecord {
  id: number | string;
  isActive: boolean;
}

/** The types of an ERP's records that entries refer to, and of a line as matching reads it. */
export interface RecordTypes {
  /** `reconcile`: whether the ERP matches lines of the account. */
  account: { code: string; name: string; reconcile: boolean };
  journal: NamedRecord;
  tax: NamedRecord;
  dimension: NamedRecord;
  party: NamedRecord;
  line: LineState;
}

/** The ERP's name of a dimension, and the name of one of its values. */
export type DimensionName = `${string}\n${string}`;

/** Looks up records by name. There are several per name if the ERP has several. Answers are cached (names.ts). */
export interface RecordSource<W extends RecordTypes> {
  accounts: YearlyLookUp<W['account']>;
  journals: YearlyLookUp<W['journal']>;
  taxes: YearlyLookUp<W['tax']>;
  dimensions: LookUp<W['dimension']>;
  /** Parties by the ERP's code. Absent if entries have no parties (`lines.party`). */
  parties?: LookUp<W['party']>;
  /** Clients of the clinic, by our id. Absent if entries have no parties. */
  ourParties?: LookUp<W['party']>;
}

/** A line as matching reads it. */
export interface LineState {
  id: string;
  /** Id of the group that the line is fully matched with; null if it is not. */
  matched: string | null;
  /** Whether the line is partly matched. */
  isTouched: boolean;
  /** Debit positive. */
  amount: Money;
  isPosted: boolean;
}

/** The reason why an entry cannot be sent. */
export interface Fault {
  code: ErpProblemCode;
  message: string;
}

/** An entry, with the ERP's records that it refers to. */
export interface ResolvedEntry<W extends RecordTypes> {
  entry: ErpEntry;
  journal: W['journal'];
  /** The lines with the ERP's ids, in the order of the lines to send (`sentLines`, or `lines`). */
  lines: ResolvedLine<W>[];
}

export interface ResolvedLine<W extends RecordTypes> {
  account: W['account'];
  party: W['party'] | null;
  tax: W['tax'] | null;
  dimensions: W['dimension'][];
}

/** How messages name the records of an ERP. */
export interface ErpTerms {
  /** Name of the ERP, such as `Tryton`. */
  erp: string;
  /**
   * A party. `ours`: the field with our code of a client. `theirs`: the field with the code of any other party.
   * `tried`: the name in a check's results. Absent if entries have no parties.
   */
  party?: { one: string; many: string; ours: string; theirs: string; tried: string; isInactive: string };
  /**
   * Journals and dimension values. `code`: the field that identifies them. `isInactive`: what a message says of an
   * unusable one.
   */
  record: { code: string; isInactive: string; activate: string };
  /** The right that allows the API user everything it needs, such as `the group Accounting`. */
  right: string;
}

/**
 * Finds entries by key. A look-up may search only part of the ERP's entries, and may return entries with other keys
 * too.
 */
export type KeyLookUp = (keys: readonly KeyToFind[], request: RequestOptions) => Promise<FoundEntry[]>;

/** What a scan has to list: an ERP filters by one of them. */
export interface ScanRange {
  /** Entries created since this time, by the ERP's clock. A day is already taken off, for its time zone. */
  since: Date;
  /** Entries of these dates. */
  dates: { from: CalendarDate; through: CalendarDate };
}

/** An entry of a scan. `entry` is absent if the list has no lines, so that the entry has to be read. */
export type ScannedEntry = KeyedText & { entry?: FoundEntry };

/** Reads from an ERP with an API. Each method throws ErpError. */
export interface ErpReader extends Pick<ErpTarget, 'read'> {
  /**
   * Look-ups by key, in the order of their use. Each receives the keys that the ones before did not find. Absent if the
   * ERP cannot search for keys.
   */
  lookUps?(request: RequestOptions): Promise<KeyLookUp[]>;
  /**
   * Pages of all entries in a range, drafts included. One scan answers for all keys. A list in pages is read with
   * `provedPages`. Absent if the ERP can search for keys.
   */
  scan?(range: ScanRange, request: RequestOptions): AsyncIterable<readonly ScannedEntry[]>;
  /** A page of entries whose text may name a unit of the installation. `next` is as in KeyedPage. */
  keyed(which: KeyedQuery, request: RequestOptions): Promise<{ texts: KeyedText[]; next: string | null }>;
}

/** Matches lines, or undoes it. The caller has checked that this is allowed. */
export interface LineMatching<W extends RecordTypes> {
  /** Lines by id; missing ones are left out. */
  lines(ids: readonly string[], request: RequestOptions): Promise<W['line'][]>;
  /** Matches the lines of each group with each other. */
  match(groups: readonly (readonly W['line'][])[], request: WriteOptions): Promise<void>;
  /** Undoes the matches of these lines. Each of the lines is matched. */
  unmatch(lines: readonly W['line'][], request: WriteOptions): Promise<void>;
}

/** An entry without its lines. `text` may contain our key. */
export type KeyedText = Omit<KeyedEntry, 'key' | 'unitId'> & { text: string };

/**
 * The part of a target that differs between ERPs with an API. target.ts, resolve.ts and check.ts contain what is common
 * to them. For every fault of the ERP or of the connection, a method throws an ErpError.
 */
export interface ErpApi<W extends RecordTypes>
  extends Pick<ErpTarget, 'capabilities' | 'post' | 'withdrawDrafts' | 'periods' | 'expiries' | 'close'> {
  readonly terms: ErpTerms;
  /** The connection notes each answer here. Absent if the ERP's answers do not state what is left of its limits. */
  readonly limitsLeft?: LimitsLeft;
  readonly records: RecordSource<W>;
  readonly reader: ErpReader;
  /**
   * `entries` and `copies` may return more than ErpBooks requires; target.ts filters them. Absent if the books cannot be
   * read.
   */
  readonly books?: ErpBooks;
  /** The configured company: its unique id, and the currency of its books. The answer is cached. */
  company(request: RequestOptions): Promise<{ id: string; currency: string; isSandbox?: boolean }>;
  /**
   * Clears the caches, since their content may have changed. `error`: the error of a writing request, if that is the
   * reason.
   */
  forget(error?: unknown): void;
  /**
   * The reason why an entry as a whole cannot be sent, for instance because of its date. Absent if there is no such
   * reason.
   */
  entryFault?(entry: ErpEntry, request: RequestOptions): Promise<Fault | null>;
  /**
   * The reason why a line cannot use an account that exists once. `journal` is null if the entry's journal is unknown.
   */
  lineFault(
    account: W['account'],
    at: { entry: ErpEntry; line: ErpEntry['lines'][number]; journal: W['journal'] | null },
  ): Fault | null;
  /** The reason why a line cannot use the taxes of this name. If absent, the tax must exist once and be active. */
  taxFault?(found: readonly W['tax'][], vat: NonNullable<ErpLine['vat']>): string | null;
  /** Creates entries, as drafts if `steps` is not `one`. Returns their ids in the same order. */
  create(entries: readonly ResolvedEntry<W>[], request: WriteOptions): Promise<(number | string)[]>;
  /** Creates clients under these names. `code` is our id of the client. Absent if entries have no parties. */
  createParties?(parties: readonly { code: ErpParty['code']; name: string }[], request: WriteOptions): Promise<void>;
  /** Absent if the ERP cannot match lines. */
  readonly matching?: LineMatching<W>;
  /** The text of an entry with its key, if it is not the one of keyed-text.ts. */
  textOf?(entry: ErpEntry): string;
  check(plan: CheckPlan, request: RequestOptions): ErpChecks<W>;
}

/** The part of `vetledger erp check` that differs between ERPs. */
export interface ErpChecks<W extends RecordTypes> {
  /** Tries server and login. Returns the currency of the company's books, or null if the check cannot continue. */
  connection(): AsyncGenerator<CheckResult, string | null>;
  /** Checks the user's rights, as far as the ERP answers them. */
  rights?(): AsyncGenerator<CheckResult>;
  /** Returns the fault of an account for its roles in the plan; null if there is none. */
  accountFault(account: W['account'], planned: CheckPlan['accounts'][number]): [message: string, todo: string] | null;
  /** The result for a tax that exists once and is active. If absent, such a tax is right. */
  taxResult?(name: string, tax: W['tax']): CheckResult;
  /** Checks that entries may be posted on the plan's dates. */
  days: CheckStep;
  /** The trials with drafts, or the reason why drafts cannot be tried. Absent if the ERP has no drafts. */
  drafts?(found: FoundRecords<W>, drafts: Drafts): DraftTrials<W> | { message: string; todo: string };
}

/** A part of a check. An ErpError becomes its result. */
export interface CheckStep {
  name: string;
  try(): Promise<CheckResult[]>;
}

/** The records of the plan that the check has found. */
export interface FoundRecords<W extends RecordTypes> {
  accounts: W['account'][];
  journals: Map<string, W['journal']>;
  taxes: W['tax'][];
  /** The first value of each dimension only. */
  dimensions: W['dimension'][];
}

/** Records the drafts of a check, so that they can be deleted. */
export interface Drafts {
  /** Creates drafts, and returns their ids. */
  create(make: () => Promise<string[]>): Promise<string[]>;
  /** Creates a draft and deletes it. Returns the error if the ERP refused it; otherwise null. */
  try(make: () => Promise<string[]>): Promise<ErpError | null>;
  /** Excludes a draft that was posted, because it can no longer be deleted. */
  keep(id: string | undefined): void;
}

export interface DraftTrials<W extends RecordTypes> {
  /** Ids of drafts that a check has left: this one, or an earlier one that ended too early. */
  left(request: RequestOptions): Promise<string[]>;
  /** Runs before the first draft is created. */
  before?: CheckStep;
  /** The accounts that can be tried. Called after `before`. */
  accounts(): W['account'][];
  /** Creates one draft with two lines per account that balance. Returns its ids. */
  create(accounts: readonly W['account'][]): Promise<string[]>;
  /** Trials that the ERP must refuse. */
  refusals: CheckStep[];
}
