import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { walkChains } from '../../src/ledger/verify.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

const { db, url } = useDatabase();
const id = 53;
let clinic: MirroredClinic;
const command = (line: string) => vetledger([...line.split(' '), '--config', clinic.config], clinic.env);
const demo = readFileSync(demoMapping, 'utf8');

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id, seed: 6, invoices: 20 });
  await clinic.configure(demo);
  await clinic.pull();
  await clinic.post();
});
afterAll(() => clinic?.remove());

test('each entry keeps the mapping that it was posted by; history lists which posted what', async () => {
  const first = clinic.installation.mappingHash;
  await clinic.configure(`version: 2026-2\napproved_by: A. Laine\n${demo}`);
  const second = clinic.installation.mappingHash;
  expect(second).not.toBe(first);
  const row = { sum: '100.00', vat_percentage: '14', account_number: '3000' };
  const invoice = clinic.clinic.createInvoice({ rows: [row] }).id;
  await clinic.pull();
  await clinic.post();
  const [counts] = await query<{ before: number; after: number }>(
    db,
    `select (count(*) filter (where mapping_hash = ?))::int as before,
       (count(*) filter (where mapping_hash = ?))::int as after from entry where installation = ?`,
    [first, second, id],
  );
  const { installations } = (await command('mapping history --json')).json();
  expect(installations).toMatchObject([
    {
      installation: id,
      configured: second,
      mappings: [
        { hash: first, version: null, approved_by: null, entries: counts?.before, first_seq: 1 },
        { hash: second, version: '2026-2', approved_by: 'A. Laine', entries: counts?.after },
      ],
    },
  ]);
  const text = (await command('mapping history')).stdout;
  expect(text).toMatch(new RegExp(`2026-2 \\(${second.slice(0, 12)}\\) +A\\. Laine +${counts?.after} .* configured`));

  const explained = await command(`explain invoice ${invoice}`);
  expect(explained.stdout).toMatch(
    new RegExp(
      `voucher 2026-S-\\d{6}; recorded .* [+-]\\d\\d:\\d\\d outside a window; mapping 2026-2 \\(${second.slice(0, 12)}\\), approved by A\\. Laine`,
    ),
  );
  expect((await command(`explain invoice ${invoice} --json`)).json().entries).toMatchObject([
    {
      voucher: expect.stringMatching(/^2026-S-\d{6}$/),
      recorded_at: expect.any(String),
      window: null,
      mapping: { hash: second, version: '2026-2', approved_by: 'A. Laine' },
    },
  ]);
  expect((await command('export --format hledger')).stdout).toMatch(
    new RegExp(`voucher:2026-S-\\d{6}, mapping:2026-2 \\(${second.slice(0, 12)}\\)`),
  );
  expect(await walkChains(db, id)).toMatchObject({ broken: null });
});
