// One installation in memory: windows of random sizes and orders over its mirror, the real posting core, and its books.

import type { Rng } from '../../sandbox/src/rng.ts';
import { remap } from '../../src/posting/index.ts';
import type { Decision, DocumentFacts, PostedBefore, PostingContext } from '../../src/posting/types.ts';
import type { DocumentRef } from '../../src/terms.ts';
import { Books, type DocumentBook, inForce, keyOf, postedBefore } from './books.ts';
import { Broken } from './broken.ts';
import type { WatchedClinic } from './clinic.ts';
import type { Conditions } from './conditions.ts';
import type { LifeSummary } from './life.ts';
import { type Delivery, Mirror } from './mirror.ts';
import { Oracle } from './oracle.ts';
import { decidable } from './oracle-late.ts';
import { reconcileAgrees } from './reconciled.ts';
import { concernedBy, withShares } from './shares.ts';

export type Post = (facts: DocumentFacts, before: PostedBefore, context: PostingContext) => Decision;

export class Installation {
  readonly mirror: Mirror;
  readonly books = new Books();
  readonly oracle: Oracle;
  /**
   * Documents that a lock has ever moved or held. Their results depend on the time when the installation first read
   * them.
   */
  readonly moved = new Set<string>();
  /** Invoices that the accountant decided to post on another day. */
  readonly #decidedIn = new Set<number>();
  /** The client of the invoice, for payments that were posted before their prepayment was known. */
  readonly #firstClients = new Map<number, number | null>();
  readonly #clinic: WatchedClinic;
  readonly #rng: Rng;
  readonly #post: Post;
  #judgements = 0;

  constructor(clinic: WatchedClinic, rng: Rng, post: Post, equationsOnly: boolean) {
    this.#clinic = clinic;
    this.#rng = rng;
    this.#post = post;
    this.mirror = new Mirror(clinic);
    this.oracle = new Oracle(clinic, this.mirror, this.books, equationsOnly);
  }

  /** Runs the windows of a step: none, one that reads a part, or a complete one. */
  step(now: Conditions): void {
    const size = this.#rng.weighted([
      ['none', 25],
      ['part', 25],
      ['whole', 50],
    ] as const);
    if (size !== 'none') this.window(now, size);
  }

  /** Pulls the changes page by page in random order, and posts. */
  window(now: Conditions, size: 'part' | 'whole'): void {
    const rng = this.#rng;
    const judged = new Set<DocumentBook>();
    this.#daysCome();
    let queue = shuffled(rng, [...this.mirror.pending.values()]);
    if (size === 'part') {
      // Prepayments are read later than payments, so that a payment from a prepayment is sometimes read long before the
      // prepayment.
      queue = queue.filter(({ kind }) => rng.chance(kind === 'prepayment' ? 0.2 : 0.5));
      if (rng.chance(0.1)) this.#loseSight();
      if (rng.chance(0.15)) this.#hide();
    }
    while (queue.length > 0) {
      const page = queue.splice(0, rng.int(1, 6));
      for (const delivery of page) this.#deliver(delivery);
      // A window may end between any two pages.
      if (rng.chance(0.25)) this.#postAll(now, judged);
    }
    this.#postAll(now, judged);
    this.mirror.isLoaded = true;
    if (rng.chance(0.2)) this.#postAgain([...judged], now);
    this.oracle.equations.step([...judged]);
    if (size === 'whole') this.oracle.equations.complete();
  }

  /** The accountant decides about some late documents, as with `late decide`. Returns the decisions in words. */
  decide(): string[] {
    const late = [...this.books.documents.values()].filter(({ problem, late }) => late && decidable[problem ?? '']);
    return shuffled(this.#rng, late)
      .slice(0, this.#rng.int(1, 4))
      .map((book) => {
        const decision = this.#rng.pick(decidable[book.problem!]!);
        book.decisions.unshift({ decision, version: book.late!.version });
        book.dirty = true;
        this.moved.add(keyOf(book));
        if (book.kind === 'invoice') this.#paidFor(book.id, decision);
        this.oracle.decided(book, decision);
        return `${keyOf(book)} (${book.problem}) is decided: ${decision}`;
      });
  }

  /** If the accountant decided to post an invoice, its payment settles it, and not an opening balance. */
  #paidFor(invoice: number, decision: string): void {
    if (decision === 'redate') this.#decidedIn.add(invoice);
    for (const payment of this.mirror.paymentsOf.get(invoice) ?? []) {
      const book = this.books.of({ kind: 'payment', id: payment });
      book.dirty = true;
      this.moved.add(keyOf(book));
    }
  }

  /** Documents dated in the future are judged again each day. */
  #daysCome(): void {
    for (const book of this.books.documents.values()) if (book.problem === 'date_in_future') book.dirty = true;
  }

  /** Marks what the next window must judge again after a change of mapping or locks. */
  conditionsChanged(): void {
    for (const book of this.books.documents.values()) {
      if (book.problem !== null || book.state === 'before_start') book.dirty = true;
    }
  }

  /**
   * Posts what the mapping requires now, like `repost --all`, prepayments first; changes in the source wait for the
   * window. After the next window, the books are what this mapping alone would have posted.
   */
  repost(now: Conditions): void {
    const books = [...this.books.documents.values()];
    const isReceived = ({ kind, id }: DocumentBook) =>
      kind === 'prepayment' && this.mirror.prepayments.get(id)?.source.refunds === null;
    for (const pass of [books.filter(isReceived), books.filter((book) => !isReceived(book))]) {
      for (const book of shuffled(this.#rng, pass)) {
        if (inForce(book).length === 0) continue;
        const { outcome } = remap(this.#told(book), postedBefore(book), now.context);
        const wasDirty = book.dirty || outcome === 'left' || outcome === 'held';
        if (outcome === 'left') book.dirty = true;
        if (outcome === 'left' || (outcome === 'same' && !book.remapHeld)) continue;
        this.#save(book, this.#decide(book, now, true), now, new Set(), true);
        book.dirty ||= wasDirty;
      }
    }
    this.window(now, 'whole');
    this.oracle.follows(books, now);
  }

  /** Computes every equation again, and checks that posting everything once more changes nothing. */
  fullCheck(now: Conditions, withReconcile: boolean): void {
    this.oracle.equations.full();
    if (withReconcile) reconcileAgrees(this.books, this.mirror, this.#clinic.setting);
    const isWhole =
      Object.values(now.mapping.roles).every(Boolean) && now.mapping.cash_customer !== null && !isCut(now);
    if (isWhole) this.#postAgain([...this.books.documents.values()], now);
  }

  describe(documents: string[]): string {
    return documents
      .slice(0, 12)
      .map((key) => this.#describe(key))
      .join('\n');
  }

  /** A payment before the cut-over keeps the date that its invoice had at its first judgement. */
  takesItsInvoicesDate({ kind, id }: DocumentRef): boolean {
    const paidAt = kind === 'payment' ? this.mirror.payments.get(id)?.source.date_added : undefined;
    const { startDate } = this.#clinic.setting;
    return paidAt !== undefined && startDate !== null && this.#clinic.zone.date(paidAt) < startDate;
  }

  summary(): LifeSummary {
    const books = [...this.books.documents.values()];
    const countBy = (keyOfBook: (book: DocumentBook) => string | null) => {
      const counts: Record<string, number> = {};
      for (const book of books) {
        const key = keyOfBook(book);
        if (key !== null) counts[key] = (counts[key] ?? 0) + 1;
      }
      return counts;
    };
    return {
      documents: books.length,
      entries: books.reduce((sum, book) => sum + book.entries.length, 0),
      judgements: this.#judgements,
      states: countBy((book) => book.state),
      problems: countBy((book) => book.problem),
      proved: this.oracle.equations.proved,
    };
  }

  /** A record counts as gone, and returns with a later page. */
  #loseSight(): void {
    const kind = this.#rng.pick(['invoice', 'payment', 'prepayment'] as const);
    const id = this.#rng.pick([...this.mirror.seen(kind).keys()]);
    if (id === undefined) return;
    for (const document of this.mirror.lose(kind, id)) this.books.of(document).dirty = true;
  }

  /** Lists do not show some posted documents for a while. */
  #hide(): void {
    const posted = [...this.books.documents.values()].filter((book) => inForce(book).length > 0);
    for (const { kind, id } of shuffled(this.#rng, posted).slice(0, this.#rng.int(1, 5))) {
      if (kind !== 'vat_due') this.books.of(this.mirror.hide(kind, id)).dirty = true;
    }
  }

  #deliver(delivery: Delivery): void {
    for (const document of this.mirror.deliver(delivery)) this.books.of(document).dirty = true;
  }

  /** Judges the marked documents, and then the documents that these judgements mark. Repeats this only a few times. */
  #postAll(now: Conditions, judged: Set<DocumentBook>): void {
    for (let round = 0; round < 4 && [...this.books.documents.values()].some(({ dirty }) => dirty); round++)
      this.#postOnce(now, judged);
  }

  #postOnce(now: Conditions, judged: Set<DocumentBook>): void {
    const waiting = shuffled(
      this.#rng,
      [...this.books.documents.values()].filter((book) => book.dirty),
    );
    const wanted: DocumentBook[] = [];
    for (const book of waiting) {
      // Rows and payments that may be stale are fetched first. If they cannot be fetched now, the stored ones are used.
      const decision = this.#decide(book, now);
      const fetches = decision.refetch && this.#rng.chance(0.8);
      if (fetches) wanted.push(book);
      else this.#save(book, decision, now, judged);
    }
    for (const book of wanted) for (const part of this.#partsOf(book)) this.#deliver(part);
    for (const book of wanted) this.#save(book, this.#decide(book, now), now, judged);
  }

  #told(book: DocumentBook): DocumentFacts {
    const { kind, id } = book;
    if (kind === 'vat_due') throw new Error('the simulation has no VAT on payment yet');
    const facts = this.mirror.facts({ kind, id }, this.#decidedIn, this.#firstClients);
    return withShares(facts, book, this.books, this.mirror);
  }

  #decide(book: DocumentBook, now: Conditions, isRemap = book.remapHeld): Decision {
    return this.#post(this.#told(book), { ...postedBefore(book), remapHeld: isRemap }, now.context);
  }

  #save(
    book: DocumentBook,
    decision: Decision,
    now: Conditions,
    judged: Set<DocumentBook>,
    isRemap = book.remapHeld,
  ): void {
    const standing = inForce(book)[0] ?? null;
    const added = this.books.save(book, decision);
    this.#judgements += 1;
    judged.add(book);
    const isMoved = book.problem !== null && book.problem in decidable;
    const isUnmatched = book.remarks.includes('prepayment_unmatched') && book.state === 'posted';
    if (isUnmatched && added.length > 0 && !this.#firstClients.has(book.id)) {
      const { invoice } = this.mirror.payments.get(book.id)!.source;
      this.#firstClients.set(book.id, this.mirror.invoices.get(invoice)!.source.client);
    }
    const isOfDecided =
      book.kind === 'payment' && this.#decidedIn.has(this.mirror.payments.get(book.id)!.source.invoice);
    if (isMoved || isOfDecided || added.some((entry) => entry.date !== entry.documentDate)) this.moved.add(keyOf(book));
    if (book.kind !== 'invoice' && added.length > 0)
      for (const other of concernedBy(book, this.books, this.mirror)) other.dirty = true;
    this.oracle.judged(book, standing, added, now, isRemap);
  }

  /** Posting the same facts twice must change nothing. */
  #postAgain(books: DocumentBook[], now: Conditions): void {
    for (const book of shuffled(this.#rng, books)) {
      if (book.dirty) continue;
      const decision = this.#decide(book, now);
      if (decision.entries.length === 0 && decision.state === book.state) continue;
      const message = `posting ${keyOf(book)} twice gives ${decision.entries.length} entries, ${book.state} becomes ${decision.state}`;
      throw new Broken('posted twice', [book], message);
    }
  }

  #partsOf({ kind, id }: DocumentRef): Delivery[] {
    if (kind === 'prepayment') return [{ kind, id }];
    const invoice = kind === 'invoice' ? id : this.mirror.payments.get(id)!.source.invoice;
    const payments = this.#clinic.invoicePayments
      .of(invoice)
      .map((payment) => ({ kind: 'payment' as const, id: payment.id }));
    return [{ kind: 'invoice', id: invoice }, { kind: 'row', id: invoice }, ...payments];
  }

  #describe(key: string): string {
    const book = this.books.documents.get(key);
    const [kind, id] = key.split('/') as ['invoice' | 'payment' | 'prepayment', string];
    const seen = this.mirror.seen(kind).get(Number(id));
    const rows =
      kind === 'invoice' ? this.mirror.rowSets.get(Number(id))?.rows.map((row) => JSON.stringify(row.source)) : [];
    const entries = (book?.entries ?? []).map((entry) => {
      const lines = entry.lines.map(
        (line) =>
          `      ${line.side} ${line.account} ${line.role} ${line.amount.toFixed()} ${line.party?.code} ${line.rowIds.join(' ')}`,
      );
      return [
        `    ${entry.id} ${entry.date} (${entry.documentDate}) ${entry.reason} ${entry.reverses ?? ''}`,
        ...lines,
      ].join('\n');
    });
    return [
      `  ${key}: ${book?.state ?? 'unknown'} ${book?.problem ?? ''}${seen?.gone ? ' gone' : ''} ${JSON.stringify(seen?.damage ?? null)}`,
      `    ${JSON.stringify(seen?.source ?? null)}`,
      ...(rows ?? []).map((row) => `    ${row}`),
      ...entries,
    ].join('\n');
  }
}

function isCut({ mapping }: Conditions): boolean {
  return [mapping.revenue, mapping.vat].some((table) => table !== 'same' && !('*' in table));
}

/** The order of pages and windows must not matter: the entries in force are the same in both installations. */
export function sameBooks(first: Installation, second: Installation): void {
  for (const key of new Set([...first.books.documents.keys(), ...second.books.documents.keys()])) {
    const [a, b] = [first.books.documents.get(key), second.books.documents.get(key)];
    if ([a, b].some((book) => book && first.takesItsInvoicesDate(book))) continue;
    if (first.moved.has(key) || second.moved.has(key) || [a, b].some((book) => book?.problem)) continue;
    const [left, right] = [standingText(a), standingText(b)];
    if (left === right) continue;
    throw new Broken('order', [key], `${key} depends on the order of windows:\n${left}\nor\n${right}`);
  }
}

/**
 * Leaves out accounts, which follow the current mapping, and payers' names, because a changed name alone posts nothing.
 */
function standingText(book: DocumentBook | undefined): string {
  const entry = book && inForce(book)[0];
  if (!entry) return 'nothing in force';
  // The order of uses decides about the cents of a prepayment's VAT.
  const own = entry.lines.filter(({ role }) => book.kind === 'invoice' || !['vat', 'prepayment_vat'].includes(role));
  const lines = own.map(({ account: _account, mappedBy: _mappedBy, rowIds: _rowIds, party, ...line }) =>
    JSON.stringify({ ...line, party: party && { ...party, name: null } }),
  );
  return [entry.documentDate, ...lines.sort()].join('\n');
}

function shuffled<T>(rng: Rng, items: T[]): T[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = rng.int(0, at);
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
  return items;
}
