// Writes a clinic's whole books as files while the clinic continues to work. Independent readers must find in all
// batches together what SQL finds in the tables.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enqueueUnits } from '../../../src/erp/outbox/enqueue.ts';
import { claimName } from '../../../src/erp/targets/files/folder-claim.ts';
import { handOverSlice } from '../../../src/erp/targets/files/hand-over.ts';
import { useDatabase } from '../../support/database.ts';
import { demoMapping } from '../../support/demo-config.ts';
import { MirroredClinic } from '../../support/mirrored-clinic.ts';
import { query } from '../../support/sql.ts';
import { entriesOfCsv, readCsvFile } from './readers/csv.ts';
import { entriesOfDatev, readDatev } from './readers/datev.ts';
import { balancesOf, cents, type ReadEntry } from './readers/entry.ts';
import { readSie } from './readers/sie.ts';

const { db, url } = useDatabase();
const root = mkdtempSync(join(tmpdir(), 'vetledger-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const mapping = `${readFileSync(demoMapping, 'utf8')}
erp:
  parties: per_client
  journals: {invoice: F, "*": X}
  dimensions: {department: {name: "1"}}
`;
const kinds = {
  csv: {
    options: 'dialect: semicolon',
    read: (bytes: Uint8Array) => entriesOfCsv(readCsvFile(bytes, 'semicolon'), 'semicolon'),
  },
  sie4: { options: 'company_name: Klinikka Oy', read: (bytes: Uint8Array) => readSie(bytes).vouchers as ReadEntry[] },
  datev: {
    options: 'consultant_number: 29098, client_number: 55003, account_length: 4',
    read: (bytes: Uint8Array) => entriesOfDatev(readDatev(bytes)),
  },
};

describe.each(Object.entries(kinds))('%s', (kind, { options, read }) => {
  const id = 900 + Object.keys(kinds).indexOf(kind);
  const folder = join(root, kind);
  const clinic = new MirroredClinic(db, url, { id, seed: id, invoices: 40 });
  const found: ReadEntry[] = [];

  beforeAll(async () => {
    await clinic.configure(mapping, { erp: `{kind: ${kind}, auto: true, folder: "${folder}", options: {${options}}}` });
    for (let round = 0; round < 3; round++) {
      if (round > 0) clinic.live(40);
      await clinic.pull();
      await clinic.post();
      await db.transaction((trx) =>
        enqueueUnits(trx, { installation: id, databaseId: 'abc', company: kind, from: null, auto: true }),
      );
      const clock = { now: () => Date.now(), elapsed: () => performance.now(), sleep: async () => {} };
      const log = { debug: () => {}, info: () => {}, warn: () => {} };
      const signal = new AbortController().signal;
      const ports = { db, databaseId: 'abc', installation: clinic.installation, holder: 'test', clock, signal, log };
      await handOverSlice({ ...ports, pause: async () => {}, onProgress: () => {} }, { maxUnits: 50 });
    }
    for (const name of readdirSync(folder)
      .filter((each) => each.endsWith('.json') && each !== claimName)
      .toSorted()) {
      const { file } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { file: string };
      found.push(...read(readFileSync(join(folder, file))));
    }
  });

  it('each entry of the books is in exactly one batch, and no other entry is', async () => {
    const booked = await query<{ id: string }>(db, 'select id from entry where installation = ? order by id', [id]);
    expect(booked.length).toBeGreaterThan(60);
    expect(found.map(({ unit }) => unit).toSorted()).toEqual(booked.map((each) => each.id).toSorted());
  });

  it('entry by entry, accounts and amounts are those of the books', async () => {
    const lines = await query<{ unit: string; account: string; amount: string }>(
      db,
      `select entry_id as unit, account, sum(case side when 'debit' then amount else -amount end)::numeric(20, 2) as amount
       from entry_line where entry_id like ? group by entry_id, account`,
      [`${id}/%`],
    );
    const books = Map.groupBy(lines, ({ unit }) => unit);
    for (const { unit, lines: read } of found) {
      const told = balancesOf(read.map(({ account, amount }) => ({ account, amount: cents(amount) })));
      const booked = balancesOf(books.get(unit)!.map(({ account, amount }) => ({ account, amount: cents(amount) })));
      expect(told, unit).toEqual(booked);
    }
  });

  it('a correction follows the corrected entry', () => {
    const seen = new Set<string>();
    for (const { unit } of found) {
      const [, , , n] = unit.split('/');
      if (n !== '1') expect(seen).toContain(unit.replace(/\d+$/, String(Number(n) - 1)));
      seen.add(unit);
    }
    expect([...seen].some((unit) => unit.endsWith('/3'))).toBe(true);
  });
});
