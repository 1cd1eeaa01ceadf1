import { beforeEach, describe, expect, it } from 'vitest';
import { transactionsOf } from '../../src/db/lease.ts';
import { execute } from '../../src/db/rows.ts';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { signed } from '../../src/domain/entry.ts';
import { Money, sum } from '../../src/domain/money.ts';
import { readBooks } from '../../src/erp/books/read-erp-books.ts';
import type { Capabilities } from '../../src/erp/capabilities.ts';
import type { FoundEntry } from '../../src/erp/erp-entry.ts';
import type { ErpTarget } from '../../src/erp/port.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { summariseBatch } from '../../src/ledger/summaries/summarise.ts';
import { checkErpBooks } from '../../src/reconcile/e7-erp.ts';
import type { PostingMode } from '../../src/terms.ts';
import { capabilitiesWith } from '../erp/capabilities.ts';
import { draft } from '../ledger/drafts.ts';
import { mappingOf } from '../posting/support.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db } = useDatabase();
let installation = 0;
let erp: Erp;
beforeEach(() => {
  installation += 1;
  erp = new Erp();
});

const mapping = mappingOf({ erp: { vat_codes: { VAT24: 'S24' }, journals: { '*': 'MISC' } } });

describe('E7', () => {
  it('holds where the ERP has what was delivered, and lists what is not there', async () => {
    await deliver([sale(1), payment(2), payment(3, '2026-03-05')]);
    await deliver([payment(4)], { postingMode: 'daily_summary' });
    const [waiting, refused] = await post([payment(5), payment(6)]);
    await setState(refused!, 'refused', 'erp_account_unknown');
    // Other programs may have entries in the same books.
    erp.add(entryOf('F-1', null, payment(1), '2026-02-10'));
    expect(await check()).toEqual({ ok: true, difference: '0.00', documents: [] });
    const { listed } = await report();
    expect(listed.undelivered).toEqual([{ document: 'payment 5', message: `${waiting} is pending` }]);
    expect(listed.refused).toMatchObject([{ document: 'payment 6' }]);
  });

  const tamperings: [string, (id: string) => void, { difference: string; message: RegExp }][] = [
    [
      'an amount',
      (id) => erp.change(id, (entry) => changeLines(entry, { '1910': '12.00', '1700': '-12.00' })),
      { difference: '2.00', message: /account 1910, debit 10/ },
    ],
    [
      'an account',
      (id) => erp.change(id, ({ lines }) => Object.assign(lines[0]!, { account: '1920' })),
      { difference: '10.00', message: /account 1920/ },
    ],
    [
      'the date, within the month',
      (id) => erp.change(id, (entry) => Object.assign(entry, { date: '2026-02-20' })),
      { difference: '0.00', message: /2026-02-20/ },
    ],
    [
      'the date, into another month',
      (id) => erp.change(id, (entry) => Object.assign(entry, { date: '2026-05-20' })),
      { difference: '0.00', message: /2026-05-20/ },
    ],
    [
      'a dimension',
      (id) => erp.change(id, ({ lines }) => Object.assign(lines[0]!, { dimensions: { Branch: '7' } })),
      { difference: '0.00', message: /Branch 7/ },
    ],
    [
      'a due date',
      (id) => erp.change(id, ({ lines }) => Object.assign(lines[1]!, { dueDate: '2026-12-24' })),
      {
        difference: '0.00',
        message: /the due date 2026-02-15 of the line on account 1700, credit 10.00 was sent; the ERP has 2026-12-24/,
      },
    ],
    [
      'a due date, to none',
      (id) => erp.change(id, ({ lines }) => Object.assign(lines[1]!, { dueDate: null })),
      { difference: '0.00', message: /the due date 2026-02-15 .* the ERP has none/ },
    ],
    [
      'a label',
      (id) => erp.change(id, ({ lines }) => Object.assign(lines[0]!, { label: 'by hand' })),
      {
        difference: '0.00',
        message: /the label “payment 2” of the line on account 1910, debit 10.00 was sent; the ERP has “by hand”/,
      },
    ],
    [
      'the description',
      (id) => erp.change(id, (entry) => Object.assign(entry, { description: 'by hand' })),
      {
        difference: '0.00',
        message: /the description “payment 2” was sent|with the description “payment 2”; the ERP has “by hand”/,
      },
    ],
    [
      'our key',
      (id) => erp.change(id, (entry) => Object.assign(entry, { key: null })),
      { difference: '0.00', message: /no longer has our key/ },
    ],
    [
      'its being posted',
      (id) => erp.change(id, (entry) => Object.assign(entry, { state: 'draft' })),
      { difference: '10.00', message: /is a draft in the ERP again/ },
    ],
    [
      'its being valid',
      (id) => erp.change(id, (entry) => Object.assign(entry, { state: 'void' })),
      { difference: '10.00', message: /void/ },
    ],
    ['its existence', (id) => erp.delete(id), { difference: '10.00', message: /is no longer in the ERP/ }],
    [
      'its being there once',
      (id) => erp.add({ ...structuredCloneOf(erp.entry(id)), id: 'copy', number: 'N-copy' }),
      { difference: '10.00', message: /holds .*payment\/2\/1 2 times/ },
    ],
  ];

  it.each(tamperings)(
    'names the document in which a person changed %s, at once and in a full reading',
    async (...row) => {
      const [, tamper, { difference, message }] = row;
      await deliver([sale(1), payment(2), payment(3)]);
      expect(await check()).toMatchObject({ ok: true });
      tamper(erpIdOf('payment', 2));
      for (const full of [false, false, true]) {
        const equation = await check({ full });
        expect(equation).toMatchObject({ ok: false, difference, documents: [{ document: 'payment 2', difference }] });
        expect(equation.documents[0]!.message).toMatch(message);
      }
    },
  );

  it('holds again once it was put right', async () => {
    await deliver([sale(1), payment(2)]);
    await check();
    const id = erpIdOf('payment', 2);
    const before = structuredCloneOf(erp.entry(id));
    erp.delete(id);
    expect(await check()).toMatchObject({ ok: false });
    erp.add(before);
    expect(await check()).toMatchObject({ ok: true });
    erp.change(id, (entry) => changeLines(entry, { '1910': '12.00', '1700': '-12.00' }));
    expect(await check()).toMatchObject({ ok: false });
    erp.change(id, (entry) => changeLines(entry, { '1910': '10.00', '1700': '-10.00' }));
    expect(await check()).toMatchObject({ ok: true });
  });

  it('names entries by hand on accounts that only we post to, and the balance that they change', async () => {
    const ownedAccounts = ['1700'];
    await deliver([sale(1), payment(2)]);
    expect(await check({ ownedAccounts })).toMatchObject({ ok: true });
    erp.add(entryOf('F-1', null, payment(9, '2026-02-11', '3.00')));
    for (const full of [false, true]) {
      const { ok, documents } = await check({ ownedAccounts, full });
      expect(ok).toBe(false);
      expect(documents).toMatchObject([
        { document: 'ERP entry N-F-1', difference: '3.00' },
        { document: 'account 1700', difference: '-3.00' },
      ]);
      expect(documents[0]!.message).toContain('-3 on account 1700, dated 2026-02-11: payment 9');
    }
    erp.delete('F-1');
    expect(await check({ ownedAccounts })).toMatchObject({ ok: true });
  });

  const copies: [string, (entry: FoundEntry) => FoundEntry, RegExp][] = [
    [
      'the ERP’s own reversal, which names its origin',
      (entry) => ({ ...reversed(entry), originId: entry.id }),
      /the ERP made this reversal of our entry N-erp invoice 1 \(\d+\/invoice\/1\/1\); reset it/,
    ],
    [
      'the same, whose base counts in the wrong direction',
      (entry) => ({ ...withWrongBase(reversed(entry)), originId: entry.id }),
      /the ERP made this reversal of our entry N-erp invoice 1 .* counts in the wrong direction/,
    ],
    [
      'a duplicate',
      (entry) => ({ ...entry }),
      /a duplicate of our entry N-erp invoice 1 \(\d+\/invoice\/1\/1\); reset it/,
    ],
    [
      'a duplicate whose base counts in the wrong direction',
      withWrongBase,
      /a duplicate of our entry N-erp invoice 1 .* counts in the wrong direction/,
    ],
  ];

  it.each(copies)('names %s with both numbers, on any account, on any day, until it is gone', async (...row) => {
    const [, made, message] = row;
    await deliver([sale(1), sale(2, '2026-02-03'), payment(3)]);
    expect(await check()).toMatchObject({ ok: true });
    for (const date of ['2026-02-11', '2026-08-11']) {
      const copy = {
        ...made(structuredCloneOf(erp.entry(erpIdOf('invoice', 1)))),
        id: 'copy',
        key: null,
        number: 'N-copy',
      };
      erp.add({ ...copy, date });
      for (const full of [false, false, true, false]) {
        const { ok, documents } = await check({ full });
        expect(ok).toBe(false);
        expect(documents).toMatchObject([{ document: 'ERP entry N-copy', difference: '124.00' }]);
        expect(documents[0]!.message).toMatch(message);
      }
      erp.delete('copy');
      expect(await check()).toMatchObject({ ok: true });
    }
    // A manual entry with our accounts and amounts alone is not a copy.
    erp.add({
      ...entryOf('F-2', null, sale(7)),
      lines: entryOf('F-2', null, sale(1)).lines.map((line) => ({ ...line, label: 'rent' })),
    });
    expect(await check({ full: true })).toMatchObject({ ok: true });
  });

  it('names units that the ERP holds although it refused them or was never given them', async () => {
    const [refused, cancelled] = await post([payment(1), payment(2)]);
    await setState(refused!, 'refused', 'erp_refused');
    await setState(cancelled!, 'cancelled_out', null);
    await deliver([payment(3)]);
    for (const [n, id] of [refused!, cancelled!].entries())
      erp.add(entryOf(`late-${n}`, await keyOf(id), payment(n + 1)));
    expect(await check()).toMatchObject({
      ok: false,
      difference: '20.00',
      documents: [
        { document: 'payment 1', message: expect.stringContaining('was refused, but the ERP holds it') },
        { document: 'payment 2', message: expect.stringContaining('was settled without being sent') },
      ],
    });
  });

  it('of a unit that differs there names the differences, and nothing once it is equal', async () => {
    await deliver([payment(1)]);
    const id = erpIdOf('payment', 1);
    const [unitId] = await query<{ id: string }>(db, 'select unit_id as id from erp_unit where installation = ?', [
      installation,
    ]);
    await setState(unitId!.id, 'refused', 'erp_differs');
    erp.change(id, (entry) => changeLines(entry, { '1910': '12.00', '1700': '-12.00' }));
    const { documents } = await check();
    expect(documents).toMatchObject([{ document: 'payment 1', difference: '2.00' }]);
    expect(documents[0]!.message).not.toContain('refused');
    erp.change(id, (entry) => changeLines(entry, { '1910': '10.00', '1700': '-10.00' }));
    expect(await check()).toMatchObject({ ok: true });
    // The next delivery looks the unit up again before it sends anything.
    await setState(unitId!.id, 'pending', null);
    await execute(db, 'update erp_unit set attempts = 1 where unit_id = ?', [unitId!.id]);
    expect(await check()).toMatchObject({ ok: true });
  });

  it('of an ERP that voids withdrawn drafts leaves these out, and names a delivered entry that was voided', async () => {
    erp.capabilities = capabilitiesWith({ lines: { party: 'none' }, write: { withdraw: 'void' } });
    await deliver([payment(1)]);
    const id = erpIdOf('payment', 1);
    erp.add({ ...erp.entry(id), id: 'withdrawn', number: null, state: 'void' });
    expect(await check()).toMatchObject({ ok: true });
    erp.change(id, (entry) => Object.assign(entry, { state: 'void' }));
    expect(await check()).toMatchObject({ ok: false, documents: [{ document: 'payment 1', difference: '10.00' }] });
  });

  it('lists a cent of VAT within the tolerance, and fails by more', async () => {
    erp.capabilities = capabilitiesWith({ lines: { party: 'none' }, vat: { tolerance_minor: 1 } });
    await deliver([sale(1)]);
    const id = erpIdOf('invoice', 1);
    const withBase = (amount: string) =>
      erp.change(id, ({ lines }) => Object.assign(lines[1]!.vat[0]!, { amount: new Money(amount) }));
    withBase('-99.99');
    expect(await check()).toMatchObject({ ok: true, difference: '0.00' });
    expect((await report()).listed.within_tolerance).toMatchObject([{ document: 'invoice 1' }]);
    withBase('-99.98');
    expect(await check()).toMatchObject({ ok: false, documents: [{ document: 'invoice 1' }] });
  });

  it('reads again only what was written, and months whose count or balances have changed', async () => {
    const months = ['2026-01-10', '2026-02-10', '2026-03-10'];
    for (const [n, date] of months.entries())
      await deliver(Array.from({ length: 30 }, (_, index) => payment(100 * n + index + 1, date)));
    await check();
    expect(erp.told).toBe(90);
    await check();
    expect(erp.told).toBe(0);
    // The change leaves the ERP's write dates unchanged.
    erp.delete(erpIdOf('payment', 105), { isStamped: false });
    expect(await check()).toMatchObject({ ok: false, documents: [{ document: 'payment 105' }] });
    expect(erp.told).toBe(29);
    expect(erp.largestPage).toBeLessThanOrEqual(10);
    await check();
    expect(erp.told).toBe(0);
    await check({ full: true });
    expect(erp.told).toBe(89);
    await db.raw(
      `update erp_books_reading set full_began_at = full_began_at - interval '8 days' where installation = ?`,
      [installation],
    );
    await check();
    expect(erp.told).toBe(89);
  });

  it('in slices reads the months whole that were read longest ago, and never everything at once', async () => {
    const months = ['2026-01-10', '2026-02-10', '2026-03-10'];
    for (const [n, date] of months.entries())
      await deliver(Array.from({ length: 10 * (n + 1) }, (_, index) => payment(100 * n + index + 1, date)));
    await check({ inSlices: true });
    expect(erp.told).toBe(60);
    await query(
      db,
      `update erp_books_reading set full_began_at = full_began_at - interval '90 days' where installation = ?`,
      [installation],
    );
    // The change leaves the ERP's write dates, counts and balances unchanged.
    erp.change(erpIdOf('payment', 105), (entry) => Object.assign(entry, { date: '2026-02-20' }));
    erp.settle();
    const readAgo = (month: string, days: number) =>
      query(
        db,
        'update erp_books_month set read_at = read_at - make_interval(days => ?) where installation = ? and month = ?',
        [days, installation, month],
      );
    await check({ inSlices: true });
    // No stored reading is older than a week, so the check does not read the ERP.
    expect(erp.told).toBe(0);
    await readAgo('2026-02-01', 9);
    await readAgo('2026-01-01', 8);
    expect(await check({ inSlices: true })).toMatchObject({ ok: false });
    expect(erp.told).toBe(20);
    await check({ inSlices: true });
    expect(erp.told).toBe(10);
    await check({ inSlices: true });
    expect(erp.told).toBe(0);
  });

  it('keeps what was equal when the mapping changes later', async () => {
    await deliver([sale(1)]);
    await check();
    const other = mappingOf({ erp: { vat_codes: { VAT24: 'S255' }, journals: { '*': 'OTHER' } } });
    expect(await check({ mapping: other })).toMatchObject({ ok: true });
    expect(await check({ mapping: other, full: true })).toMatchObject({ ok: true });
  });

  it('holds once a mapping was put right, without anything written in the ERP', async () => {
    const other = mappingOf({ erp: { vat_codes: { VAT24: 'S255' }, journals: { '*': 'MISC' } } });
    await deliver([sale(1)]);
    expect(await check({ mapping: other })).toMatchObject({ ok: false });
    expect(await check()).toMatchObject({ ok: true });
  });

  it('looks at all entries for an account that is owned from now on', async () => {
    await deliver([payment(1)]);
    erp.add(entryOf('F-1', null, payment(9)));
    expect(await check()).toMatchObject({ ok: true });
    expect(await check({ ownedAccounts: ['1910'] })).toMatchObject({ ok: false });
    expect(await check()).toMatchObject({ ok: true });
  });
});

/** The ERP's books, written by hand. */
class Erp {
  capabilities: Capabilities = capabilitiesWith({ lines: { party: 'none' } });
  /** The number of entries that were read since the last look. */
  told = 0;
  largestPage = 0;
  #now = Date.parse('2026-04-01T00:00:00Z');
  readonly #entries = new Map<string, { entry: FoundEntry; writtenAtMs: number }>();

  add(entry: FoundEntry): void {
    this.#entries.set(entry.id, { entry, writtenAtMs: this.#stamp() });
  }

  entry(id: string): FoundEntry {
    return this.#entries.get(id)!.entry;
  }

  change(id: string, by: (entry: FoundEntry) => void): void {
    const held = this.#entries.get(id)!;
    by(held.entry);
    held.writtenAtMs = this.#stamp();
  }

  delete(id: string, { isStamped = true } = {}): void {
    this.#entries.delete(id);
    if (isStamped) this.#stamp();
  }

  /** Moves all write dates far before the next reading. */
  settle(): void {
    for (const held of this.#entries.values()) held.writtenAtMs = 0;
  }

  #stamp(): number {
    this.#now = Math.max(this.#now, Date.now());
    return this.#now;
  }

  target(): Pick<ErpTarget, 'capabilities' | 'books' | 'read' | 'describe'> {
    const posted = (from: string, through: string) =>
      [...this.#entries.values()].filter(
        ({ entry }) => entry.state !== 'draft' && entry.date >= from && entry.date <= through,
      );
    const page = 10;
    const told = (entries: FoundEntry[]) => {
      this.told += entries.length;
      this.largestPage = Math.max(this.largestPage, entries.length);
      return entries;
    };
    const pagesOf = async function* (wanted: FoundEntry[]) {
      for (let at = 0; at < wanted.length; at += page) yield told(wanted.slice(at, at + page));
    };
    return {
      capabilities: this.capabilities,
      describe: ({ description }) => description,
      read: async (ids) => ids.flatMap((id) => this.#entries.get(id)?.entry ?? []),
      books: {
        balances: async ({ from, through }) => {
          const entries = posted(from, through).filter(({ entry }) => entry.state === 'posted');
          const lines = entries.flatMap(({ entry }) => entry.lines);
          const balances = Map.groupBy(lines, ({ account }) => account);
          return {
            entries: entries.length,
            balances: new Map(
              [...balances].map(([account, of]) => [account, sum(of.map(({ amount }) => amount)).toFixed(2)]),
            ),
          };
        },
        entries: ({ from, through, changedSince, accounts }) =>
          pagesOf(
            posted(from, through)
              .filter(
                ({ entry, writtenAtMs }) =>
                  (entry.key !== null || entry.lines.some(({ account }) => accounts.includes(account))) &&
                  (changedSince === null || writtenAtMs >= changedSince.getTime()),
              )
              .map(({ entry }) => entry),
          ),
        copies: ({ from, through, changedSince, journals }) =>
          pagesOf(
            posted(from, through)
              .filter(({ writtenAtMs }) => changedSince === null || writtenAtMs >= changedSince.getTime())
              .flatMap(({ entry }) => {
                const isAsked = entry.originId !== undefined || journals.includes(entry.journal);
                return entry.key === null && isAsked && entry.state === 'posted' ? [entry] : [];
              }),
          ),
      },
    };
  }
}

interface CheckOptions {
  full?: boolean;
  inSlices?: boolean;
  ownedAccounts?: string[];
  mapping?: typeof mapping;
}

async function check(options: CheckOptions = {}) {
  return (await report(options)).equation;
}

async function report({
  full = false,
  inSlices = false,
  ownedAccounts = [],
  mapping: used = mapping,
}: CheckOptions = {}) {
  erp.told = 0;
  const ports = {
    transact: transactionsOf(db),
    ...{ db, databaseId: 'test', target: erp.target(), ownedAccounts, signal: new AbortController().signal },
    installation: { id: installation, mapping: used, decimals: 2 },
    onProgress: () => undefined,
  };
  const { balances } = await readBooks(ports, { full, inSlices });
  erp.settle();
  return checkErpBooks(db, { id: installation, decimals: 2, company: companyOf(), ownedAccounts, balances });
}

const companyOf = () => `company ${installation}`;

function sale(id: number, date = '2026-02-01'): DraftEntry {
  const vat = { group: 'VAT24', rate: new Money(24), base: null };
  return draft({
    ...{ kind: 'invoice', id, date },
    lines: [
      ['1700', 'receivable', '124.00'],
      ['3000', 'revenue', '-100.00', { vat }],
      ['2939', 'vat', '-24.00', { vat: { ...vat, base: new Money(100) } }],
    ],
  });
}

function payment(id: number, date = '2026-02-01', amount = '10.00'): DraftEntry {
  return draft({
    ...{ kind: 'payment', id, date },
    lines: [
      ['1910', 'bank_clearing', amount],
      ['1700', 'receivable', `-${amount}`, { invoiceId: id, dueDate: '2026-02-15' }],
    ],
  });
}

/** The entry with debit and credit exchanged, like an ERP's reversal. */
function reversed(entry: FoundEntry): FoundEntry {
  const lines = entry.lines.map((line) => ({
    ...line,
    ...{ amount: line.amount.negated(), vat: line.vat.map((part) => ({ ...part, amount: part.amount.negated() })) },
  }));
  return { ...entry, lines };
}

function withWrongBase(entry: FoundEntry): FoundEntry {
  const turned = ({ part, ...vat }: FoundEntry['lines'][number]['vat'][number]) => ({
    ...{ ...vat, part, amount: part === 'base' ? vat.amount.negated() : vat.amount },
  });
  return { ...entry, lines: entry.lines.map((line) => ({ ...line, vat: line.vat.map(turned) })) };
}

/** An entry in the ERP's books, written by hand. */
function entryOf(id: string, key: string | null, { date, description, lines }: DraftEntry, on = date): FoundEntry {
  return {
    ...{ id, key, number: `N-${id}`, state: 'posted', date: on, journal: 'MISC', description },
    lines: lines.map((line, n) => ({
      ...{ id: `${id}-${n}`, account: line.account, amount: signed(line), party: null, dimensions: {}, matched: null },
      ...{ label: description, ...(line.role === 'receivable' && { dueDate: line.dueDate }) },
      vat:
        line.vat === null
          ? []
          : [{ code: 'S24', part: line.role === 'vat' ? ('tax' as const) : ('base' as const), amount: signed(line) }],
    })),
  };
}

function changeLines({ lines }: FoundEntry, amounts: Record<string, string>): void {
  for (const line of lines) line.amount = new Money(amounts[line.account] ?? line.amount);
}

function structuredCloneOf(entry: FoundEntry): FoundEntry {
  return { ...entry, lines: entry.lines.map((line) => ({ ...line })) };
}

const erpIdOf = (kind: string, id: number) => `erp ${kind} ${id}`;

async function post(drafts: DraftEntry[], postingMode: PostingMode = 'document'): Promise<string[]> {
  const ids = await db.transaction((trx) =>
    appendEntries(trx, installation, drafts, { decimals: 2, windowId: null, postingMode }),
  );
  if (postingMode === 'document') {
    for (const [n, id] of ids.entries()) await unit(id, 'entry', drafts[n]!.date);
  }
  return ids;
}

/** Posts entries and delivers them. */
async function deliver(drafts: DraftEntry[], { postingMode = 'document' }: { postingMode?: PostingMode } = {}) {
  const ids = await post(drafts, postingMode);
  if (postingMode === 'document') {
    for (const [n, id] of ids.entries()) {
      const { kind, id: documentId } = drafts[n]!.document;
      await delivered(id, erpIdOf(kind, documentId), drafts[n]!);
    }
    return;
  }
  await db.transaction((trx) => summariseBatch(trx, installation, { before: '2026-12-31', windowId: null }));
  const [summary] = await query<{ id: string; minute: string }>(
    db,
    `select id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as minute from summary_entry
     where installation = ?`,
    [installation],
  );
  await unit(summary!.id, 'daily_summary', drafts[0]!.date);
  const description = `Summary of ${drafts[0]!.date}, no department`;
  const lines = drafts[0]!.lines.map((line) => ({ ...line, dueDate: null }));
  await delivered(summary!.id, 'erp summary', { ...drafts[0]!, description, lines });
  erp.change('erp summary', (entry) =>
    Object.assign(entry, { description: `${description}, recorded ${summary!.minute} UTC` }),
  );
}

async function delivered(id: string, erpId: string, of: DraftEntry): Promise<void> {
  await execute(
    db,
    `update erp_unit set state = 'delivered', erp_id = ?, erp_number = ?, erp_date = unit_date
     where installation = ? and unit_id = ?`,
    [erpId, `N-${erpId}`, installation, id],
  );
  erp.add(entryOf(erpId, await keyOf(id), of));
}

let seq = 0;
async function unit(id: string, kind: 'entry' | 'daily_summary', date: string): Promise<void> {
  await execute(
    db,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company) values (?, ?, ?, ?, ?, ?, ?)`,
    [installation, id, kind, ++seq, date, `KEY${seq}`, companyOf()],
  );
}

async function setState(id: string, state: string, code: string | null): Promise<void> {
  await execute(db, `update erp_unit set state = ?, problem_code = ? where installation = ? and unit_id = ?`, [
    ...[state, code, installation, id],
  ]);
}

async function keyOf(id: string): Promise<string> {
  const [found] = await query<{ erp_key: string }>(db, 'select erp_key from erp_unit where unit_id = ?', [id]);
  return found!.erp_key;
}
