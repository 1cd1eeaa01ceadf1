// An organisation in Xero, in memory. It checks requests and its own answers against schema.ts. What Xero does in
// unknown cases is marked as assumed.

import { createHash } from 'node:crypto';
import { Decimal } from 'decimal.js';
import type { XeroConfig } from '../../../src/config/erp.ts';
import { Money } from '../../../src/domain/money.ts';
import type { Answer, ErpRequest, ErpTransport } from '../../../src/erp/targets/api/http.ts';
import {
  answers,
  changedJournal,
  type Journal,
  type JournalLine,
  listed,
  type NewJournal,
  newJournals,
  refusal,
} from './schema.ts';

const idOf = (name: string): string => {
  const hash = createHash('sha256').update(name).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
};

const account = (
  Code: string,
  Type: string,
  Class: string,
  fields: { TaxType?: string; SystemAccount?: string } = {},
) => ({
  ...{ AccountID: idOf(`account ${Code}`), Code, Name: `Account ${Code}`, Status: 'ACTIVE', Type, Class },
  ...{ TaxType: 'NONE', ...fields },
});
/** The default tax type of the revenue accounts is the one of 25.5 %. */
const accounts = [
  account('090', 'BANK', 'ASSET'),
  account('610', 'CURRENT', 'ASSET', { SystemAccount: 'DEBTORS' }),
  account('1700', 'CURRENT', 'ASSET', { SystemAccount: '' }),
  account('1900', 'CURRENT', 'ASSET'),
  account('2931', 'CURRLIAB', 'LIABILITY', { SystemAccount: 'GST' }),
  ...['3000', '3010', '3020'].map((code) => account(code, 'REVENUE', 'REVENUE', { TaxType: 'OUTPUT2' })),
  { ...account('3900', 'REVENUE', 'REVENUE'), Status: 'ARCHIVED' },
];
export const vatAccount = '2931';

const rate = (TaxType: string, percent: number, Status = 'ACTIVE') => ({
  ...{ Name: `${percent} % ${TaxType}`, TaxType, Status, DisplayTaxRate: percent, EffectiveRate: percent },
});
const percents = [25, 24, 20, 19, 16, 14, 13.5, 12, 10, 7, 6, 5];
/** The tax type of a rate. */
export const taxTypeOf = (percent: string): string =>
  percent === '25.5' ? 'OUTPUT2' : percent === '0' ? 'ZERORATEDOUTPUT' : `TAX${percent.replace('.', '')}`;
const taxRates = [
  ...[rate('NONE', 0), rate('ZERORATEDOUTPUT', 0), rate('OUTPUT2', 25.5), rate('OLD', 25.5, 'DELETED')],
  ...percents.map((percent) => rate(taxTypeOf(String(percent)), percent)),
];
const category = (Name: string, options: string[]) => ({
  ...{ TrackingCategoryID: idOf(Name), Name, Status: 'ACTIVE' },
  Options: options.map((option) => ({ TrackingOptionID: idOf(`${Name} ${option}`), Name: option, Status: 'ACTIVE' })),
});
const tracking = [category('project', ['east', 'west']), category('site', ['Oulu'])];

interface Held {
  tenant: string;
  journal: Journal;
  changedMs: number;
}

/** A line in the books, with the lines of the VAT that Xero computes. */
export interface BookLine {
  account: string;
  amount: Money;
}

interface Result {
  status: number;
  value: unknown;
  headers?: Record<string, string>;
}

class Refused extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Errors about the content of a journal. */
class Invalid extends Error {
  readonly messages: string[];

  constructor(messages: string[]) {
    super(messages.join('; '));
    this.messages = messages;
  }
}

type Asked = (
  request: { name: string; body: unknown; query: Record<string, string> },
  answer: { status: number; value: unknown },
) => void;

export class FakeXero implements ErpTransport {
  readonly config: XeroConfig = {
    ...{ kind: 'xero', url: 'https://api.xero.com', database: '', company: 'Vets Ltd', user: 'client-of-vets' },
    ...{ clientSecret: 'client secret', redirectUrl: null, password: '', from: null, auto: true, post: 'posted' },
    ...{ ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60 },
  };
  /** Every request, as `GET /path`. */
  readonly asked: string[] = [];
  /** The organisations that the token reaches. The first one is the configured one. */
  tenants = [
    { id: idOf('connection 1'), tenantId: idOf('tenant 1'), tenantType: 'ORGANISATION', tenantName: 'Vets Ltd' },
    { id: idOf('connection 2'), tenantId: idOf('tenant 2'), tenantType: 'ORGANISATION', tenantName: 'Farm Ltd' },
  ];
  tokenSeconds = 1_800;
  /** Requests that are answered before the limit of the day is spent. */
  dayLimit = 5_000;
  /** Which answers are replayed for an id of a request; how long Xero remembers it is not known. */
  replays: 'all' | 'successes' | 'none' = 'all';
  /** A list shows a change after this time. */
  lagMs = 0;
  /** Changes an answer before it is sent. */
  onAnswer: (request: string, value: unknown) => unknown = (_, value) => value;
  /** Sees the body of each request. */
  onSent: (body: string) => void = () => undefined;
  /** Sees each request and its answer. */
  onAsked: Asked = () => undefined;
  readonly #now: () => number;
  readonly #tokens = new Map<string, number>();
  readonly #journals = new Map<string, Held>();
  readonly #replayed = new Map<string, Result>();
  readonly #forgotten = new Set<string>();
  readonly #locks: { PeriodLockDate?: string; EndOfYearLockDate?: string } = {};

  constructor({ now }: { now(): number }) {
    this.#now = now;
  }

  lock(through: string, which: 'PeriodLockDate' | 'EndOfYearLockDate' = 'PeriodLockDate'): void {
    this.#locks[which] = through;
  }

  unlock(): void {
    delete this.#locks.PeriodLockDate;
    delete this.#locks.EndOfYearLockDate;
  }

  /** A person deletes an account after its list was read. */
  forget(code: string): void {
    this.#forgotten.add(code);
  }

  /** A person changes a journal. */
  change(
    id: string,
    changes: Partial<Pick<Journal, 'Status' | 'Narration' | 'JournalLines'>> & { date?: string },
  ): void {
    const { date, ...fields } = changes;
    const held = this.#of(id);
    Object.assign(held.journal, fields, date === undefined ? {} : { Date: msDate(Date.parse(date)) });
    this.#touch(held);
  }

  /** A person copies a journal and posts the copy. */
  copy(id: string): void {
    const { tenant, journal } = this.#of(id);
    this.#keep(tenant, { ...structuredClone(journal), Status: 'POSTED' });
  }

  /** The journals of an organisation, without deleted drafts. */
  held(
    tenant = this.tenants[0]?.tenantId,
  ): { id: string; narration: string; status: string; date: string; lines: BookLine[] }[] {
    return [...this.#journals.values()]
      .filter((held) => held.tenant === tenant && held.journal.Status !== 'DELETED')
      .map(({ journal: { ManualJournalID: id, Narration: narration, Status: status, Date: date, JournalLines } }) => ({
        ...{ id, narration, status, date: new Date(msOf(date)).toISOString().slice(0, 10) },
        lines: JournalLines.flatMap(({ AccountCode = '', LineAmount, TaxAmount }) => {
          const base = { account: AccountCode, amount: new Money(String(LineAmount)) };
          return TaxAmount === 0 ? [base] : [base, { account: vatAccount, amount: new Money(String(TaxAmount)) }];
        }),
      }));
  }

  journal(id: string): Journal {
    return this.#of(id).journal;
  }

  /** The VAT of posted journals by tax type, computed from the lines as they were sent. */
  vatReport(): Map<string, Decimal> {
    const report = new Map<string, Decimal>();
    for (const { journal } of this.#journals.values()) {
      if (journal.Status !== 'POSTED') continue;
      for (const { TaxType, LineAmount } of journal.JournalLines) {
        const tax = taxOf(LineAmount, TaxType);
        if (!tax.isZero()) report.set(TaxType, (report.get(TaxType) ?? new Decimal(0)).plus(tax));
      }
    }
    return report;
  }

  async send(request: ErpRequest, { signal }: { signal: AbortSignal }): Promise<Answer> {
    signal.throwIfAborted();
    const { verb = 'POST', path, query = {}, headers, body } = request;
    const name = `${verb} ${path.replace('/api.xro/2.0', '').replace(/[0-9a-f-]{36}/, '#')}`;
    this.asked.push(`${verb} ${path.replace('/api.xro/2.0', '')}`);
    const isForm = name === 'POST /connect/token';
    const sent = body === '' || isForm ? null : JSON.parse(body);
    for (const [, digits = ''] of body.matchAll(/"LineAmount":([^,}]*)/g)) {
      if (!/^-?\d+\.\d\d$/.test(digits)) throw new Error(`${digits} does not have two decimals`);
    }
    this.onSent(body);
    const replay = headers['idempotency-key'] ?? '';
    if (replay.length > 128) throw new Error('the id of the request is too long');
    const before: Result | undefined = replay === '' ? undefined : this.#replayed.get(replay);
    const result: Result = before ?? this.#result(name, request, sent);
    if (replay !== '' && replayed[this.replays].includes(result.status)) this.#replayed.set(replay, result);
    this.onAsked({ name, body: sent, query }, result);
    return {
      status: result.status,
      text: result.value === null ? '' : JSON.stringify(this.onAnswer(name, result.value)),
      retryAfter: result.headers?.['retry-after'] ?? null,
      headers: { 'x-daylimit-remaining': String(Math.max(0, this.dayLimit)), ...result.headers },
      ids: { request: 'fake' },
    };
  }

  close(): void {}

  #result(name: string, request: ErpRequest, sent: unknown): Result {
    try {
      const form = answers[name as keyof typeof answers];
      if (form === undefined) throw new Refused(404, 'The resource you are looking for cannot be found');
      const value = this.#answer(name, request, sent);
      return { status: 200, value: form.parse(JSON.parse(JSON.stringify(value))) };
    } catch (error) {
      if (error instanceof Refused) {
        const { status, message, headers } = error;
        return { status, value: message === '' ? null : { Title: message, Status: status }, headers };
      }
      if (!(error instanceof Invalid)) throw error;
      const Elements = [{ ValidationErrors: error.messages.map((Message) => ({ Message })) }];
      const Message = 'A validation exception occurred';
      return { status: 400, value: refusal.parse({ ErrorNumber: 10, Type: 'ValidationException', Message, Elements }) };
    }
  }

  #answer(name: string, { path, query = {}, headers, body }: ErpRequest, sent: unknown): unknown {
    if (name === 'POST /connect/token') return this.#token(headers.authorization ?? '', new URLSearchParams(body));
    const untilMs = this.#tokens.get(headers.authorization?.replace('Bearer ', '') ?? '') ?? 0;
    if (untilMs <= this.#now()) throw new Refused(401, 'Unauthorized');
    if (name === 'GET /connections') return this.tenants;
    this.dayLimit -= 1;
    if (this.dayLimit < 0) throw new Refused(429, '', { 'retry-after': '40000', 'x-rate-limit-problem': 'day' });
    const tenant = headers['xero-tenant-id'] ?? '';
    if (!this.tenants.some(({ tenantId }) => tenantId === tenant)) throw new Refused(403, 'Forbidden');
    const id = /[0-9a-f-]{36}/.exec(path)?.[0] ?? '';
    switch (name) {
      case 'GET /Organisation':
        return { ...this.#envelope(), Organisations: [this.#organisation(tenant)] };
      case 'GET /Accounts':
        return { ...this.#envelope(), Accounts: accounts };
      case 'GET /TaxRates':
        return { ...this.#envelope(), TaxRates: taxRates };
      case 'GET /TrackingCategories':
        return { ...this.#envelope(), TrackingCategories: tracking };
      case 'GET /ManualJournals':
        return { ...this.#envelope(), ...this.#list(tenant, query, headers['if-modified-since']) };
      case 'PUT /ManualJournals':
        return { ...this.#envelope(), ManualJournals: this.#create(tenant, query, sent) };
      case 'POST /ManualJournals/#':
        return { ...this.#envelope(), ManualJournals: [this.#setStatus(tenant, id, sent)] };
      default:
        return { ...this.#envelope(), ManualJournals: [this.#of(id, tenant).journal] };
    }
  }

  #token(authorization: string, form: URLSearchParams): object {
    const { user, clientSecret } = this.config;
    const expected = `Basic ${Buffer.from(`${user}:${encodeURIComponent(clientSecret).replace('%20', '+')}`).toString('base64')}`;
    if (authorization !== expected || form.get('grant_type') !== 'client_credentials')
      throw new Refused(400, 'invalid_client');
    const scope = form.get('scope') ?? '';
    if (scope !== 'accounting.manualjournals accounting.settings.read') throw new Refused(400, 'invalid_scope');
    const token = `token-${this.#tokens.size + 1}-${'x'.repeat(20)}`;
    this.#tokens.set(token, this.#now() + this.tokenSeconds * 1_000);
    return { access_token: token, expires_in: 1_800, token_type: 'Bearer', scope };
  }

  #organisation(tenant: string): object {
    const { PeriodLockDate: period, EndOfYearLockDate: year } = this.#locks;
    return {
      ...{ OrganisationID: tenant, Name: this.tenants.find(({ tenantId }) => tenantId === tenant)?.tenantName ?? '' },
      ...{ BaseCurrency: 'EUR', CountryCode: 'IE', IsDemoCompany: false, ShortCode: '!vets1' },
      ...(period && { PeriodLockDate: msDate(Date.parse(period)) }),
      ...(year && { EndOfYearLockDate: msDate(Date.parse(year)) }),
    };
  }

  /** Without `summarizeErrors=false`, nothing is created if one journal is wrong. */
  #create(tenant: string, query: Record<string, string>, sent: unknown): object[] {
    const parsed = newJournals.safeParse(sent);
    if (!parsed.success) throw new Invalid([JSON.stringify(parsed.error.issues[0])]);
    const made = parsed.data.ManualJournals.map((one) => {
      try {
        return this.#journalOf(one);
      } catch (error) {
        if (error instanceof Invalid) return { one, messages: error.messages };
        throw error;
      }
    });
    const faults = made.flatMap((each) => ('messages' in each ? each.messages : []));
    if (faults.length > 0 && query.summarizeErrors !== 'false') throw new Invalid(faults);
    return made.map((each) => {
      if ('messages' in each) {
        const ValidationErrors = each.messages.map((Message) => ({ Message }));
        const ManualJournalID = '00000000-0000-0000-0000-000000000000';
        return { Narration: each.one.Narration, ManualJournalID, StatusAttributeString: 'ERROR', ValidationErrors };
      }
      const journal = this.#keep(tenant, each.journal);
      const Warnings = each.warnings.map((Message) => ({ Message }));
      return { ...journal, StatusAttributeString: 'OK', ...(Warnings.length > 0 && { Warnings }) };
    });
  }

  /** The journal as Xero would store it. Throws Invalid. */
  #journalOf(sent: NewJournal): { journal: Omit<Journal, 'ManualJournalID' | 'UpdatedDateUTC'>; warnings: string[] } {
    const warnings: string[] = [];
    const type = sent.LineAmountTypes ?? 'Exclusive';
    const lines = sent.JournalLines.map((line): JournalLine => {
      const its = accounts.find(({ Code }) => Code === line.AccountCode && !this.#forgotten.has(Code));
      if (its === undefined || its.Status !== 'ACTIVE')
        warnings.push(`Account code '${line.AccountCode}' has been removed as it does not match a recognised account.`);
      else if (its.Type === 'BANK' || (its.SystemAccount ?? '') !== '')
        throw new Invalid([`Account code '${line.AccountCode}' is not a valid code for this document.`]);
      // Without a tax type, a line has the one of its account.
      const TaxType = type === 'NoTax' ? 'NONE' : (line.TaxType ?? its?.TaxType ?? 'NONE');
      if (!taxRates.some((each) => each.TaxType === TaxType && each.Status === 'ACTIVE'))
        throw new Invalid([
          `The TaxType code '${TaxType}' does not exist or cannot be used for this type of transaction.`,
        ]);
      if ((line.Tracking ?? []).length > 2) throw new Invalid(['A line can have two Tracking elements at most.']);
      return {
        ...(line.Description !== undefined && { Description: line.Description }),
        ...{ TaxType, LineAmount: line.LineAmount, IsBlank: false, Tracking: trackingOf(line.Tracking ?? []) },
        TaxAmount: type === 'Exclusive' ? taxOf(line.LineAmount, TaxType).toNumber() : 0,
        ...(its !== undefined && its.Status === 'ACTIVE' && { AccountCode: its.Code, AccountID: its.AccountID }),
      };
    });
    const date = sent.Date ?? new Date(this.#now()).toISOString().slice(0, 10);
    for (const [lock, text] of [
      ['PeriodLockDate', 'period'],
      ['EndOfYearLockDate', 'end of year'],
    ] as const) {
      const through = this.#locks[lock] ?? '';
      if (date <= through)
        throw new Invalid([`The document date cannot be before the ${text} lock date, currently set at ${through}`]);
    }
    const total = lines.reduce(
      (sum, { LineAmount, TaxAmount }) => sum.plus(String(LineAmount)).plus(String(TaxAmount)),
      new Decimal(0),
    );
    // Assumed: a journal that lost an account stays a draft.
    const Status = warnings.length > 0 ? 'DRAFT' : (sent.Status ?? 'DRAFT');
    if (!total.isZero()) throw new Invalid(['The total debits (100.00) must equal total credits (-10.00)']);
    return {
      journal: {
        ...{ Date: msDate(Date.parse(date)), Status, LineAmountTypes: type, Narration: sent.Narration },
        ...{ JournalLines: lines, ShowOnCashBasisReports: true, HasAttachments: false },
      },
      warnings,
    };
  }

  #keep(tenant: string, journal: Omit<Journal, 'ManualJournalID' | 'UpdatedDateUTC'>): Journal {
    const id = idOf(`journal ${this.#journals.size}`);
    const held = { tenant, journal: { ...journal, ManualJournalID: id, UpdatedDateUTC: '' }, changedMs: 0 };
    this.#journals.set(id, held);
    this.#touch(held);
    return held.journal;
  }

  #touch(held: Held): void {
    held.changedMs = this.#now();
    held.journal.UpdatedDateUTC = msDate(held.changedMs);
  }

  #setStatus(tenant: string, id: string, sent: unknown): object {
    const [change] = changedJournal.parse(sent).ManualJournals;
    const held = this.#of(id, tenant);
    const { Status: from } = held.journal;
    const to = change?.Status ?? 'DRAFT';
    const isAllowed = from === 'DRAFT' ? to !== 'VOIDED' : from === 'POSTED' && to === 'VOIDED';
    if (!isAllowed) throw new Invalid([`This journal cannot be changed from ${from} to ${to}`]);
    const date = new Date(msOf(held.journal.Date)).toISOString().slice(0, 10);
    if (to === 'POSTED' && date <= (this.#locks.PeriodLockDate ?? ''))
      throw new Invalid([`The document date cannot be before the period lock date, currently set at ${date}`]);
    held.journal.Status = to;
    this.#touch(held);
    return { ...held.journal, StatusAttributeString: 'OK' };
  }

  /** Only a list in pages has lines. */
  #list(tenant: string, query: Record<string, string>, since: string | undefined): object {
    const parsed = listed.safeParse(query);
    if (!parsed.success) throw new Invalid([`query: ${parsed.error.issues[0]?.path.join('.')}`]);
    const { page, pageSize = '100', where } = parsed.data;
    const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
    if (Number.isNaN(sinceMs)) throw new Invalid(['If-Modified-Since']);
    const isShown = ({ changedMs }: Held) => changedMs + this.lagMs <= this.#now();
    const wanted = [...this.#journals.values()]
      .filter(
        (held) => held.tenant === tenant && isShown(held) && held.changedMs >= sinceMs && matches(held.journal, where),
      )
      .sort((one, other) => one.changedMs - other.changedMs);
    if (page === undefined) return { ManualJournals: wanted.map(({ journal }) => ({ ...journal, JournalLines: [] })) };
    const [number, size] = [Number(page), Number(pageSize)];
    const items = wanted.slice((number - 1) * size, number * size).map(({ journal }) => journal);
    const pageCount = Math.max(1, Math.ceil(wanted.length / size));
    return {
      pagination: { page: number, pageSize: size, pageCount, itemCount: wanted.length },
      ManualJournals: items,
    };
  }

  #of(id: string, tenant?: string): Held {
    const held = this.#journals.get(id);
    if (held === undefined || (tenant !== undefined && held.tenant !== tenant))
      throw new Refused(404, 'The resource you are looking for cannot be found');
    return held;
  }

  #envelope() {
    const DateTimeUTC = `/Date(${this.#now()})/`;
    return { Id: idOf(`answer ${this.asked.length}`), Status: 'OK', ProviderName: 'vetledger', DateTimeUTC };
  }
}

/** The statuses of the answers that are replayed. */
const replayed = { all: [200, 400], successes: [200], none: [] as number[] };

/** The filters that vetledger uses. */
function matches({ Status, Date: date }: Journal, where = ''): boolean {
  if (where === '') return true;
  if (where === 'Status=="DRAFT"') return Status === 'DRAFT';
  const day = String.raw`DateTime\((\d{4}), (\d\d), (\d\d)\)`;
  const [, ...parts] = new RegExp(`^Date >= ${day} AND Date <= ${day}$`).exec(where) ?? [];
  if (parts.length !== 6) throw new Invalid([`where: ${where}`]);
  const [from, through] = [parts.slice(0, 3), parts.slice(3)].map((each) => Date.parse(each.join('-'))) as [
    number,
    number,
  ];
  return msOf(date) >= from && msOf(date) <= through;
}

/** An option that is named wrongly is dropped: assumed. */
function trackingOf(sent: NonNullable<NewJournal['JournalLines'][number]['Tracking']>): JournalLine['Tracking'] {
  return sent.flatMap(({ Name, Option }) => {
    const its = tracking.find((each) => each.Name === Name);
    const option = its?.Options.find((each) => each.Name === Option);
    if (its === undefined || option === undefined) return [];
    const { TrackingCategoryID } = its;
    return { Name: its.Name, Option: option.Name, TrackingCategoryID, TrackingOptionID: option.TrackingOptionID };
  });
}

/** VAT is rounded for each line, to the nearest cent. */
function taxOf(net: number, type: string): Decimal {
  const percent = taxRates.find(({ TaxType }) => TaxType === type)?.EffectiveRate ?? 0;
  return new Decimal(String(net)).times(String(percent)).div(100).toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
}

const msDate = (ms: number): string => `/Date(${ms}+0000)/`;
const msOf = (text: string): number => Number(/-?\d+/.exec(text)?.[0]);
