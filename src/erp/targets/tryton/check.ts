import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { LineRole } from '../../../terms.ts';
import { erpCheckTexts } from '../../../texts/reports/erp-check.ts';
import { type CheckPlan, type CheckResult, ErpError, type RequestOptions } from '../../port.ts';
import { failed, loggedIn, right, wrong } from '../api/check.ts';
import type { CheckStep, Drafts, DraftTrials, ErpChecks, FoundRecords } from '../api/erp-api.ts';
import type { TrytonCalls } from './calls.ts';
import { idsOf, type TrytonConnection } from './connection.ts';
import type { TrytonNames, TrytonPeriod, TrytonRecords } from './names.ts';
import { toDate } from './wire.ts';

const series = '8.0';

interface Checked {
  calls: TrytonCalls;
  names: TrytonNames;
  connection: TrytonConnection;
}

/** Journal, period and date of a draft. */
interface At {
  journalId: number;
  period: TrytonPeriod;
  day: string;
}

/**
 * The check calls `post` only for a draft that every Tryton refuses. The draft does not balance, and has a line of zero
 * on an account with matching. Tryton matches such a line while posting, and refuses that in an unbalanced draft.
 * Without this line, Tryton on SQLite would post the unbalanced draft.
 */
export class TrytonChecks implements ErpChecks<TrytonRecords> {
  readonly days: CheckStep = { name: erpCheckTexts.periods, try: () => this.#checkPeriods() };
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
      const name = erpCheckTexts.version({ version });
      const tested = erpCheckTexts.tested({ erp: 'Tryton', version: series });
      yield version.startsWith(series) ? right(name) : wrong(name, tested, erpCheckTexts.tryOnCopy);
    } catch (error) {
      yield failed(erpCheckTexts.server, error, erpCheckTexts.checkServer({ erp: 'Tryton' }));
      return null;
    }
    return yield* loggedIn(async () => {
      const { companyId, currency } = await calls.company(this.#request);
      return { id: String(companyId), currency };
    }, erpCheckTexts.checkTrytonLogin);
  }

  accountFault(
    account: TrytonRecords['account'],
    { roles, isControl }: CheckPlan['accounts'][number],
  ): [message: string, todo: string] | null {
    const has = (wanted: readonly LineRole[]) => roles.some((role) => wanted.includes(role as LineRole));
    if (account.type === null) return [erpCheckTexts.isHeading, erpCheckTexts.giveType];
    if (account.isClosed) return [erpCheckTexts.isClosed, erpCheckTexts.open];
    if (account.hasSecondCurrency) return [erpCheckTexts.hasSecondCurrency, erpCheckTexts.mapWithoutCurrency];
    if (isControl && !account.partyRequired) return [erpCheckTexts.takesNoParties, erpCheckTexts.requireParty];
    if (!isControl && account.partyRequired) return [erpCheckTexts.requiresParties, erpCheckTexts.requireNoParty];
    const isIncome = account.type.statement === 'income';
    const requiresIncome = has(incomeRoles);
    if (requiresIncome && !isIncome && roles.length === 1 && roles[0] === 'rounding')
      return [erpCheckTexts.notIncome, erpCheckTexts.changeType];
    if (!requiresIncome && isIncome) return [erpCheckTexts.isIncome, erpCheckTexts.changeType];
    if (has(receivableRoles) && !account.type.receivable)
      return [erpCheckTexts.notReceivable, erpCheckTexts.giveReceivableType];
    if (roles.includes('receivable') && !account.reconcile)
      return [erpCheckTexts.notMatchable, erpCheckTexts.setReconcile];
    return null;
  }

  async #checkPeriods(): Promise<CheckResult[]> {
    this.#periods = await this.#checked.names.periods(this.#request);
    return this.#plan.dates.map((date) => {
      const period = this.#periods.find(({ from, through }) => from <= date && date <= through);
      const name = erpCheckTexts.period({ date });
      if (period === undefined)
        return wrong(name, erpCheckTexts.noPeriod({ erp: 'Tryton' }), erpCheckTexts.createPeriod({ erp: 'Tryton' }));
      const closed = erpCheckTexts.periodClosed({ period: period.name });
      return period.isOpen ? right(name) : wrong(name, closed, erpCheckTexts.openPeriod({ erp: 'Tryton' }));
    });
  }

  drafts(
    found: FoundRecords<TrytonRecords>,
    drafts: Drafts,
  ): DraftTrials<TrytonRecords> | { message: string; todo: string } {
    const { dates } = this.#plan;
    const open = this.#periods.filter(({ isOpen }) => isOpen);
    const period = open.find(({ from, through }) => dates.some((day) => from <= day && day <= through)) ?? open.at(0);
    const [journal] = found.journals.values();
    const account = found.accounts.find(({ partyRequired }) => !partyRequired);
    if (period === undefined || journal === undefined || account === undefined) {
      return { message: erpCheckTexts.noOpenPeriod, todo: erpCheckTexts.correctAbove };
    }
    const day = dates.find((date) => period.from <= date && date <= period.through) ?? period.from;
    const at = { journalId: journal.id, period, day };
    const create = (accounts: readonly TrytonRecords['account'][], on: At = at) =>
      this.#make(
        on,
        accounts.flatMap((each) => this.#pair(each, on.day, found)),
      );
    const canTry = (each: TrytonRecords['account']) => !each.partyRequired || this.#partyId !== null;
    return {
      left: (request) => this.#left(request),
      before: { name: erpCheckTexts.makeParties, try: () => this.#findParty() },
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
      ['description', '=', erpCheckTexts.draftMark],
    ];
    const search = [domain, 0, null, null];
    return idsOf(await this.#checked.calls.call('reads', 'model.account.move.search', search, request)).map(String);
  }

  /** Chooses any party for the lines of drafts, since the drafts are deleted. */
  async #findParty(): Promise<CheckResult[]> {
    const name = erpCheckTexts.makeParties;
    const parties = idsOf(await this.#call('reads', 'model.party.party.search', [[], 0, 1, [['id', 'ASC']]]));
    this.#partyId = parties[0] ?? null;
    if (!this.#plan.makesParties) return [];
    const access = await this.#call('reads', 'model.ir.model.access.get_access', [['party.party', 'party.identifier']]);
    const may = Object.values((access ?? {}) as Record<string, { create?: JsonValue }>).every(
      ({ create }) => create !== false,
    );
    return [may ? right(name) : wrong(name, erpCheckTexts.noParties, erpCheckTexts.giveParties)];
  }

  /**
   * Returns two lines on one account that balance. On an income account, the lines carry every tax, and one account of
   * each dimension.
   */
  #pair(account: TrytonRecords['account'], day: string, found: FoundRecords<TrytonRecords>): JsonObject[] {
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
    account: TrytonRecords['account'],
    matched: TrytonRecords['account'] | undefined,
    drafts: Drafts,
  ): Promise<CheckResult[]> {
    if (matched === undefined) {
      const { post, cannotTryPosting, setReconcileOnReceivable } = erpCheckTexts;
      return [wrong(post, cannotTryPosting, setReconcileOnReceivable)];
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
      return [failed(postName, error, erpCheckTexts.giveAccounting)];
    }
    drafts.keep(id);
    return [wrong(postName, erpCheckTexts.postedUnbalanced({ id: id ?? '' }), erpCheckTexts.reverseMove)];
  }

  async #closedPeriod(
    create: (on: Pick<At, 'period' | 'day'>) => Promise<string[]>,
    drafts: Drafts,
  ): Promise<CheckResult[]> {
    const period = this.#periods.find(({ isOpen }) => !isOpen);
    if (period === undefined) return [right(closedName, erpCheckTexts.noClosedPeriod)];
    const error = await drafts.try(() => create({ period, day: period.from }));
    if (error === null) {
      const message = erpCheckTexts.tookClosed({ period: period.name });
      return [wrong(closedName, message, erpCheckTexts.doNotDeliver)];
    }
    if (error.problem === 'period_closed_in_erp') return [right(closedName)];
    return [failed(closedName, error, erpCheckTexts.seeMessage)];
  }

  async #make({ journalId, period, day }: At, lines: JsonObject[]): Promise<string[]> {
    const { companyId } = await this.#checked.calls.company(this.#request);
    const move = { company: String(companyId), journal: journalId, period: period.id, date: toDate(day) };
    const values = [[{ ...move, description: erpCheckTexts.draftMark, lines: [['create', lines]] }]];
    return idsOf(await this.#call('writes', 'model.account.move.create', values)).map(String);
  }

  #call(access: 'reads' | 'writes', method: string, params: JsonValue[]): Promise<JsonValue> {
    return this.#checked.calls.call(access, method, params, this.#request);
  }
}

const postName = erpCheckTexts.postRefusesUnbalanced;
const closedName = erpCheckTexts.closedRefused;

const cent = (isThere: boolean): JsonObject => ({ __class__: 'Decimal', decimal: isThere ? '0.01' : '0' });

const incomeRoles: readonly LineRole[] = ['revenue', 'rounding'];
const receivableRoles: readonly LineRole[] = [
  'receivable',
  'opening_receivable',
  'insurance_receivable',
  'financing_receivable',
];
