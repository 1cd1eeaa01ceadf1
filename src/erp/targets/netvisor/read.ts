import { daysBetween, daysFrom, monthBounds } from '../../../domain/dates.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import type { ErpPeriods, KeyedQuery, RequestOptions } from '../../port.ts';
import type { ErpReader, KeyedText, ScannedEntry, ScanRange } from '../api/erp-api.ts';
import { idOf, readAs } from '../api/form.ts';
import { keyText } from '../api/keyed-text.ts';
import { partsOf } from '../api/pages.ts';
import type { EntryPages } from '../api/summed-books.ts';
import { elementIn, elementsIn, type XmlElement } from '../api/xml.ts';
import { mostRead } from './capabilities.ts';
import type { NetvisorConnection } from './connection.ts';
import type { NetvisorNames } from './names.ts';
import { foundEntry } from './vouchers.ts';

/** Without it, the ledger has valid vouchers only. */
const allStates = { voucherstatus: '1' };
const dayMs = 86_400_000;

interface Days {
  from: CalendarDate;
  through: CalendarDate;
}

export interface NetvisorReaderPorts {
  connection: NetvisorConnection;
  names: NetvisorNames;
  periods(request: RequestOptions): Promise<ErpPeriods>;
}

/** Reads vouchers. Each method throws ErpError. */
export class NetvisorReader implements ErpReader {
  readonly #ports: NetvisorReaderPorts;

  constructor(ports: NetvisorReaderPorts) {
    this.#ports = ports;
  }

  async read(ids: readonly string[], request: RequestOptions): Promise<FoundEntry[]> {
    const entries: FoundEntry[] = [];
    for (const part of partsOf(ids, mostRead)) {
      const keys = part.map((id) => idOf('Netvisor', id)).join(',');
      entries.push(...(await this.#vouchers({ netvisorkeylist: keys }, request)));
    }
    return entries;
  }

  /** Scans by the time of the change, since a person may change the date of a voucher. The answer has no pages. */
  async *scan({ since }: ScanRange, request: RequestOptions): AsyncGenerator<ScannedEntry[]> {
    const entries = await this.#changedSince(since, request);
    yield entries.flatMap((entry) => keyedTextOf(entry).map((text) => ({ ...text, entry })));
  }

  /** Without a time, a page for each month of the accounting periods, since the ledger has no pages. */
  async keyed(
    { installation, changedSince, after }: KeyedQuery,
    request: RequestOptions,
  ): ReturnType<ErpReader['keyed']> {
    const mark = `· ${installation}/`;
    const textsOf = (entries: readonly FoundEntry[]) =>
      entries.flatMap((entry) => (entry.description.includes(mark) ? keyedTextOf(entry) : []));
    if (changedSince !== null) return { texts: textsOf(await this.changedSince(changedSince, request)), next: null };
    const periods = (await this.#ports.periods(request)).periods ?? [];
    const first = after ?? periods.map(({ from }) => from).sort()[0];
    const last = periods
      .map(({ through }) => through)
      .sort()
      .at(-1);
    if (first === undefined || last === undefined) return { texts: [], next: null };
    const { from, through } = monthBounds(first.slice(0, 7));
    const texts = textsOf(await this.vouchersIn({ from, through }, request));
    return { texts, next: through < last ? daysFrom(through, 1) : null };
  }

  /** Vouchers of the days, in all states. */
  async vouchersIn({ from, through }: Days, request: RequestOptions): Promise<FoundEntry[]> {
    // The documentation leaves open whether the first and the last day count, so they are a day further apart.
    const query = { startdate: daysFrom(from, -1), enddate: daysFrom(through, 1), ...allStates };
    const found = await this.#vouchers(query, request);
    return found.filter(({ date }) => from <= date && date <= through);
  }

  /** Vouchers changed since a time, in all states, and perhaps others. */
  changedSince(time: Date, request: RequestOptions): Promise<FoundEntry[]> {
    // The ERP's clock may be in another time zone.
    return this.#changedSince(new Date(time.getTime() - dayMs), request);
  }

  /** The documentation leaves open whether the day itself counts, so it is the day before. */
  #changedSince(time: Date, request: RequestOptions): Promise<FoundEntry[]> {
    return this.#vouchers({ changedsince: daysFrom(time.toISOString().slice(0, 10), -1), ...allStates }, request);
  }

  async #vouchers(query: Record<string, string>, request: RequestOptions): Promise<FoundEntry[]> {
    const root = await this.#ports.connection.get('accountingledger.nv', query, request);
    const types = await this.#ports.names.voucherTypes(request);
    return readAs(root, (answer) =>
      elementsIn(elementIn(answer as XmlElement, 'vouchers'), 'voucher').map((each) => foundEntry(each, types)),
    );
  }
}

/** All vouchers of the company, month by month. */
export function voucherPages(reader: NetvisorReader): EntryPages {
  return async function* ({ from, through, changedSince }, request) {
    if (changedSince !== null) {
      const changed = await reader.changedSince(changedSince, request);
      yield changed.filter(({ date }) => from <= date && date <= through);
      return;
    }
    for (let day = from; day <= through; ) {
      const month = monthBounds(day.slice(0, 7));
      const last = daysBetween(month.through, through) > 0 ? month.through : through;
      yield await reader.vouchersIn({ from: day, through: last }, request);
      day = daysFrom(last, 1);
    }
  };
}

function keyedTextOf({ id, key, description, number, state, date }: FoundEntry): KeyedText[] {
  return key === null ? [] : [{ id, text: `${description} ${keyText(key)}`, number, state, date }];
}
