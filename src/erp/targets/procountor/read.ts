import { daysFrom } from '../../../domain/dates.ts';
import type { JsonObject } from '../../../records/json.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import { ErpError, type KeyedQuery, type RequestOptions } from '../../port.ts';
import type { ErpReader, KeyedText, ScanRange } from '../api/erp-api.ts';
import { asId, asList, asRecord, asText, idOf, readAs, wrongForm } from '../api/form.ts';
import { pageById, partsOf, provedPages } from '../api/pages.ts';
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

  /** Scans by the time of creation, since a person may change the date of a receipt. */
  scan({ since }: ScanRange, request: RequestOptions): AsyncIterable<readonly KeyedText[]> {
    return this.receipts({ createdStartDate: since.toISOString().slice(0, 19) }, request);
  }

  /** Pages of receipts that match a query, in the order of their ids. */
  receipts(query: Record<string, string>, request: RequestOptions): AsyncGenerator<readonly KeyedText[]> {
    return provedPages(async ({ after }) => {
      const items = await this.#page(query, after, request);
      return { items, count: null, isLast: items.length === 0 };
    });
  }

  async keyed(
    { installation, changedSince, after }: KeyedQuery,
    request: RequestOptions,
  ): ReturnType<ErpReader['keyed']> {
    const query = changedSince === null ? {} : { versionStartDate: sinceADayBefore(changedSince) };
    const page = await this.#page(query, after, request);
    const mark = `· ${installation}/`;
    // The next page begins after the last receipt of this one, so none is left out.
    return pageById(page.map((each) => (each.text.includes(mark) ? each : { ...each, text: '' })));
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
