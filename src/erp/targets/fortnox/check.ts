import { erpCheckTexts } from '../../../texts/reports/erp-check.ts';
import { obstacleOf } from '../../periods.ts';
import type { CheckPlan, CheckResult, ErpPeriods, RequestOptions } from '../../port.ts';
import { failed, right, wrong } from '../api/check.ts';
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

  async *connection(): AsyncGenerator<CheckResult, string | null> {
    try {
      const { id, currency } = await this.#checked.connection.company(this.#request);
      yield right(erpCheckTexts.loggedIn({ company: id, currency }));
      return currency;
    } catch (error) {
      yield failed(erpCheckTexts.login, error, erpCheckTexts.checkFortnoxLogin);
      return null;
    }
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
    const periods = await this.#checked.periods();
    return this.#plan.dates.map((date) => {
      const name = erpCheckTexts.period({ date });
      const obstacle = obstacleOf(periods, date);
      if (obstacle === null) return right(name);
      return obstacle === 'missing'
        ? wrong(name, erpCheckTexts.noPeriod({ erp }), erpCheckTexts.createPeriod({ erp }))
        : wrong(name, erpCheckTexts.periodClosed({ period: date }), erpCheckTexts.openPeriod({ erp }));
    });
  }
}
