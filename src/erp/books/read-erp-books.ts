import { createHash } from 'node:crypto';
import type { InstallationConfig } from '../../config/load-config.ts';
import { databaseNow } from '../../db/database-now.ts';
import type { Transact } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import { daysFrom } from '../../domain/dates.ts';
import { type Money, zero } from '../../domain/money.ts';
import { clip, visible } from '../../domain/text.ts';
import { type GeneralLedgerUnit, loadUnits, usedAccounts } from '../../ledger/general-ledger.ts';
import type { CalendarDate } from '../../terms.ts';
import { erpBookFindings } from '../../texts/findings/delivery.ts';
import { compareEntry, type Difference, describeDifferences } from '../compare.ts';
import type { ErpEntry, FoundEntry } from '../erp-entry.ts';
import { erpPriorities } from '../erp-pace.ts';
import type { ErpBooks, ErpTarget, RequestOptions } from '../port.ts';
import { translate } from '../translate.ts';
import {
  deliveredSpan,
  differingUnits,
  equalHashes,
  foreignEntries,
  forget,
  forgetUnseen,
  type KnownUnit,
  lastReading,
  monthsToReadAgain,
  noteForeign,
  noteMonth,
  noteReading,
  noteUnchanged,
  noteUnits,
  type SeenForeign,
  type SeenUnit,
  storedMonth,
  unitsByKey,
  unitsNotFound,
  unitsSeenAs,
} from './book-snapshot.ts';
import { copiesAmong, copyText } from './erp-copies.ts';

/** Maximum time between two full readings, even without `--full`. */
const fullEveryMs = 7 * 86_400_000;
/** With slices, this number of readings covers all months, and a month is read again after this number of days. */
const slices = { readings: 28, days: 7 };
/** Searches for changes overlap by this time, because transactions may commit late and clocks differ. */
const overlapMs = 3_600_000;
/** Number of entries that one request reads by id. */
const readAtATime = 100;
/** Maximum length of a message. */
const longestMessage = 2_000;

export interface ReadBooksPorts {
  db: Db;
  /** Runs a write transaction. Only one process at a time reads these books (turn.ts). */
  transact: Transact;
  databaseId: string;
  installation: Pick<InstallationConfig, 'id' | 'mapping' | 'decimals'>;
  target: Pick<ErpTarget, 'capabilities' | 'books' | 'read' | 'describe'>;
  /** Accounts that only vetledger posts to. Other entries on them are reported. */
  ownedAccounts: readonly string[];
  signal: AbortSignal;
  onProgress(entries: number): void;
}

export interface ReadBooksOptions {
  full: boolean;
  /** Replaces the weekly full reading: each reading reads some months completely, the longest unread first. */
  inSlices?: boolean;
}

export interface BooksRead {
  isFull: boolean;
  /** Number of entries that were read. */
  entries: number;
  /** The ERP's balances per account, of the months with delivered entries. */
  balances: Map<string, Money>;
}

/**
 * Reads the ERP's entries page by page, and stores them as a snapshot. It reads entries that were written since the
 * last reading, and every month whose number of entries or balances have changed. Weekly, and with `full`, it reads
 * everything. Throws ErpError; the next call then reads everything again that changed.
 */
export async function readBooks(ports: ReadBooksPorts, options: ReadBooksOptions): Promise<BooksRead> {
  const { books } = ports.target;
  if (books === undefined) throw new Error('the books of this ERP cannot be read');
  return new Reader(ports, books).read(options);
}

class Reader {
  readonly #ports: ReadBooksPorts;
  readonly #books: ErpBooks;
  readonly #owned: ReadonlySet<string>;
  readonly #request: RequestOptions;
  #run = 1;
  #entries = 0;

  constructor(ports: ReadBooksPorts, books: ErpBooks) {
    this.#ports = ports;
    this.#books = books;
    this.#owned = new Set(ports.ownedAccounts);
    this.#request = { signal: ports.signal, priority: erpPriorities.books };
  }

  async read({ full, inSlices = false }: ReadBooksOptions): Promise<BooksRead> {
    const { db, transact, installation } = this.#ports;
    const last = await lastReading(db, installation.id);
    const beganAt = await databaseNow(db);
    this.#run = (last?.run ?? 0) + 1;
    const isOld = !inSlices && last !== null && beganAt.getTime() - last.fullBeganAt.getTime() >= fullEveryMs;
    const isFull = full || last === null || isOld;
    const span = await deliveredSpan(db, installation.id);
    const balances = new Map<string, Money>();
    if (span !== null) {
      const changedSince = isFull ? null : new Date(last.beganAt.getTime() - overlapMs);
      if (changedSince !== null) await this.#readChanged(span, changedSince);
      const months = monthsOf(span);
      const atMost = Math.ceil(months.length / slices.readings);
      const again = inSlices ? await monthsToReadAgain(db, installation.id, { ...slices, atMost }) : new Set();
      for (const month of months) {
        for (const [account, balance] of await this.#readMonth(month, { isFull, isAgain: again.has(month.from) })) {
          balances.set(account, (balances.get(account) ?? zero).plus(balance));
        }
      }
      // Copies are read last, so that a copy on an owned account is reported as a copy.
      await this.#readCopies({ ...widened(span), changedSince });
    }
    if (isFull) await transact((trx) => forgetUnseen(trx, installation.id, this.#run, null));
    else {
      await this.#readDiffering();
      await this.#readForeign();
    }
    await this.#readNotFound();
    const reading = { run: this.#run, beganAt, fullBeganAt: isFull ? beganAt : last.fullBeganAt };
    await transact((trx) => noteReading(trx, installation.id, reading));
    return { isFull, entries: this.#entries, balances };
  }

  async #readChanged(span: Span, changedSince: Date): Promise<void> {
    const { db, installation } = this.#ports;
    // A year is added on both sides, because a user may have moved an entry to another month. An entry without its key
    // is found by the accounts that vetledger posts to.
    const used = await usedAccounts(db, [installation.id], { from: null, to: null }, { subLedger: false });
    const accounts = [...new Set([...this.#owned, ...used.map(({ account }) => account)])];
    await this.#readEntries({ ...widened(span), changedSince, accounts });
  }

  /** Reads a month if anything in it may have changed. Returns its balances. */
  async #readMonth(
    month: Span,
    { isFull, isAgain }: { isFull: boolean; isAgain: boolean },
  ): Promise<Map<string, Money>> {
    const { db, transact, installation } = this.#ports;
    // Balances are read before the entries. So a change during the reading makes the next reading read the month again.
    const held = await this.#books.balances(month, this.#request);
    const balances = fingerprint(held.balances, this.#owned);
    const before = isFull || isAgain ? null : await storedMonth(db, installation.id, month.from);
    if (before?.entries !== held.entries || before.balances !== balances) {
      await this.#readEntries({ ...month, changedSince: null, accounts: [...this.#owned] });
      if (!isFull) await this.#readCopies({ ...month, changedSince: null });
      await transact(async (trx) => {
        await forgetUnseen(trx, installation.id, this.#run, month);
        await noteMonth(trx, installation.id, month.from, { entries: held.entries, balances });
      });
    }
    return new Map([...held.balances].map(([account, balance]) => [account, zero.plus(balance)]));
  }

  async #readEntries(which: Span & { changedSince: Date | null; accounts: string[] }): Promise<void> {
    const { signal, onProgress } = this.#ports;
    for await (const page of this.#books.entries(which, this.#request)) {
      signal.throwIfAborted();
      await this.#notePage(page);
      this.#entries += page.length;
      onProgress(this.#entries);
    }
  }

  /** Reads copies of our entries that the ERP or a user made. Only their content and origin identify them. */
  async #readCopies(which: Span & { changedSince: Date | null }): Promise<void> {
    const { db, transact, databaseId, installation, target, signal } = this.#ports;
    const { id, mapping } = installation;
    const journals = [...new Set(Object.values(mapping.erp.journals))];
    const context = { databaseId, mapping, capabilities: target.capabilities };
    for await (const page of this.#books.copies?.({ ...which, journals }, this.#request) ?? []) {
      signal.throwIfAborted();
      const copies = await copiesAmong(db, id, page, (unit) => translate(unit, context));
      const seen = copies.map((copy) => ({
        ...{ erpId: copy.found.id, number: copy.found.number, date: copy.found.date },
        ...{ difference: debitsOf(copy.found).toFixed(), message: clip(copyText(copy), longestMessage) },
      }));
      await transact((trx) => noteForeign(trx, id, this.#run, seen));
    }
  }

  /**
   * Reads other entries again that were reported before. A user may have deleted them, on dates that are not read
   * otherwise.
   */
  async #readForeign(): Promise<void> {
    const { db, transact, installation, target } = this.#ports;
    for (let after = ''; ; ) {
      const ids = await foreignEntries(db, installation.id, this.#run, { after, limit: readAtATime });
      const last = ids.at(-1);
      if (last === undefined) return;
      const found = await target.read(ids, this.#request);
      const posted = new Set(found.flatMap(({ id, state }) => (state === 'posted' ? id : [])));
      const gone = ids.filter((id) => !posted.has(id));
      await transact((trx) => forget(trx, installation.id, gone));
      after = last;
    }
  }

  async #notePage(page: readonly FoundEntry[]): Promise<void> {
    const { db, installation, target } = this.#ports;
    const keys = page.flatMap(({ key }) => key ?? []);
    const byKey = new Map((await unitsByKey(db, keys)).map((unit) => [unit.key, unit]));
    const isVoid = ({ state }: FoundEntry) => state === 'void' && target.capabilities.write.withdraw === 'void';
    const others = page.filter((found) => found.key === null || !byKey.has(found.key) || isVoid(found));
    const seen = await unitsSeenAs(
      db,
      installation.id,
      others.map(({ id }) => id),
    );
    // A void entry that was never read before is a withdrawn draft. A delivered one is read by its id, as not found.
    const ours = page.filter((found) => !isVoid(found) || seen.has(found.id));
    await this.#note(ours.map((found) => ({ found, unit: byKey.get(found.key ?? '') ?? seen.get(found.id) ?? null })));
  }

  /**
   * Reads entries again that differed before. A corrected mapping may have removed the difference, which changes no
   * write date in the ERP.
   */
  async #readDiffering(): Promise<void> {
    const { db, transact, installation, target, signal } = this.#ports;
    for (let after = ''; ; ) {
      signal.throwIfAborted();
      const units = await differingUnits(db, installation.id, this.#run, { after, limit: readAtATime });
      const last = units.at(-1);
      if (last === undefined) return;
      const byErpId = new Map(units.map(({ seenAs, ...unit }) => [seenAs, unit] as const));
      const found = await target.read([...byErpId.keys()], this.#request);
      const foundIds = new Set(found.map(({ id }) => id));
      const gone = [...byErpId.keys()].filter((id) => !foundIds.has(id));
      await transact((trx) => forget(trx, installation.id, gone));
      await this.#note(found.map((entry) => ({ found: entry, unit: byErpId.get(entry.id) ?? null })));
      after = last.seenAs;
    }
  }

  /** Reads delivered units that were not found. They may have lost their key, been moved, or been reset to drafts. */
  async #readNotFound(): Promise<void> {
    const { db, installation, target, signal } = this.#ports;
    for (let after = ''; ; ) {
      signal.throwIfAborted();
      const units = await unitsNotFound(db, installation.id, { after, limit: readAtATime });
      const last = units.at(-1);
      if (last === undefined) return;
      const byErpId = new Map(units.flatMap((unit) => (unit.erpId === null ? [] : [[unit.erpId, unit] as const])));
      const found = byErpId.size > 0 ? await target.read([...byErpId.keys()], this.#request) : [];
      await this.#note(found.map((entry) => ({ found: entry, unit: byErpId.get(entry.id) ?? null })));
      after = last.unitId;
    }
  }

  async #note(entries: readonly { found: FoundEntry; unit: KnownUnit | null }[]): Promise<void> {
    const { db, transact, installation } = this.#ports;
    const { id } = installation;
    const known = await equalHashes(
      db,
      id,
      entries.map(({ found }) => found.id),
    );
    const unchanged: string[] = [];
    const toCompare: { found: FoundEntry; unit: KnownUnit }[] = [];
    const foreign: SeenForeign[] = [];
    const others: string[] = [];
    for (const { found, unit } of entries) {
      if (unit?.installation === id) {
        if (known.get(found.id) === hashOf(found)) unchanged.push(found.id);
        else toCompare.push({ found, unit });
        continue;
      }
      // The reading of the other installation reports these entries.
      const seen = unit === null && found.state === 'posted' ? this.#foreign(found) : null;
      if (seen === null) others.push(found.id);
      else foreign.push(seen);
    }
    const compared = await this.#compare(toCompare);
    await transact(async (trx) => {
      // Entries that are no longer ours, or no longer on an owned account.
      await forget(trx, id, [...others, ...foreign.map(({ erpId }) => erpId)]);
      await noteUnchanged(trx, id, this.#run, unchanged);
      await noteUnits(trx, id, this.#run, compared);
      await noteForeign(trx, id, this.#run, foreign);
    });
  }

  async #compare(pairs: readonly { found: FoundEntry; unit: KnownUnit }[]): Promise<SeenUnit[]> {
    const { db, databaseId, installation, target } = this.#ports;
    const { capabilities } = target;
    const wanted = new Map(pairs.map(({ unit }) => [unit.unitId, { kind: unit.kind, id: unit.unitId }]));
    const units = await loadUnits(db, [...wanted.values()]);
    const byId = new Map(units.map((unit) => [unit.posting.id, unit]));
    return pairs.map(({ found, unit }) => {
      const ours = byId.get(unit.unitId);
      if (ours === undefined) throw new Error(`there is no unit ${unit.unitId} in the general ledger`);
      const translated = translate(ours, { databaseId, mapping: installation.mapping, capabilities });
      const described = 'entry' in translated ? (target.describe?.(translated.entry) ?? null) : null;
      const options = { capabilities, decimals: installation.decimals, texts: { described } };
      const differences =
        'entry' in translated
          ? keyDifferences(unit, found).concat(compareEntry(translated.entry, found, options))
          : translated.problems.map(({ message }) => ({
              what: 'line' as const,
              message: erpBookFindings.notComparable({ reason: message }),
            }));
      const isEqual = differences.length === 0;
      const strict = { ...capabilities, vat: { ...capabilities.vat, tolerance_minor: 0 } };
      const shown =
        isEqual && 'entry' in translated
          ? compareEntry(translated.entry, found, { ...options, capabilities: strict })
          : differences;
      return {
        ...{ unitId: unit.unitId, erpId: found.id, number: found.number, date: found.date },
        ...{ contentHash: hashOf(found), isEqual },
        message: shown.length === 0 ? null : clip(describeDifferences(shown), longestMessage),
        difference: isEqual
          ? '0'
          : differenceOf(ours, 'entry' in translated ? translated.entry : null, found).toFixed(),
        amount: debitsOf(found).toFixed(),
      };
    });
  }

  /** The finding about an entry that is not ours but on an owned account; null if it has no line on one. */
  #foreign({ id, number, date, description, lines }: FoundEntry): SeenForeign | null {
    const amounts = new Map<string, Money>();
    for (const { account, amount } of lines) {
      if (this.#owned.has(account)) amounts.set(account, (amounts.get(account) ?? zero).plus(amount));
    }
    if (amounts.size === 0) return null;
    const changes = [...amounts]
      .map(([account, amount]) => erpBookFindings.change({ amount: amount.toFixed(), account }))
      .join(', ');
    let difference = zero;
    for (const amount of amounts.values()) difference = difference.plus(amount.abs());
    const message = erpBookFindings.foreign({ changes, date, description: visible(description) });
    return {
      ...{ erpId: id, number, date, difference: difference.toFixed() },
      message: clip(message, longestMessage),
    };
  }
}

interface Span {
  from: CalendarDate;
  through: CalendarDate;
}

/** Differences of an entry that was found by its id instead of its key. */
function keyDifferences(unit: KnownUnit, found: FoundEntry): Difference[] {
  const differences: Difference[] = [];
  if (found.key !== unit.key) {
    differences.push({ what: 'state', message: erpBookFindings.keyMissing });
  }
  if (found.state === 'draft') differences.push({ what: 'state', message: erpBookFindings.draftAgain });
  return differences;
}

/**
 * The amount by which the accounts differ: the larger of the debit and credit sums. A void entry or a draft counts as
 * missing.
 */
function differenceOf(unit: GeneralLedgerUnit, entry: ErpEntry | null, found: FoundEntry): Money {
  const deltas = new Map<string, Money>();
  const add = (account: string, amount: Money) => deltas.set(account, (deltas.get(account) ?? zero).plus(amount));
  for (const { account, side, amount } of entry?.lines ?? unit.posting.lines) {
    add(account, side === 'debit' ? amount.negated() : amount);
  }
  if (found.state === 'posted') for (const { account, amount } of found.lines) add(account, amount);
  let [debit, credit] = [zero, zero];
  for (const delta of deltas.values()) {
    if (delta.isNegative()) credit = credit.minus(delta);
    else debit = debit.plus(delta);
  }
  return debit.greaterThan(credit) ? debit : credit;
}

function debitsOf({ lines }: FoundEntry): Money {
  let debits = zero;
  for (const { amount } of lines) if (!amount.isNegative()) debits = debits.plus(amount);
  return debits;
}

/** A hash of the fields that are compared. Matches and line ids are left out, because they change. */
function hashOf({ key, number, state, date, journal, description, lines }: FoundEntry): string {
  const content = lines
    .map(({ account, amount, party, vat, dimensions, label = null, dueDate = null }) =>
      JSON.stringify([
        ...[label, dueDate],
        account,
        amount.toFixed(),
        party,
        vat.map(({ code, part, amount: taxed }) => `${code} ${part} ${taxed.toFixed()}`).sort(),
        Object.entries(dimensions).sort(([one], [other]) => (one < other ? -1 : 1)),
      ]),
    )
    .sort();
  return createHash('sha256')
    .update(JSON.stringify([key, number, state, date, journal, description, content]))
    .digest('hex');
}

function fingerprint(balances: ReadonlyMap<string, string>, owned: ReadonlySet<string>): string {
  const amounts = [...balances].map(([account, balance]) => [account, zero.plus(balance)] as const);
  const kept = amounts.filter(([, balance]) => !balance.isZero()).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify({
    balances: kept.map(([account, balance]) => [account, balance.toFixed()]),
    owned: [...owned].sort(),
  });
}

/** The complete months that a date range touches. */
function monthsOf({ from, through }: Span): Span[] {
  const months: Span[] = [];
  for (let first = firstOfMonth(from); first <= through; ) {
    // 31 days after the first of a month is always in the next month.
    const next = firstOfMonth(daysFrom(first, 31));
    months.push({ from: first, through: daysFrom(next, -1) });
    first = next;
  }
  return months;
}

function firstOfMonth(day: CalendarDate): CalendarDate {
  return `${day.slice(0, 8)}01`;
}

/** The date range with a year added on both sides. */
function widened({ from, through }: Span): Span {
  return { from: daysFrom(from, -366), through: daysFrom(through, 366) };
}
