import { erpCheckTexts } from '../../../texts/reports/erp-check.ts';
import type { CheckPlan, CheckResult, ErpPeriods, RequestOptions } from '../../port.ts';
import { loggedIn, periodResults } from '../api/check.ts';
import type { CheckStep, ErpChecks } from '../api/erp-api.ts';
import { accountFault } from './account-fault.ts';
import type { FortnoxConnection } from './connection.ts';
import type { FortnoxRecords } from './names.ts';

const erp = 'Fortnox';

interface Checked {
  connection: FortnoxConnection;
  periods(): Promise<ErpPeriods>;
}

/** The check only reads: Fortnox has no drafts. */
export class FortnoxChecks implements ErpChecks<FortnoxRecords> {
  readonly days: CheckStep = { name: erpCheckTexts.periods, try: () => this.#checkPeriods() };
  readonly #checked: Checked;
  readonly #plan: CheckPlan;
  readonly #request: RequestOptions;

  constructor(checked: Checked, plan: CheckPlan, request: RequestOptions) {
    this.#checked = checked;
    this.#plan = plan;
    this.#request = request;
  }

  connection(): AsyncGenerator<CheckResult, string | null> {
    return loggedIn(() => this.#checked.connection.company(this.#request), erpCheckTexts.checkFortnoxLogin);
  }

  accountFault(
    { years }: FortnoxRecords['account'],
    { roles, taxes = [] }: CheckPlan['accounts'][number],
  ): [message: string, todo: string] | null {
    // Only these lines have dimensions.
    const hasDimensions = roles.some((role) => role === 'revenue' || role === 'rounding');
    const dimensions = new Set(hasDimensions ? this.#plan.dimensions.map(({ theirs }) => theirs) : []);
    for (const facts of years) {
      const fault = accountFault(facts, { taxes, dimensions });
      if (fault !== null) return [fault.reason, erpCheckTexts.correctInErp({ erp })];
    }
    return null;
  }

  async #checkPeriods(): Promise<CheckResult[]> {
    return periodResults(this.#plan.dates, await this.#checked.periods(), erp);
  }
}
