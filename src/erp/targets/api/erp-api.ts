import type { Money } from '../../../domain/money.ts';
import type { ErpProblemCode } from '../../../texts/erp-problems.ts';
import type { ErpEntry, ErpParty, FoundEntry } from '../../erp-entry.ts';
import type {
  CheckPlan,
  CheckResult,
  ErpBooks,
  ErpError,
  ErpTarget,
  KeyedEntry,
  KeyedQuestion,
  KeyToFind,
  RequestOptions,
  WriteOptions,
} from '../../port.ts';
import type { LookUp } from './names.ts';

/** A record of the ERP that lines name. */
export interface Word {
  id: number | string;
  isActive: boolean;
}

/** What the ERP has under the names that entries use, and a line as matching reads it: types of one ERP. */
export interface Words {
  account: { code: string };
  journal: Word;
  tax: Word;
  dimension: Word;
  party: Word;
  line: LineState;
}

/** A dimension's value by the ERP's name of the dimension and the value's own. */
export type DimensionName = `${string}\n${string}`;

/** Records by name, several where the ERP has several; kept for a while (names.ts). */
export interface WordSource<W extends Words> {
  accounts: LookUp<W['account']>;
  journals: LookUp<W['journal']>;
  taxes: LookUp<W['tax']>;
  dimensions: LookUp<W['dimension']>;
  /** By their own code. */
  parties: LookUp<W['party']>;
  /** Clients of ours, by our id. */
  ourParties: LookUp<W['party']>;
}

/** A line as matching needs to know it. */
export interface LineState {
  id: string;
  /** Id of the group that it is matched with in full. */
  matched: string | null;
  /** It is matched in part. */
  isTouched: boolean;
  /** Debit positive. */
  amount: Money;
  isPosted: boolean;
}

/** Why an entry cannot be sent. */
export interface Fault {
  code: ErpProblemCode;
  message: string;
}

/** An entry with the ERP's records of all that it names. */
export interface ResolvedEntry<W extends Words> {
  entry: ErpEntry;
  journal: W['journal'];
  /** In the order of the entry's lines. */
  lines: ResolvedLine<W>[];
}

export interface ResolvedLine<W extends Words> {
  account: W['account'];
  party: W['party'] | null;
  tax: W['tax'] | null;
  dimensions: W['dimension'][];
}

/** What messages for people call things of the ERP. */
export interface ErpTerms {
  /** Tryton. */
  erp: string;
  /** A party: `ours` and `theirs` are what holds the code of a client of ours, and of any other; `tried` is one in a check. */
  party: { one: string; many: string; ours: string; theirs: string; tried: string; isInactive: string };
  /** What journals and values of dimensions are known by, and what is said of one that cannot be used. */
  word: { code: string; isInactive: string; activate: string };
  /** What gives the API user all rights that it needs: `the group Accounting`. */
  right: string;
}

/** Entries that have a key among those that are asked for, as far as this look-up sees them; others may be among them. */
export type KeyLookUp = (keys: readonly KeyToFind[], request: RequestOptions) => Promise<FoundEntry[]>;

/** How an ERP with an API is read. Each throws ErpError. */
export interface ErpReader<W extends Words> extends Pick<ErpTarget, 'read'> {
  /** Look-ups by key in the order in which they are tried; each is asked for those that the ones before did not find. */
  lookUps(request: RequestOptions): Promise<KeyLookUp[]>;
  /** A page of entries whose text may name a unit of the installation, by id after `after`; an empty page is the last. */
  keyed(which: KeyedQuestion, request: RequestOptions): Promise<KeyedText[]>;
  /** Lines by id, those that there are. */
  lines(ids: readonly string[], request: RequestOptions): Promise<W['line'][]>;
  balances: ErpBooks['balances'];
  /** At least what `entries` and `copies` of the books answer; what is more is left out by target.ts. */
  entries: ErpBooks['entries'];
  copies: NonNullable<ErpBooks['copies']>;
}

/** An entry without its lines, and the text that may hold our key. */
export type KeyedText = Omit<KeyedEntry, 'key' | 'unitId'> & { text: string };

/**
 * What an ERP with an API does for vetledger; what all of them do alike with it is in target.ts, resolve.ts and check.ts. Each throws
 * ErpError, and nothing else, for what the ERP or the way to it does wrong.
 */
export interface ErpApi<W extends Words>
  extends Pick<ErpTarget, 'capabilities' | 'post' | 'deleteDrafts' | 'periods' | 'expiries' | 'close'> {
  readonly terms: ErpTerms;
  readonly words: WordSource<W>;
  readonly reader: ErpReader<W>;
  /** The configured company: its id as the ERP tells it from all others, and the currency of its books. Remembered. */
  company(request: RequestOptions): Promise<{ id: string; currency: string }>;
  /** What is remembered may have changed: after `error`, where a request that writes had one. */
  forget(error?: unknown): void;
  /** What keeps an entry from being sent as a whole, such as its day. Absent where nothing does. */
  entryFault?(entry: ErpEntry, request: RequestOptions): Promise<Fault | null>;
  /** What keeps a line from an account that there is once; `journal` is null where the entry's is not known. */
  lineFault(
    account: W['account'],
    at: { entry: ErpEntry; line: ErpEntry['lines'][number]; journal: W['journal'] | null },
  ): Fault | null;
  /** What keeps a line from the taxes of a name. Absent where it is enough that there is one, and that it is active. */
  taxFault?(found: readonly W['tax'][], vat: { code: string; part: 'base' | 'tax' }): string | null;
  /** Creates entries, as drafts where `steps` is not `one`; their ids in order. */
  create(entries: readonly ResolvedEntry<W>[], request: WriteOptions): Promise<(number | string)[]>;
  /** Creates clients of ours with their code as our id, under these names. */
  createParties(parties: readonly { code: ErpParty['code']; name: string }[], request: WriteOptions): Promise<void>;
  /** Matches the lines of each group with each other; they may be. */
  match(groups: readonly (readonly W['line'][])[], request: WriteOptions): Promise<void>;
  /** Undoes what lines are matched with; there is at least one. */
  unmatch(lines: readonly W['line'][], request: WriteOptions): Promise<void>;
  check(plan: CheckPlan, request: RequestOptions): ErpChecks<W>;
}

/** What one run of `vetledger erp check` tries that is the ERP's own. */
export interface ErpChecks<W extends Words> {
  /** Tries the server and the login; the currency of the company's books, null where the rest cannot be tried. */
  connection(): AsyncGenerator<CheckResult, string | null>;
  /** Asks for rights, as far as the ERP tells them. */
  rights?(): AsyncGenerator<CheckResult>;
  /** What is wrong with an account for the roles that the plan gives it, and what to do; null where nothing is. */
  accountFault(account: W['account'], planned: CheckPlan['accounts'][number]): [message: string, todo: string] | null;
  /** What there is to say of a tax that there is once, and that is active. Absent where that is enough. */
  taxResult?(name: string, tax: W['tax']): CheckResult;
  /** Tries the days of the plan. */
  days: CheckStep;
  /** What drafts are tried with; why they cannot be tried otherwise. */
  drafts(found: FoundWords<W>, drafts: Drafts): DraftTrials<W> | { message: string; todo: string };
}

/** A part of a check; what it throws is its result, under its name. */
export interface CheckStep {
  name: string;
  try(): Promise<CheckResult[]>;
}

/** What a check has found of the words of its plan. */
export interface FoundWords<W extends Words> {
  accounts: W['account'][];
  journals: Map<string, W['journal']>;
  taxes: W['tax'][];
  /** The first value of each dimension. */
  dimensions: W['dimension'][];
}

/** The drafts of one check, which deletes them. */
export interface Drafts {
  /** Makes drafts; their ids. */
  create(make: () => Promise<string[]>): Promise<string[]>;
  /** Makes a draft and deletes it; the error of a refusal, null where it was taken. */
  try(make: () => Promise<string[]>): Promise<ErpError | null>;
  /** One was posted, and cannot be deleted. */
  keep(id: string | undefined): void;
}

export interface DraftTrials<W extends Words> {
  /** Drafts that a check made: this one, or one before that ended before it could delete them. */
  left(request: RequestOptions): Promise<string[]>;
  /** Comes before the first draft is made. */
  before?: CheckStep;
  /** The accounts that can be tried, known after `before`. */
  accounts(): W['account'][];
  /** Creates one draft with lines on these accounts that balance on each; its ids. */
  create(accounts: readonly W['account'][]): Promise<string[]>;
  /** What the ERP must refuse. */
  refusals: CheckStep[];
}
