import { describe, expect, it } from 'vitest';
import { integer, text } from '../../../src/db/columns.ts';
import { execute, rows } from '../../../src/db/rows.ts';
import { type DraftEntry, reversedLines } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import { appendEntries } from '../../../src/ledger/journal/append-entries.ts';
import { loadEntries } from '../../../src/ledger/journal/read-entries.ts';
import { verifyChain } from '../../../src/ledger/verify.ts';
import { useDatabase } from '../../support/database.ts';
import { draft, party } from '../drafts.ts';

const options = { decimals: 2, windowId: null };
const { db, owner } = useDatabase();
let nextInstallation = 1;

function append(installation: number, drafts: DraftEntry[]): Promise<string[]> {
  return db.transaction((trx) => appendEntries(trx, installation, drafts, options));
}

function invoice(id: number, amount = '100.00', inputHash = `hash of ${amount}`): DraftEntry {
  return draft({
    kind: 'invoice',
    id,
    date: '2026-01-15',
    inputHash,
    lines: [
      ['1700', 'receivable', amount, { invoiceId: id, party: party(5) }],
      ['3000', 'revenue', `-${amount}`],
    ],
  });
}

function reversal(entryId: string, of: DraftEntry): DraftEntry {
  return {
    ...of,
    reason: 'source_changed',
    reverses: entryId,
    inputHash: `reversal of ${entryId}`,
    lines: reversedLines(of.lines),
  };
}

async function sequence(installation: number): Promise<string[]> {
  const entries = await rows(
    db,
    { seq: integer, id: text },
    'select seq, id from entry where installation = ? order by seq',
    [installation],
  );
  return entries.map(({ seq, id }) => `${seq} ${id}`);
}

describe('posting', () => {
  it('numbers entries per document and without gaps per installation, and gives back what was posted', async () => {
    const installation = nextInstallation++;
    const full = draft({
      kind: 'invoice',
      id: 7,
      date: '2026-02-01',
      documentDate: '2026-01-31',
      description: 'Credit note K-7 – Ärla & Söner',
      original: 3,
      lines: [
        [
          '1700',
          'receivable',
          '-31.00',
          {
            party: { code: 'client:5', name: 'Ärla', vatNumber: 'FI123', countryCode: 'FI' },
            departmentId: 11,
            invoiceId: 7,
            documentNumber: 'K-7',
            dueDate: '2026-02-15',
            bankReference: 'RF18 5390',
          },
        ],
        [
          '3000',
          'revenue',
          '25.00',
          {
            dimensions: ['SURG', null, 'C'],
            internal: { account: '9', dimension1: null, dimension2: 'x' },
            vat: { group: 'General', rate: new Money('24.0'), base: null },
            rowIds: [11, 12],
          },
        ],
        ['2930', 'vat', '6.00', { vat: { group: null, rate: null, base: new Money('25') }, paymentType: 0 }],
      ],
    });
    expect(await append(installation, [invoice(1), full])).toEqual([
      `${installation}/invoice/1/1`,
      `${installation}/invoice/7/1`,
    ]);
    expect(await append(installation, [invoice(2)])).toEqual([`${installation}/invoice/2/1`]);

    expect(await sequence(installation)).toEqual([
      `1 ${installation}/invoice/1/1`,
      `2 ${installation}/invoice/7/1`,
      `3 ${installation}/invoice/2/1`,
    ]);
    const [stored] = await loadEntries(db, [`${installation}/invoice/7/1`]);
    expect(stored).toMatchObject({ installation, n: 1, seq: 2, ...full });
    expect(await verifyChain(db, installation)).toBeNull();
  });

  it('posts the same draft once, in one batch and in the next', async () => {
    const installation = nextInstallation++;
    const id = `${installation}/invoice/1/1`;
    expect(await append(installation, [invoice(1), invoice(1)])).toEqual([id, id]);
    expect(await append(installation, [invoice(1)])).toEqual([id]);
    expect(await sequence(installation)).toEqual([`1 ${id}`]);
  });

  it('posts a correction once, and the first facts again after it', async () => {
    const installation = nextInstallation++;
    const id = (n: number) => `${installation}/invoice/1/${n}`;
    await append(installation, [invoice(1)]);
    const correction = [reversal(id(1), invoice(1)), invoice(1, '80.00')];
    expect(await append(installation, correction)).toEqual([id(2), id(3)]);
    expect(await append(installation, correction)).toEqual([id(2), id(3)]);
    expect(await append(installation, [reversal(id(3), invoice(1, '80.00')), invoice(1)])).toEqual([id(4), id(5)]);
    expect(await verifyChain(db, installation)).toBeNull();
  });

  it('lets one of two racing posters post, whatever the other found', async () => {
    const installation = nextInstallation++;
    const drafts = Array.from({ length: 20 }, (_, index) => invoice(index + 1));
    const same = await Promise.all([1, 2, 3, 4].map(() => append(installation, drafts)));
    expect(new Set(same.map((ids) => ids.join()))).toHaveLength(1);
    expect(await sequence(installation)).toHaveLength(20);

    const others = [append(installation, [invoice(99, '1.00')]), append(installation, [invoice(99, '2.00')])];
    const settled = await Promise.allSettled(others);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await verifyChain(db, installation)).toBeNull();
    expect(await sequence(installation)).toHaveLength(21);
  });

  it('takes a constant number of statements', async () => {
    const installation = nextInstallation++;
    const counts: number[] = [];
    for (const size of [1, 300]) {
      let count = 0;
      const counted = () => {
        count += 1;
      };
      db.on('query', counted);
      await append(
        installation,
        Array.from({ length: size }, (_, index) => invoice(size * 1000 + index)),
      );
      db.off('query', counted);
      counts.push(count);
    }
    expect(counts[1]).toBe(counts[0]);
  });

  it('keeps odd characters from breaking the chain', async () => {
    const installation = nextInstallation++;
    const odd = draft({
      kind: 'invoice',
      id: 1,
      date: '2026-01-15',
      description: 'a\0b\ud800c',
      lines: [
        ['1700', 'receivable', '1.00', { party: { ...party(1), name: 'x\0\udc00\n"; drop' } }],
        ['3000', 'revenue', '-1.00'],
      ],
    });
    await append(installation, [odd]);
    expect(await verifyChain(db, installation)).toBeNull();
  });
});

describe('what the ledger refuses', () => {
  const cases: [name: string, code: string, drafts: (installation: number) => DraftEntry[]][] = [
    [
      'an entry that does not balance (P5)',
      'unsound_entry',
      () => [
        draft({
          kind: 'invoice',
          id: 1,
          date: '2026-01-01',
          lines: [
            ['1700', 'receivable', '100.00'],
            ['3000', 'revenue', '-99.99'],
          ],
        }),
      ],
    ],
    ['an amount finer than the minor unit', 'unsound_entry', () => [invoice(1, '1.005')]],
    ['an entry without lines', 'unsound_entry', () => [{ ...invoice(1), lines: [] }]],
    ['other facts while an entry is in force', 'already_in_force', () => [invoice(1), invoice(1, '80.00')]],
    [
      "a reversal of another document's entry",
      'not_in_force',
      (installation) => [invoice(1), reversal(`${installation}/invoice/1/1`, invoice(2))],
    ],
    [
      'a reversal of a reversal',
      'not_in_force',
      (installation) => [
        invoice(1),
        reversal(`${installation}/invoice/1/1`, invoice(1)),
        reversal(`${installation}/invoice/1/2`, invoice(1)),
      ],
    ],
  ];
  it.each(cases)('%s, and posts nothing of the batch', async (_name, code, drafts) => {
    const installation = nextInstallation++;
    await expect(append(installation, [invoice(500), ...drafts(installation)])).rejects.toMatchObject({ code });
    expect(await sequence(installation)).toEqual([]);
  });

  it('an id that is not in the ledger', async () => {
    await expect(loadEntries(db, ['1/invoice/404/1'])).rejects.toMatchObject({ code: 'entry_missing' });
  });
});

describe('the books are immutable', () => {
  it.each([
    "update entry set description = 'x'",
    'delete from entry where false',
    'truncate entry cascade',
    'update entry_line set amount = 1',
    'delete from entry_line',
    'truncate entry_line',
  ])('%s is refused', async (sql) => {
    await expect(execute(owner, sql)).rejects.toThrow(/never changed or deleted/);
    await expect(execute(db, sql)).rejects.toThrow(/permission denied/);
  });

  // A superuser who disables the triggers can change everything, but the chain shows it.
  const tampered: [name: string, broken: string, sql: string][] = [
    ['a changed amount', '2', `update entry_line set amount = 90 where entry_id = :second`],
    [
      'an added line',
      '2',
      `insert into entry_line select 'x', 9, account, role, side, 1, rule, mapped_by from entry_line
      where entry_id = :second and line = 1`,
    ],
    ['a changed date', '2', `update entry set entry_date = '2026-01-16' where id = :second`],
    ['a changed party', '2', `update entry_line set party_code = 'client:9999' where entry_id = :second and line = 1`],
    ['a deleted line', '2', `delete from entry_line where entry_id = :second and line = 1`],
    ['a deleted entry', '3', `delete from entry_line where entry_id = :second; delete from entry where id = :second`],
    ['a rewritten hash', '2', `update entry set hash = repeat('a', 64) where id = :second`],
    ['a moved link', '2', `update entry set previous_hash = repeat('a', 64) where id = :second`],
  ];
  it.each(tampered)('verify finds %s', async (_name, seq, sql) => {
    const installation = nextInstallation++;
    await append(installation, [invoice(1), invoice(2), invoice(3)]);
    await tamper(sql.replaceAll("'x', 9", ':second, 9').replaceAll(':second', `'${installation}/invoice/2/1'`));
    expect((await verifyChain(db, installation))?.seq).toBe(Number(seq));
  });

  // A chain without its last links is consistent; other records that name the links show the loss.
  it.each([
    [
      'a document',
      `insert into document (installation, kind, id, state, entry_id) values (:id, 'invoice', 2, 'posted', :last)`,
      ':last',
    ],
    [
      'a voucher',
      `insert into voucher (entry_id, installation, journal, fiscal_year, number) values (:last, :id, 'S', 2026, 9)`,
      ':last',
    ],
    [
      'a write-back',
      `insert into write_back (installation, kind, document_id, unit_id, value_is) values (:id, 'invoice', 2, :last, 'entry_id')`,
      ':last',
    ],
    [
      'the outbox',
      `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company)
       values (:id, :last, 'entry', 2, '2026-01-15', 'key of :id', 'c')`,
      ':last',
    ],
    [
      'an undone delivery',
      `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, undo_of, undo_n)
       values (:id, :last || '/undo/1', 'entry', 2, '2026-01-15', 'undo of :id', 'c', :last, 1)`,
      ':last',
    ],
    [
      'a seal, whose key is not at hand',
      `insert into seal (installation, n, seq, entries, head, summaries, summary_head, sealed_at, signature)
       select :id, 1, seq, 2, hash, 0, repeat('0', 64), clock_timestamp(), 's' from entry where id = :last`,
      'seal 1',
    ],
    ['how far the outbox has got', `insert into erp_cursor (installation, entry_seq) values (:id, 2)`, 'the outbox'],
  ])('verify finds an end that was cut off by %s', async (_, naming, found) => {
    const installation = nextInstallation++;
    const [, last] = await append(installation, [invoice(1), invoice(2)]);
    const sql = (text: string) => text.replaceAll(':id', String(installation)).replaceAll(':last', `'${last}'`);
    await tamper(sql('delete from voucher where entry_id = :last'));
    await tamper(sql(naming));
    expect(await verifyChain(db, installation)).toBeNull();
    await tamper(sql('delete from entry_line where entry_id = :last; delete from entry where id = :last'));
    const entryId = found === ':last' ? last : found;
    expect(await verifyChain(db, installation)).toMatchObject({ seq: null, entryId });
  });

  async function tamper(sql: string): Promise<void> {
    await owner.transaction(async (trx) => {
      const tables = ['entry', 'entry_line', 'voucher', 'seal'];
      for (const table of tables) await execute(trx, `alter table ${table} disable trigger all`);
      await execute(trx, sql.replaceAll('?', '\\?'));
      for (const table of tables) await execute(trx, `alter table ${table} enable trigger all`);
    });
  }
});
