import { visible } from '../../../domain/text.ts';
import type { ErpProblemCode } from '../../../texts/erp-problems.ts';
import { erpRecordFindings } from '../../../texts/findings/erp-records.ts';
import type { ErpEntry, ErpLine, ErpParty } from '../../erp-entry.ts';
import { ErpError, type RequestOptions } from '../../port.ts';
import type { DimensionName, ErpApi, Fault, NamedRecord, RecordTypes, ResolvedEntry, ResolvedLine } from './erp-api.ts';

/** The ERP's records that entries refer to. */
export interface Resolved<W extends RecordTypes> {
  /** The entries, by key. */
  entries: Map<string, ResolvedEntry<W>>;
  problems: (Fault & { key: string })[];
  /** Clients that the ERP does not have yet, by code. */
  missingParties: Map<string, ErpParty>;
}

/** The part of an ERP's API that resolving uses. */
export type Resolving<W extends RecordTypes> = Pick<
  ErpApi<W>,
  'terms' | 'records' | 'entryFault' | 'lineFault' | 'taxFault'
>;

/** Throws an ErpError with the entries that have the first problem. The caller can then send the other entries. */
export function throwFirst(problems: Resolved<RecordTypes>['problems']): void {
  const [first] = problems;
  if (first === undefined) return;
  const same = problems.filter(({ code, message }) => code === first.code && message === first.message);
  throw new ErpError('refused', first.message, { problem: first.code, keys: same.map(({ key }) => key) });
}

/** Looks up every record that the entries refer to. A name with several records is a problem. Throws ErpError. */
export async function resolveEntries<W extends RecordTypes>(
  api: Resolving<W>,
  entries: readonly ErpEntry[],
  request: RequestOptions,
): Promise<Resolved<W>> {
  const known = await wordsOf(api, entries, request);
  const found: Resolved<W> = { entries: new Map(), problems: [], missingParties: new Map() };
  for (const entry of entries) {
    const resolver = new EntryResolver(api, entry, known);
    const resolved = resolver.resolve((await api.entryFault?.(entry, request)) ?? null);
    if (resolver.problem !== null) found.problems.push({ key: entry.key, ...resolver.problem });
    else if (resolved !== null) found.entries.set(entry.key, resolved);
    else for (const party of resolver.missing) found.missingParties.set(party.code, party);
  }
  return found;
}

interface Known<W extends RecordTypes> {
  accounts: Map<string, W['account'][]>;
  journals: Map<string, W['journal'][]>;
  taxes: Map<string, W['tax'][]>;
  dimensions: Map<string, W['dimension'][]>;
  ours: Map<string, W['party'][]>;
  theirs: Map<string, W['party'][]>;
}

async function wordsOf<W extends RecordTypes>(
  { records }: Resolving<W>,
  entries: readonly ErpEntry[],
  request: RequestOptions,
): Promise<Known<W>> {
  const lines = entries.flatMap(linesToSend);
  const parties = lines.flatMap(({ party }) => party ?? []);
  const days = new Set(entries.map(({ date }) => date));
  const codesOf = (areOurs: boolean) =>
    new Set(parties.filter(({ isOurs }) => isOurs === areOurs).map(({ code }) => code));
  // One request at a time, as for every company.
  return {
    accounts: await records.accounts(new Set(lines.map(({ account }) => account)), request, days),
    journals: await records.journals(new Set(entries.map(({ journal }) => journal)), request, days),
    taxes: await records.taxes(new Set(lines.flatMap(({ vat }) => vat?.code ?? [])), request, days),
    dimensions: await records.dimensions(new Set(lines.flatMap(dimensionNames)), request),
    ours: (await records.ourParties?.(codesOf(true), request)) ?? new Map(),
    theirs: (await records.parties?.(codesOf(false), request)) ?? new Map(),
  };
}

/** The lines that a target sends. */
function linesToSend({ lines, sentLines }: ErpEntry): ErpLine[] {
  return sentLines ?? lines;
}

function dimensionNames({ dimensions }: Pick<ErpLine, 'dimensions'>): DimensionName[] {
  return Object.entries(dimensions).map(([theirs, value]): DimensionName => `${theirs}\n${value}`);
}

class EntryResolver<W extends RecordTypes> {
  /** The first problem of the entry. */
  problem: Fault | null = null;
  readonly missing: ErpParty[] = [];
  readonly #api: Resolving<W>;
  readonly #erp: string;
  readonly #entry: ErpEntry;
  readonly #known: Known<W>;

  constructor(api: Resolving<W>, entry: ErpEntry, known: Known<W>) {
    this.#api = api;
    this.#erp = api.terms.erp;
    this.#entry = entry;
    this.#known = known;
  }

  /** Null if the entry has a problem, or if a client is missing. `fault`: a problem of the entry as a whole. */
  resolve(fault: Fault | null): ResolvedEntry<W> | null {
    this.problem = fault;
    const entry = this.#entry;
    const { journal: kind } = erpRecordFindings;
    const journal = this.#one(this.#known.journals.get(entry.journal), 'erp_journal_unknown', kind, entry.journal);
    const lines = linesToSend(entry).flatMap((line) => this.#line(line, journal) ?? []);
    if (this.problem !== null || journal === null || this.missing.length > 0) return null;
    return { entry, journal, lines };
  }

  /** Finds the records that the line names. Null if the line has a problem. */
  #line(line: ErpLine, journal: W['journal'] | null): ResolvedLine<W> | null {
    const account = this.#account(line, journal);
    const tax = line.vat === null ? null : this.#tax(line.vat);
    const party = line.party === null ? null : this.#party(line.party);
    const dimensions = dimensionNames(line).flatMap((name) => {
      const [theirs = '', value = ''] = name.split('\n');
      const kind = erpRecordFindings.analyticAccount({ dimension: visible(theirs) });
      return this.#one(this.#known.dimensions.get(name), 'erp_dimension_unknown', kind, value) ?? [];
    });
    return account === null ? null : { account, party, tax, dimensions };
  }

  #account(line: ErpLine, journal: W['journal'] | null): W['account'] | null {
    const found = this.#known.accounts.get(line.account) ?? [];
    const [first] = found;
    const named = { erp: this.#erp, account: visible(line.account) };
    const add = (message: string) => this.#add({ code: 'erp_account_unknown', message });
    if (first === undefined) return add(erpRecordFindings.accountMissing(named));
    if (found.length > 1) return add(erpRecordFindings.accountAmbiguous({ ...named, n: found.length }));
    const fault = this.#api.lineFault(first, { entry: this.#entry, line, journal });
    return fault === null ? first : this.#add(fault);
  }

  #tax(vat: NonNullable<ErpLine['vat']>): W['tax'] | null {
    const found = this.#known.taxes.get(vat.code) ?? [];
    const message = this.#api.taxFault?.(found, vat) ?? null;
    if (message !== null) return this.#add({ code: 'erp_tax_unknown', message });
    return this.#one(found, 'erp_tax_unknown', erpRecordFindings.tax, vat.code);
  }

  #party(party: ErpParty): W['party'] | null {
    const found = (party.isOurs ? this.#known.ours : this.#known.theirs).get(party.code) ?? [];
    const [first] = found;
    const { party: terms } = this.#api.terms;
    if (terms === undefined) throw new Error(`entries in ${this.#erp} have no parties`);
    const { one, many, ours, theirs, isInactive } = terms;
    const reference = party.isOurs ? ours : theirs;
    const named = erpRecordFindings.withReference({ reference, code: visible(party.code) });
    const erp = this.#erp;
    const add = (message: string) => this.#add({ code: 'erp_party_refused', message });
    if (first === undefined && party.isOurs) {
      this.missing.push(party);
      return null;
    }
    if (first === undefined) return add(erpRecordFindings.partyMissing({ erp, party: one, named }));
    if (found.length > 1) {
      const ids = found.map(({ id }) => id).join(', ');
      return add(erpRecordFindings.partyAmbiguous({ erp, n: found.length, parties: many, named, ids }));
    }
    return first.isActive ? first : add(erpRecordFindings.partyInactive({ erp, party: one, named, isInactive }));
  }

  /** The record of a name that must have exactly one active record; null otherwise, with a problem. */
  #one<Found extends NamedRecord>(
    found: readonly Found[] = [],
    code: ErpProblemCode,
    kind: string,
    name: string,
  ): Found | null {
    const [first] = found;
    const { record } = this.#api.terms;
    const named = { erp: this.#erp, kind, name: visible(name) };
    const add = (message: string) => this.#add({ code, message });
    if (first === undefined) return add(erpRecordFindings.missing(named));
    if (found.length > 1) return add(erpRecordFindings.ambiguous({ ...named, n: found.length, code: record.code }));
    return first.isActive ? first : add(erpRecordFindings.inactive({ ...named, isInactive: record.isInactive }));
  }

  #add(fault: Fault): null {
    this.problem ??= fault;
    return null;
  }
}
