import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { LineRole } from '../../../terms.ts';
import { type CheckPlan, type CheckResult, ErpError, type RequestOptions } from '../../port.ts';
import { draftMark, failed, right, wrong } from '../api/check.ts';
import type { CheckStep, Drafts, DraftTrials, ErpChecks, FoundWords } from '../api/erp-api.ts';
import type { TrytonCalls } from './calls.ts';
import { idsOf, type TrytonConnection } from './connection.ts';
import type { TrytonNames, TrytonPeriod, TrytonWords } from './names.ts';
import { toDate } from './wire.ts';

const series = '8.0';

interface Checked {
  calls: TrytonCalls;
  names: TrytonNames;
  connection: TrytonConnection;
}

/** The journal and the day of a draft. */
interface At {
  journalId: number;
  period: TrytonPeriod;
  day: string;
}

/**
 * The one request to post is of a draft that cannot be posted: it does not balance, and has a line of zero on an account whose lines are
 * matched, which Tryton matches as it posts, and refuses where the draft does not balance. So even Tryton on SQLite, which posts what
 * does not balance, refuses it.
 */
export class TrytonChecks implements ErpChecks<TrytonWords> {
  readonly days: CheckStep = { name: 'periods', try: () => this.#checkPeriods() };
  readonly #checked: Checked;
  readonly #plan: CheckPlan;
  readonly #request: RequestOptions;
  #periods: TrytonPeriod[] = [];
  #partyId: number | null = null;

  constructor(checked: Checked, plan: CheckPlan, request: RequestOptions) {
    this.#checked = checked;
    this.#plan = plan;
    this.#request = request;
  }

  async *connection(): AsyncGenerator<CheckResult, string | null> {
    const { connection, calls } = this.#checked;
    try {
      const version = await connection.version(this.#request);
      const name = `server, version ${version}`;
      yield version.startsWith(series)
        ? right(name)
        : wrong(name, `vetledger is measured against Tryton ${series}`, 'Try it on a copy of the database first.');
    } catch (error) {
      yield failed('server', error, 'Check erp.url, and that Tryton runs and can be reached from here.');
      return null;
    }
    try {
      const { companyId, currency } = await calls.company(this.#request);
      yield right(`login and company ${companyId} (${currency})`);
      return currency;
    } catch (error) {
      yield failed('login and company', error, 'Check erp.database, erp.user, its password and erp.company.');
      return null;
    }
  }

  accountFault(
    account: TrytonWords['account'],
    { roles, isControl }: CheckPlan['accounts'][number],
  ): [message: string, todo: string] | null {
    const has = (wanted: readonly LineRole[]) => roles.some((role) => wanted.includes(role as LineRole));
    if (account.type === null) return ['it is a heading: it has no type', 'Give it a type, or map another account.'];
    if (account.isClosed) return ['it is closed', 'Open it, or map another account.'];
    if (account.hasSecondCurrency) return ['it has a second currency', 'Map an account without one.'];
    if (isControl && !account.partyRequired) return ['it does not take parties', 'Set "party required" on it.'];
    if (!isControl && account.partyRequired)
      return ['it requires parties, and its lines have none', 'Turn "party required" off, or map another account.'];
    const isIncome = account.type.statement === 'income';
    const wantsIncome = has(incomeRoles);
    if (wantsIncome && !isIncome && roles.length === 1 && roles[0] === 'rounding')
      return ['its type is not one of the income statement', 'Change its type, or map another account.'];
    if (!wantsIncome && isIncome)
      return ['its type is one of the income statement', 'Change its type, or map another account.'];
    if (has(receivableRoles) && !account.type.receivable)
      return ['its type is not receivable', 'Give it a type with "receivable", so that open items show it.'];
    if (roles.includes('receivable') && !account.reconcile)
      return ['its lines cannot be matched', 'Set "reconcile" on it, so that invoices and payments are matched.'];
    return null;
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

  drafts(found: FoundWords<TrytonWords>, drafts: Drafts): DraftTrials<TrytonWords> | { message: string; todo: string } {
    const { dates } = this.#plan;
    const open = this.#periods.filter(({ isOpen }) => isOpen);
    const period = open.find(({ from, through }) => dates.some((day) => from <= day && day <= through)) ?? open.at(0);
    const [journal] = found.journals.values();
    const account = found.accounts.find(({ partyRequired }) => !partyRequired);
    if (period === undefined || journal === undefined || account === undefined) {
      const message = 'there is no open period, journal or account to try them with';
      return { message, todo: 'Correct what is named above first.' };
    }
    const day = dates.find((date) => period.from <= date && date <= period.through) ?? period.from;
    const at = { journalId: journal.id, period, day };
    const create = (accounts: readonly TrytonWords['account'][], on: At = at) =>
      this.#make(
        on,
        accounts.flatMap((each) => this.#pair(each, on.day, found)),
      );
    const canTry = (each: TrytonWords['account']) => !each.partyRequired || this.#partyId !== null;
    return {
      left: (request) => this.#left(request),
      before: { name: 'right to make parties', try: () => this.#findParty() },
      accounts: () => found.accounts.filter(canTry),
      create,
      refusals: [
        {
          name: postName,
          try: () => {
            const matched = found.accounts.find((each) => each.reconcile && canTry(each));
            return this.#unbalanced(at, account, matched, drafts);
          },
        },
        { name: closedName, try: () => this.#closedPeriod((on) => create([account], { ...at, ...on }), drafts) },
      ],
    };
  }

  async #left(request: RequestOptions): Promise<string[]> {
    const { userId, companyId } = await this.#checked.calls.company(request);
    const domain = [
      ['company', '=', companyId],
      ['state', '=', 'draft'],
      ['create_uid', '=', userId],
      ['description', '=', draftMark],
    ];
    const search = [domain, 0, null, null];
    return idsOf(await this.#checked.calls.call('reads', 'model.account.move.search', search, request)).map(String);
  }

  /** A party for lines that need one: any, since the draft is deleted. */
  async #findParty(): Promise<CheckResult[]> {
    const name = 'right to make parties';
    const parties = idsOf(await this.#call('reads', 'model.party.party.search', [[], 0, 1, [['id', 'ASC']]]));
    this.#partyId = parties[0] ?? null;
    if (!this.#plan.makesParties) return [];
    const access = await this.#call('reads', 'model.ir.model.access.get_access', [['party.party', 'party.identifier']]);
    const may = Object.values((access ?? {}) as Record<string, { create?: JsonValue }>).every(
      ({ create }) => create !== false,
    );
    const todo = 'Give the right, or use erp.parties: collective.';
    return [may ? right(name) : wrong(name, 'the API user may not create parties', todo)];
  }

  /** Two lines that balance on one account; income lines with every tax and one account of each dimension. */
  #pair(account: TrytonWords['account'], day: string, found: FoundWords<TrytonWords>): JsonObject[] {
    const isIncome = account.type?.statement === 'income';
    const taxes = isIncome ? found.taxes.map(({ id }) => ({ type: 'base', tax: id, amount: cent(true) })) : [];
    return (['debit', 'credit'] as const).map((side) => {
      const sides = { debit: cent(side === 'debit'), credit: cent(side === 'credit') };
      const analytic = isIncome ? found.dimensions.map(({ id }) => ({ account: id, ...sides, date: toDate(day) })) : [];
      return {
        account: account.id,
        ...sides,
        ...(account.partyRequired ? { party: this.#partyId } : {}),
        ...(taxes.length > 0 ? { tax_lines: [['create', taxes]] } : {}),
        ...(analytic.length > 0 ? { analytic_lines: [['create', analytic]] } : {}),
      };
    });
  }

  async #unbalanced(
    at: At,
    account: TrytonWords['account'],
    matched: TrytonWords['account'] | undefined,
    drafts: Drafts,
  ): Promise<CheckResult[]> {
    if (matched === undefined) {
      const message = 'no account of the mapping can be matched, so that posting cannot be tried without risk';
      return [wrong('right to post', message, 'Set "reconcile" on the account of the role receivable.')];
    }
    const party = matched.partyRequired ? { party: this.#partyId } : {};
    const [id] = await drafts.create(() =>
      this.#make(at, [
        { account: account.id, debit: cent(true), credit: cent(false) },
        { account: matched.id, debit: cent(false), credit: cent(false), ...party },
      ]),
    );
    try {
      await this.#call('writes', 'model.account.move.post', [[Number(id ?? 0)]]);
    } catch (error) {
      if (!(error instanceof ErpError)) throw error;
      if (error.problem === 'erp_unbalanced') return [right(postName)];
      return [failed(postName, error, 'Give the API user the group Accounting.')];
    }
    drafts.keep(id);
    const todo = 'Reverse it in Tryton. Do not deliver into this server.';
    return [wrong(postName, `Tryton posted the move ${id}, which does not balance`, todo)];
  }

  async #closedPeriod(
    create: (on: Pick<At, 'period' | 'day'>) => Promise<string[]>,
    drafts: Drafts,
  ): Promise<CheckResult[]> {
    const period = this.#periods.find(({ isOpen }) => !isOpen);
    if (period === undefined) return [right(closedName, 'not tried: Tryton has no closed period')];
    const error = await drafts.try(() => create({ period, day: period.from }));
    if (error === null) {
      const message = `Tryton took a draft in ${period.name}, which is closed`;
      return [wrong(closedName, message, 'Do not deliver into this server.')];
    }
    if (error.problem === 'period_closed_in_erp') return [right(closedName)];
    return [failed(closedName, error, 'See the message.')];
  }

  async #make({ journalId, period, day }: At, lines: JsonObject[]): Promise<string[]> {
    const { companyId } = await this.#checked.calls.company(this.#request);
    const move = { company: companyId, journal: journalId, period: period.id, date: toDate(day) };
    const values = [[{ ...move, description: draftMark, lines: [['create', lines]] }]];
    return idsOf(await this.#call('writes', 'model.account.move.create', values)).map(String);
  }

  #call(doing: 'reads' | 'writes', method: string, params: JsonValue[]): Promise<JsonValue> {
    return this.#checked.calls.call(doing, method, params, this.#request);
  }
}

const postName = 'right to post; an entry that does not balance is refused';
const closedName = 'a closed period is refused';

const cent = (isThere: boolean): JsonObject => ({ __class__: 'Decimal', decimal: isThere ? '0.01' : '0' });

const incomeRoles: readonly LineRole[] = ['revenue', 'rounding'];
const receivableRoles: readonly LineRole[] = [
  'receivable',
  'opening_receivable',
  'insurance_receivable',
  'financing_receivable',
];
