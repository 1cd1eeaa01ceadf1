import type { JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { FoundEntry } from '../../erp-entry.ts';
import { ErpError, type KeyedQuery, type RequestOptions } from '../../port.ts';
import type { ErpReader, ScannedEntry, ScanRange } from '../api/erp-api.ts';
import { asId, asRecord, asText, readAs, wholeNumber, wrongForm } from '../api/form.ts';
import { type ListedPage, provedPages } from '../api/pages.ts';
import type { XeroConnection } from './connection.ts';
import { foundEntry } from './journals.ts';
import type { XeroForm, XeroNames } from './names.ts';
import { asDay, asGuid, asInstant, daysBetweenText, recordsIn } from './wire.ts';

/** Number of journals in an answer. Only a list in pages has lines. */
const journalsPerPage = 100;
const secondMs = 1_000;
const dayMs = 86_400_000;

/** A journal of a list. `entry` is null for a deleted draft. */
interface Listed {
  id: string;
  changedAt: Date;
  text: string;
  date: CalendarDate;
  entry: FoundEntry | null;
}

interface JournalQuery {
  changedSince: Date | null;
  where?: string;
}

/** Reads manual journals. Each method throws ErpError. */
export class XeroReader implements ErpReader {
  readonly #connection: XeroConnection;
  readonly #names: XeroNames;

  constructor(connection: XeroConnection, names: XeroNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async read(ids: readonly string[], request: RequestOptions): Promise<FoundEntry[]> {
    const form = await this.#names.form(request);
    const entries: FoundEntry[] = [];
    for (const id of ids) {
      const answer = await this.#connection.get(journalPath(id), {}, request);
      const [entry = null] = readAs(answer, (value) =>
        value === null ? [] : recordsIn(value, 'ManualJournals').map((journal) => foundEntry(journal, form)),
      );
      if (entry !== null) entries.push(entry);
    }
    return entries;
  }

  async *scan({ since }: ScanRange, request: RequestOptions): AsyncGenerator<readonly ScannedEntry[]> {
    for await (const page of this.#listed({ changedSince: since }, request)) yield page.flatMap(keyedOf);
  }

  /** Pages of the entries of these days, without deleted drafts. */
  async *entries(
    { from, through, changedSince }: { from: CalendarDate; through: CalendarDate; changedSince: Date | null },
    request: RequestOptions,
  ): AsyncGenerator<FoundEntry[]> {
    const since = changedSince && new Date(changedSince.getTime() - dayMs);
    const query = { changedSince: since, where: daysBetweenText(from, through) };
    for await (const page of this.#listed(query, request)) yield page.flatMap(({ entry }) => entry ?? []);
  }

  async drafts(request: RequestOptions): Promise<FoundEntry[]> {
    const drafts: FoundEntry[] = [];
    for await (const page of this.#listed({ changedSince: null, where: 'Status=="DRAFT"' }, request))
      drafts.push(...page.flatMap(({ entry }) => entry ?? []));
    return drafts;
  }

  /**
   * The journals in the order of their changes. `after` contains a time and a page: the next page begins at the last
   * change of this one, so a journal that changes meanwhile is seen again later.
   */
  async keyed(
    { installation, changedSince, after }: KeyedQuery,
    request: RequestOptions,
  ): ReturnType<ErpReader['keyed']> {
    const since = changedSince && new Date(changedSince.getTime() - dayMs);
    const [from, number] = after === null ? [since, 1] : positionIn(after);
    const { items, isLast } = await this.#page({ changedSince: from }, number, request);
    const last = items.at(-1);
    if (last === undefined) return { texts: [], next: null };
    const begin = new Date(last.changedAt.getTime() - secondMs);
    const isLater = from === null || begin > from;
    const next = isLast ? null : isLater ? `${begin.toISOString()}/1` : `${from.toISOString()}/${number + 1}`;
    const mark = `· ${installation}/`;
    return { texts: items.flatMap(keyedOf).filter(({ text }) => text.includes(mark)), next };
  }

  /** Pages of journals. Throws ListChanged if they may lack one. */
  #listed(query: JournalQuery, request: RequestOptions): AsyncGenerator<readonly Listed[]> {
    return provedPages(({ number }) => this.#page(query, number, request));
  }

  async #page(
    { changedSince, where }: JournalQuery,
    number: number,
    request: RequestOptions,
  ): Promise<ListedPage<Listed>> {
    const form = await this.#names.form(request);
    const answer = await this.#connection.call(
      {
        ...{ access: 'reads', verb: 'GET', path: '/ManualJournals' },
        query: {
          page: String(number),
          pageSize: String(journalsPerPage),
          order: 'UpdatedDateUTC ASC',
          ...(where === undefined ? {} : { where }),
        },
        headers: changedSince === null ? {} : { 'if-modified-since': `${changedSince.toISOString().slice(0, 19)}Z` },
      },
      request,
    );
    if (answer === null) {
      if (changedSince === null) throw new ErpError('unsent', 'HTTP 404');
      return { items: [], count: 0, isLast: true };
    }
    return readAs(answer, (value) => pageIn(value, number, form));
  }
}

function pageIn(value: JsonValue, number: number, form: XeroForm): ListedPage<Listed> {
  const { page, pageCount, itemCount } = asRecord(asRecord(value).pagination ?? null);
  const items = recordsIn(value, 'ManualJournals').map((journal) => ({
    id: asGuid(journal.ManualJournalID ?? null),
    changedAt: asInstant(journal.UpdatedDateUTC ?? null),
    text: asText(journal.Narration ?? null),
    date: asDay(journal.Date ?? null),
    entry: foundEntry(journal, form),
  }));
  const isOrdered = items.every(({ changedAt }, index) => changedAt >= (items[index - 1]?.changedAt ?? changedAt));
  if (asId(page ?? null) !== number || !isOrdered)
    throw wrongForm(`page ${number} of journals in the order of their changes`, value);
  return { items, count: asId(itemCount ?? null), isLast: number >= asId(pageCount ?? null) };
}

function keyedOf({ id, text, date, entry }: Listed): (ScannedEntry & { entry: FoundEntry })[] {
  return entry === null ? [] : [{ id, text, number: entry.number, state: entry.state, date, entry }];
}

function positionIn(after: string): [since: Date, page: number] {
  const [since = '', page = ''] = after.split('/');
  return [new Date(since), wholeNumber(page)];
}

/** The path of a journal. Throws ErpError if the text is not an id. */
export function journalPath(id: string): string {
  return `/ManualJournals/${readAs(id, asGuid)}`;
}
