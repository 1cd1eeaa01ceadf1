// A company in Procountor, in memory. It checks requests and its own answers against schema.ts. What Procountor does in
// unknown cases is marked as assumed.

import { Decimal } from 'decimal.js';
import type { ProcountorConfig } from '../../../src/config/erp.ts';
import { Money } from '../../../src/domain/money.ts';
import type { Answer, ErpRequest, ErpTransport } from '../../../src/erp/targets/api/http.ts';
import { answers, type NewReceipt, newReceipt, type Receipt, receipt, refusal, searched } from './schema.ts';

const accounts = ['1700', '1900', '2931', '3000', '3010', '3020'];
const percents = [25.5, 25, 24, 20, 19, 16, 14, 13.5, 12, 10, 7, 6, 5, 0];
/** VAT statuses of sales. */
const statuses = [1, 12];
const vatAccount = '2931';
const dimensions = [
  {
    id: 5,
    name: 'project',
    items: [
      { id: 51, codeName: 'east' },
      { id: 52, codeName: 'west' },
    ],
  },
];

type Status = Receipt['status'];

interface Held {
  receipt: Receipt;
  created: string;
}

/** A line in the books, with the VAT lines that Procountor computes. */
export interface BookLine {
  account: string;
  amount: Money;
}

class Refused extends Error {
  readonly status: number;
  readonly field: string | undefined;

  constructor(status: number, message: string, field?: string) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

export class FakeProcountor implements ErpTransport {
  readonly config: ProcountorConfig = {
    ...{ kind: 'procountor', url: 'http://procountor.invalid/api', database: '', company: '77', user: 'client-77' },
    ...{ clientSecret: 'client secret', password: 'api key of 77', from: null, auto: true, post: 'posted' },
    ...{ ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60 },
  };
  /** Every request, as `GET /path`. */
  readonly asked: string[] = [];
  /** The conditions of every search. */
  readonly queries: Record<string, string>[] = [];
  /** Requests whose token has ended get status 401. */
  tokenSeconds = 3_600;
  /** The number of receipts in a page, if it is smaller than requested. */
  mostPerPage = 200;
  /** Unknown: how late a search shows a receipt. */
  lagSeconds = 0;
  /** Changes an answer before it is sent. */
  onAnswer: (request: string, value: unknown) => unknown = (_, value) => value;
  readonly #now: () => number;
  readonly #tokens = new Map<string, number>();
  readonly #receipts = new Map<number, Held>();
  #closedThrough = '';
  #lastId = 1_000;
  #lastNumber = 0;

  constructor({ now }: { now(): number }) {
    this.#now = now;
  }

  lock(through: string): void {
    this.#closedThrough = through;
  }

  unlock(): void {
    this.#closedThrough = '';
  }

  /** A person changes a receipt. */
  change(id: string, changes: Partial<Pick<Receipt, 'status' | 'receiptDate' | 'name'>>): void {
    Object.assign(this.#of(id).receipt, changes, { version: this.#time() });
  }

  /** A person copies a receipt and approves the copy. */
  copy(id: string): void {
    this.#lastId += 1;
    this.#lastNumber += 1;
    const own = { id: this.#lastId, receiptNumber: this.#lastNumber, version: this.#time() };
    this.#receipts.set(own.id, { receipt: { ...this.#of(id).receipt, ...own }, created: this.#time() });
  }

  held(): { id: string; name: string; status: Status; date: string; lines: BookLine[] }[] {
    return [...this.#receipts.values()].map(({ receipt: { id, name, status, receiptDate, transactions } }) => ({
      ...{ id: String(id), name, status, date: receiptDate },
      lines: transactions.flatMap(({ account, accountingValue, vatPercent }) => {
        const tax = taxOf(accountingValue, vatPercent);
        const base = { account, amount: new Money(String(accountingValue)) };
        return tax.isZero() ? [base] : [base, { account: vatAccount, amount: new Money(tax.toFixed()) }];
      }),
    }));
  }

  /** The rows of a receipt as they were sent. */
  rows(id: string): Receipt['transactions'] {
    return this.#of(id).receipt.transactions;
  }

  async send(request: ErpRequest, { signal }: { signal: AbortSignal }): Promise<Answer> {
    signal.throwIfAborted();
    const { verb = 'POST', path } = request;
    const name = `${verb} ${path.replace(/\d[\d,]*/, '#')}`;
    this.asked.push(`${verb} ${path}`);
    try {
      const form = answers[name as keyof typeof answers];
      if (form === undefined) throw new Refused(404, 'NOT_FOUND');
      const value = form.parse(this.#answer(name, request));
      return answer(200, this.onAnswer(name, value));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { status, field, message } = error;
      return answer(status, refusal.parse({ errors: [{ status, ...(field && { field }), message }] }));
    }
  }

  close(): void {}

  #answer(name: string, { path, query = {}, headers, body }: ErpRequest): unknown {
    if (name === 'POST /oauth/token') return this.#token(new URLSearchParams(body));
    const untilMs = this.#tokens.get(headers.authorization?.replace('Bearer ', '') ?? '') ?? 0;
    if (untilMs <= this.#now()) throw new Refused(401, 'INVALID_TOKEN');
    const ids = (/\d[\d,]*/.exec(path)?.[0] ?? '').split(',');
    switch (name) {
      case 'GET /company':
        return { id: 77, name: 'Eläinlääkäri Oy' };
      case 'GET /currencies/company':
        return { companyCurrency: 'EUR' };
      case 'GET /coa':
        return {
          ledgerAccounts: accounts.map((code) => ({ ledgerAccountCode: code, name: `Tili ${code}`, active: true })),
        };
      case 'GET /vats/default':
        return {
          vatInformation: [
            {
              country: 'Finland',
              percentages: percents.map((vatPercent) => ({ vatPercent, sales: true, purchase: true })),
            },
          ],
          vatStatuses: statuses.map((vatStatus) => ({
            ...{ vatStatus, description: `vat_${vatStatus}`, sales: true, purchase: false },
          })),
        };
      case 'GET /dimensions':
        return dimensions;
      case 'GET /fiscalyears':
        return { fiscalYears: [2025, 2026, 2027].map((year) => this.#year(year)) };
      case 'GET /ledgerreceipts':
        return this.#search(query);
      case 'POST /ledgerreceipts':
        if (Object.keys(query).length > 0) throw new Refused(400, 'RECONCILIATION_NOT_WANTED');
        return this.#create(body);
      case 'PUT /ledgerreceipts/#/approve':
        return this.#setStatus(ids[0] ?? '', ['UNFINISHED'], 'APPROVED');
      case 'PUT /ledgerreceipts/#/invalidate':
        return this.#setStatus(ids[0] ?? '', ['UNFINISHED', 'APPROVED'], 'INVALIDATED');
      default:
        return this.#read(ids);
    }
  }

  #token(form: URLSearchParams): object {
    const { user, clientSecret, password } = this.config;
    const given = [form.get('grant_type'), form.get('client_id'), form.get('client_secret'), form.get('api_key')];
    if (given.join('\n') !== ['client_credentials', user, clientSecret, password].join('\n'))
      throw new Refused(401, 'invalid_client');
    const token = `token-${this.#tokens.size + 1}-${'x'.repeat(20)}`;
    this.#tokens.set(token, this.#now() + this.tokenSeconds * 1_000);
    return { access_token: token, expires_in: 3_600 };
  }

  #year(year: number) {
    const months = Array.from({ length: 12 }, (_, index) => {
      const month = `${year}-${String(index + 1).padStart(2, '0')}`;
      const endDate = new Date(Date.UTC(year, index + 1, 0)).toISOString().slice(0, 10);
      const status = endDate <= this.#closedThrough ? 'CLOSED' : 'OPEN';
      return { id: year * 100 + index + 1, startDate: `${month}-01`, endDate, status };
    });
    return { id: year, startDate: `${year}-01-01`, endDate: `${year}-12-31`, isOpen: true, trackingPeriods: months };
  }

  #isClosed(date: string): boolean {
    return date <= this.#closedThrough;
  }

  #create(body: string): Receipt {
    // Assumed: VAT status and percentage are checked together, before the period.
    const parsed = newReceipt.safeParse(JSON.parse(body));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new Refused(400, issue?.message ?? 'INVALID', issue?.path.join('.'));
    }
    const { data } = parsed;
    for (const [index, row] of data.transactions.entries()) checkRow(row, data, `transactions[${index}]`);
    if (this.#isClosed(data.receiptDate)) throw new Refused(400, 'CLOSED_FISCAL_PERIOD', 'receiptDate');
    this.#lastId += 1;
    const id = this.#lastId;
    const transactions = data.transactions.map((row, index) => ({ ...row, id: id * 1_000 + index }));
    const made: Receipt = { ...data, id, status: 'UNFINISHED', version: this.#time(), transactions };
    this.#receipts.set(id, { receipt: made, created: this.#time() });
    return made;
  }

  #setStatus(id: string, from: Status[], to: Status): { message: string } {
    const { receipt: held } = this.#of(id);
    if (!from.includes(held.status)) throw new Refused(403, 'INVALID_RECEIPT_STATUS');
    if (this.#isClosed(held.receiptDate)) throw new Refused(403, 'RECEIPT_IN_CLOSED_FISCAL_YEAR');
    if (to === 'APPROVED') {
      // Assumed: a receipt that does not reconcile can be created, but not approved.
      const left = held.transactions.reduce(
        (sum, { accountingValue: value, vatPercent }) => sum.plus(String(value)).plus(taxOf(value, vatPercent)),
        new Decimal(0),
      );
      if (!left.isZero()) throw new Refused(400, 'RECEIPT_DOES_NOT_RECONCILE');
      this.#lastNumber += 1;
      held.receiptNumber = this.#lastNumber;
    }
    Object.assign(held, { status: to, version: this.#time() });
    return { message: to };
  }

  #search(query: Record<string, string>) {
    this.queries.push(query);
    const parsed = searched.safeParse(query);
    if (!parsed.success) throw new Refused(400, 'INVALID_QUERY', parsed.error.issues[0]?.path.join('.'));
    const { startDate, endDate, createdStartDate, versionStartDate, status, orderById, previousId, size } = parsed.data;
    const shown = new Date(this.#now() - this.lagSeconds * 1_000).toISOString();
    const wanted = [...this.#receipts.values()].filter(
      ({ receipt: { receiptDate, version, status: own }, created }) =>
        created <= shown &&
        (startDate === undefined || receiptDate >= startDate) &&
        (endDate === undefined || receiptDate <= endDate) &&
        (createdStartDate === undefined || created >= createdStartDate) &&
        (versionStartDate === undefined || (version ?? '') >= versionStartDate) &&
        (status === undefined || own === status),
    );
    const isAscending = orderById === 'ASC';
    const ordered = wanted.sort((one, other) => (one.receipt.id - other.receipt.id) * (isAscending ? 1 : -1));
    const rest = ordered.filter(({ receipt: { id } }) => {
      if (previousId === undefined) return true;
      return isAscending ? id > Number(previousId) : id < Number(previousId);
    });
    const pageSize = Number(size ?? 50);
    const page = rest.slice(0, Math.min(pageSize, this.mostPerPage));
    return {
      results: page.map(
        ({ receipt: { id, type, status: own, name, receiptDate, receiptNumber, version }, created }) => ({
          ...{ id, type, status: own, name, receiptDate, created, version },
          ...(receiptNumber === undefined ? {} : { receiptNumber }),
        }),
      ),
      meta: { pageNumber: 0, pageSize, resultCount: page.length },
    };
  }

  #read(ids: readonly string[]): Receipt | Receipt[] {
    if (ids.length > 200) throw new Refused(400, 'TOO_MANY_IDS');
    const found = ids.flatMap((id) => this.#receipts.get(Number(id))?.receipt ?? []);
    if (found.length === 0) throw new Refused(404, 'LEDGER_RECEIPT_NOT_FOUND');
    const [first] = found;
    return ids.length === 1 && first !== undefined ? receipt.parse(first) : found;
  }

  #of(id: string): Held {
    const held = this.#receipts.get(Number(id));
    if (held === undefined) throw new Refused(404, 'LEDGER_RECEIPT_NOT_FOUND');
    return held;
  }

  #time(): string {
    return new Date(this.#now()).toISOString().slice(0, 19);
  }
}

function checkRow(row: NewReceipt['transactions'][number], { vatStatus }: NewReceipt, field: string): void {
  if (!accounts.includes(row.account)) throw new Refused(400, 'INVALID_ACCOUNT', `${field}.account`);
  if (!statuses.includes(row.vatStatus ?? vatStatus) || !percents.includes(row.vatPercent))
    throw new Refused(400, 'ERROR_VATSTATUS_VATPERC', `${field}.vatStatus`);
  const values = row.dimensionItemValues ?? [];
  for (const [id, parts] of Map.groupBy(values, ({ dimensionId }) => dimensionId)) {
    const items = dimensions.find((dimension) => dimension.id === id)?.items ?? [];
    if (!parts.every(({ itemId }) => items.some((item) => item.id === itemId)))
      throw new Refused(400, 'DIMENSION_OR_DIMENSION_ITEM_IDENTIFIERS_DOES_NOT_MATCH', `${field}.dimensionItemValues`);
    const sum = parts.reduce((total, { value }) => total.plus(String(value)), new Decimal(0));
    if (!sum.equals(String(row.accountingValue)))
      throw new Refused(400, 'DIMENSION_SUM', `${field}.dimensionItemValues`);
  }
}

/** Assumed: VAT is rounded half up for each row. */
function taxOf(net: number, percent: number): Decimal {
  return new Decimal(String(net)).times(String(percent)).div(100).toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
}

function answer(status: number, value: unknown): Answer {
  return { status, text: JSON.stringify(value), retryAfter: null, ids: { request: 'fake' } };
}
