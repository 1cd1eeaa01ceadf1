import { Money } from '../../../domain/money.ts';
import { clip } from '../../../domain/text.ts';
import type { CalendarDate } from '../../../terms.ts';
import { erpCheckTexts } from '../../../texts/reports/erp-check.ts';
import { obstacleOf } from '../../periods.ts';
import type { CheckPlan, CheckResult, ErpPeriods, RequestOptions } from '../../port.ts';
import { loggedIn, periodResults } from '../api/check.ts';
import type { CheckStep, Drafts, DraftTrials, ErpChecks, FoundRecords } from '../api/erp-api.ts';
import { asId, asRecord, toAmount, writtenAs } from '../api/form.ts';
import { allOf } from '../api/pages.ts';
import { procountorCapabilities } from './capabilities.ts';
import { plainStatus, receiptType } from './codes.ts';
import type { ProcountorConnection } from './connection.ts';
import type { ProcountorRecords } from './names.ts';
import type { ProcountorReader } from './read.ts';

const erp = 'Procountor';

interface Checked {
  connection: ProcountorConnection;
  reader: ProcountorReader;
  periods(): Promise<ErpPeriods>;
}

/** The check never approves a receipt. Its receipts stay in Procountor as invalidated ones. */
export class ProcountorChecks implements ErpChecks<ProcountorRecords> {
  readonly days: CheckStep = { name: erpCheckTexts.periods, try: () => this.#checkPeriods() };
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
    return loggedIn(() => this.#checked.connection.company(this.#request), erpCheckTexts.checkProcountorLogin);
  }

  accountFault(account: ProcountorRecords['account']): [message: string, todo: string] | null {
    return account.isActive ? null : [erpCheckTexts.isClosed, erpCheckTexts.open];
  }

  async #checkPeriods(): Promise<CheckResult[]> {
    const { dates } = this.#plan;
    const periods = await this.#checked.periods();
    this.#openDay = dates.find((date) => obstacleOf(periods, date) === null) ?? null;
    return periodResults(dates, periods, erp);
  }

  drafts(
    found: FoundRecords<ProcountorRecords>,
    _: Drafts,
  ): DraftTrials<ProcountorRecords> | { message: string; todo: string } {
    const day = this.#openDay;
    if (day === null)
      return {
        message: erpCheckTexts.noPeriod({ erp }),
        todo: erpCheckTexts.createPeriod({ erp }),
      };
    return {
      left: (request) => this.#left(request),
      accounts: () => found.accounts,
      create: (accounts) => this.#create(accounts, day),
      refusals: [],
    };
  }

  async #left(request: RequestOptions): Promise<string[]> {
    const receipts = await allOf(this.#checked.reader.receipts({ status: 'UNFINISHED' }, request));
    return receipts.filter(({ text }) => text === mark).map(({ id }) => id);
  }

  async #create(accounts: readonly ProcountorRecords['account'][], receiptDate: CalendarDate): Promise<string[]> {
    const cent = new Money('0.01');
    const row = (account: string, amount: Money) => ({
      ...{ transactionType: 'ENTRY', account, vatPercent: 0 },
      accountingValue: toAmount(amount, procountorCapabilities.lines.decimals),
    });
    const body = {
      ...{ type: receiptType, name: mark, receiptDate, vatType: 'SALES', vatStatus: plainStatus },
      transactions: accounts.flatMap(({ code }) => [row(code, cent), row(code, cent.negated())]),
    };
    const call = { access: 'writes', verb: 'POST', path: '/ledgerreceipts', body } as const;
    const answer = await this.#checked.connection.call(call, this.#request);
    return [String(writtenAs(answer, (receipt) => asId(asRecord(receipt).id ?? null)))];
  }
}

const mark = clip(erpCheckTexts.draftMark, procountorCapabilities.key.longest_text ?? 0);
