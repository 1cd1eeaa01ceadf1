import { randomUUID } from 'node:crypto';
import type { CalendarDate } from '../../../terms.ts';
import { erpCheckTexts } from '../../../texts/reports/erp-check.ts';
import { loginTodo } from '../../login/login-problems.ts';
import { obstacleOf } from '../../periods.ts';
import { type CheckPlan, type CheckResult, ErpError, type ErpPeriods, type RequestOptions } from '../../port.ts';
import type {
  CheckStep,
  DimensionName,
  Drafts,
  DraftTrials,
  ErpApi,
  ErpChecks,
  FoundRecords,
  NamedRecord,
  RecordTypes,
} from './erp-api.ts';

/** Time limit for deleting the drafts of a check that was aborted. */
const cleanUpMs = 10_000;

const nothing = '';

export const right = (name: string, message = ''): CheckResult => ({ name, ok: true, message, todo: nothing });

export const wrong = (name: string, message: string, todo: string): CheckResult => ({ name, ok: false, message, todo });

/** Turns an ErpError into a result. Throws any other error again. */
export function failed(name: string, error: unknown, todo: string): CheckResult {
  if (!(error instanceof ErpError)) throw error;
  return wrong(name, error.message, loginTodo(error) ?? todo);
}

/** Yields whether the ERP answers with the company. Returns its currency, or null. `todo`: what to do about an error. */
export async function* loggedIn(
  company: () => Promise<{ id: string; currency: string }>,
  todo: string,
): AsyncGenerator<CheckResult, string | null> {
  try {
    const { id, currency } = await company();
    yield right(erpCheckTexts.loggedIn({ company: id, currency }));
    return currency;
  } catch (error) {
    yield failed(erpCheckTexts.login, error, todo);
    return null;
  }
}

/** Whether the ERP has an open period for each of the dates. */
export function periodResults(dates: readonly CalendarDate[], periods: ErpPeriods, erp: string): CheckResult[] {
  return dates.map((date) => {
    const name = erpCheckTexts.period({ date });
    const obstacle = obstacleOf(periods, date);
    if (obstacle === null) return right(name);
    return obstacle === 'missing'
      ? wrong(name, erpCheckTexts.noPeriod({ erp }), erpCheckTexts.createPeriod({ erp }))
      : wrong(name, erpCheckTexts.periodClosed({ period: date }), erpCheckTexts.openPeriod({ erp }));
  });
}

/** The part of an ERP's API that a check uses. */
export type Checking<W extends RecordTypes> = Pick<ErpApi<W>, 'terms' | 'records' | 'withdrawDrafts' | 'check'>;

/**
 * Looks up every record that entries name. If the plan `writes`, it also tries what a delivery does: it creates drafts
 * and deletes them. It never posts an entry.
 */
export async function* checkErp<W extends RecordTypes>(
  api: Checking<W>,
  plan: CheckPlan,
  request: RequestOptions,
): AsyncGenerator<CheckResult> {
  const check = new Check(api, plan, request);
  try {
    if (!(yield* check.connection())) return;
    yield* check.records();
    if (plan.writes) yield* check.drafts();
  } finally {
    await check.cleanUp();
  }
}

/** The drafts that a check has created and not yet deleted. */
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

class Check<W extends RecordTypes> {
  readonly #api: Checking<W>;
  readonly #checks: ErpChecks<W>;
  readonly #plan: CheckPlan;
  readonly #request: RequestOptions;
  readonly #drafts: MadeDrafts;
  readonly #found: FoundRecords<W> = { accounts: [], journals: new Map(), taxes: [], dimensions: [] };
  #trials: DraftTrials<W> | null = null;

  constructor(api: Checking<W>, plan: CheckPlan, request: RequestOptions) {
    this.#api = api;
    this.#checks = api.check(plan, request);
    this.#plan = plan;
    this.#request = request;
    this.#drafts = new MadeDrafts((ids) => this.#delete(ids, request));
  }

  /** Returns whether the check can continue. */
  async *connection(): AsyncGenerator<CheckResult, boolean> {
    const currency = yield* this.#checks.connection();
    if (currency === null || currency === this.#plan.currency) return currency !== null;
    // Amounts are sent without conversion, so the currencies must be equal.
    const message = erpCheckTexts.currencyDiffers({ theirs: currency, ours: this.#plan.currency });
    yield wrong(erpCheckTexts.currency, message, erpCheckTexts.correctCurrency);
    return false;
  }

  async *records(): AsyncGenerator<CheckResult> {
    if (this.#checks.rights !== undefined) yield* this.#checks.rights();
    const { accounts, parties, journals, taxes, dimensions, dates } = this.#plan;
    const { records } = this.#api;
    const named = dimensions.flatMap(({ theirs, values }) => values.map((value) => ({ theirs, value })));
    yield* this.#tried(erpCheckTexts.accounts, async () => {
      const found = await records.accounts(
        accounts.map(({ account }) => account),
        this.#request,
        dates,
      );
      return accounts.map((planned) => this.#account(planned, found.get(planned.account)));
    });
    yield* this.#tried(erpCheckTexts.parties, async () => {
      const found = await records.parties?.(parties, this.#request);
      const { tried: party = '' } = this.#api.terms.party ?? {};
      return parties.map((code) => this.#one(erpCheckTexts.party({ party, code }), found?.get(code)));
    });
    yield* this.#tried(erpCheckTexts.journals, async () => {
      const found = await records.journals(journals, this.#request, dates);
      return journals.map((code) => {
        const keep = (journal: W['journal']) => void this.#found.journals.set(code, journal);
        return this.#one(erpCheckTexts.journal({ code }), found.get(code), keep);
      });
    });
    yield* this.#tried(erpCheckTexts.taxes, async () => {
      const found = await records.taxes(taxes, this.#request, dates);
      return taxes.map((code) => this.#tax(erpCheckTexts.tax({ code }), found.get(code)));
    });
    yield* this.#tried(erpCheckTexts.dimensions, async () => {
      const names = named.map(({ theirs, value }): DimensionName => `${theirs}\n${value}`);
      const found = await records.dimensions(names, this.#request);
      return dimensions.flatMap(({ theirs, values }) =>
        values.map((value, index) =>
          this.#one(erpCheckTexts.dimension({ name: theirs, value }), found.get(`${theirs}\n${value}`), (dimension) => {
            // The drafts use one value of each dimension.
            if (index === 0) this.#found.dimensions.push(dimension);
          }),
        ),
      );
    });
    yield* this.#step(this.#checks.days);
  }

  #account(planned: CheckPlan['accounts'][number], found: readonly W['account'][] = []): CheckResult {
    const name = erpCheckTexts.account({ account: planned.account, roles: planned.roles.join(', ') });
    const { erp } = this.#api.terms;
    const [account, ...others] = found;
    if (account === undefined) return wrong(name, erpCheckTexts.accountMissing({ erp }), erpCheckTexts.createAccount);
    if (others.length > 0)
      return wrong(name, erpCheckTexts.accountAmbiguous({ erp, n: found.length }), erpCheckTexts.changeCode);
    const fault = this.#checks.accountFault(account, planned);
    if (fault !== null) return wrong(name, ...fault);
    this.#found.accounts.push(account);
    const staysOpen = planned.roles.includes('prepayment_liability') && !account.reconcile;
    return staysOpen ? right(name, erpCheckTexts.prepaymentsNotMatchable({ erp })) : right(name);
  }

  #tax(name: string, found: readonly W['tax'][] | undefined): CheckResult {
    let result: CheckResult | null = null;
    const one = this.#one(name, found, (tax) => {
      result = this.#checks.taxResult?.(name, tax) ?? null;
      if (result?.ok !== false) this.#found.taxes.push(tax);
    });
    return result ?? one;
  }

  /** The result for a name that must have exactly one active record. */
  #one<Found extends NamedRecord>(
    name: string,
    found: readonly Found[] = [],
    keep: (found: Found) => void = () => {},
  ): CheckResult {
    const [first, ...others] = found;
    const { erp, record } = this.#api.terms;
    if (first === undefined) return wrong(name, erpCheckTexts.none({ erp }), erpCheckTexts.create({ erp }));
    if (others.length > 0) return wrong(name, erpCheckTexts.several({ erp, n: found.length }), erpCheckTexts.rename);
    if (!first.isActive) return wrong(name, erpCheckTexts.inactive(record), erpCheckTexts.activate(record));
    keep(first);
    return right(name);
  }

  /** Creates and deletes drafts as a delivery does, and tries entries that the ERP must refuse. */
  async *drafts(): AsyncGenerator<CheckResult> {
    if (this.#checks.drafts === undefined) return;
    const trials = this.#checks.drafts(this.#found, this.#drafts);
    if ('message' in trials) {
      yield wrong(erpCheckTexts.drafts, trials.message, trials.todo);
      return;
    }
    this.#trials = trials;
    yield* this.#tried(erpCheckTexts.draftsLeft, () => this.#sweep(trials, this.#request));
    if (trials.before !== undefined) yield* this.#step(trials.before);
    yield* this.#tried(erpCheckTexts.draftOnAll, () => this.#draftOnAll(trials));
    for (const refusal of trials.refusals) yield* this.#step(refusal);
    yield* this.#tried(erpCheckTexts.draftsDeleted, async () => {
      await this.#drafts.deleteAll();
      return [right(erpCheckTexts.draftsDeleted)];
    });
  }

  async #draftOnAll(trials: DraftTrials<W>): Promise<CheckResult[]> {
    const name = erpCheckTexts.draftOnAll;
    const { erp, right: neededRight } = this.#api.terms;
    const accounts = trials.accounts();
    const error = await this.#drafts.try(() => trials.create(accounts));
    if (error === null) return [right(name)];
    // A missing right is missing for all accounts.
    if (error.means === 'auth') return [failed(name, error, erpCheckTexts.giveRight({ right: neededRight }))];
    // Trying one account at a time shows which of them the ERP refuses.
    const todo = erpCheckTexts.correctInErp({ erp });
    const faults: CheckResult[] = [];
    for (const account of accounts) {
      const fault = await this.#drafts.try(() => trials.create([account]));
      if (fault !== null) faults.push(failed(erpCheckTexts.accountDraft({ account: account.code }), fault, todo));
    }
    return faults.length > 0 ? faults : [failed(name, error, todo)];
  }

  /**
   * Deletes the drafts of the check, also of a request that ended without an answer. It uses its own signal, since the
   * check's signal may have been aborted.
   */
  async cleanUp(): Promise<void> {
    if (this.#trials === null) return;
    const request = { ...this.#request, signal: AbortSignal.timeout(cleanUpMs) };
    await this.#sweep(this.#trials, request).catch(() => {});
  }

  /** Deletes all drafts of this check, and of earlier ones that ended before they deleted theirs. */
  async #sweep(trials: DraftTrials<W>, request: RequestOptions): Promise<CheckResult[]> {
    const ids = await trials.left(request);
    if (ids.length > 0) await this.#delete(ids, request);
    return [];
  }

  #delete(ids: readonly string[], request: RequestOptions): Promise<void> {
    return this.#api.withdrawDrafts(ids, { ...request, attemptId: randomUUID() });
  }

  #step({ name, try: part }: CheckStep): AsyncGenerator<CheckResult> {
    return this.#tried(name, part);
  }

  /** Runs one part. An ErpError becomes its result. */
  async *#tried(name: string, part: () => Promise<CheckResult[]>): AsyncGenerator<CheckResult> {
    try {
      yield* await part();
    } catch (error) {
      yield failed(name, error, erpCheckTexts.correctOrGiveRight(this.#api.terms));
    }
  }
}
