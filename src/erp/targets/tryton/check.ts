import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { LineRole } from '../../../terms.ts';
import { type CheckPlan, type CheckResult, ErpError, type RequestOptions } from '../../port.ts';
import { currencyFault, failed, right, wrong } from '../check-results.ts';
import type { TrytonCalls } from './calls.ts';
import { idsOf, type TrytonConnection } from './connection.ts';
import type { AnalyticName, TrytonAccount, TrytonNames, TrytonPeriod } from './names.ts';
import { toDate } from './wire.ts';

const series = '8.0';
/** The description of every draft that a check makes, by which one that was cut off is found again and removed. */
const mark = 'vetledger erp check: may be deleted';

interface Checked {
  target: TrytonCalls;
  names: TrytonNames;
  connection: TrytonConnection;
}

/**
 * Looks up all that entries name and, where the plan `writes`, tries everything that delivery does, for real: drafts are made and deleted, and nothing is ever posted. The one request to post is
 * of a draft that cannot be posted: it does not balance, and has a line of zero on an account whose lines are matched, which Tryton
 * matches as it posts, and refuses where the draft does not balance. So even Tryton on SQLite, which posts what does not balance,
 * refuses it.
 */
export async function* checkTryton(
  checked: Checked,
  plan: CheckPlan,
  request: RequestOptions,
): AsyncGenerator<CheckResult> {
  const check = new Check(checked, plan, request);
  try {
    if (!(yield* check.connection())) return;
    yield* check.names();
    if (plan.writes) yield* check.drafts();
  } finally {
    await check.cleanUp();
  }
}

class Check {
  readonly #checked: Checked;
  readonly #plan: CheckPlan;
  readonly #request: RequestOptions;
  readonly #made = new Set<number>();
  #accounts = new Map<string, TrytonAccount>();
  #taxes = new Map<string, number>();
  #analytic: number[] = [];
  #journals = new Map<string, number>();
  #periods: TrytonPeriod[] = [];
  #partyId: number | null = null;

  constructor(checked: Checked, plan: CheckPlan, request: RequestOptions) {
    this.#checked = checked;
    this.#plan = plan;
    this.#request = request;
  }

  /** Whether the rest can be tried. */
  async *connection(): AsyncGenerator<CheckResult, boolean> {
    const { connection, target } = this.#checked;
    const request = this.#request;
    try {
      const version = await connection.version(request);
      yield version.startsWith(series)
        ? right(`server, version ${version}`)
        : wrong(
            `server, version ${version}`,
            `vetledger is measured against Tryton ${series}`,
            'Try it on a copy of the database first.',
          );
    } catch (error) {
      yield failed('server', error, 'Check erp.url, and that Tryton runs and can be reached from here.');
      return false;
    }
    try {
      const { companyId, currency } = await target.openCompany(request);
      yield right(`login and company ${companyId} (${currency})`);
      const fault = currencyFault(currency, this.#plan);
      if (fault !== null) yield fault;
      return fault === null;
    } catch (error) {
      yield failed('login and company', error, 'Check erp.database, erp.user, its password and erp.company.');
      return false;
    }
  }

  async *names(): AsyncGenerator<CheckResult> {
    const { names } = this.#checked;
    names.clear();
    yield* this.#tried('accounts', () => this.#checkAccounts());
    yield* this.#tried('parties', () => this.#checkParties());
    yield* this.#tried('journals', () => this.#checkJournals());
    yield* this.#tried('taxes', () => this.#checkTaxes());
    yield* this.#tried('dimensions', () => this.#checkDimensions());
    yield* this.#tried('periods', () => this.#checkPeriods());
  }

  /** What delivery does with drafts, and what Tryton must refuse. */
  async *drafts(): AsyncGenerator<CheckResult> {
    const open =
      this.#periods.find(
        ({ isOpen, from, through }) => isOpen && this.#plan.dates.some((day) => from <= day && day <= through),
      ) ?? this.#periods.find(({ isOpen }) => isOpen);
    const journalId = [...this.#journals.values()][0];
    const plain = [...this.#accounts.values()].filter(({ partyRequired }) => !partyRequired);
    const [account] = plain;
    if (open === undefined || journalId === undefined || account === undefined) {
      yield wrong(
        'drafts',
        'there is no open period, journal or account to try them with',
        'Correct what is named above first.',
      );
      return;
    }
    const day = this.#plan.dates.find((date) => open.from <= date && date <= open.through) ?? open.from;
    const at = { journalId, periodId: open.id, day };
    yield* this.#tried('drafts that a check left behind', () => this.#sweep());
    yield* this.#tried('right to make parties', () => this.#findParty());
    yield* this.#tried('draft on all accounts, with taxes and dimensions', () => this.#draftOnAll(at));
    yield* this.#tried('right to post; an entry that does not balance is refused', () => this.#unbalanced(at, account));
    yield* this.#tried('a closed period is refused', () => this.#closedPeriod(at, account));
    yield* this.#tried('drafts are deleted', () => this.#deleteMade());
  }

  async cleanUp(): Promise<void> {
    await this.#deleteMade().catch(() => {});
  }

  /** Runs one part; what it throws is its result. */
  async *#tried(name: string, part: () => Promise<CheckResult[]>): AsyncGenerator<CheckResult> {
    try {
      yield* await part();
    } catch (error) {
      yield failed(name, error, 'Correct in Tryton what its message says; the API user needs the group Accounting.');
    }
  }

  async #checkAccounts(): Promise<CheckResult[]> {
    const found = await this.#checked.names.accounts(
      this.#plan.accounts.map(({ account }) => account),
      this.#request,
    );
    return this.#plan.accounts.map(({ account: code, roles, isControl }) => {
      const name = `account ${code} (${roles.join(', ')})`;
      const [account, ...others] = found.get(code) ?? [];
      if (account === undefined)
        return wrong(name, 'Tryton has no such account in this company', 'Create it, or change the mapping.');
      if (others.length > 0)
        return wrong(
          name,
          `Tryton has ${others.length + 1} accounts with this code`,
          'Change the code of all but one.',
        );
      const fault = faultOf(account, roles as LineRole[], isControl);
      if (fault !== null) return wrong(name, ...fault);
      this.#accounts.set(code, account);
      return right(name);
    });
  }

  async #checkParties(): Promise<CheckResult[]> {
    const found = await this.#checked.names.parties(this.#plan.parties, this.#request);
    return this.#plan.parties.map((code) => oneOf(`party ${code}`, found.get(code)).result);
  }

  async #checkJournals(): Promise<CheckResult[]> {
    const found = await this.#checked.names.journals(this.#plan.journals, this.#request);
    return this.#plan.journals.map((code) => {
      const { result, id } = oneOf(`journal ${code}`, found.get(code));
      if (id !== null) this.#journals.set(code, id);
      return result;
    });
  }

  async #checkTaxes(): Promise<CheckResult[]> {
    const found = await this.#checked.names.taxes(this.#plan.taxes, this.#request);
    return this.#plan.taxes.map((name) => {
      const { result, id } = oneOf(`tax ${name}`, found.get(name));
      if (id !== null) this.#taxes.set(name, id);
      return result;
    });
  }

  async #checkDimensions(): Promise<CheckResult[]> {
    const names = this.#plan.dimensions.flatMap(({ theirs, values }) =>
      values.map((value): AnalyticName => `${theirs}\n${value}`),
    );
    const found = await this.#checked.names.analyticAccounts(names, this.#request);
    return this.#plan.dimensions.flatMap(({ theirs, values }) =>
      values.map((value, index) => {
        const { result, id } = oneOf(`dimension ${theirs}: ${value}`, found.get(`${theirs}\n${value}`));
        if (id !== null && index === 0) this.#analytic.push(id);
        return result;
      }),
    );
  }

  async #checkPeriods(): Promise<CheckResult[]> {
    this.#periods = await this.#checked.names.periods(this.#request);
    return this.#plan.dates.map((date) => {
      const period = this.#periods.find(({ from, through }) => from <= date && date <= through);
      const name = `period of ${date}`;
      if (period === undefined)
        return wrong(name, 'Tryton has none', 'Create the fiscal year and its periods in Tryton.');
      return period.isOpen
        ? right(name)
        : wrong(name, `${period.name} is closed`, 'Open it in Tryton, or deliver from a later date (erp.from).');
    });
  }

  async #sweep(): Promise<CheckResult[]> {
    const { userId, companyId } = await this.#checked.target.openCompany(this.#request);
    const domain = [
      ...[
        ['company', '=', companyId],
        ['state', '=', 'draft'],
        ['create_uid', '=', userId],
        ['description', '=', mark],
      ],
    ];
    const left = idsOf(await this.#call('reads', 'model.account.move.search', [domain, 0, null, null]));
    for (const id of left) this.#made.add(id);
    if (left.length > 0) await this.#deleteMade();
    return [];
  }

  /** A party for lines that need one: any, since the draft is deleted. */
  async #findParty(): Promise<CheckResult[]> {
    const parties = idsOf(await this.#call('reads', 'model.party.party.search', [[], 0, 1, [['id', 'ASC']]]));
    this.#partyId = parties[0] ?? null;
    if (!this.#plan.makesParties) return [];
    const access = await this.#call('reads', 'model.ir.model.access.get_access', [['party.party', 'party.identifier']]);
    const may = Object.values((access ?? {}) as Record<string, { create?: JsonValue }>).every(
      ({ create }) => create !== false,
    );
    return [
      may
        ? right('right to make parties')
        : wrong(
            'right to make parties',
            'the API user may not create parties',
            'Give the right, or use erp.parties: collective.',
          ),
    ];
  }

  async #draftOnAll(at: At): Promise<CheckResult[]> {
    const name = 'draft on all accounts, with taxes and dimensions';
    const accounts = [...this.#accounts.values()].filter(
      ({ partyRequired }) => !partyRequired || this.#partyId !== null,
    );
    const error = await this.#tryDraft(
      at,
      accounts.flatMap((account) => this.#pair(account, at.day)),
    );
    if (error === null) return [right(name)];
    // Which of them it is.
    const faults: CheckResult[] = [];
    for (const account of accounts) {
      const fault = await this.#tryDraft(at, this.#pair(account, at.day));
      if (fault !== null)
        faults.push(failed(`account ${account.code}: draft`, fault, 'Correct in Tryton what its message says.'));
    }
    return faults.length > 0 ? faults : [failed(name, error, 'Correct in Tryton what its message says.')];
  }

  /** Two lines that balance on one account; income lines with every tax and one account of each dimension. */
  #pair(account: TrytonAccount, day: string): JsonObject[] {
    const isIncome = account.type?.statement === 'income';
    return (['debit', 'credit'] as const).map((side) => {
      const sides = { debit: cent(side === 'debit'), credit: cent(side === 'credit') };
      const taxes = isIncome
        ? [...this.#taxes.values()].map((taxId) => ({ type: 'base', tax: taxId, amount: cent(true) }))
        : [];
      const analytic = isIncome ? this.#analytic.map((id) => ({ account: id, ...sides, date: toDate(day) })) : [];
      return {
        account: account.id,
        ...sides,
        ...(account.partyRequired ? { party: this.#partyId } : {}),
        ...(taxes.length > 0 ? { tax_lines: [['create', taxes]] } : {}),
        ...(analytic.length > 0 ? { analytic_lines: [['create', analytic]] } : {}),
      };
    });
  }

  async #unbalanced(at: At, account: TrytonAccount): Promise<CheckResult[]> {
    const matched = [...this.#accounts.values()].find(
      ({ reconcile, partyRequired }) => reconcile && (!partyRequired || this.#partyId !== null),
    );
    if (matched === undefined) {
      const todo = 'Set "reconcile" on the account of the role receivable.';
      return [
        wrong(
          'right to post',
          'no account of the mapping can be matched, so that posting cannot be tried without risk',
          todo,
        ),
      ];
    }
    const party = matched.partyRequired ? { party: this.#partyId } : {};
    const [id] = await this.#make(at, [
      { account: account.id, debit: cent(true), credit: cent(false) },
      { account: matched.id, debit: cent(false), credit: cent(false), ...party },
    ]);
    const name = 'right to post; an entry that does not balance is refused';
    try {
      await this.#call('writes', 'model.account.move.post', [[id ?? 0]]);
    } catch (error) {
      if (!(error instanceof ErpError)) throw error;
      if (error.problem === 'erp_unbalanced') return [right(name)];
      return [failed(name, error, 'Give the API user the group Accounting.')];
    }
    if (id !== undefined) this.#made.delete(id);
    return [
      wrong(
        name,
        `Tryton posted the move ${id}, which does not balance`,
        'Reverse it in Tryton. Do not deliver into this server.',
      ),
    ];
  }

  async #closedPeriod(at: At, account: TrytonAccount): Promise<CheckResult[]> {
    const name = 'a closed period is refused';
    const closed = this.#periods.find(({ isOpen }) => !isOpen);
    if (closed === undefined) return [{ ...right(name), message: 'not tried: Tryton has no closed period' }];
    const error = await this.#tryDraft(
      { ...at, periodId: closed.id, day: closed.from },
      this.#pair(account, closed.from),
    );
    if (error === null)
      return [
        wrong(name, `Tryton took a draft in ${closed.name}, which is closed`, 'Do not deliver into this server.'),
      ];
    return error.problem === 'period_closed_in_erp' ? [right(name)] : [failed(name, error, 'See the message.')];
  }

  /** Makes a draft and deletes it; the error of a refusal, null where it was taken. */
  async #tryDraft(at: At, lines: JsonObject[]): Promise<ErpError | null> {
    try {
      await this.#make(at, lines);
    } catch (error) {
      if (error instanceof ErpError && error.means !== 'unsent') return error;
      throw error;
    }
    await this.#deleteMade();
    return null;
  }

  async #make({ journalId, periodId, day }: At, lines: JsonObject[]): Promise<number[]> {
    const { companyId } = await this.#checked.target.openCompany(this.#request);
    const move = { company: companyId, journal: journalId, period: periodId, date: toDate(day), description: mark };
    const ids = idsOf(
      await this.#call('writes', 'model.account.move.create', [[{ ...move, lines: [['create', lines]] }]]),
    );
    for (const id of ids) this.#made.add(id);
    return ids;
  }

  async #deleteMade(): Promise<CheckResult[]> {
    const ids = [...this.#made];
    if (ids.length > 0) await this.#call('writes', 'model.account.move.delete', [ids]);
    this.#made.clear();
    return [right('drafts are deleted')];
  }

  #call(doing: 'reads' | 'writes', method: string, params: JsonValue[]): Promise<JsonValue> {
    return this.#checked.target.call(doing, method, params, this.#request);
  }
}

interface At {
  journalId: number;
  periodId: number;
  day: string;
}

const cent = (isThere: boolean): JsonObject => ({ __class__: 'Decimal', decimal: isThere ? '0.01' : '0' });

function oneOf(
  name: string,
  found: { id: number; isActive: boolean }[] | undefined,
): { result: CheckResult; id: number | null } {
  const [first, ...others] = found ?? [];
  if (first === undefined)
    return { result: wrong(name, 'Tryton has none', 'Create it in Tryton, or correct the mapping.'), id: null };
  if (others.length > 0)
    return { result: wrong(name, `Tryton has ${others.length + 1}`, 'Rename all but one.'), id: null };
  if (!first.isActive)
    return {
      result: wrong(name, 'it is not active, or takes no lines', 'Activate it, or correct the mapping.'),
      id: null,
    };
  return { result: right(name), id: first.id };
}

const incomeRoles: readonly LineRole[] = ['revenue', 'rounding'];
const receivableRoles: readonly LineRole[] = [
  'receivable',
  'opening_receivable',
  'insurance_receivable',
  'financing_receivable',
];

/** What is wrong with an account for these roles, and what to do; null where nothing is. */
function faultOf(account: TrytonAccount, roles: LineRole[], isControl: boolean): [string, string] | null {
  if (account.type === null) return ['it is a heading: it has no type', 'Give it a type, or map another account.'];
  if (account.isClosed) return ['it is closed', 'Open it, or map another account.'];
  if (account.hasSecondCurrency) return ['it has a second currency', 'Map an account without one.'];
  if (isControl && !account.partyRequired) return ['it does not take parties', 'Set "party required" on it.'];
  if (!isControl && account.partyRequired)
    return ['it requires parties, and its lines have none', 'Turn "party required" off, or map another account.'];
  const isIncome = account.type.statement === 'income';
  const wantsIncome = roles.some((role) => incomeRoles.includes(role));
  if (wantsIncome && !isIncome && roles.length === 1 && roles[0] === 'rounding')
    return ['its type is not one of the income statement', 'Change its type, or map another account.'];
  if (!wantsIncome && isIncome)
    return ['its type is one of the income statement', 'Change its type, or map another account.'];
  if (roles.some((role) => receivableRoles.includes(role)) && !account.type.receivable) {
    return ['its type is not receivable', 'Give it a type with "receivable", so that open items show it.'];
  }
  if (roles.includes('receivable') && !account.reconcile) {
    return ['its lines cannot be matched', 'Set "reconcile" on it, so that invoices and payments are matched.'];
  }
  return null;
}
