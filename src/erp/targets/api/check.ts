import { randomUUID } from 'node:crypto';
import { type CheckPlan, type CheckResult, ErpError, type RequestOptions } from '../../port.ts';
import type {
  CheckStep,
  DimensionName,
  Drafts,
  DraftTrials,
  ErpApi,
  ErpChecks,
  FoundWords,
  Word,
  Words,
} from './erp-api.ts';

/** The text of every draft that a check makes, by which one that was cut off is found again and removed. */
export const draftMark = 'vetledger erp check: may be deleted';
/** A check that was cut off takes so long at most to remove what it made. */
const cleanUpMs = 10_000;

export const right = (name: string, message = ''): CheckResult => ({ name, ok: true, message, todo: '' });

export const wrong = (name: string, message: string, todo: string): CheckResult => ({ name, ok: false, message, todo });

/** An error of the ERP as a result; any other is thrown. */
export function failed(name: string, error: unknown, todo: string): CheckResult {
  if (!(error instanceof ErpError)) throw error;
  return wrong(name, error.message, todo);
}

/** What a check needs of an ERP. */
export type Checking<W extends Words> = Pick<ErpApi<W>, 'terms' | 'words' | 'deleteDrafts' | 'check'>;

/**
 * Looks up all that entries name and, where the plan `writes`, tries everything that delivery does, for real: drafts are made and
 * deleted, and nothing is ever posted.
 */
export async function* checkErp<W extends Words>(
  api: Checking<W>,
  plan: CheckPlan,
  request: RequestOptions,
): AsyncGenerator<CheckResult> {
  const check = new Check(api, plan, request);
  try {
    if (!(yield* check.connection())) return;
    yield* check.words();
    if (plan.writes) yield* check.drafts();
  } finally {
    await check.cleanUp();
  }
}

/** The drafts of one check that it has not deleted yet. */
class MadeDrafts implements Drafts {
  readonly #made = new Set<string>();
  readonly #delete: (ids: readonly string[]) => Promise<void>;

  constructor(deleteThem: (ids: readonly string[]) => Promise<void>) {
    this.#delete = deleteThem;
  }

  async create(make: () => Promise<string[]>): Promise<string[]> {
    const ids = await make();
    for (const id of ids) this.#made.add(id);
    return ids;
  }

  async try(make: () => Promise<string[]>): Promise<ErpError | null> {
    try {
      await this.create(make);
    } catch (error) {
      if (error instanceof ErpError && error.means !== 'unsent') return error;
      throw error;
    }
    await this.deleteAll();
    return null;
  }

  keep(id: string | undefined): void {
    if (id !== undefined) this.#made.delete(id);
  }

  async deleteAll(): Promise<void> {
    if (this.#made.size > 0) await this.#delete([...this.#made]);
    this.#made.clear();
  }
}

class Check<W extends Words> {
  readonly #api: Checking<W>;
  readonly #checks: ErpChecks<W>;
  readonly #plan: CheckPlan;
  readonly #request: RequestOptions;
  readonly #drafts: MadeDrafts;
  readonly #found: FoundWords<W> = { accounts: [], journals: new Map(), taxes: [], dimensions: [] };
  #trials: DraftTrials<W> | null = null;

  constructor(api: Checking<W>, plan: CheckPlan, request: RequestOptions) {
    this.#api = api;
    this.#checks = api.check(plan, request);
    this.#plan = plan;
    this.#request = request;
    this.#drafts = new MadeDrafts((ids) => this.#delete(ids, request));
  }

  /** Whether the rest can be tried. */
  async *connection(): AsyncGenerator<CheckResult, boolean> {
    const currency = yield* this.#checks.connection();
    if (currency === null || currency === this.#plan.currency) return currency !== null;
    // Amounts go over as they are: in books of another currency each would be another amount.
    const message = `the company keeps its books in ${currency}, the practice in ${this.#plan.currency}`;
    const todo = 'Name the right company in erp.company, or correct the installation’s currency.';
    yield wrong('currency', message, todo);
    return false;
  }

  async *words(): AsyncGenerator<CheckResult> {
    if (this.#checks.rights !== undefined) yield* this.#checks.rights();
    const { accounts, parties, journals, taxes, dimensions } = this.#plan;
    const { words } = this.#api;
    const named = dimensions.flatMap(({ theirs, values }) => values.map((value) => ({ theirs, value })));
    yield* this.#tried('accounts', async () => {
      const found = await words.accounts(
        accounts.map(({ account }) => account),
        this.#request,
      );
      return accounts.map((planned) => this.#account(planned, found.get(planned.account)));
    });
    yield* this.#tried('parties', async () => {
      const found = await words.parties(parties, this.#request);
      return parties.map((code) => this.#one(`${this.#api.terms.party.tried} ${code}`, found.get(code)));
    });
    yield* this.#tried('journals', async () => {
      const found = await words.journals(journals, this.#request);
      return journals.map((code) =>
        this.#one(`journal ${code}`, found.get(code), (journal) => void this.#found.journals.set(code, journal)),
      );
    });
    yield* this.#tried('taxes', async () => {
      const found = await words.taxes(taxes, this.#request);
      return taxes.map((code) => this.#tax(`tax ${code}`, found.get(code)));
    });
    yield* this.#tried('dimensions', async () => {
      const names = named.map(({ theirs, value }): DimensionName => `${theirs}\n${value}`);
      const found = await words.dimensions(names, this.#request);
      return dimensions.flatMap(({ theirs, values }) =>
        values.map((value, index) =>
          this.#one(`dimension ${theirs}: ${value}`, found.get(`${theirs}\n${value}`), (dimension) => {
            // One value of each is enough to try.
            if (index === 0) this.#found.dimensions.push(dimension);
          }),
        ),
      );
    });
    yield* this.#step(this.#checks.days);
  }

  #account(planned: CheckPlan['accounts'][number], found: readonly W['account'][] = []): CheckResult {
    const name = `account ${planned.account} (${planned.roles.join(', ')})`;
    const { erp } = this.#api.terms;
    const [account, ...others] = found;
    if (account === undefined)
      return wrong(name, `${erp} has no such account in this company`, 'Create it, or change the mapping.');
    if (others.length > 0)
      return wrong(name, `${erp} has ${found.length} accounts with this code`, 'Change the code of all but one.');
    const fault = this.#checks.accountFault(account, planned);
    if (fault !== null) return wrong(name, ...fault);
    this.#found.accounts.push(account);
    return right(name);
  }

  #tax(name: string, found: readonly W['tax'][] | undefined): CheckResult {
    let said: CheckResult | null = null;
    const one = this.#one(name, found, (tax) => {
      said = this.#checks.taxResult?.(name, tax) ?? null;
      if (said?.ok !== false) this.#found.taxes.push(tax);
    });
    return said ?? one;
  }

  /** The only active record of a name. */
  #one<Found extends Word>(
    name: string,
    found: readonly Found[] = [],
    keep: (found: Found) => void = () => {},
  ): CheckResult {
    const [first, ...others] = found;
    const { erp, word } = this.#api.terms;
    if (first === undefined) return wrong(name, `${erp} has none`, `Create it in ${erp}, or correct the mapping.`);
    if (others.length > 0) return wrong(name, `${erp} has ${found.length}`, 'Rename all but one.');
    if (!first.isActive) return wrong(name, `it ${word.isInactive}`, `${word.activate} it, or correct the mapping.`);
    keep(first);
    return right(name);
  }

  /** What delivery does with drafts, and what the ERP must refuse. */
  async *drafts(): AsyncGenerator<CheckResult> {
    const trials = this.#checks.drafts(this.#found, this.#drafts);
    if ('message' in trials) {
      yield wrong('drafts', trials.message, trials.todo);
      return;
    }
    this.#trials = trials;
    yield* this.#tried('drafts that a check left behind', () => this.#sweep(trials, this.#request));
    if (trials.before !== undefined) yield* this.#step(trials.before);
    yield* this.#tried('draft on all accounts, with taxes and dimensions', () => this.#draftOnAll(trials));
    for (const refusal of trials.refusals) yield* this.#step(refusal);
    yield* this.#tried('drafts are deleted', async () => {
      await this.#drafts.deleteAll();
      return [right('drafts are deleted')];
    });
  }

  async #draftOnAll(trials: DraftTrials<W>): Promise<CheckResult[]> {
    const name = 'draft on all accounts, with taxes and dimensions';
    const { erp } = this.#api.terms;
    const accounts = trials.accounts();
    const error = await this.#drafts.try(() => trials.create(accounts));
    if (error === null) return [right(name)];
    // A right that is missing is missing for all of them.
    if (error.means === 'auth') return [failed(name, error, `Give the API user ${this.#api.terms.right}.`)];
    // Which of them it is.
    const todo = `Correct in ${erp} what its message says.`;
    const faults: CheckResult[] = [];
    for (const account of accounts) {
      const fault = await this.#drafts.try(() => trials.create([account]));
      if (fault !== null) faults.push(failed(`account ${account.code}: draft`, fault, todo));
    }
    return faults.length > 0 ? faults : [failed(name, error, todo)];
  }

  /** Once drafts were tried. The check's own signal may be what cut it off, and a request without an answer have made one. */
  async cleanUp(): Promise<void> {
    if (this.#trials === null) return;
    const request = { ...this.#request, signal: AbortSignal.timeout(cleanUpMs) };
    await this.#sweep(this.#trials, request).catch(() => {});
  }

  /** Deletes all drafts of checks: of this one, and of those that ended before they could. */
  async #sweep(trials: DraftTrials<W>, request: RequestOptions): Promise<CheckResult[]> {
    const ids = await trials.left(request);
    if (ids.length > 0) await this.#delete(ids, request);
    return [];
  }

  #delete(ids: readonly string[], request: RequestOptions): Promise<void> {
    return this.#api.deleteDrafts(ids, { ...request, attemptId: randomUUID() });
  }

  #step({ name, try: part }: CheckStep): AsyncGenerator<CheckResult> {
    return this.#tried(name, part);
  }

  /** Runs one part; what it throws is its result. */
  async *#tried(name: string, part: () => Promise<CheckResult[]>): AsyncGenerator<CheckResult> {
    try {
      yield* await part();
    } catch (error) {
      const { erp, right: needed } = this.#api.terms;
      yield failed(name, error, `Correct in ${erp} what its message says; the API user needs ${needed}.`);
    }
  }
}
