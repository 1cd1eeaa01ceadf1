import { randomUUID } from 'node:crypto';
import { Money } from '../../../domain/money.ts';
import { visible } from '../../../domain/text.ts';
import type { CalendarDate } from '../../../terms.ts';
import { erpCheckTexts } from '../../../texts/reports/erp-check.ts';
import { obstacleOf } from '../../periods.ts';
import type { CheckPlan, CheckResult, ErpPeriods, RequestOptions } from '../../port.ts';
import { loggedIn, right, wrong } from '../api/check.ts';
import type { CheckStep, Drafts, DraftTrials, ErpChecks, FoundRecords } from '../api/erp-api.ts';
import { toAmount } from '../api/form.ts';
import { xeroCapabilities } from './capabilities.ts';
import type { XeroConnection } from './connection.ts';
import { createdIds } from './journals.ts';
import { isVatAccount, type XeroAccount, type XeroNames, type XeroRecords } from './names.ts';
import type { XeroReader } from './read.ts';
import { createJournals } from './write.ts';

interface Checked {
  connection: XeroConnection;
  reader: XeroReader;
  records: XeroNames;
  periods(): Promise<ErpPeriods>;
}

/** The check never posts a journal, and deletes its drafts. */
export class XeroChecks implements ErpChecks<XeroRecords> {
  readonly days: CheckStep = { name: erpCheckTexts.lockDates, try: () => this.#checkDays() };
  readonly #checked: Checked;
  readonly #plan: CheckPlan;
  readonly #request: RequestOptions;
  #openDay: CalendarDate | null = null;

  constructor(checked: Checked, plan: CheckPlan, request: RequestOptions) {
    this.#checked = checked;
    this.#plan = plan;
    this.#request = request;
  }

  connection(): AsyncGenerator<CheckResult, string | null> {
    return loggedIn(() => this.#checked.connection.company(this.#request), erpCheckTexts.checkXeroLogin);
  }

  /** An account for VAT must be the one on which Xero posts VAT. No other account may be one of Xero's own. */
  accountFault(account: XeroAccount, { roles }: CheckPlan['accounts'][number]): [message: string, todo: string] | null {
    const other = (message: string): [string, string] => [message, erpCheckTexts.mapOtherAccount];
    if (!account.isActive) return [erpCheckTexts.archived, erpCheckTexts.restore];
    if (isVatAccount(account) && roles.every((role) => role === 'vat')) return null;
    if (roles.includes('vat')) return other(erpCheckTexts.notVatAccount);
    if (account.isBank) return other(erpCheckTexts.bankAccount);
    return account.system === '' ? null : other(erpCheckTexts.systemAccount({ system: visible(account.system) }));
  }

  async #checkDays(): Promise<CheckResult[]> {
    const periods = await this.#checked.periods();
    return this.#plan.dates.map((date) => {
      const name = erpCheckTexts.day({ date });
      const kind = obstacleOf(periods, date);
      if (kind === null) {
        this.#openDay ??= date;
        return right(name);
      }
      const through = periods.lockedThrough.find((lock) => lock.kind === kind)?.date ?? date;
      const message = erpCheckTexts.locked({ lock: erpCheckTexts.lock({ kind, date: through }) });
      return wrong(name, message, erpCheckTexts.unlock({ erp: 'Xero' }));
    });
  }

  drafts(found: FoundRecords<XeroRecords>, _: Drafts): DraftTrials<XeroRecords> | { message: string; todo: string } {
    const day = this.#openDay;
    if (day === null) return { message: erpCheckTexts.noOpenPeriod, todo: erpCheckTexts.correctAbove };
    return {
      left: async (request) => {
        const drafts = await this.#checked.reader.drafts(request);
        return drafts.filter(({ description }) => description === erpCheckTexts.draftMark).map(({ id }) => id);
      },
      accounts: () => found.accounts.filter((account) => !isVatAccount(account)),
      create: (accounts) => this.#create(accounts, day),
      refusals: [],
    };
  }

  async #create(accounts: readonly XeroAccount[], day: CalendarDate): Promise<string[]> {
    const { connection, records } = this.#checked;
    const { plainTax } = await records.form(this.#request);
    const cent = new Money('0.01');
    const line = (code: string, amount: Money) => ({
      ...{ AccountCode: code, TaxType: plainTax },
      LineAmount: toAmount(amount, xeroCapabilities.lines.decimals),
    });
    const journal = {
      ...{ Narration: erpCheckTexts.draftMark, Date: day, LineAmountTypes: 'Exclusive', Status: 'DRAFT' },
      JournalLines: accounts.flatMap(({ code }) => [line(code, cent), line(code, cent.negated())]),
    };
    const request = { ...this.#request, attemptId: randomUUID() };
    return createdIds(await createJournals(connection, [journal], request), [null]);
  }
}
