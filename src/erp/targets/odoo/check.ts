import type { JsonValue } from '../../../records/json.ts';
import type { LineRole } from '../../../terms.ts';
import { type CheckPlan, type CheckResult, ErpError, type RequestOptions } from '../../port.ts';
import { currencyFault, failed, right, wrong } from '../check-results.ts';
import { asId, readAs } from '../form.ts';
import type { Doing } from '../http.ts';
import type { Company, OdooCalls } from './calls.ts';
import type { OdooCall } from './connection.ts';
import { deleteDrafts } from './drafts.ts';
import { maySearch } from './external-ids.ts';
import { load } from './load.ts';
import { readLocks } from './locks.ts';
import type { AnalyticName, Named, OdooAccount, OdooNames } from './names.ts';
import type { OdooTax } from './taxes.ts';

const giveBilling = 'Give the API user the right Invoicing: Billing.';
const newestMeasured = 19;
/** The reference of every draft that a check makes, by which one that was cut off is found again and removed. */
const mark = 'vetledger erp check: may be deleted';
const cent = '0.01';
/** A check that was cut off takes so long at most to remove what it made. */
const cleanUpMs = 10_000;

interface Checked {
  calls: OdooCalls;
  names: OdooNames;
}

/**
 * Looks up all that entries name and, where the plan `writes`, tries everything that delivery does, for real: drafts are made and
 * deleted, and nothing is ever posted. The one request to post is of a draft without lines, which no Odoo posts. That Odoo moves the
 * date of what is posted into a locked period is known, and not tried.
 */
export async function* checkOdoo(
  checked: Checked,
  plan: CheckPlan,
  request: RequestOptions,
): AsyncGenerator<CheckResult> {
  const check = new Check(checked, plan, request);
  try {
    if (!(yield* check.connection())) return;
    yield* check.rights();
    yield* check.words();
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
  #accounts: OdooAccount[] = [];
  #taxes: OdooTax[] = [];
  #analytic: number[] = [];
  readonly #journals = new Map<string, Named>();
  readonly #lacking = new Set<string>();
  #hasTried = false;

  constructor(checked: Checked, plan: CheckPlan, request: RequestOptions) {
    this.#checked = checked;
    this.#plan = plan;
    this.#request = request;
  }

  /** Whether the rest can be tried. */
  async *connection(): AsyncGenerator<CheckResult, boolean> {
    let company: Company;
    try {
      company = await this.#checked.calls.company(this.#request);
    } catch (error) {
      yield failed(
        'login and company',
        error,
        'Check that Odoo is up, and erp.url, erp.database, the user, its password or API key, and erp.company.',
      );
      return false;
    }
    const { features, companyId, currency } = company;
    yield features.version <= newestMeasured
      ? right(`server, version ${features.version}`)
      : wrong(
          `server, version ${features.version}`,
          `vetledger is measured against Odoo up to ${newestMeasured}`,
          'Try it on a copy of the database first.',
        );
    yield right(`login and company ${companyId} (${currency})`);
    const fault = currencyFault(currency, this.#plan);
    if (fault !== null) yield fault;
    return fault === null;
  }

  async *rights(): AsyncGenerator<CheckResult> {
    const { calls } = this.#checked;
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

  async *words(): AsyncGenerator<CheckResult> {
    this.#checked.names.clear();
    yield* this.#tried('accounts', () => this.#checkAccounts());
    yield* this.#tried('parties', () => this.#checkParties());
    yield* this.#tried('journals', () => this.#checkJournals());
    yield* this.#tried('taxes', () => this.#checkTaxes());
    yield* this.#tried('dimensions', () => this.#checkDimensions());
    yield* this.#tried('lock dates', () => this.#checkLocks());
  }

  /** What delivery does with drafts, and what Odoo must refuse. */
  async *drafts(): AsyncGenerator<CheckResult> {
    const [account] = this.#accounts;
    const [journal] = this.#journals.values();
    if (this.#plan.journals.length === 0) {
      const todo =
        'Load the clinic with `vetledger sync`, and check again: what is posted tells the journals, taxes and dimensions.';
      yield wrong('drafts', 'not tried: nothing is posted yet', todo);
      return;
    }
    if (journal === undefined || account === undefined || this.#lacking.size > 0) {
      const why =
        this.#lacking.size > 0 ? 'the API user lacks rights' : 'there is no journal or account to try them with';
      yield wrong('drafts', `not tried: ${why}`, 'Correct what is named above first.');
      return;
    }
    this.#hasTried = true;
    yield* this.#tried('drafts that a check left behind', () => this.#sweep(this.#request));
    yield* this.#tried('draft on all accounts, with taxes and dimensions', () => this.#draftOnAll(journal));
    for (const [code, each] of this.#journals) {
      const name = `journal ${code}: an entry that does not balance is refused`;
      yield* this.#tried(name, () => this.#unbalanced(name, each, account));
    }
    yield* this.#tried('right to post', () => this.#postNothing(journal));
    yield* this.#tried('drafts are deleted', () => this.#deleteMade());
  }

  /** Once drafts were tried. The check's own signal may be what cut it off, and a request without an answer have made one. */
  async cleanUp(): Promise<void> {
    if (!this.#hasTried) return;
    await this.#sweep({ ...this.#request, signal: AbortSignal.timeout(cleanUpMs) }).catch(() => {});
  }

  /** Runs one part; what it throws is its result. */
  async *#tried(name: string, part: () => Promise<CheckResult[]>): AsyncGenerator<CheckResult> {
    try {
      yield* await part();
    } catch (error) {
      yield failed(
        name,
        error,
        'Correct in Odoo what its message says; the API user needs the right Invoicing: Billing.',
      );
    }
  }

  async #checkAccounts(): Promise<CheckResult[]> {
    const codes = this.#plan.accounts.map(({ account }) => account);
    const found = await this.#checked.names.accounts(codes, this.#request);
    return this.#plan.accounts.map(({ account: code, roles }) => {
      const name = `account ${code} (${roles.join(', ')})`;
      const [account, ...others] = found.get(code) ?? [];
      if (account === undefined)
        return wrong(name, 'Odoo has no such account in this company', 'Create it, or change the mapping.');
      if (others.length > 0)
        return wrong(name, `Odoo has ${others.length + 1} accounts with this code`, 'Change the code of all but one.');
      const fault = faultOf(account, roles as LineRole[]);
      if (fault !== null) return wrong(name, ...fault);
      this.#accounts.push(account);
      return right(name);
    });
  }

  async #checkParties(): Promise<CheckResult[]> {
    const found = await this.#checked.names.parties(this.#plan.parties, this.#request);
    return this.#plan.parties.map((code) => oneOf(`partner with the reference ${code}`, found.get(code)).result);
  }

  async #checkJournals(): Promise<CheckResult[]> {
    const found = await this.#checked.names.journals(this.#plan.journals, this.#request);
    return this.#plan.journals.map((code) => {
      const { result, value } = oneOf(`journal ${code}`, found.get(code));
      if (value !== null) this.#journals.set(code, value);
      return result;
    });
  }

  async #checkTaxes(): Promise<CheckResult[]> {
    if (this.#plan.taxes.length === 0) return [];
    const book = await this.#checked.names.taxes(this.#request);
    return this.#plan.taxes.map((code) => {
      const name = `tax ${code}`;
      const { result, value } = oneOf(name, [...book.named(code)]);
      if (value === null) return result;
      if (value.fault !== null) return wrong(name, `it ${value.fault}`, 'Map another tax.');
      this.#taxes.push(value);
      return value.invoice.baseTags.length > 0
        ? right(name)
        : right(name, 'its base has no tag: Odoo’s tax report shows its amounts, and its base on the tax line only');
    });
  }

  async #checkDimensions(): Promise<CheckResult[]> {
    const wanted = this.#plan.dimensions.flatMap(({ theirs, values }) => values.map((value) => ({ theirs, value })));
    const names = wanted.map(({ theirs, value }): AnalyticName => `${theirs}\n${value}`);
    const found = await this.#checked.names.analyticAccounts(names, this.#request);
    const plans = new Set<string>();
    return wanted.map(({ theirs, value }) => {
      const { result, value: account } = oneOf(`dimension ${theirs}: ${value}`, found.get(`${theirs}\n${value}`));
      // One account of each plan is enough to try.
      if (account !== null && !plans.has(theirs)) this.#analytic.push(account.id);
      plans.add(theirs);
      return result;
    });
  }

  async #checkLocks(): Promise<CheckResult[]> {
    const { lockedThrough } = await readLocks(this.#checked.calls, this.#request);
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

  /** Deletes all drafts of checks: of this one, and of those that ended before they could. */
  async #sweep(request: RequestOptions): Promise<CheckResult[]> {
    const { calls } = this.#checked;
    const { companyId } = await calls.company(request);
    const domain = [
      ['company_id', '=', companyId],
      ['state', '=', 'draft'],
      ['ref', '=', mark],
    ];
    const left = await calls.all('account.move', { domain, fields: [] }, request);
    const ids = left.map(({ id }) => readAs(id, asId));
    if (ids.length > 0) await deleteDrafts(calls, ids, request);
    return [];
  }

  async #draftOnAll(journal: Named): Promise<CheckResult[]> {
    const name = 'draft on all accounts, with taxes and dimensions';
    const error = await this.#tryDraft(
      journal,
      this.#accounts.flatMap((account) => this.#pair(account)),
    );
    if (error === null) return [right(name)];
    // A right that is missing is missing for all of them.
    if (error.means === 'auth') return [failed(name, error, giveBilling)];
    // Which of them it is.
    const faults: CheckResult[] = [];
    for (const account of this.#accounts) {
      const fault = await this.#tryDraft(journal, this.#pair(account));
      if (fault !== null)
        faults.push(failed(`account ${account.code}: draft`, fault, 'Correct in Odoo what its message says.'));
    }
    return faults.length > 0 ? faults : [failed(name, error, 'Correct in Odoo what its message says.')];
  }

  /** Two lines that balance on one account; on income with the tags of every tax and one account of each plan. */
  #pair(account: OdooAccount): string[][] {
    const isIncome = incomeTypes.includes(account.type);
    const tags = isIncome ? [...new Set(this.#taxes.flatMap(({ invoice }) => invoice.baseTags))].join(',') : '';
    const distribution = isIncome && this.#analytic.length > 0 ? `{"${this.#analytic.join(',')}": 100}` : '';
    return [
      [String(account.id), cent, '0.00', tags, distribution],
      [String(account.id), '0.00', cent, tags, distribution],
    ];
  }

  async #unbalanced(name: string, journal: Named, account: OdooAccount): Promise<CheckResult[]> {
    const error = await this.#tryDraft(journal, [[String(account.id), cent, '0.00', '', '']]);
    if (error === null) {
      const todo =
        'Take the default account from the journal, or map another journal: entries are compared after they were made, and would be refused.';
      return [wrong(name, 'Odoo took a draft that does not balance, or added a line to it', todo)];
    }
    return error.problem === 'erp_unbalanced' ? [right(name)] : [failed(name, error, 'See the message.')];
  }

  /** No Odoo posts a move without lines; what it says about it shows whether the user may post. */
  async #postNothing(journal: Named): Promise<CheckResult[]> {
    const name = 'right to post';
    const [id] = await this.#make(journal, []);
    try {
      await this.#call('writes', {
        model: 'account.move',
        method: 'action_post',
        ids: [id ?? 0],
        returnsNothing: true,
      });
    } catch (error) {
      if (!(error instanceof ErpError)) throw error;
      if (error.means === 'refused') return [right(name)];
      return [failed(name, error, giveBilling)];
    }
    if (id !== undefined) this.#made.delete(id);
    return [
      wrong(
        name,
        `Odoo posted the entry ${id}, which has no lines`,
        'Cancel it in Odoo, and do not deliver into this server.',
      ),
    ];
  }

  /** Makes a draft and deletes it; the error of a refusal, null where it was taken. */
  async #tryDraft(journal: Named, lines: string[][]): Promise<ErpError | null> {
    try {
      await this.#make(journal, lines);
    } catch (error) {
      if (error instanceof ErpError && error.means !== 'unsent') return error;
      throw error;
    }
    await this.#deleteMade();
    return null;
  }

  async #make(journal: Named, lines: string[][]): Promise<number[]> {
    const day = this.#plan.dates.at(-1);
    const move = ['entry', String(journal.id), day ?? '', mark];
    const columns = ['account_id/.id', 'debit', 'credit', 'tax_tag_ids/.id', 'analytic_distribution'];
    const rows =
      lines.length === 0 ? [move] : lines.map((line, index) => [...(index === 0 ? move : move.map(() => '')), ...line]);
    const fields = [
      'move_type',
      'journal_id/.id',
      'date',
      'ref',
      ...(lines.length === 0 ? [] : columns.map((column) => `line_ids/${column}`)),
    ];
    const made = await load(this.#checked.calls, 'account.move', { fields, data: rows }, this.#request);
    for (const id of made) this.#made.add(id);
    return made;
  }

  async #deleteMade(): Promise<CheckResult[]> {
    await deleteDrafts(this.#checked.calls, [...this.#made], this.#request);
    this.#made.clear();
    return [right('drafts are deleted')];
  }

  #call(doing: Doing, call: OdooCall): Promise<JsonValue> {
    return this.#checked.calls.call(doing, call, this.#request);
  }
}

function oneOf<Value extends { isActive: boolean }>(
  name: string,
  found: readonly Value[] | undefined,
): { result: CheckResult; value: Value | null } {
  const [first, ...others] = found ?? [];
  const none = (message: string, todo: string) => ({ result: wrong(name, message, todo), value: null });
  if (first === undefined) return none('Odoo has none', 'Create it in Odoo, or correct the mapping.');
  if (others.length > 0) return none(`Odoo has ${others.length + 1}`, 'Rename all but one.');
  if (!first.isActive) return none('it is archived', 'Restore it, or correct the mapping.');
  return { result: right(name), value: first };
}

const incomeTypes: readonly string[] = [
  'income',
  'income_other',
  'expense',
  'expense_direct_cost',
  'expense_depreciation',
];
const incomeRoles: readonly LineRole[] = ['revenue', 'rounding'];

/** What is wrong with an account for these roles, and what to do; null where nothing is. */
function faultOf(account: OdooAccount, roles: LineRole[]): [string, string] | null {
  if (!account.isActive) return ['it is deprecated or archived', 'Restore it, or map another account.'];
  if (account.currencyId !== null) return ['it has a currency of its own', 'Map an account without one.'];
  const isIncome = incomeTypes.includes(account.type);
  if (roles.includes('revenue') && roles.length === 1 && !isIncome)
    return [`its type is ${account.type}`, 'Give it the type Income, or map another account.'];
  if (!roles.some((role) => incomeRoles.includes(role)) && isIncome)
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
