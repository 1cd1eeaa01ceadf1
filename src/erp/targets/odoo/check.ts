import type { LineRole } from '../../../terms.ts';
import { type CheckPlan, type CheckResult, ErpError, type RequestOptions } from '../../port.ts';
import { draftMark, failed, right, wrong } from '../api/check.ts';
import type { CheckStep, Drafts, DraftTrials, ErpChecks, FoundWords } from '../api/erp-api.ts';
import { asId, readAs } from '../api/form.ts';
import type { Company, OdooCalls } from './calls.ts';
import { maySearch } from './external-ids.ts';
import { load } from './load.ts';
import { readLocks } from './locks.ts';
import type { OdooWords } from './names.ts';

const giveBilling = 'Give the API user the right Invoicing: Billing.';
const newestMeasured = 19;
const cent = '0.01';

/**
 * The one request to post is of a draft without lines, which no Odoo posts. That Odoo moves the date of what is posted into a locked
 * period is known, and not tried.
 */
export class OdooChecks implements ErpChecks<OdooWords> {
  readonly days: CheckStep = { name: 'lock dates', try: () => this.#checkLocks() };
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
      yield failed(
        'login and company',
        error,
        'Check that Odoo is up, and erp.url, erp.database, the user, its password or API key, and erp.company.',
      );
      return null;
    }
    const { features, companyId, currency } = company;
    const name = `server, version ${features.version}`;
    yield features.version <= newestMeasured
      ? right(name)
      : wrong(
          name,
          `vetledger is measured against Odoo up to ${newestMeasured}`,
          'Try it on a copy of the database first.',
        );
    yield right(`login and company ${companyId} (${currency})`);
    return currency;
  }

  async *rights(): AsyncGenerator<CheckResult> {
    const calls = this.#calls;
    const rights = [
      ['account.move', 'create', 'right to make entries'],
      ['account.move', 'write', 'right to post'],
      ['account.move', 'unlink', 'right to delete drafts'],
      ['account.partial.reconcile', 'create', 'right to match lines'],
    ] as const;
    for (const [model, operation, name] of rights) {
      const may = await calls.may(model, operation, this.#request);
      if (!may) this.#lacking.add(name);
      yield may ? right(name) : wrong(name, 'the API user lacks it', giveBilling);
    }
    if (this.#plan.makesParties) {
      const mayMakePartners = await calls.may('res.partner', 'create', this.#request);
      yield mayMakePartners
        ? right('right to make partners')
        : wrong(
            'right to make partners',
            'the API user may not create contacts',
            'Give the right Contact Creation, or use erp.parties: collective.',
          );
    }
    const byId = await maySearch(calls, this.#request);
    const how = 'look-up of entries';
    if (byId) yield right(how, 'by external id');
    else if (this.#lacking.has('right to delete drafts')) {
      yield wrong(
        how,
        'the API user may neither look up external ids nor delete drafts, so that a draft too many could not be taken away',
        'Give the API user the right to delete entries (Invoicing: Billing), or to read external ids (ir.model.data).',
      );
    } else {
      yield right(
        how,
        'by reference, since the API user may not read external ids (ir.model.data); slower after a doubt',
      );
    }
  }

  accountFault(
    account: OdooWords['account'],
    { roles }: CheckPlan['accounts'][number],
  ): [message: string, todo: string] | null {
    if (!account.isActive) return ['it is deprecated or archived', 'Restore it, or map another account.'];
    if (account.currencyId !== null) return ['it has a currency of its own', 'Map an account without one.'];
    const isIncome = incomeTypes.includes(account.type);
    if (roles.includes('revenue') && roles.length === 1 && !isIncome)
      return [`its type is ${account.type}`, 'Give it the type Income, or map another account.'];
    if (!roles.some((role) => incomeRoles.includes(role as LineRole)) && isIncome)
      return [`its type is ${account.type}`, 'Change its type, or map another account.'];
    if (roles.includes('receivable') && account.type !== 'asset_receivable')
      return [`its type is ${account.type}`, 'Give it the type Receivable, so that open items show it.'];
    if (roles.includes('receivable') && !account.reconcile)
      return [
        'its lines cannot be matched',
        'Set "Allow Reconciliation" on it, so that invoices and payments are matched.',
      ];
    return null;
  }

  taxResult(name: string, { fault, invoice }: OdooWords['tax']): CheckResult {
    if (fault !== null) return wrong(name, `it ${fault}`, 'Map another tax.');
    return invoice.baseTags.length > 0
      ? right(name)
      : right(name, 'its base has no tag: Odoo’s tax report shows its amounts, and its base on the tax line only');
  }

  async #checkLocks(): Promise<CheckResult[]> {
    const { lockedThrough } = await readLocks(this.#calls, this.#request);
    const told = lockedThrough.map(({ kind, date }) => `${kind} through ${date}`).join(', ') || 'none';
    return [
      right('lock dates', told),
      ...this.#plan.dates.flatMap((date) => {
        const lock = lockedThrough.find(({ date: through }) => date <= through);
        if (lock === undefined) return [];
        const todo = 'Unlock it in Odoo, or deliver from a later date (erp.from).';
        return [wrong(`day ${date}`, `it is locked (${lock.kind} through ${lock.date})`, todo)];
      }),
    ];
  }

  drafts(found: FoundWords<OdooWords>, drafts: Drafts): DraftTrials<OdooWords> | { message: string; todo: string } {
    const [account] = found.accounts;
    const [journal] = found.journals.values();
    if (this.#plan.journals.length === 0) {
      const todo =
        'Load the clinic with `vetledger sync`, and check again: what is posted tells the journals, taxes and dimensions.';
      return { message: 'not tried: nothing is posted yet', todo };
    }
    if (journal === undefined || account === undefined || this.#lacking.size > 0) {
      const why =
        this.#lacking.size > 0 ? 'the API user lacks rights' : 'there is no journal or account to try them with';
      return { message: `not tried: ${why}`, todo: 'Correct what is named above first.' };
    }
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
          const name = `journal ${code}: an entry that does not balance is refused`;
          return { name, try: () => this.#unbalanced(name, each.id, account.id, drafts) };
        }),
        { name: 'right to post', try: () => this.#postNothing(journal.id, drafts) },
      ],
    };
  }

  async #left(request: RequestOptions): Promise<string[]> {
    const { companyId } = await this.#calls.company(request);
    const domain = [
      ['company_id', '=', companyId],
      ['state', '=', 'draft'],
      ['ref', '=', draftMark],
    ];
    const left = await this.#calls.all('account.move', { domain, fields: [] }, request);
    return left.map(({ id }) => String(readAs(id, asId)));
  }

  async #unbalanced(name: string, journalId: number, accountId: number, drafts: Drafts): Promise<CheckResult[]> {
    const error = await drafts.try(() => this.#make(journalId, [[String(accountId), cent, '0.00', '', '']]));
    if (error === null) {
      const todo =
        'Take the default account from the journal, or map another journal: entries are compared after they were made, and would be refused.';
      return [wrong(name, 'Odoo took a draft that does not balance, or added a line to it', todo)];
    }
    return error.problem === 'erp_unbalanced' ? [right(name)] : [failed(name, error, 'See the message.')];
  }

  /** No Odoo posts a move without lines; what it says about it shows whether the user may post. */
  async #postNothing(journalId: number, drafts: Drafts): Promise<CheckResult[]> {
    const name = 'right to post';
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
      return [failed(name, error, giveBilling)];
    }
    drafts.keep(id);
    const todo = 'Cancel it in Odoo, and do not deliver into this server.';
    return [wrong(name, `Odoo posted the entry ${id}, which has no lines`, todo)];
  }

  async #make(journalId: number, lines: string[][]): Promise<string[]> {
    const move = ['entry', String(journalId), this.#plan.dates.at(-1) ?? '', draftMark];
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

/** Two lines that balance on one account; on income with the tags of every tax and one account of each plan. */
function pairOn(account: OdooWords['account'], { taxes, dimensions }: FoundWords<OdooWords>): string[][] {
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
