import type { LineRole } from '../../../terms.ts';
import { erpCheckTexts } from '../../../texts/reports/erp-check.ts';
import { type CheckPlan, type CheckResult, ErpError, type RequestOptions } from '../../port.ts';
import { failed, right, wrong } from '../api/check.ts';
import type { CheckStep, Drafts, DraftTrials, ErpChecks, FoundRecords } from '../api/erp-api.ts';
import { asId, readAs } from '../api/form.ts';
import type { Company, OdooCalls } from './calls.ts';
import { maySearch } from './external-ids.ts';
import { load } from './load.ts';
import { readLocks } from './locks.ts';
import type { OdooRecords } from './names.ts';

const newestMeasured = 19;
const cent = '0.01';

/**
 * The check calls `action_post` only for a draft without lines, which every version of Odoo refuses. It does not try a
 * locked period: Odoo is known to move the entry's date.
 */
export class OdooChecks implements ErpChecks<OdooRecords> {
  readonly days: CheckStep = { name: erpCheckTexts.lockDates, try: () => this.#checkLocks() };
  readonly #calls: OdooCalls;
  readonly #plan: CheckPlan;
  readonly #request: RequestOptions;
  readonly #lacking = new Set<string>();

  constructor(calls: OdooCalls, plan: CheckPlan, request: RequestOptions) {
    this.#calls = calls;
    this.#plan = plan;
    this.#request = request;
  }

  async *connection(): AsyncGenerator<CheckResult, string | null> {
    let company: Company;
    try {
      company = await this.#calls.company(this.#request);
    } catch (error) {
      yield failed(erpCheckTexts.login, error, erpCheckTexts.checkOdooLogin);
      return null;
    }
    const { features, companyId, currency } = company;
    const { version } = features;
    const name = erpCheckTexts.version({ version: String(version) });
    const tested = erpCheckTexts.testedUpTo({ erp: 'Odoo', version: newestMeasured });
    yield version <= newestMeasured ? right(name) : wrong(name, tested, erpCheckTexts.tryOnCopy);
    yield right(erpCheckTexts.loggedIn({ company: String(companyId), currency }));
    return currency;
  }

  async *rights(): AsyncGenerator<CheckResult> {
    const calls = this.#calls;
    const rights = [
      ['account.move', 'create', erpCheckTexts.makeEntries],
      ['account.move', 'write', erpCheckTexts.post],
      ['account.move', 'unlink', erpCheckTexts.withdrawDrafts],
      ['account.partial.reconcile', 'create', erpCheckTexts.matchLines],
    ] as const;
    for (const [model, operation, name] of rights) {
      const may = await calls.may(model, operation, this.#request);
      if (!may) this.#lacking.add(name);
      yield may ? right(name) : wrong(name, erpCheckTexts.rightMissing, erpCheckTexts.giveBilling);
    }
    if (this.#plan.makesParties) {
      const mayMakePartners = await calls.may('res.partner', 'create', this.#request);
      const name = erpCheckTexts.makePartners;
      yield mayMakePartners ? right(name) : wrong(name, erpCheckTexts.noContacts, erpCheckTexts.giveContacts);
    }
    const byId = await maySearch(calls, this.#request);
    const name = erpCheckTexts.lookUp;
    if (byId) yield right(name, erpCheckTexts.byExternalId);
    else if (this.#lacking.has(erpCheckTexts.withdrawDrafts))
      yield wrong(name, erpCheckTexts.noLookUp, erpCheckTexts.giveLookUp);
    else yield right(name, erpCheckTexts.byReference);
  }

  accountFault(
    account: OdooRecords['account'],
    { roles }: CheckPlan['accounts'][number],
  ): [message: string, todo: string] | null {
    const type = erpCheckTexts.typeIs({ type: account.type });
    if (!account.isActive) return [erpCheckTexts.archived, erpCheckTexts.restore];
    if (account.currencyId !== null) return [erpCheckTexts.hasCurrency, erpCheckTexts.mapWithoutCurrency];
    const isIncome = incomeTypes.includes(account.type);
    if (roles.includes('revenue') && roles.length === 1 && !isIncome) return [type, erpCheckTexts.giveIncome];
    if (!roles.some((role) => incomeRoles.includes(role as LineRole)) && isIncome)
      return [type, erpCheckTexts.changeType];
    if (roles.includes('receivable') && account.type !== 'asset_receivable')
      return [type, erpCheckTexts.giveReceivable];
    if (roles.includes('receivable') && !account.reconcile)
      return [erpCheckTexts.notMatchable, erpCheckTexts.allowReconciliation];
    return null;
  }

  taxResult(name: string, { fault, invoice }: OdooRecords['tax']): CheckResult {
    if (fault !== null) return wrong(name, erpCheckTexts.inactive({ isInactive: fault }), erpCheckTexts.mapOtherTax);
    return invoice.baseTags.length > 0 ? right(name) : right(name, erpCheckTexts.baseWithoutTag);
  }

  async #checkLocks(): Promise<CheckResult[]> {
    const { lockedThrough } = await readLocks(this.#calls, this.#request);
    const locks = lockedThrough.map(erpCheckTexts.lock).join(', ') || erpCheckTexts.noLocks;
    return [
      right(erpCheckTexts.lockDates, locks),
      ...this.#plan.dates.flatMap((date) => {
        const found = lockedThrough.find(({ date: through }) => date <= through);
        if (found === undefined) return [];
        const message = erpCheckTexts.locked({ lock: erpCheckTexts.lock(found) });
        return [wrong(erpCheckTexts.day({ date }), message, erpCheckTexts.unlock({ erp: 'Odoo' }))];
      }),
    ];
  }

  drafts(
    found: FoundRecords<OdooRecords>,
    drafts: Drafts,
  ): DraftTrials<OdooRecords> | { message: string; todo: string } {
    const [account] = found.accounts;
    const [journal] = found.journals.values();
    if (this.#plan.journals.length === 0)
      return { message: erpCheckTexts.nothingPosted, todo: erpCheckTexts.syncFirst };
    if (this.#lacking.size > 0) return { message: erpCheckTexts.rightsMissing, todo: erpCheckTexts.correctAbove };
    if (journal === undefined || account === undefined)
      return { message: erpCheckTexts.noAccount, todo: erpCheckTexts.correctAbove };
    return {
      left: (request) => this.#left(request),
      accounts: () => found.accounts,
      create: (accounts) =>
        this.#make(
          journal.id,
          accounts.flatMap((each) => pairOn(each, found)),
        ),
      refusals: [
        ...[...found.journals].map(([code, each]) => {
          const name = erpCheckTexts.unbalancedRefused({ journal: code });
          return { name, try: () => this.#unbalanced(name, each.id, account.id, drafts) };
        }),
        { name: erpCheckTexts.post, try: () => this.#postNothing(journal.id, drafts) },
      ],
    };
  }

  async #left(request: RequestOptions): Promise<string[]> {
    const { companyId } = await this.#calls.company(request);
    const domain = [
      ['company_id', '=', companyId],
      ['state', '=', 'draft'],
      ['ref', '=', erpCheckTexts.draftMark],
    ];
    const left = await this.#calls.all('account.move', { domain, fields: [] }, request);
    return left.map(({ id }) => String(readAs(id, asId)));
  }

  async #unbalanced(name: string, journalId: number, accountId: number, drafts: Drafts): Promise<CheckResult[]> {
    const error = await drafts.try(() => this.#make(journalId, [[String(accountId), cent, '0.00', '', '']]));
    if (error === null) return [wrong(name, erpCheckTexts.tookUnbalanced, erpCheckTexts.removeDefaultAccount)];
    return error.problem === 'erp_unbalanced' ? [right(name)] : [failed(name, error, erpCheckTexts.seeMessage)];
  }

  /** Odoo never posts a move without lines. Its error shows whether the user may post. */
  async #postNothing(journalId: number, drafts: Drafts): Promise<CheckResult[]> {
    const name = erpCheckTexts.post;
    const [id] = await drafts.create(() => this.#make(journalId, []));
    const call = {
      model: 'account.move',
      method: 'action_post',
      ids: [Number(id ?? 0)],
      returnsNothing: true,
    } as const;
    try {
      await this.#calls.call('writes', call, this.#request);
    } catch (error) {
      if (!(error instanceof ErpError)) throw error;
      if (error.means === 'refused') return [right(name)];
      return [failed(name, error, erpCheckTexts.giveBilling)];
    }
    drafts.keep(id);
    return [wrong(name, erpCheckTexts.postedEmpty({ id: id ?? '' }), erpCheckTexts.cancelEntry)];
  }

  async #make(journalId: number, lines: string[][]): Promise<string[]> {
    const move = ['entry', String(journalId), this.#plan.dates.at(-1) ?? '', erpCheckTexts.draftMark];
    const moveFields = ['move_type', 'journal_id/.id', 'date', 'ref'];
    const columns = ['account_id/.id', 'debit', 'credit', 'tax_tag_ids/.id', 'analytic_distribution'];
    const table =
      lines.length === 0
        ? { fields: moveFields, data: [move] }
        : {
            fields: [...moveFields, ...columns.map((column) => `line_ids/${column}`)],
            data: lines.map((line, index) => [...(index === 0 ? move : move.map(() => '')), ...line]),
          };
    return (await load(this.#calls, 'account.move', table, this.#request)).map(String);
  }
}

/**
 * Returns two lines on one account that balance. On an income account, the lines carry the tags of every tax, and one
 * account of each analytic plan.
 */
function pairOn(account: OdooRecords['account'], { taxes, dimensions }: FoundRecords<OdooRecords>): string[][] {
  const isIncome = incomeTypes.includes(account.type);
  const tags = isIncome ? [...new Set(taxes.flatMap(({ invoice }) => invoice.baseTags))].join(',') : '';
  const analytic = dimensions.map(({ id }) => id).join(',');
  const distribution = isIncome && analytic !== '' ? `{"${analytic}": 100}` : '';
  return [
    [String(account.id), cent, '0.00', tags, distribution],
    [String(account.id), '0.00', cent, tags, distribution],
  ];
}

const incomeTypes: readonly string[] = [
  'income',
  'income_other',
  'expense',
  'expense_direct_cost',
  'expense_depreciation',
];
const incomeRoles: readonly LineRole[] = ['revenue', 'rounding'];
