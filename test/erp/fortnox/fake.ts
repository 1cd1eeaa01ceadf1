// A company in Fortnox, in memory. It checks requests and its own answers against schema.ts. What Fortnox does in unknown
// cases is marked as assumed.

import { Decimal } from 'decimal.js';
import type { FortnoxConfig } from '../../../src/config/erp.ts';
import { Money } from '../../../src/domain/money.ts';
import type { Answer, ErpRequest, ErpTransport } from '../../../src/erp/targets/api/http.ts';
import {
  type Account,
  answers,
  listed,
  type NewVoucher,
  newVoucher,
  refusal,
  type Series,
  type Voucher,
  type Year,
} from './schema.ts';
import { writeSie } from './sie-writer.ts';

/** Accounts with their VAT codes: those of the random entries, and those of the Swedish mapping. */
const chart: [number: number, name: string, vatCode?: string][] = [
  ...([
    [1510, 'Kundfordringar'],
    [1580, 'Kontokort'],
    [1680, 'Övriga fordringar'],
    [1700, 'Tili'],
    [1910, 'Kassa'],
    [1930, 'Företagskonto'],
    [2420, 'Förskott från kunder'],
    [2421, 'Presentkort'],
    [2999, 'OBS-konto'],
    [3740, 'Öresutjämning'],
  ] as [number, string][]),
  ...([
    [2611, 'Utgående moms 25 %', 'U1'],
    [2621, 'Utgående moms 12 %', 'U2'],
    [2631, 'Utgående moms 6 %', 'U3'],
    [2931, 'Moms', 'U1'],
    [3000, 'Försäljning', 'MP1'],
    [3001, 'Försäljning 25 %', 'MP1'],
    [3002, 'Försäljning 12 %', 'MP2'],
    [3003, 'Försäljning 6 %', 'MP3'],
    [3004, 'Försäljning momsfri', 'MF'],
    [3010, 'Försäljning', 'MP1'],
    [3020, 'Försäljning', 'MP1'],
    [3105, 'Export', 'E'],
    [3108, 'Varor till EU', 'VTEU'],
    [3308, 'Tjänster till EU', 'FTEU'],
  ] as [number, string, string][]),
];
/** Requests in five seconds; the next one gets status 429. */
const mostRequests = 25;

interface Held {
  voucher: Voucher;
  modified: string;
}

class Refused extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class FakeFortnox implements ErpTransport {
  readonly config: FortnoxConfig = {
    ...{ kind: 'fortnox', url: 'http://fortnox.invalid', database: '', company: '1234567', user: 'client-77' },
    ...{ clientSecret: 'client secret', password: '', from: null, auto: true, post: 'posted' },
    ...{ ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60 },
  };
  /** Every request, as `GET /path`. */
  readonly asked: string[] = [];
  tokenSeconds = 3_600;
  databaseNumber = 1_234_567;
  readonly years: Year[] = [2024, 2025, 2026].map((year, index) => ({
    ...{ Id: index + 4, FromDate: `${year}-01-01`, ToDate: `${year}-12-31` },
  }));
  /** The year that a person has chosen: of requests without a year. */
  chosenYear = 5;
  readonly accounts: Account[] = this.years.flatMap(({ Id }) =>
    chart.map(([number, name, vatCode]) => ({
      ...{ Number: number, Description: name, Active: true, Year: Id },
      ...{ CostCenterSettings: 'ALLOWED' as const, ProjectSettings: 'ALLOWED' as const },
      ...(vatCode === undefined ? {} : { VATCode: vatCode }),
    })),
  );
  readonly series: Series[] = this.years.flatMap(({ Id }) => [
    { Code: 'A', Description: 'Redovisning', Manual: true, Year: Id },
    { Code: 'B', Description: 'Kundfakturor', Manual: false, Year: Id },
    { Code: 'V', Description: 'Veterinär', Manual: true, Year: Id },
  ]);
  readonly costCenters = [
    { Code: 'HKI', Active: true },
    { Code: 'OLD', Active: false },
  ];
  readonly projects = ['east', 'west'].map((ProjectNumber) => ({ ProjectNumber, Description: 'Mottagning' }));
  /** The largest page, if it is smaller than requested. */
  mostPerPage = 500;
  /** Runs after a page of vouchers was made. */
  onPage: (page: number) => void = () => {};
  /** Changes an answer before it is sent. */
  onAnswer: (request: string, value: unknown) => unknown = (_, value) => value;
  readonly #now: () => number;
  readonly #tokens = new Map<string, number>();
  readonly #vouchers: Held[] = [];
  readonly #arrivals: number[] = [];
  #lockedThrough: string | undefined;

  constructor({ now }: { now(): number }) {
    this.#now = now;
  }

  lock(through: string): void {
    this.#lockedThrough = through;
  }

  unlock(): void {
    this.#lockedThrough = undefined;
  }

  account(number: number, year = 6): Account {
    const found = this.accounts.find(({ Number: code, Year: of }) => code === number && of === year);
    if (found === undefined) throw new Error(`no account ${number}`);
    return found;
  }

  /** A person changes a voucher. */
  change(id: string, changes: (voucher: Voucher) => void): void {
    const held = this.#of(id);
    changes(held.voucher);
    held.modified = this.#time();
  }

  /** A person copies a voucher. */
  copy(id: string): void {
    const { voucher } = this.#of(id);
    const VoucherNumber = this.#nextNumber(voucher.VoucherSeries, voucher.Year);
    this.#vouchers.push({ voucher: structuredClone({ ...voucher, VoucherNumber }), modified: this.#time() });
  }

  /** A person enters a voucher. */
  enter(series = 'A'): void {
    const row = { Debit: 0, Credit: 0, TransactionInformation: '', Description: '', Removed: false };
    const own = { CostCenter: '', Project: '' };
    const voucher: Voucher = {
      '@url': 'https://api.fortnox.se/3/vouchers/A/1',
      ...{ Description: 'Lön', TransactionDate: '2026-03-05', VoucherSeries: series, Year: 6, ReferenceType: 'MANUAL' },
      ...{ VoucherNumber: this.#nextNumber(series, 6), ApprovalState: 0 },
      VoucherRows: [
        { ...row, ...own, Account: 1910, Debit: 100 },
        { ...row, ...own, Account: 1930, Credit: 100 },
      ],
    };
    this.#vouchers.push({ voucher, modified: this.#time() });
  }

  /** A person deletes the last voucher of a series. */
  remove(id: string): void {
    this.#vouchers.splice(this.#vouchers.indexOf(this.#of(id)), 1);
  }

  held(): { id: string; description: string; date: string; lines: { account: string; amount: Money }[] }[] {
    return this.#vouchers.map(({ voucher }) => ({
      id: idOf(voucher),
      ...{ description: voucher.Description, date: voucher.TransactionDate },
      lines: voucher.VoucherRows.filter(({ Removed }) => !Removed).map(({ Account: account, Debit, Credit }) => ({
        account: String(account),
        amount: new Money(String(Debit)).minus(String(Credit)),
      })),
    }));
  }

  voucher(id: string): Voucher {
    return this.#of(id).voucher;
  }

  async send(request: ErpRequest, { signal }: { signal: AbortSignal }): Promise<Answer> {
    signal.throwIfAborted();
    const { verb = 'POST', path } = request;
    const name = `${verb} ${path.replace(/(?<=\/vouchers)\/.*/, '/#')}`;
    this.asked.push(`${verb} ${path}`);
    try {
      if (path === '/3/sie/4') return answer(200, this.#sie(request));
      const form = answers[name as keyof typeof answers];
      if (form === undefined) throw new Refused(404, 2_000_729, 'A valid identifier was not provided.');
      const value = form.parse(this.#answer(name, request));
      return answer(verb === 'POST' && name !== 'POST /oauth-v1/token' ? 201 : 200, this.onAnswer(name, value));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const said = { Error: 1, Message: error.message, Code: error.code };
      return answer(error.status, refusal.parse({ ErrorInformation: said }));
    }
  }

  close(): void {}

  #authorize({ headers }: ErpRequest): void {
    const untilMs = this.#tokens.get(headers.authorization?.replace('Bearer ', '') ?? '') ?? 0;
    if (untilMs <= this.#now()) throw new Refused(401, 2_000_310, 'Ogiltig inloggning');
    const now = this.#now();
    while (this.#arrivals.length > 0 && (this.#arrivals[0] ?? 0) <= now - 5_000) this.#arrivals.shift();
    if (this.#arrivals.length >= mostRequests) throw new Refused(429, 0, 'Too many requests');
    this.#arrivals.push(now);
  }

  #answer(name: string, request: ErpRequest): unknown {
    const { path, query = {}, body } = request;
    if (name === 'POST /oauth-v1/token') return this.#token(request);
    this.#authorize(request);
    const ofYear = <Record extends { Year: number }>(records: readonly Record[]) => {
      const year = this.#year(query.financialyear);
      return records.filter(({ Year: of }) => of === year.Id);
    };
    switch (name) {
      case 'GET /3/companyinformation':
        return {
          CompanyInformation: {
            ...{ DatabaseNumber: this.databaseNumber, CompanyName: 'Djurkliniken AB' },
            OrganizationNumber: '556677-8899',
          },
        };
      case 'GET /3/settings/lockedperiod':
        return { LockedPeriod: { ...(this.#lockedThrough && { EndDate: this.#lockedThrough }) } };
      case 'GET /3/financialyears':
        return this.#list('FinancialYears', this.years.toReversed(), query);
      case 'GET /3/accounts':
        return this.#list('Accounts', ofYear(this.accounts), query);
      case 'GET /3/voucherseries':
        return this.#list('VoucherSeriesCollection', ofYear(this.series), query);
      case 'GET /3/costcenters':
        return this.#list('CostCenters', this.costCenters, query);
      case 'GET /3/projects':
        return this.#list('Projects', this.projects, query);
      case 'GET /3/vouchers':
        return this.#search(query);
      case 'POST /3/vouchers':
        return { Voucher: this.#create(body, this.#year(query.financialyear)) };
      default: {
        const [series = '', number = ''] = path.split('/').slice(3);
        return {
          Voucher: this.#of(`${decodeURIComponent(series)}/${number}/${this.#year(query.financialyear).Id}`).voucher,
        };
      }
    }
  }

  #token({ headers, body }: ErpRequest): object {
    const { user, clientSecret, company } = this.config;
    const basic = Buffer.from(`${user}:${clientSecret.replace(' ', '+')}`).toString('base64');
    const isRight = headers.authorization === `Basic ${basic}` && headers.TenantId === company;
    if (!isRight || new URLSearchParams(body).get('grant_type') !== 'client_credentials')
      throw new Refused(401, 2_000_311, 'Kan inte logga in');
    const token = `token-${this.#tokens.size + 1}-${'x'.repeat(20)}`;
    this.#tokens.set(token, this.#now() + this.tokenSeconds * 1_000);
    return { access_token: token, expires_in: 3_600, token_type: 'bearer', scope: 'bookkeeping' };
  }

  #year(id: string | undefined): Year {
    const year = this.years.find(({ Id }) => Id === Number(id ?? this.chosenYear));
    if (year === undefined) throw new Refused(400, 2_000_588, 'Ogiltig parameter i anropet.');
    return year;
  }

  #list(name: string, records: readonly object[], query: Record<string, string>): object {
    const parsed = listed.safeParse(query);
    if (!parsed.success) throw new Refused(400, 2_000_588, 'Ogiltig parameter i anropet.');
    const limit = Math.min(parsed.data.limit, this.mostPerPage);
    const { page } = parsed.data;
    const meta = { '@CurrentPage': page, '@TotalPages': Math.ceil(records.length / limit) || 1 };
    const part = records.slice((page - 1) * limit, page * limit);
    return { MetaInformation: { ...meta, '@TotalResources': records.length }, [name]: part };
  }

  /** Sorted by series and number. */
  #search(query: Record<string, string>): object {
    const year = this.#year(query.financialyear);
    const { lastmodified = '', fromdate = '', todate = '9999' } = query;
    const found = this.#vouchers
      .filter(({ voucher, modified }) => voucher.Year === year.Id && modified >= lastmodified)
      .map(({ voucher: { VoucherRows: _, ...head } }) => head)
      .filter(({ TransactionDate: date }) => date >= fromdate && date <= todate)
      .toSorted((a, b) => a.VoucherSeries.localeCompare(b.VoucherSeries) || a.VoucherNumber - b.VoucherNumber);
    const page = this.#list('Vouchers', found, query);
    this.onPage(Number(query.page));
    return page;
  }

  #create(body: string, year: Year): Voucher {
    const parsed = newVoucher.safeParse(JSON.parse(body));
    if (!parsed.success) {
      const known = parsed.error.issues.find(({ message }) => /^\d{7}$/.test(message))?.message;
      throw new Refused(400, Number(known ?? 2_001_399), parsed.error.issues[0]?.path.join('.') ?? '');
    }
    const made = parsed.data.Voucher;
    const { VoucherSeries: code, TransactionDate: date } = made;
    const series = this.series.find((each) => each.Code === code && each.Year === year.Id);
    if (series === undefined) throw new Refused(400, 2_000_000, 'Verifikationsserien finns inte');
    if (!series.Manual) throw new Refused(400, 2_000_000, `Verifikationsserien är inte manuell (${code})`);
    if (date <= (this.#lockedThrough ?? ''))
      throw new Refused(400, 2_000_401, `Perioden är låst t.o.m. ${this.#lockedThrough}`);
    // Assumed: the date is not compared with the year.
    const rows = made.VoucherRows.map((row) => this.#row(row, year));
    const sum = rows.reduce(
      (total, { Debit, Credit }) => total.plus(String(Debit)).minus(String(Credit)),
      new Decimal(0),
    );
    if (!sum.isZero()) throw new Refused(400, 2_000_000, 'Verifikationen balanserar inte');
    const VoucherNumber = this.#nextNumber(code, year.Id);
    const voucher: Voucher = {
      '@url': `https://api.fortnox.se/3/vouchers/${code}/${VoucherNumber}?financialyear=${year.Id}`,
      ...{ Description: made.Description, TransactionDate: date, VoucherSeries: code, VoucherNumber, Year: year.Id },
      ...{ ReferenceType: 'MANUAL', ApprovalState: 0, VoucherRows: rows },
    };
    this.#vouchers.push({ voucher, modified: this.#time() });
    return voucher;
  }

  #row(row: NewVoucher['VoucherRows'][number], year: Year): Voucher['VoucherRows'][number] {
    const account = this.accounts.find(({ Number: code, Year: of }) => code === row.Account && of === year.Id);
    if (account === undefined) throw new Refused(400, 2_001_304, 'Kunde inte hitta konto');
    if (!account.Active) throw new Refused(400, 2_000_000, `Konto "${row.Account}" är inte aktivt`);
    const costCenter = row.CostCenter ?? account.CostCenter ?? '';
    const found = this.costCenters.find(({ Code }) => Code === costCenter);
    if (costCenter === '' && account.CostCenterSettings === 'MANDATORY')
      throw new Refused(400, 2_000_946, 'Kostnadsställe är obligatoriskt på kontot');
    if (costCenter !== '' && found?.Active !== true)
      throw new Refused(400, 2_000_947, 'Kostnadsstället är inte aktivt');
    const project = row.Project ?? account.Project ?? '';
    if (project !== '' && !this.projects.some(({ ProjectNumber }) => ProjectNumber === project))
      throw new Refused(400, 2_000_000, 'Kunde inte hitta projekt');
    return {
      ...{ Account: row.Account, Debit: row.Debit, Credit: row.Credit, Description: account.Description },
      ...{ Removed: false, TransactionInformation: row.TransactionInformation ?? '' },
      ...{ CostCenter: costCenter, Project: project },
    };
  }

  #sie(request: ErpRequest): string {
    this.#authorize(request);
    const { financialyear, fromdate = '', todate = '9999' } = request.query ?? {};
    if (request.answerEncoding !== 'latin1') throw new Error('the file is not UTF-8');
    const year = this.#year(financialyear);
    const vouchers = this.#vouchers
      .map(({ voucher }) => voucher)
      .filter(({ Year: of, TransactionDate: date }) => of === year.Id && date >= fromdate && date <= todate);
    const used = new Set(vouchers.flatMap(({ VoucherRows }) => VoucherRows.map(({ Account: number }) => number)));
    const names = [...used].toSorted().map((number) => [number, this.account(number, year.Id).Description] as const);
    return this.onAnswer('GET /3/sie/4', writeSie(year, vouchers, new Map(names))) as string;
  }

  #of(id: string): Held {
    const held = this.#vouchers.find(({ voucher }) => idOf(voucher) === id);
    if (held === undefined) throw new Refused(404, 2_000_433, 'Kunde inte hitta verifikationen');
    return held;
  }

  #nextNumber(series: string, year: number): number {
    const numbers = this.#vouchers.flatMap(({ voucher: { VoucherSeries, VoucherNumber, Year: of } }) =>
      VoucherSeries === series && of === year ? VoucherNumber : [],
    );
    return Math.max(0, ...numbers) + 1;
  }

  /** The time in Sweden. */
  #time(): string {
    return new Date(this.#now()).toLocaleString('sv-SE', { timeZone: 'Europe/Stockholm' });
  }
}

function idOf({ VoucherSeries: series, VoucherNumber: number, Year: year }: Voucher): string {
  return `${series}/${number}/${year}`;
}

function answer(status: number, value: unknown): Answer {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { status, text, retryAfter: null, ids: { request: 'fake' } };
}
