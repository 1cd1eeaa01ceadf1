// Random books of one installation with random filings, and an oracle with separate lists. Entries are inserted without the
// triggers of the journal, so that a life takes milliseconds.
import { expect } from 'vitest';
import { Rng } from '../../sandbox/src/rng.ts';
import type { Db } from '../../src/db/pool.ts';
import { monthBounds } from '../../src/domain/dates.ts';
import { filedLines } from '../../src/ledger/vat-returns.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { fileReturn, prepareReturn } from '../../src/queries/vat-returns.ts';
import { vatLines } from '../../src/reports/vat-lines.ts';
import { compareReturn, tieOf } from '../../src/reports/vat-return.ts';
import { returnState } from '../../src/reports/vat-return-state.ts';
import { closePeriods } from '../support/closing.ts';
import type { UsedDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const installation = 77;
const months = ['2026-01', '2026-02', '2026-03', '2026-04'];
const groups = [
  { group: 'A', rate: '24' },
  { group: 'B', rate: '14' },
  { group: 'C', rate: '0' },
];
const read = parseMapping({
  vat_groups: [
    { rate: 24, kind: 'domestic' },
    { rate: 14, kind: 'domestic' },
    { rate: 0, kind: 'exempt' },
  ],
});
if ('errors' in read) throw new Error(read.errors.join('; '));
export const filer = { id: installation, mapping: read.mapping, erp: { kind: 'none' } } as unknown as Parameters<
  typeof prepareReturn
>[1];

/** An entry as the oracle knows it: amounts in cents by VAT group. */
interface Known {
  id: string;
  date: string;
  day: string;
  state: 'on_time' | 'late' | 'cancelled_out';
  isLate: boolean;
  lines: Map<string, { base: number; tax: number }>;
  /** The month whose return declares it as a late entry. */
  taken: string | null;
}

type Sums = Map<string, { base: number; tax: number }>;

export class FiledBooks {
  readonly #db: Db;
  readonly #owner: Db;
  readonly #random: () => number;
  readonly #entries: Known[] = [];
  /** The content of each return by month: entry, lateness, and cents by group. */
  readonly #declared = new Map<string, Sums>();
  readonly #versions = new Map<string, number>();
  #closed = 0;
  #seq = 0;

  constructor(db: Db, owner: Db, random: () => number) {
    this.#db = db;
    this.#owner = owner;
    this.#random = random;
  }

  /** One random step; returns its name. */
  async step(): Promise<string> {
    const steps: [string, () => Promise<void>][] = [
      ['post', () => this.#post()],
      ['post', () => this.#post()],
      ['post', () => this.#post()],
      ['reverse', () => this.#reverse()],
      ['close', () => this.#close()],
      ['late in the ERP', () => this.#lateInErp()],
      ['cancel out', () => this.#cancelOut()],
      ['file', () => this.#file()],
      ['file', () => this.#file()],
    ];
    const [name, act] = this.#one(steps);
    await act();
    return name;
  }

  #one<Each>(of: readonly Each[]): Each {
    return of[Math.floor(this.#random() * of.length)]!;
  }

  /** Whether the month of a day was ever closed. */
  #isClosed(day: string): boolean {
    return months.indexOf(day.slice(0, 7)) < this.#closed;
  }

  async #post(): Promise<void> {
    const month = this.#one(months);
    const day = `${month}-${String(1 + Math.floor(this.#random() * 28)).padStart(2, '0')}`;
    const isLate = this.#isClosed(day);
    // A late document has its date in a period that was reopened, or on the first open day.
    const isRedated = isLate && this.#closed < months.length && this.#random() < 0.6;
    const lines: Sums = new Map();
    for (const { group, rate } of groups.filter(() => this.#random() < 0.6)) {
      const base = Math.floor(this.#random() * 20_000) - 5_000;
      if (base !== 0) lines.set(group, { base, tax: Math.round((base * Number(rate)) / 100) });
    }
    if (lines.size === 0) return;
    const date = isRedated ? `${months[this.#closed]}-01` : day;
    await this.#insert({ date, day, isLate, lines, reverses: null });
  }

  /** Reverses an entry: on its own date if that is open, otherwise late. */
  async #reverse(): Promise<void> {
    const open = this.#entries.filter(({ state, id }) => state !== 'cancelled_out' && !this.#reversed.has(id));
    if (open.length === 0) return;
    const { id, date, day, lines } = this.#one(open);
    this.#reversed.add(id);
    const turned: Sums = new Map([...lines].map(([group, { base, tax }]) => [group, { base: -base, tax: -tax }]));
    await this.#insert({ date, day, isLate: this.#isClosed(day), lines: turned, reverses: id });
  }

  readonly #reversed = new Set<string>();

  async #insert(of: {
    date: string;
    day: string;
    isLate: boolean;
    lines: Sums;
    reverses: string | null;
  }): Promise<Known> {
    this.#seq += 1;
    const [n, id] = [this.#seq, `${installation}/invoice/${this.#seq}/1`];
    const known: Known = { ...of, id, state: of.isLate ? 'late' : 'on_time', taken: null };
    this.#entries.push(known);
    await this.#owner.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await trx.raw(
        `insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description, reverses,
           idempotency_key, input_hash, previous_hash, hash, vat_period, is_late)
         values (?, ?, 'invoice', ?, 1, ?, ?, ?, 'posted', '', ?, ?, 'x', 'x', repeat('0', 64), ?, ?)`,
        [id, installation, n, n, of.date, of.day, of.reverses, id, of.day.slice(0, 7), of.isLate] as never[],
      );
      let line = 0;
      const add = (role: string, amount: number, group: string, base: number | null) => {
        line += 1;
        const side = amount > 0 || (amount === 0 && (base ?? 0) > 0) ? 'credit' : 'debit';
        return trx.raw(
          `insert into entry_line (entry_id, line, account, role, side, amount, rule, mapped_by, vat_group, vat_rate, vat_base)
           values (?, ?, '1', ?, ?, ?, 'x', 'x', ?, ?, ?)`,
          [
            id,
            line,
            role,
            side,
            Math.abs(amount) / 100,
            group,
            groups.find((one) => one.group === group)!.rate,
            base === null ? null : Math.abs(base) / 100,
          ] as never[],
        );
      };
      for (const [group, { base, tax }] of of.lines) {
        // A group with tax has its base on the VAT line, one at 0 % on the net line.
        if (tax !== 0) await add('vat', tax, group, base);
        else await add('revenue', base, group, base);
      }
    });
    return known;
  }

  async #close(): Promise<void> {
    if (this.#closed === months.length) return;
    const { through } = monthBounds(months[this.#closed]!);
    this.#closed += 1;
    await closePeriods(this.#db, [{ id: installation, today: '2026-09-01' }], through);
  }

  /** The ERP closed the period before the entry was sent. */
  async #lateInErp(): Promise<void> {
    const found = this.#entries.filter(({ state, day }) => state === 'on_time' && this.#isClosed(day));
    if (found.length === 0) return;
    const entry = this.#one(found);
    entry.state = 'late';
    await this.#unit(entry, 'refused');
  }

  async #unit({ id }: Known, state: string): Promise<void> {
    await this.#owner.raw(
      `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, late_since)
       values (?, ?, 'entry', 1, '2026-01-01', ?, 'c', ?, now())
       on conflict (installation, unit_id) do update set state = excluded.state`,
      [installation, id, id, state] as never[],
    );
  }

  /** A late entry and its reversal settle each other in the outbox. */
  async #cancelOut(): Promise<void> {
    const found = this.#entries.filter(({ state, id }) => state === 'late' && !this.#reversed.has(id));
    if (found.length === 0) return;
    const entry = this.#one(found);
    this.#reversed.add(entry.id);
    const lines: Sums = new Map([...entry.lines].map(([group, { base, tax }]) => [group, { base: -base, tax: -tax }]));
    const reversal = await this.#insert({ ...entry, isLate: true, lines, reverses: entry.id });
    for (const each of [entry, reversal]) {
      each.state = 'cancelled_out';
      await this.#unit(each, 'cancelled_out');
    }
  }

  async #file(): Promise<void> {
    const month = this.#one(months);
    const period = { name: month, ...monthBounds(month) };
    const version = this.#versions.get(month) ?? 0;
    const isCorrection = version > 0;
    const free = this.#entries.filter(({ state, taken }) => state === 'late' && taken === null);
    const chosen = this.#random() < 0.4 ? free.filter(() => this.#random() < 0.5) : null;
    const choice = { isCorrection, take: chosen?.map(({ id }) => id) ?? null };
    const takes = chosen ?? free.filter(({ day }) => !isCorrection || day.startsWith(month));
    const prepared = await prepareReturn(this.#db, filer, period, choice);
    const due = this.#due(month);
    const adds = minus(due, this.#declared.get(month) ?? new Map());
    const mayFile = months.indexOf(month) < this.#closed && (!isCorrection || adds.size > 0 || takes.length > 0);
    if ((prepared.obstacle === null) !== mayFile)
      throw new Error(`${month} may ${mayFile ? '' : 'not '}be filed: ${prepared.obstacle?.message}`);
    if (!mayFile) return;
    const by = { actedBy: 'A. Filer', reason: 'filed' };
    await this.#db.transaction((trx) => fileReturn(trx, filer, period, choice, { shown: prepared.shown, by }));
    for (const entry of takes) entry.taken = month;
    this.#declared.set(month, this.#due(month));
    this.#versions.set(month, version + 1);
  }

  /** The required content of a month's return now: its on-time entries, and the late entries that it declares. */
  #due(month: string): Sums {
    const own = this.#entries.filter(
      ({ state, day, taken }) =>
        (state === 'on_time' && day.startsWith(month)) || (state === 'late' && taken === month),
    );
    return sumsOf(own);
  }

  /** The differences between the program's sections and the oracle's; empty if there are none. */
  async wrong(): Promise<string[]> {
    const found: string[] = [];
    const compare = (what: string, ours: Sums, theirs: Sums) => {
      const differs = minus(ours, theirs);
      if (differs.size > 0) found.push(`${what}: ${JSON.stringify([...differs])}`);
    };
    const once: number[] = [];
    for (const month of months) {
      const period = { name: month, ...monthBounds(month) };
      const lines = await vatLines(this.#db, filer, period);
      const view = compareReturn(period, lines, await filedLines(this.#db, installation, month));
      const declared = this.#declared.get(month) ?? new Map();
      compare(`filed of ${month}`, shownSums(view.filed), declared);
      compare(`since of ${month}`, shownSums(view.since), minus(this.#due(month), declared));
      const free = this.#entries.filter(({ state, taken }) => state === 'late' && taken === null);
      compare(`late of ${month}`, shownSums(view.late), sumsOf(free));
      const settled = this.#entries.filter(({ state, date }) => state === 'cancelled_out' && date.startsWith(month));
      const cancelled = view.cancelledOut.map((line) => ({ ...line, isLate: false }));
      compare(`cancelled out of ${month}`, shownSums(cancelled), sumsOf(settled));
      const tied = tieOf(period, view).reduce((sum, { tax }) => sum + cents(tax.toFixed(2)), 0);
      const [accounts] = await query<{ tax: string | null }>(
        this.#db,
        `select sum(case l.side when 'credit' then l.amount else -l.amount end)::text as tax
         from entry e join entry_line l on l.entry_id = e.id where l.role = 'vat' and to_char(e.entry_date, 'YYYY-MM') = ?`,
        [month],
      );
      if (tied !== cents(accounts!.tax ?? '0')) found.push(`VAT accounts of ${month}: ${accounts!.tax}, tied ${tied}`);
      once.push(...[...view.filed, ...view.since, ...view.cancelledOut].map(({ tax }) => cents(tax.toFixed(2))));
      if (month === months[0]) once.push(...view.late.map(({ tax }) => cents(tax.toFixed(2))));
    }
    const state = await returnState(this.#db, installation);
    const changed = [...this.#versions.keys()].filter(
      (month) => minus(this.#due(month), this.#declared.get(month)!).size > 0,
    );
    if (`${state.changed.map(({ period }) => period)}` !== `${changed.toSorted()}`)
      found.push(`changed returns: ${JSON.stringify(state.changed)}, not ${changed}`);
    const open = this.#entries.filter((entry) => entry.state === 'late' && entry.taken === null);
    if (this.#versions.size > 0 && state.late.entries !== open.length)
      found.push(`late entries: ${state.late.entries}, not ${open.length}`);
    const all = [...sumsOf(this.#entries).values()].reduce((sum, { tax }) => sum + tax, 0);
    const parts = once.reduce((sum, tax) => sum + tax, 0);
    if (all !== parts) found.push(`all VAT is ${all}, the parts of all returns are ${parts}`);
    return found;
  }

  get filings(): number {
    return [...this.#versions.values()].reduce((sum, n) => sum + n, 0);
  }

  get corrections(): number {
    return [...this.#versions.values()].reduce((sum, n) => sum + n - 1, 0);
  }
}

/** Plays books of these seeds, and compares them with the oracle after each step. */
export async function liveThrough({ db, owner, truncate }: UsedDatabase, seeds: readonly number[]) {
  let [filings, corrections] = [0, 0];
  for (const seed of seeds) {
    await truncate();
    const rng = new Rng(seed, 'filed returns');
    const books = new FiledBooks(db, owner, () => rng.next());
    for (let n = 1; n <= 60; n += 1) {
      await books.step();
      if (n % 12 === 0) expect({ seed, n, wrong: await books.wrong() }).toEqual({ seed, n, wrong: [] });
    }
    filings += books.filings;
    corrections += books.corrections;
  }
  return { filings, corrections };
}

function cents(text: string): number {
  return Math.round(Number(text) * 100);
}

function sumsOf(entries: readonly Known[]): Sums {
  const sums: Sums = new Map();
  for (const { id, state, lines } of entries)
    for (const [group, { base, tax }] of lines) sums.set(`${id} ${state === 'late'} ${group}`, { base, tax });
  return sums;
}

function shownSums(
  lines: readonly { entry: string; isLate: boolean; group: string | null; base: object; tax: object }[],
) {
  const sums: Sums = new Map();
  for (const { entry, isLate, group, base, tax } of lines) {
    const key = `${entry} ${isLate} ${group}`;
    const before = sums.get(key) ?? { base: 0, tax: 0 };
    sums.set(key, { base: before.base + cents(String(base)), tax: before.tax + cents(String(tax)) });
  }
  return sums;
}

function minus(one: Sums, other: Sums): Sums {
  const left: Sums = new Map();
  for (const key of new Set([...one.keys(), ...other.keys()])) {
    const [a, b] = [one.get(key) ?? { base: 0, tax: 0 }, other.get(key) ?? { base: 0, tax: 0 }];
    if (a.base !== b.base || a.tax !== b.tax) left.set(key, { base: a.base - b.base, tax: a.tax - b.tax });
  }
  return left;
}
