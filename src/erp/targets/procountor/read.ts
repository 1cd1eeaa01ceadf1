import { daysFrom } from '../../../domain/dates.ts';
import type { JsonObject } from '../../../records/json.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import { ErpError, type KeyedQuery, type RequestOptions } from '../../port.ts';
import type { ErpReader, KeyedText, KeyLookUp } from '../api/erp-api.ts';
import { asId, asList, asRecord, asText, idOf, readAs, wrongForm } from '../api/form.ts';
import { keyIn } from '../api/keyed-text.ts';
import { partsOf } from '../api/pages.ts';
import { receiptType } from './codes.ts';
import type { ProcountorConnection } from './connection.ts';
import type { ProcountorNames } from './names.ts';
import { foundEntry, numberOf, receiptsIn, stateOf } from './receipts.ts';

/** Maximum number of receipts in an answer. */
const receiptsPerPage = 200;

/** Reads receipts. Each method throws ErpError. */
export class ProcountorReader implements ErpReader {
  readonly #connection: ProcountorConnection;
  readonly #names: ProcountorNames;

  constructor(connection: ProcountorConnection, names: ProcountorNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async read(ids: readonly string[], request: RequestOptions): Promise<FoundEntry[]> {
    const entries: FoundEntry[] = [];
    for (const part of partsOf(ids, receiptsPerPage)) {
      const path = `/ledgerreceipts/${part.map((id) => idOf('Procountor', id)).join(',')}`;
      const answer = await this.#connection.get(path, {}, request);
      const names = await this.#names.dimensionNames(request);
      entries.push(...readAs(answer, (value) => receiptsIn(value).map((receipt) => foundEntry(receipt, names))));
    }
    return entries;
  }

  /**
   * Searches by date first. A person may have changed the date of a receipt, so the rest is searched among all receipts
   * created since the day before the earliest date, because the ERP's clock may be in another time zone.
   */
  async lookUps(): Promise<KeyLookUp[]> {
    const days = (keys: Parameters<KeyLookUp>[0]) => keys.flatMap(({ dates }) => dates).toSorted();
    return [
      (keys, request) => {
        const all = days(keys);
        return this.#withKeys(keys, { startDate: all[0] ?? '', endDate: all.at(-1) ?? '' }, request);
      },
      (keys, request) =>
        this.#withKeys(keys, { createdStartDate: `${daysFrom(days(keys)[0] ?? '', -1)}T00:00:00` }, request),
    ];
  }

  async #withKeys(
    keys: Parameters<KeyLookUp>[0],
    query: Record<string, string>,
    request: RequestOptions,
  ): Promise<FoundEntry[]> {
    const wanted = new Set(keys.map(({ key }) => key));
    const ids: string[] = [];
    for await (const page of this.receipts(query, request))
      ids.push(...page.filter(({ text }) => wanted.has(keyIn(text) ?? '')).map(({ id }) => id));
    return ids.length === 0 ? [] : this.read(ids, request);
  }

  /** Pages of receipts that match a query, in the order of their ids. */
  async *receipts(query: Record<string, string>, request: RequestOptions): AsyncGenerator<KeyedText[]> {
    for (let after: string | null = null; ; ) {
      const page: KeyedText[] = await this.#page(query, after, request);
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      after = last.id;
    }
  }

  async keyed({ installation, changedSince, after }: KeyedQuery, request: RequestOptions): Promise<KeyedText[]> {
    const query = changedSince === null ? {} : { versionStartDate: sinceADayBefore(changedSince) };
    const page = await this.#page(query, after, request);
    const mark = `· ${installation}/`;
    // The next page begins after the last receipt of this one, so none is left out.
    return page.map((each) => (each.text.includes(mark) ? each : { ...each, text: '' }));
  }

  /**
   * The receipts after an id, in the order of their ids. An empty page is the last one, since the server may return
   * smaller pages than requested.
   */
  async #page(query: Record<string, string>, after: string | null, request: RequestOptions): Promise<KeyedText[]> {
    await this.#connection.company(request);
    const size = String(receiptsPerPage);
    const paged = {
      ...query,
      types: receiptType,
      orderById: 'ASC',
      size,
      ...(after === null ? {} : { previousId: after }),
    };
    const answer = await this.#connection.get('/ledgerreceipts', paged, request);
    if (answer === null) throw new ErpError('unsent', 'HTTP 404');
    return readAs(answer, (value) => {
      const { results, meta } = asRecord(value);
      const receipts = asList(results ?? null).map(asRecord);
      const ids = receipts.map(({ id }) => asId(id ?? null));
      const isInOrder = ids.every((id, index) => id > (ids[index - 1] ?? Number(after ?? 0)));
      const counted = meta == null ? null : (asRecord(meta).resultCount ?? null);
      if (!isInOrder || (counted !== null && asId(counted) !== ids.length))
        throw wrongForm('receipts in the order of their ids', value);
      return receipts.map(textOf);
    });
  }
}

/** The beginning of the day before, since the ERP's clock may be in another time zone. */
export function sinceADayBefore(time: Date): string {
  return `${daysFrom(time.toISOString().slice(0, 10), -1)}T00:00:00`;
}

function textOf(receipt: JsonObject): KeyedText {
  return {
    id: String(asId(receipt.id ?? null)),
    text: asText(receipt.name ?? ''),
    number: numberOf(receipt),
    state: stateOf(receipt),
    date: asText(receipt.receiptDate ?? null),
  };
}
