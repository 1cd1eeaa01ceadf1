import { zero } from '../../../domain/money.ts';
import { clip, visible } from '../../../domain/text.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { erpRecordFindings } from '../../../texts/findings/erp-records.ts';
import type { ErpEntry, FoundEntry } from '../../erp-entry.ts';
import {
  type CheckPlan,
  type CheckResult,
  type CompanyRef,
  type ErpBooks,
  ErpError,
  type ErpPeriods,
  type ErpTarget,
  type Expiry,
  type IdentifiedCompany,
  type KeyedPage,
  type KeyedQuery,
  type KeyToFind,
  type LinesOnly,
  type RequestOptions,
  type WriteOptions,
} from '../../port.ts';
import { checkErp } from './check.ts';
import type { ErpApi, LineMatching, RecordTypes } from './erp-api.ts';
import { keyedText, unitAndKeyIn, withoutKey } from './keyed-text.ts';
import { type Resolved, resolveEntries, throwFirst } from './resolve.ts';
import { scanFor } from './scan.ts';

/** Maximum number of keys in a search. */
const keysPerSearch = 100;
const longestPartyName = 200;

/** The target of an ERP with an API: everything that is common to such ERPs. `ErpApi` contains what differs. */
export class ApiTarget<W extends RecordTypes> implements ErpTarget {
  readonly capabilities: ErpTarget['capabilities'];
  readonly company: CompanyRef;
  readonly matching?: NonNullable<ErpTarget['matching']>;
  readonly books?: ErpBooks;
  readonly limitsLeft?: NonNullable<ErpTarget['limitsLeft']>;
  readonly #api: ErpApi<W>;

  constructor(company: CompanyRef, api: ErpApi<W>) {
    this.capabilities = api.capabilities;
    this.company = company;
    this.#api = api;
    const { matching, books, limitsLeft } = api;
    if (limitsLeft !== undefined) this.limitsLeft = () => limitsLeft.take();
    if (matching !== undefined) {
      this.matching = {
        match: (groups, request) => this.#match(matching, groups, request),
        unmatch: (groups, request) => this.#unmatch(matching, groups, request),
        unmatchable: (accounts, request) => this.#unmatchable(accounts, request),
      };
    }
    if (books === undefined) return;
    const copies = books.copies?.bind(books);
    this.books = {
      balances: (range, request) => books.balances(range, request),
      entries: (which, request) => {
        const named = new Set(which.accounts);
        const isWanted = ({ key, lines }: FoundEntry) =>
          key !== null || lines.some(({ account }) => named.has(account));
        return pagesOf(books.entries(which, request), isWanted);
      },
      ...(copies && { copies: (which, request) => pagesOf(copies(which, request), ({ key }) => key === null) }),
    };
  }

  async identify(request: RequestOptions): Promise<IdentifiedCompany> {
    const { id, currency, isSandbox } = await this.#api.company(request);
    return { ...this.company, id, currency, ...(isSandbox !== undefined && { isSandbox }) };
  }

  describe(entry: ErpEntry): string {
    return withoutKey(this.#api.textOf?.(entry) ?? keyedText(entry), entry.key);
  }

  async find(
    keys: readonly KeyToFind[],
    request: RequestOptions,
  ): Promise<{ found: FoundEntry[]; isComplete: boolean }> {
    const { reader } = this.#api;
    if (reader.scan !== undefined && keys.length > 0) return scanFor(keys, reader, request);
    const found = new Map<string, FoundEntry>();
    const lookUps = (await reader.lookUps?.(request)) ?? [];
    for (let at = 0; at < keys.length; at += keysPerSearch) {
      let missing = keys.slice(at, at + keysPerSearch);
      for (const lookUp of lookUps) {
        if (missing.length === 0) break;
        const wanted = new Set(missing.map(({ key }) => key));
        const seen = new Set<string>();
        for (const entry of await lookUp(missing, request)) {
          if (entry.key === null || !wanted.has(entry.key)) continue;
          found.set(entry.id, entry);
          seen.add(entry.key);
        }
        missing = missing.filter(({ key }) => !seen.has(key));
      }
    }
    return { found: [...found.values()], isComplete: true };
  }

  async keyed(which: KeyedQuery, request: RequestOptions): Promise<KeyedPage> {
    const { texts, next } = await this.#api.reader.keyed(which, request);
    const entries = texts.flatMap(({ text, ...entry }) => {
      const named = unitAndKeyIn(text);
      return named === null ? [] : [{ ...entry, ...named }];
    });
    return { entries, next, isComplete: true };
  }

  create(entries: readonly ErpEntry[], request: WriteOptions): Promise<Map<string, string>> {
    return this.#written(async () => {
      const resolved = await this.#resolve(entries, request);
      const { erp, party } = this.#api.terms;
      const sent = entries.map(({ key, unitId }) => {
        const found = resolved.entries.get(key);
        if (found !== undefined) return found;
        const named = { erp, party: party?.one ?? '', unitId: visible(unitId) };
        throw new ErpError('unsent', erpAnswerTexts.partyNotFound(named));
      });
      const ids = await this.#api.create(sent, request);
      if (ids.length !== entries.length) {
        const counts = { erp, ids: ids.length, entries: entries.length };
        throw new ErpError('doubt', erpAnswerTexts.idsMissing(counts));
      }
      return new Map(entries.map(({ key }, index) => [key, String(ids[index])]));
    });
  }

  /** Looks up what the entries refer to, and creates missing clients. Throws ErpError. */
  async #resolve(entries: readonly ErpEntry[], request: WriteOptions): Promise<Resolved<W>> {
    const resolve = () => resolveEntries(this.#api, entries, request);
    let resolved = await resolve();
    if (resolved.problems.length > 0) {
      // The problem may come from an outdated cache.
      this.#api.forget();
      resolved = await resolve();
      throwFirst(resolved.problems);
    }
    if (resolved.missingParties.size === 0) return resolved;
    // These clients were looked up just before. So none is created twice after a request without an answer.
    const parties = [...resolved.missingParties.values()].map(({ code, name }) => ({
      code,
      name: clip(
        visible(name?.trim() ? name : erpRecordFindings.client({ id: code.split('/').at(-1) ?? '' })),
        longestPartyName,
      ),
    }));
    await this.#api.createParties?.(parties, request);
    resolved = await resolve();
    throwFirst(resolved.problems);
    return resolved;
  }

  post(ids: readonly string[], request: WriteOptions): Promise<void> {
    return this.#written(() => this.#api.post(ids, request));
  }

  withdrawDrafts(ids: readonly string[], request: WriteOptions): Promise<void> {
    return this.#written(() => this.#api.withdrawDrafts(ids, request));
  }

  read(ids: readonly string[], request: RequestOptions, only?: LinesOnly): Promise<FoundEntry[]> {
    return this.#api.reader.read(ids, request, only);
  }

  periods(request: RequestOptions): Promise<ErpPeriods> {
    return this.#api.periods(request);
  }

  async #match(
    matching: LineMatching<W>,
    groups: readonly (readonly string[])[],
    request: WriteOptions,
  ): Promise<void> {
    const lines = new Map((await matching.lines(groups.flat(), request)).map((line) => [line.id, line]));
    const toMatch: W['line'][][] = [];
    for (const group of groups) {
      const present = group.flatMap((id) => lines.get(id) ?? []);
      const refuse = (reason: string) =>
        new ErpError('refused', erpAnswerTexts.lines({ ids: group.join(', '), reason }), { problem: 'erp_refused' });
      const { erp } = this.#api.terms;
      if (present.length !== group.length) throw refuse(erpAnswerTexts.lineMissing({ erp }));
      const matches = new Set(present.map(({ matched }) => matched));
      if (matches.size === 1 && !matches.has(null)) continue;
      // Some lines are already matched. An ERP would match only the other lines, or take these lines out of their group
      // and leave it unbalanced.
      if (present.some(({ matched, isTouched }) => matched !== null || isTouched))
        throw refuse(erpAnswerTexts.lineMatched);
      const left = present.reduce((balance, { amount }) => balance.plus(amount), zero);
      if (!left.isZero()) throw refuse(erpAnswerTexts.notBalanced({ balance: left.toFixed() }));
      if (present.some(({ isPosted }) => !isPosted)) throw refuse(erpAnswerTexts.lineNotPosted);
      toMatch.push(present);
    }
    if (toMatch.length > 0) await this.#written(() => matching.match(toMatch, request));
  }

  async #unmatch(
    matching: LineMatching<W>,
    groups: readonly (readonly string[])[],
    request: WriteOptions,
  ): Promise<void> {
    const lines = await matching.lines(groups.flat(), request);
    const matched = lines.filter((line) => line.matched !== null || line.isTouched);
    if (matched.length > 0) await matching.unmatch(matched, request);
  }

  async #unmatchable(accounts: ReadonlySet<string>, request: RequestOptions): Promise<ReadonlySet<string>> {
    const found = await this.#api.records.accounts(accounts, request);
    const isMatchable = (code: string) => found.get(code)?.every(({ reconcile }) => reconcile) === true;
    return new Set([...accounts].filter((code) => !isMatchable(code)));
  }

  check(plan: CheckPlan, request: RequestOptions): AsyncIterable<CheckResult> {
    this.#api.forget();
    return checkErp(this.#api, plan, request);
  }

  async accountNames(accounts: readonly string[], request: RequestOptions): Promise<Map<string, string>> {
    const found = await this.#api.records.accounts(accounts, request);
    return new Map(
      [...found].flatMap(([account, [first, ...others]]): [string, string][] =>
        first === undefined || others.length > 0 || first.name === '' ? [] : [[account, first.name]],
      ),
    );
  }

  async expiries(request: RequestOptions): Promise<Expiry[]> {
    return (await this.#api.expiries?.(request)) ?? [];
  }

  close(): Promise<void> {
    return this.#api.close();
  }

  /** Runs a writing request. After an error the caches are cleared, since a record may have changed. */
  async #written<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      this.#api.forget(error);
      throw error;
    }
  }
}

/** Filters the entries of each page, and leaves out empty pages. */
async function* pagesOf(
  pages: AsyncIterable<FoundEntry[]>,
  isWanted: (entry: FoundEntry) => boolean,
): AsyncGenerator<FoundEntry[]> {
  for await (const page of pages) {
    const wanted = page.filter(isWanted);
    if (wanted.length > 0) yield wanted;
  }
}
