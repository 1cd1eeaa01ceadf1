import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { entriesOfCsv, readCsvFile } from '../erp/files/readers/csv.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { vetledger } from './support.ts';

let clinic: TestClinic;
let posted: number;

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 82, invoices: 20, settings: { erp: '{kind: csv, auto: true}' } });
  ({ posted } = await clinic.sync());
  // A separate task queue, so that the commands run on their workers and not on the test's.
  const written = readFileSync(clinic.config, 'utf8');
  writeFileSync(clinic.config, written.replace(/^(temporal: .*)\}$/m, '$1, task_queue: deliver-files}'));
});
afterAll(() => clinic?.stop());

const command = (...args: string[]) => vetledger([...args, '--config', clinic.config], clinic.env);

test('a window’s entries are handed over as a file, which deliver ack acknowledges', async () => {
  const delivered = await command('deliver', '--json');
  expect(delivered.code).toBe(0);
  expect(delivered.json().installations).toMatchObject([{ installation: 4711, left: 0, refused: 0 }]);
  const folder = join(dirname(clinic.config), 'erp', '4711');
  const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  expect(files[0]).toBe('4711-000001.csv');
  const units = files.flatMap((name) =>
    entriesOfCsv(readCsvFile(readFileSync(join(folder, name)), 'international'), 'international').map(
      ({ unit }) => unit,
    ),
  );
  expect(posted).toBeGreaterThan(20);
  expect(new Set(units).size).toBe(posted);
  expect(units.length).toBe(posted);

  const shown = (await command('status')).stdout;
  expect(shown).toContain(`delivery      ${posted} delivered, 0 left, 0 refused`);
  expect(shown).toContain('the last file (csv) was written');

  const batches = files.map((name) => name.replace('.csv', ''));
  const acknowledged = await command('deliver', 'ack', ...batches, '--by', 'Bo', '--json');
  expect(acknowledged.code).toBe(0);
  expect(acknowledged.json().acknowledged[0]).toMatchObject({ batch: '4711-000001', file: '4711-000001.csv' });
  expect((await command('deliver', 'ack', '4711-000001')).stdout).toBe('Batch 4711-000001 was already acknowledged.\n');
  const states = await clinic.rows('select state, count(*)::int as n from erp_unit group by state');
  expect(states).toEqual([{ state: 'acknowledged', n: posted }]);
});

test('deliver ack knows what is no batch', async () => {
  const wrong = await command('deliver', 'ack', '12', '--json');
  expect([wrong.code, wrong.json().error.message]).toEqual([
    2,
    '12 is not a batch. The name of a batch looks like 4711-000001.',
  ]);
  const unknown = await command('deliver', 'ack', '4711-009999', '--json');
  expect([unknown.code, unknown.json().error.code]).toEqual([1, 'batch_unknown']);
});
