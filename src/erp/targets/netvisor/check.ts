import { randomUUID } from 'node:crypto';
import { netvisorTerms } from '../../../texts/findings/erp-records.ts';
import { erpCheckTexts } from '../../../texts/reports/erp-check.ts';
import { type CheckPlan, type CheckResult, ErpError, type ErpPeriods, type RequestOptions } from '../../port.ts';
import { failed, loggedIn, periodResults, right, wrong } from '../api/check.ts';
import type { CheckStep, ErpChecks } from '../api/erp-api.ts';
import type { LookUp } from '../api/names.ts';
import type { Xml } from '../api/xml.ts';
import { noCode } from './form.ts';
import type { NetvisorAccount, NetvisorRecords } from './names.ts';
import { voucher, voucherLine } from './vouchers.ts';

const erp = 'Netvisor';

interface Checked {
  company: { id: string; currency: string };
  accounts: LookUp<NetvisorAccount>;
  periods(): Promise<ErpPeriods>;
  make(voucher: Xml, attemptId: string): Promise<string>;
  invalidate(ids: string[], attemptId: string): Promise<void>;
}

/** Netvisor has no drafts, so the check makes no voucher: it sends one that Netvisor must refuse. */
export class NetvisorChecks implements ErpChecks<NetvisorRecords> {
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
    const { company, periods } = this.#checked;
    return loggedIn(async () => {
      await periods();
      return company;
    }, erpCheckTexts.checkNetvisorLogin);
  }

  async *rights(): AsyncGenerator<CheckResult> {
    const [date] = this.#plan.dates;
    const [type] = this.#plan.journals;
    if (!this.#plan.writes || date === undefined || type === undefined) return;
    const name = erpCheckTexts.makeEntries;
    const account = await this.#unknownAccount();
    const line = (amount: string) => {
      const vat = { code: noCode, percent: '0' };
      return voucherLine({ amount, account, description: '', vat, dimensions: [] });
    };
    const lines = [line('0,01'), line('-0,01')];
    try {
      const id = await this.#checked.make(
        voucher({ date, type, description: erpCheckTexts.draftMark, lines }),
        randomUUID(),
      );
      await this.#checked.invalidate([id], randomUUID());
      yield wrong(name, erpCheckTexts.tookUnknownAccount({ account, id }), erpCheckTexts.doNotDeliver);
    } catch (error) {
      const isRefused = error instanceof ErpError && error.means === 'refused';
      yield isRefused ? right(name) : failed(name, error, erpCheckTexts.correctOrGiveRight(netvisorTerms));
    }
  }

  async #unknownAccount(): Promise<string> {
    const numbers = Array.from({ length: 20 }, (_, n) => String(n + 1));
    const found = await this.#checked.accounts(numbers, this.#request);
    return numbers.find((number) => found.get(number)?.length === 0) ?? '0';
  }

  accountFault(account: NetvisorAccount): [message: string, todo: string] | null {
    return account.isActive ? null : [erpCheckTexts.isClosed, erpCheckTexts.open];
  }

  async #checkPeriods(): Promise<CheckResult[]> {
    return periodResults(this.#plan.dates, await this.#checked.periods(), erp);
  }
}
