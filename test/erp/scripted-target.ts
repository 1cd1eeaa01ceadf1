import type { Capabilities } from '../../src/erp/capabilities.ts';
import type { ErpEntry, FoundEntry } from '../../src/erp/erp-entry.ts';
import type {
  ErpPeriods,
  ErpTarget,
  KeyedPage,
  KeyedQuery,
  KeyToFind,
  RequestOptions,
  WriteOptions,
} from '../../src/erp/port.ts';

type Kind = 'find' | 'create' | 'post' | 'withdrawDrafts' | 'read' | 'periods';

/** A request that the target received. */
export interface Sent {
  kind: Kind;
  keys: string[];
  attemptId: string | null;
}

/**
 * An ERP in memory that carries out requests at once. A test injects failures: `before` is called before a request
 * takes effect, `after` afterwards. The caller gets what they throw.
 */
export class ScriptedTarget implements ErpTarget {
  readonly capabilities: Capabilities;
  readonly company = { kind: 'scripted', url: 'memory:', id: '1' };
  readonly held: FoundEntry[] = [];
  readonly sent: Sent[] = [];
  before: (request: Sent) => void | Promise<void> = () => undefined;
  after: (request: Sent) => void | Promise<void> = () => undefined;
  /** Changes created entries. */
  onCreate: (entry: FoundEntry) => void = () => undefined;
  isComplete = true;
  /** The keys of each look-up. */
  readonly searched: (readonly KeyToFind[])[] = [];
  /** The number of requests for a page of entries with keys. */
  looks = 0;
  openPeriods: ErpPeriods = { periods: null, lockedThrough: [] };
  #lastId = 0;

  constructor(capabilities: Capabilities) {
    this.capabilities = capabilities;
  }

  find(keys: readonly KeyToFind[], request: RequestOptions) {
    const wanted = keys.map(({ key }) => key);
    this.searched.push(keys);
    return this.#request('find', wanted, request, null, () => ({
      found: this.held.filter(({ key }) => wanted.includes(key ?? '')).map((entry) => ({ ...entry })),
      isComplete: this.isComplete,
    }));
  }

  /** These requests are not recorded in `sent`; the tests of claims cover them. */
  async keyed({ installation, after }: KeyedQuery, { sent }: RequestOptions): Promise<KeyedPage> {
    sent?.();
    this.looks += 1;
    const entries = this.held
      .filter(({ description, key }) => key !== null && description.startsWith(`${installation}/`))
      .map(({ id, key, description: unitId, number, state, date }) => ({
        ...{ id, key: key ?? '', unitId, number, state, date },
      }));
    return after === null
      ? { entries, next: entries.at(-1)?.id ?? null, isComplete: this.isComplete }
      : { entries: [], next: null, isComplete: this.isComplete };
  }

  create(entries: readonly ErpEntry[], request: WriteOptions) {
    const keys = entries.map(({ key }) => key);
    return this.#request(
      'create',
      keys,
      request,
      request.attemptId,
      () => new Map(entries.map((entry) => [entry.key, this.#add(entry)])),
    );
  }

  post(ids: readonly string[], request: WriteOptions) {
    return this.#request('post', this.#keysOf(ids), request, request.attemptId, () => {
      for (const entry of this.held) if (ids.includes(entry.id)) Object.assign(entry, this.#posted());
    });
  }

  withdrawDrafts(ids: readonly string[], request: WriteOptions) {
    return this.#request('withdrawDrafts', this.#keysOf(ids), request, request.attemptId, () => {
      for (const id of ids) {
        const at = this.held.findIndex((entry) => entry.id === id && entry.state === 'draft');
        if (at !== -1) this.held.splice(at, 1);
      }
    });
  }

  read(ids: readonly string[], request: RequestOptions) {
    return this.#request('read', this.#keysOf(ids), request, null, () =>
      this.held.filter(({ id }) => ids.includes(id)).map((entry) => ({ ...entry })),
    );
  }

  periods(request: RequestOptions) {
    return this.#request('periods', [], request, null, () => this.openPeriods);
  }

  async *check() {}

  async close() {}

  /** The keys of posted entries, in the order of posting. */
  get posted(): string[] {
    return this.held
      .filter(({ state }) => state === 'posted')
      .toSorted((a, b) => Number(a.number) - Number(b.number))
      .map(({ key }) => key ?? '');
  }

  get drafts(): string[] {
    return this.held.filter(({ state }) => state === 'draft').map(({ key }) => key ?? '');
  }

  /** The number of entries in each request of a kind. */
  sizes(kind: Kind): number[] {
    return this.sent.flatMap((request) => (request.kind === kind ? request.keys.length : []));
  }

  /** Another program creates an entry with the same key. */
  copy(key: string, state: FoundEntry['state']): void {
    const [first] = this.held.filter((entry) => entry.key === key);
    this.#lastId += 1;
    if (first)
      this.held.push({
        ...first,
        id: String(this.#lastId),
        ...(state === 'posted' ? this.#posted() : { state, number: null }),
      });
  }

  #add(entry: ErpEntry): string {
    this.#lastId += 1;
    const made: FoundEntry = {
      ...{ id: String(this.#lastId), key: entry.key, number: null, state: 'draft', date: entry.date },
      ...{ journal: entry.journal, description: entry.description },
      ...(entry.originId === undefined ? {} : { originId: entry.originId }),
      lines: entry.lines.map((line) => ({
        ...{ id: null, account: line.account, party: line.party?.code ?? null, vat: [], matched: null },
        ...{ amount: line.side === 'debit' ? line.amount : line.amount.negated(), dimensions: line.dimensions },
      })),
    };
    if (this.capabilities.write.steps === 'one') Object.assign(made, this.#posted());
    this.onCreate(made);
    this.held.push(made);
    return made.id;
  }

  #posted(): Pick<FoundEntry, 'state' | 'number'> {
    return { state: 'posted', number: String(this.held.filter(({ state }) => state === 'posted').length + 1) };
  }

  #keysOf(ids: readonly string[]): string[] {
    return ids.map((id) => this.held.find((entry) => entry.id === id)?.key ?? id);
  }

  async #request<Result>(
    kind: Kind,
    keys: string[],
    { sent }: RequestOptions,
    attemptId: string | null,
    effect: () => Result,
  ): Promise<Result> {
    sent?.();
    const request = { kind, keys, attemptId };
    this.sent.push(request);
    await this.before(request);
    const result = effect();
    await this.after(request);
    return result;
  }
}
