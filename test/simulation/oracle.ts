// Checks after each judgement that state and entries are those that ACCOUNTING requires, and that the equations hold
// over all books. It uses the source's records and the entries, and nothing of src/posting or src/reconcile.
import type { Line } from '../../src/domain/entry.ts';
import type { DocumentRef } from '../../src/terms.ts';
import { type BookedEntry, type Books, type DocumentBook, inForce, keyOf } from './books.ts';
import { Broken, type Memory } from './broken.ts';
import type { WatchedClinic } from './clinic.ts';
import type { Conditions } from './conditions.ts';
import { Equations, voucherRoles } from './equations.ts';
import type { Mirror } from './mirror.ts';
import { D } from './oracle-cents.ts';
import { type LateDecision, versionAsked, wantedOf, withoutShares } from './oracle-late.ts';
import { Rules } from './oracle-rules.ts';
import type { Received } from './oracle-shares.ts';
import type { ExpectedLine, Verdict } from './oracle-terms.ts';

const reasons: Record<string, string> = {
  voided: 'voided',
  not_final: 'not_final_any_more',
  not_money: 'not_money_any_more',
  gone: 'gone',
};

export class Oracle {
  readonly memory = new Map<string, Memory>();
  readonly equations: Equations;
  readonly #rules: Rules;
  readonly #mirror: Mirror;
  readonly #equationsOnly: boolean;
  /** Invoices that the accountant decided to post on another day, so that their payments are not opening balances. */
  readonly #decidedIn = new Set<number>();
  readonly #firstClients = new Map<number, number | null>();

  /** The VAT and shares of the entries in force. */
  readonly #received: Received = {
    vatOf: (prepayment) => this.memory.get(`prepayment/${prepayment}`)?.received ?? null,
    postedBefore: (document) => {
      const own = this.memory.get(document)?.place ?? Number.POSITIVE_INFINITY;
      return [...this.memory].flatMap(([key, { place, facts }]) =>
        key !== document && facts !== null && place !== null && place < own ? [key] : [],
      );
    },
  };
  #placed = 0;

  constructor(clinic: WatchedClinic, mirror: Mirror, books: Books, equationsOnly: boolean) {
    this.#equationsOnly = equationsOnly;
    this.#mirror = mirror;
    this.#rules = new Rules(mirror, clinic.setting);
    this.equations = new Equations(clinic, mirror, books, this.memory);
  }

  /** Checks one judgement. `standing` was in force before it; `added` are its new entries. */
  judged(
    book: DocumentBook,
    standing: BookedEntry | null,
    added: BookedEntry[],
    now: Conditions,
    isRemap: boolean,
  ): void {
    const memory = this.#memoryOf(book);
    const { verdict, taken } = this.#verdictOf(book, memory, now);
    memory.taken = taken ?? memory.taken;
    const everPosted = book.entries.length > added.length;
    // A changed mapping alone posts nothing, except in a repost.
    const isMapping = isRemap && verdict.state === 'posted' && standing !== null && memory.facts !== null;
    const isOther =
      isMapping &&
      withoutShares(memory.facts!) === withoutShares(verdict.facts) &&
      linesOf(standing) !== linesAsked(verdict);
    const wanted = wantedOf(verdict, standing, everPosted, memory, now, isOther);
    memory.version = versionAsked(verdict, standing);
    memory.isLate = wanted.isLate;
    const asks = 'why' in verdict ? `${verdict.state}: ${verdict.why}` : verdict.state;
    const fail = (message: string): void => {
      if (this.#equationsOnly) return;
      throw new Broken('judgement', [book], `${keyOf(book)} (${asks}): ${message}`);
    };
    if (book.state !== wanted.state)
      fail(`is ${book.state} (${book.problem ?? 'no problem'}), should be ${wanted.state}`);
    const isMissing = this.#mirror.seen(book.kind).get(book.id)?.missing === true && inForce(book).length > 0;
    const isUnchanged = wanted.problem === false && wanted.entryOn === null;
    if (isMissing) wanted.problem = 'missing_in_source';
    const hasProblem =
      typeof wanted.problem === 'string' ? book.problem === wanted.problem : (book.problem !== null) === wanted.problem;
    if (!hasProblem) fail(`has problem ${book.problem}, should have ${wanted.problem}`);
    if (verdict.state === 'posted') {
      const asked = remarksAsked(verdict, memory, standing, isUnchanged);
      if (asked.join() !== book.remarks.join())
        fail(`has the remarks ${book.remarks.join(', ') || 'none'}, should have ${asked.join(', ') || 'none'}`);
    }
    if (book.problem !== null && verdict.state !== 'held' && !isMissing) this.#outside(book, verdict, memory, fail);
    const count = Number(wanted.reversalOn !== null) + Number(wanted.entryOn !== null);
    if (added.length !== count) fail(`got ${added.length} entries, should get ${count}`);
    if (wanted.reversalOn !== null) {
      const change = () =>
        verdict.state === 'posted' ? changeOf(memory.facts, verdict.facts) : reasons[verdict.state];
      const reason = isOther ? 'mapping_changed' : change();
      if (added[0]) reversal(standing!, added[0], wanted.reversalOn, reason ?? 'source_changed', fail);
      Object.assign(memory, { facts: null, received: null, share: null, vat: new D(0), vouchers: {}, client: null });
    }
    if (wanted.entryOn !== null && verdict.state === 'posted') {
      if (added.length > 0) sameEntry(added.at(-1)!, verdict, wanted.entryOn, fail);
      Object.assign(memory, rememberedOf(book, verdict));
      const isBack = standing === null && book.entries.at(-2)?.reason === 'gone';
      if (isBack !== (added.at(-1)?.reason === 'came_back')) fail(`gives the reason ${added.at(-1)?.reason}`);
      if (verdict.unmatched !== undefined && !this.#firstClients.has(book.id))
        this.#firstClients.set(book.id, verdict.unmatched);
    }
    // A confirmation would remove the whole posted amount from the books.
    if (isMissing && book.outside?.amount?.toFixed() !== memory.amount.negated().toFixed())
      fail(`keeps out ${book.outside?.amount?.toFixed()}, should keep out ${memory.amount.negated().toFixed()}`);
    if (added.length > 0) memory.place ??= ++this.#placed;
    this.equations.appended(book, added);
  }

  /**
   * Checks the books after a repost: entries in force are those that the mapping requires, and each held document has a
   * problem.
   */
  follows(books: DocumentBook[], now: Conditions): void {
    if (this.#equationsOnly) return;
    for (const book of books) {
      const [entry] = inForce(book);
      if (entry === undefined || book.problem !== null || book.dirty) continue;
      const { verdict } = this.#verdictOf(book, this.#memoryOf(book), now);
      if (verdict.state !== 'posted' || linesOf(entry) === linesAsked(verdict)) continue;
      const message = `${keyOf(book)} has, after a repost,\n${linesOf(entry)}\nand by the mapping alone\n${linesAsked(verdict)}`;
      throw new Broken('the way', [book], message);
    }
  }

  #verdictOf(book: DocumentBook, { taken }: Memory, now: Conditions) {
    const known = { decidedIn: this.#decidedIn, received: this.#received, firstClients: this.#firstClients };
    return this.#rules.verdict(book, { ...now, ...known }, taken);
  }

  /** The amount that a problem keeps out of the books: the required amount less the posted one. */
  #outside(book: DocumentBook, verdict: Verdict, memory: Memory, fail: (message: string) => void): void {
    const asked = verdict.state === 'posted' ? rememberedOf(book, verdict) : null;
    const standing = memory.facts === null ? null : memory;
    const apart = (field: 'amount' | 'vat') => new D(asked?.[field] ?? 0).minus(standing?.[field] ?? 0).toFixed();
    const expected = [apart('amount'), book.kind === 'invoice' ? apart('vat') : null];
    const told = [book.outside?.amount?.toFixed(), book.outside?.vat?.toFixed() ?? null];
    if (JSON.stringify(told) !== JSON.stringify(expected))
      fail(`keeps out ${told.join(' and ')}, should keep out ${expected.join(' and ')}`);
  }

  /** Records a decision about a document's last judged version. */
  decided(document: DocumentRef, decision: LateDecision): void {
    const memory = this.#memoryOf(document);
    memory.decisions.push({ decision, version: memory.version });
    if (document.kind === 'invoice' && decision === 'redate') this.#decidedIn.add(document.id);
  }

  #memoryOf(document: DocumentRef): Memory {
    const key = keyOf(document);
    const memory = this.memory.get(key) ?? {
      ...{ facts: null, taken: null, amount: new D(0), receivable: null, tags: '' },
      ...{ vat: new D(0), vouchers: {}, client: null, name: null },
      ...{ isLate: false, version: '', decisions: [], received: null, share: null, place: null },
    };
    this.memory.set(key, memory);
    return memory;
  }
}

/** The remarks of a posted document. A changed payer's name is reported only if nothing else has changed. */
function remarksAsked(
  { remarks, name }: Extract<Verdict, { state: 'posted' }>,
  memory: Memory,
  standing: BookedEntry | null,
  isUnchanged: boolean,
): string[] {
  const isRenamed = standing !== null && isUnchanged && name !== null && memory.name !== null && name !== memory.name;
  return [...new Set([...remarks, ...(isRenamed ? ['payer_name_changed'] : [])])].sort();
}

/** The reason why a posted document is posted again: only the used prepayment, or another fact. */
function changeOf(before: string | null, now: string): string {
  const without = (facts: string, names: string[]) =>
    JSON.stringify(JSON.parse(facts), (key, value: unknown) => (names.includes(key) ? null : value));
  if (!before?.includes('"liable"')) return 'source_changed';
  const isShareOnly = without(before, ['shares']) === without(now, ['shares']);
  const isOfMatch = without(before, ['liable', 'shares']) === without(now, ['liable', 'shares']);
  return isOfMatch && !isShareOnly ? 'prepayment_matched' : 'source_changed';
}

function rememberedOf(book: DocumentBook, verdict: Extract<Verdict, { state: 'posted' }>): Partial<Memory> {
  const { lines, facts, date, name, received = null, share = null } = verdict;
  const [first, second] = lines;
  const total = lines
    .filter((line) => line.role === 'receivable')
    .reduce((sum, line) => sum.plus(line.amount), new D(0));
  const credited = (role: string) =>
    lines.reduce((sum, line) => (line.role === role ? sum.minus(line.amount) : sum), new D(0));
  const vouchers = Object.fromEntries(voucherRoles.map((role) => [role, credited(role)]));
  if (book.kind === 'invoice') return { facts, amount: total, vat: credited('vat'), vouchers, name };
  const tags = JSON.stringify([first!.paymentType, first!.department, date]);
  const receivable = book.kind === 'payment' ? second!.role : null;
  const client = lines.find(({ role }) => role === 'prepayment_liability')?.party ?? null;
  return { facts, amount: first!.amount, tags, receivable, received, share, client, vouchers, name };
}

function reversal(
  of: BookedEntry,
  entry: BookedEntry,
  on: string,
  reason: string,
  fail: (message: string) => void,
): void {
  if (entry.reverses !== of.id) fail(`${entry.id} reverses ${entry.reverses}, should reverse ${of.id}`);
  if (entry.reason !== reason) fail(`${entry.id} gives the reason ${entry.reason}, should give ${reason}`);
  if (entry.date !== on || entry.documentDate !== of.documentDate) {
    fail(`${entry.id} is on ${entry.date} (${entry.documentDate}), should be on ${on} (${of.documentDate})`);
  }
  const turned = (line: Line) => JSON.stringify({ ...line, side: line.side === 'debit' ? 'credit' : 'debit' });
  const left = of.lines.map(turned).sort();
  const right = entry.lines.map((line) => JSON.stringify(line)).sort();
  if (left.join('\n') !== right.join('\n')) fail(`${entry.id} does not cancel ${of.id}`);
}

function sameEntry(
  entry: BookedEntry,
  verdict: Extract<Verdict, { state: 'posted' }>,
  on: string,
  fail: (message: string) => void,
): void {
  if (entry.reverses !== null) fail(`${entry.id} is a reversal, should be a new entry`);
  if (entry.date !== on || entry.documentDate !== verdict.date) {
    fail(`${entry.id} is on ${entry.date} (${entry.documentDate}), should be on ${on} (${verdict.date})`);
  }
  const [got, asked] = [linesOf(entry), linesAsked(verdict)];
  if (got !== asked) fail(`${entry.id} has\n${got}\n  should have\n${asked}`);
}

const linesOf = ({ lines }: BookedEntry): string =>
  lines
    .map((line) => `    ${textOfLine(line)}`)
    .sort()
    .join('\n');

const linesAsked = ({ lines }: Extract<Verdict, { state: 'posted' }>): string =>
  lines
    .map((line) => `    ${textOfExpected(line)}`)
    .sort()
    .join('\n');

function textOfLine(line: Line): string {
  const { party, dimensions, internal, vat } = line;
  const isReceivable = line.role === 'receivable' || line.role === 'opening_receivable';
  return JSON.stringify([
    line.role,
    line.account,
    line.side,
    line.amount.toFixed(),
    party!.code,
    [party!.vatNumber, party!.countryCode],
    line.departmentId,
    [...dimensions, internal.account, internal.dimension1, internal.dimension2],
    vat && [vat.group, vat.rate?.toFixed() ?? null, vat.base?.toFixed() ?? null],
    line.paymentType,
    isReceivable ? [line.invoiceId, line.documentNumber, line.dueDate, line.bankReference] : null,
  ]);
}

/** A text for a line that equals the text of a posted line with the same facts. */
export function textOfExpected(line: ExpectedLine): string {
  return JSON.stringify([
    line.role,
    line.account,
    line.amount.isNegative() ? 'credit' : 'debit',
    line.amount.abs().toFixed(),
    line.party,
    line.snapshot,
    line.department,
    line.tags,
    line.vat && [line.vat.group, line.vat.rate, line.vat.base],
    line.paymentType,
    line.receivable,
  ]);
}
