// A company in Netvisor, in memory. It checks requests and its own answers against documents.ts. What Netvisor does in
// unknown cases is a knob, or marked as assumed.

import { createHmac } from 'node:crypto';
import { Decimal } from 'decimal.js';
import type { NetvisorConfig } from '../../../src/config/erp.ts';
import { Money } from '../../../src/domain/money.ts';
import type { Answer, ErpRequest, ErpTransport } from '../../../src/erp/targets/api/http.ts';
import {
  accountList,
  accounts,
  addedLines,
  finnish,
  type HeldVoucher,
  ledgerVoucher,
  lineIn,
  type Status,
  tag,
  truth,
  types,
  voucherTypeList,
} from './answers.ts';
import { answers, invalidation, isEncodable, parse, validate, voucherRequest, WrongDocument } from './documents.ts';

const percents = ['25,5', '25', '24', '20', '19', '16', '14', '13,5', '12', '10', '7', '6', '5', '0'];
const hour = 3_600_000;

type LockKind = 'AccountingPeriod' | 'VatPeriod' | 'Purchase';

class Failed extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export class FakeNetvisor implements ErpTransport {
  config: NetvisorConfig = {
    ...{ kind: 'netvisor', url: 'https://netvisor.invalid', database: '', company: '1967543-8', user: 'AV_1_2' },
    ...{ password: 'customer key', clientId: 'Kli_1', clientSecret: 'partner key', from: null, auto: true },
    ...{ post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 120 },
  };
  /** Every request, as `GET /resource?query`. */
  readonly asked: string[] = [];
  /** Values by dimension, and whether they are hidden. */
  readonly dimensions = new Map<string, [item: string, isHidden: boolean][]>([
    [
      'project',
      [
        ['east', false],
        ['west', false],
        ['old', true],
      ],
    ],
  ]);
  /** Unknown: which requests use up their ids. */
  remembers: 'all' | 'successes' | 'nothing' = 'all';
  /** Unknown: whether the days of a search count. */
  excludesDays = true;
  /** Unknown: whether a list of keys finds invalidated vouchers. */
  showsInvalidated = true;
  lagSeconds = 0;
  /** Changes an answer before it is sent. */
  onAnswer: (resource: string, text: string) => string = (_, text) => text;
  /** Replaces an answer. */
  answerOf: (resource: string) => { text: string; status: number } | null = () => null;
  /** The difference between the clocks of Netvisor and of the client. */
  clockOffMs = 0;
  /** Netvisor creates vouchers on accounts that do not exist. */
  acceptsUnknown = false;
  readonly #now: () => number;
  readonly #seenIds = new Set<string>();
  readonly #vouchers = new Map<number, HeldVoucher>();
  readonly #locks = new Map<LockKind, string>();
  #lastId = 1_000;
  #lastNumber = 0;

  constructor({ now }: { now(): number }) {
    this.#now = now;
  }

  lock(through: string, kind: LockKind = 'AccountingPeriod'): void {
    this.#locks.set(kind, through);
  }

  unlock(): void {
    this.#locks.clear();
  }

  /** A person changes a voucher. */
  change(id: string, fields: Partial<HeldVoucher>): void {
    Object.assign(this.#of(id), fields, { changedMs: this.#now() });
  }

  /** A person copies a voucher, with its description. */
  copy(id: string): void {
    const { description, date, type, lines } = this.#of(id);
    this.#add({ description, date, type, lines });
  }

  held(): HeldVoucher[] {
    return [...this.#vouchers.values()];
  }

  books(): {
    id: string;
    description: string;
    state: Status;
    date: string;
    lines: { account: string; amount: Money }[];
  }[] {
    return this.held().map(({ id, description, status, date, lines }) => ({
      ...{ id: String(id), description, state: status, date },
      lines: lines.map(({ account, amount }) => ({ account, amount: new Money(amount.toFixed()) })),
    }));
  }

  /** The sales in Netvisor's VAT return, by code and percentage. */
  sales(): Map<string, string> {
    const sums = new Map<string, Decimal>();
    for (const { code, percent, amount } of this.held().flatMap(({ lines }) => lines)) {
      if (code !== '-') sums.set(`${code} ${percent}`, (sums.get(`${code} ${percent}`) ?? new Decimal(0)).plus(amount));
    }
    return new Map([...sums].map(([code, sum]) => [code, sum.toFixed(2)]));
  }

  async send(request: ErpRequest, { signal }: { signal: AbortSignal }): Promise<Answer> {
    signal.throwIfAborted();
    const { verb = 'POST', path, headers, body, encoding } = request;
    this.asked.push(`${verb} ${path}`);
    const [resource = '', parameters = ''] = path.slice(1).split('?');
    const query = Object.fromEntries(parameters.split('&').map((each) => each.split('=')));
    const id = headers['X-Netvisor-Authentication-TransactionId'] ?? '';
    try {
      this.#authenticate(request, id);
      if (this.remembers === 'all') this.#seenIds.add(id);
      if (body !== '' && (encoding !== 'iso-8859-15' || !isEncodable(body) || !body.startsWith('<root>')))
        throw new Failed('INVALID_DATA', 'Sanoman merkistö on virheellinen');
      const content = this.#answer(`${verb} ${resource}`, query, body);
      if (this.remembers === 'successes') this.#seenIds.add(id);
      return this.#said(resource, ['OK'], content);
    } catch (error) {
      if (error instanceof WrongDocument) return this.#said(resource, ['FAILED', `INVALID_DATA :: ${error.message}`]);
      if (!(error instanceof Failed)) throw error;
      return this.#said(resource, ['FAILED', `${error.code} :: ${error.message}`]);
    }
  }

  close(): void {}

  #said(resource: string, status: string[], content = ''): Answer {
    const time = new Date(this.#now()).toISOString();
    const said = status.map((each) => tag('Status', each)).join('');
    const stamp = tag('TimeStamp', `${finnish(time)} ${time.slice(11, 19)}`);
    const root = `<Root><ResponseStatus>${said}${stamp}</ResponseStatus>${content}</Root>`;
    validate(parse(root), answers);
    const text = this.onAnswer(resource, `<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n${root}`);
    return { status: 200, text, ...this.answerOf(resource), retryAfter: null, ids: { request: 'fake' } };
  }

  /** The signature of a request. The order of its parts is that of the documentation. */
  signatureOf({ path, headers }: Pick<ErpRequest, 'path' | 'headers'>): string {
    const { url, password, clientSecret } = this.config;
    const of = (name: string) => headers[`X-Netvisor-${name}`] ?? '';
    const message = [
      ...[`${url}${path}`, of('Authentication-Sender'), of('Authentication-CustomerId')],
      ...[of('Authentication-Timestamp'), of('Interface-Language'), of('Organisation-ID')],
      ...[of('Authentication-TransactionId'), of('Authentication-TimestampUnix'), password, clientSecret],
    ].join('&');
    return createHmac('sha256', `${password}&${clientSecret}`).update(message).digest('hex');
  }

  #authenticate(request: ErpRequest, id: string): void {
    const { user, clientId, company } = this.config;
    const of = (name: string) => request.headers[`X-Netvisor-${name}`] ?? '';
    const timestamp = of('Authentication-Timestamp');
    const unix = of('Authentication-TimestampUnix');
    const isRight =
      of('Authentication-MAC') === this.signatureOf(request) &&
      of('Authentication-MACHashCalculationAlgorithm') === 'HMACSHA256' &&
      of('Authentication-CustomerId') === user &&
      of('Authentication-PartnerId') === clientId &&
      of('Organisation-ID') === company &&
      id.length >= 8;
    const isNow = (ms: number) => Math.abs(ms - this.#now() - this.clockOffMs) <= hour / 12;
    if (!isRight || !isNow(Number(unix) * 1_000) || !isNow(Date.parse(`${timestamp.replace(' ', 'T')}Z`)))
      throw new Failed('AUTHENTICATION_FAILED', 'Integraatioavaimet eivät kelpaa');
    if (this.#seenIds.has(id)) throw new Failed('REQUEST_NOT_UNIQUE', 'Pyyntö on jo lähetetty');
  }

  #answer(call: string, query: Record<string, string>, body: string): string {
    switch (call) {
      case 'GET accountlist.nv':
        return accountList();
      case 'GET vouchertypelist.nv':
        return voucherTypeList();
      case 'GET dimensionlist.nv':
        return this.#dimensionList(query.showhidden === '1');
      case 'GET accountingperiodlist.nv':
        return this.#periodList();
      case 'GET accountingledger.nv':
        return tag('Vouchers', this.#search(query).map(ledgerVoucher));
      case 'POST accounting.nv':
        return tag('Replies', [tag('InsertedDataIdentifier', String(this.#create(body, query)))]);
      case 'POST invalidatevouchers.nv':
        return this.#invalidate(body);
      default:
        throw new Failed('INVALID_DATA', `Tuntematon resurssi ${call}`);
    }
  }

  #create(body: string, query: Record<string, string>): number {
    const root = parse(body);
    validate(root, voucherRequest);
    const [voucher] = root.children;
    const textOf = (name: string) => voucher?.children.find((each) => each.name === name)?.text ?? '';
    const date = textOf('voucherdate');
    if ([...this.#locks].some(([kind, through]) => kind !== 'Purchase' && date <= through))
      throw new Failed('PERIOD_LOCK', 'Kausi on lukittu');
    const type = types.find(({ name }) => name === textOf('voucherclass'))?.abbreviation;
    if (type === undefined) throw new Failed('INVALID_DATA', 'Tositelajia ei löydy');
    const lines = (voucher?.children ?? []).filter(({ name }) => name === 'voucherline').map(lineIn);
    for (const { account, code, percent, dimensions } of lines) {
      if (!(account in accounts) && !this.acceptsUnknown) throw new Failed('INVALID_DATA', `Tiliä ${account} ei löydy`);
      const fits = code === '-' || code === 'EUMY' ? percent === '0' : percents.includes(percent);
      if (!fits) throw new Failed('INVALID_DATA', 'ALV-koodi ja prosentti ovat ristiriidassa');
      for (const [name, item] of dimensions) this.#useDimension(name, item, query.useonlyexistingdimensions === '1');
    }
    const left = lines.reduce((sum, { amount }) => sum.plus(amount), new Decimal(0));
    // Assumed for the mode net. In the mode gross, Netvisor adds lines for VAT and for the rest.
    if (!left.isZero() && textOf('calculationmode') === 'net') throw new Failed('INVALID_DATA', 'Tosite ei täsmää');
    if (textOf('calculationmode') === 'gross') lines.push(...addedLines(lines));
    return this.#add({ description: textOf('description'), date, type, lines });
  }

  #useDimension(name: string, item: string, isKnownOnly: boolean): void {
    const items = this.dimensions.get(name) ?? [];
    if (items.some(([each]) => each === item)) return;
    if (isKnownOnly) throw new Failed('INVALID_DATA', `Laskentakohdetta ${item} ei löydy`);
    this.dimensions.set(name, [...items, [item, false]]);
  }

  #add(fields: Pick<HeldVoucher, 'description' | 'date' | 'type' | 'lines'>): number {
    this.#lastId += 1;
    this.#lastNumber += 1;
    const times = { madeMs: this.#now(), changedMs: this.#now() };
    this.#vouchers.set(this.#lastId, {
      ...{ id: this.#lastId, number: this.#lastNumber, status: 'valid' },
      ...fields,
      ...times,
    });
    return this.#lastId;
  }

  #invalidate(body: string): string {
    const root = parse(body);
    validate(root, invalidation);
    const keys = (root.children[0]?.children ?? []).filter(({ name }) => name === 'invalidatevoucher');
    if (keys.length > 100) throw new Failed('INVALID_DATA', 'Liian monta tositetta');
    for (const { text } of keys) this.change(text, { status: 'invalidated' });
    return '';
  }

  #search(query: Record<string, string>): HeldVoucher[] {
    const { netvisorkeylist: keys, startdate, enddate, changedsince, voucherstatus = '2' } = query;
    if (keys !== undefined) {
      const ids = keys.split(',');
      if (Object.keys(query).length > 1 || ids.length > 500) throw new Failed('INVALID_DATA', 'Virheellinen haku');
      return ids.flatMap((id) => {
        const found = this.#vouchers.get(Number(id));
        return found === undefined || (found.status !== 'valid' && !this.showsInvalidated) ? [] : found;
      });
    }
    if (changedsince === undefined && (startdate === undefined || enddate === undefined))
      throw new Failed('INVALID_DATA', 'Hakuehto puuttuu');
    const isAfter = (day: string, bound: string | undefined) =>
      bound === undefined || (this.excludesDays ? day > bound : day >= bound);
    const seenMs = this.#now() - this.lagSeconds * 1_000;
    return this.held().filter(
      ({ date, status, madeMs, changedMs }) =>
        madeMs <= seenMs &&
        isAfter(date, startdate) &&
        (enddate === undefined || isAfter(enddate, date)) &&
        // Netvisor's days are those of Finland.
        isAfter(new Date(changedMs + 2 * hour).toISOString().slice(0, 10), changedsince) &&
        (voucherstatus === '1' || (voucherstatus === '2') === (status === 'valid')),
    );
  }

  #dimensionList(showsHidden: boolean): string {
    const list = [...this.dimensions].map(([name, items], n) => {
      const details = items
        .filter(([, isHidden]) => showsHidden || !isHidden)
        .map(([item, isHidden], index) =>
          tag('DimensionDetail', [
            ...[tag('Netvisorkey', String(100 * n + index)), tag('Name', item), tag('IsHidden', truth(isHidden))],
            ...['Level', 'Sort', 'EndSort', 'FatherID'].map((each) => tag(each, '1')),
          ]),
        );
      return tag('DimensionName', [
        ...[tag('Netvisorkey', String(n + 5)), tag('Name', name), tag('IsHidden', truth(false)), tag('LinkType', '0')],
        tag('DimensionDetails', details),
      ]);
    });
    return tag('DimensionNameList', list);
  }

  #periodList(): string {
    const ansi = { format: 'ansi' };
    const locks = (['AccountingPeriod', 'VatPeriod', 'Purchase'] as const).flatMap((kind) => {
      const through = this.#locks.get(kind);
      return through === undefined ? [] : tag(`${kind}LockDate`, finnish(through), ansi);
    });
    const periods = [2026].map((year) =>
      tag('Period', [
        ...[tag('NetvisorKey', String(year)), tag('Name', String(year))],
        ...[tag('BeginDate', `1.1.${year}`, ansi), tag('EndDate', `31.12.${year}`, ansi)],
      ]),
    );
    return tag('AccountingPeriodList', [tag('PeriodLockInformation', locks), ...periods]);
  }

  #of(id: string): HeldVoucher {
    const held = this.#vouchers.get(Number(id));
    if (held === undefined) throw new Failed('INVALID_DATA', 'Tositetta ei löydy');
    return held;
  }
}
