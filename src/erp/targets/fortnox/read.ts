import type { JsonObject } from '../../../records/json.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { KeyedQuery, RequestOptions } from '../../port.ts';
import type { ErpReader, KeyedText, ScanRange } from '../api/erp-api.ts';
import { asText, readAs } from '../api/form.ts';
import { voucherId, voucherOf } from './codes.ts';
import { type FortnoxConnection, recordIn } from './connection.ts';
import { foundVoucher, linesIn, numberIn, numberLabel, readable } from './vouchers.ts';
import type { FinancialYear, FinancialYears } from './years.ts';

/** Reads vouchers. Each method throws ErpError. */
export class FortnoxReader implements ErpReader {
  readonly #connection: FortnoxConnection;
  readonly #years: FinancialYears;

  constructor(connection: FortnoxConnection, years: FinancialYears) {
    this.#connection = connection;
    this.#years = years;
  }

  /** One request each, since lists have no rows. */
  async read(ids: readonly string[], request: RequestOptions): Promise<FoundEntry[]> {
    await this.#connection.company(request);
    const years = await this.#years.all(request);
    const entries: FoundEntry[] = [];
    for (const id of ids) {
      const { series, number, year } = voucherOf(id);
      const one = `${path}/${encodeURIComponent(series)}/${number}`;
      const answer = await this.#connection.get(one, { financialyear: String(year) }, request);
      if (answer === null) continue;
      const entry = readAs(answer, (value) => {
        const voucher = recordIn(value, 'Voucher');
        const which = numberIn(voucher);
        const facts = { ...textIn(voucher), lines: linesIn(voucher) };
        return foundVoucher(
          which,
          years.find((each) => each.id === which.year),
          facts,
        );
      });
      entries.push(entry);
    }
    return entries;
  }

  async *scan({ since, dates }: ScanRange, request: RequestOptions): AsyncGenerator<KeyedText[]> {
    await this.#connection.company(request);
    for (const year of await this.#years.between(dates.from, dates.through, request)) {
      const query = { financialyear: String(year.id), lastmodified: timeText(since) };
      for await (const page of this.#connection.pages(path, name, query, request)) yield keyedVouchers(page, year);
    }
  }

  /** A page has the vouchers of one financial year; `next` is the id of the following one. */
  async keyed(
    { installation, changedSince, after }: KeyedQuery,
    request: RequestOptions,
  ): Promise<{ texts: KeyedText[]; next: string | null }> {
    await this.#connection.company(request);
    const years = await this.#years.all(request);
    const at = after === null ? 0 : years.findIndex(({ id }) => String(id) === after);
    const year = years[at];
    if (year === undefined) return { texts: [], next: null };
    const vouchers = await this.vouchers(year, changedSince, request);
    const following = years[at + 1];
    return {
      texts: vouchers.filter(({ text }) => text.includes(`· ${installation}/`)),
      next: following === undefined ? null : String(following.id),
    };
  }

  /** The vouchers of a year, without rows: all, or those that were changed since a time. */
  async vouchers(year: FinancialYear, changedSince: Date | null, request: RequestOptions): Promise<KeyedText[]> {
    await this.#connection.company(request);
    // A day is taken off, since the ERP's clock may be in another time zone.
    const since = changedSince && { lastmodified: timeText(new Date(changedSince.getTime() - dayMs)) };
    const query = { financialyear: String(year.id), ...since };
    return keyedVouchers(await this.#connection.list(path, name, query, request), year);
  }
}

const [path, name] = ['/3/vouchers', 'Vouchers'];
const dayMs = 86_400_000;

function timeText(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ');
}

function keyedVouchers(vouchers: readonly JsonObject[], year: FinancialYear): KeyedText[] {
  return vouchers.map((voucher) => readAs(voucher, () => keyedVoucher(voucher, year)));
}

function keyedVoucher(voucher: JsonObject, year: FinancialYear): KeyedText {
  const which = numberIn(voucher);
  const { date, text } = textIn(voucher);
  return { id: voucherId(which), text: readable(text), number: numberLabel(which, year), state: 'posted', date };
}

function textIn(voucher: JsonObject): { date: string; text: string } {
  return { date: asText(voucher.TransactionDate ?? null), text: asText(voucher.Description ?? '') };
}
