// Compares a real --json answer of every command with the schema in the command's file. `vetledger` of support.ts does
// the same in all other tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProgram, definitionOf } from '../../src/cli/program.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { checkAnswer, vetledger } from './support.ts';

let clinic: TestClinic;
let folder: string;
let invoice: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vetledger-answers-'));
  const settings = { erp: '{kind: csv, auto: true}', start_date: '2025-01-01' };
  clinic = await startTestClinic({ seed: 83, invoices: 30, settings });
  invoice = clinic.sandbox.clinic.createInvoice({ rows: [{ sum: '100.00', vat_percentage: '14' }] }).id;
  await clinic.sync();
  // A separate task queue, so that the commands run on their workers and not on the test's.
  const written = readFileSync(clinic.config, 'utf8');
  writeFileSync(clinic.config, written.replace(/^(temporal: .*)\}$/m, '$1, task_queue: answers}'));
});
afterAll(async () => {
  await clinic?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The commands run in this order on one clinic. Words in capitals are replaced. */
const lines = [
  'sync',
  'backfill',
  'windows',
  'windows --gaps',
  'replay --from 2026-01-01 --to 2026-01-02 --dry-run',
  'pause --reason test --yes',
  'resume',
  'nudge --delivery',
  'cancel --reason test --yes',
  'status',
  'problems',
  'problems match',
  'explain invoice INVOICE',
  'preview',
  'preview --mapping mappings/demo.yaml',
  'repost --dry-run',
  'deliver --dry-run',
  'deliver --wait 5',
  'deliver retry --all --wait 5',
  'deliver ack 4711-000001',
  'deliver pause --reason test',
  'deliver resume',
  'late',
  'late list',
  'reconcile',
  'ledger verify',
  'ledger close --through 2026-01-31 --dry-run',
  'ledger close --through 2026-01-31 --yes',
  'ledger closes',
  'ledger reopen --from 2026-01-01 --reason test --yes',
  'adopt --installation 4711 --reason test',
  'erase client 1 --reason test --yes',
  'export --format csv --out FOLDER/journal.csv',
  'report trial-balance',
  'report income',
  'report balance-sheet --by department --documents',
  'report account 1700',
  'report journal',
  'report vat',
  'report eu-sales',
  'report receivables',
  'report prepayments',
  'report vouchers',
  'report clearing',
  'report cutover',
  'mapping check mappings/demo.yaml',
  'mapping apply mappings/demo.yaml --installation 4711 --reason test',
  'mapping show',
  'mapping diff mappings/demo.yaml mappings/tryton-demo.yaml',
  'mapping history',
  'mapping init',
  'doctor',
  'budget reset --yes',
  'user add aino',
  'user link aino --account aino.k',
  'user role aino viewer --installation 4711',
  'user password aino',
  'user list',
  'user disable aino --yes',
];

/** Other tests compare the answers of these commands, because this clinic lacks the records that they need. */
const elsewhere = {
  'problems retry': 'test/cli/commands.test.ts',
  'late decide': 'test/cli/late.test.ts',
  'deliver undo': 'test/cli/deliver.test.ts',
  'erp check': 'test/erp/check.test.ts',
  'erp probe': 'test/cli/erp-probe.test.ts',
  'erp login': 'test/cli/erp-login.test.ts',
  'erp logout': 'test/cli/erp-login.test.ts',
  migrate: 'test/hostile/database-roles.test.ts',
  run: 'test/cli/copies.test.ts',
  console: 'test/console/console-command.test.ts',
  dev: 'it ends with the answers of sync and reconcile',
  sandbox: 'test/cli/cli.test.ts',
  'remove-data': 'test/cli/remove-data.test.ts',
};

function runnable(parent: Command, path: string[] = []): string[] {
  return parent.commands.flatMap((command) => {
    const own = [...path, command.name()];
    return [...(definitionOf(command) ? [own.join(' ')] : []), ...runnable(command, own)];
  });
}

test('no command is left out', async () => {
  const none = new PassThrough();
  const io = { env: {}, stdout: none, stderr: none, signal: new AbortController().signal };
  const tried = (name: string) => lines.some((line) => `${line} `.startsWith(`${name} `));
  const missing = runnable(await createProgram(io, '', () => {})).filter(
    (name) => !tried(name) && !(name in elsewhere),
  );
  expect(missing).toEqual([]);
});

test.each(lines)('%s', async (line) => {
  const words = line.split(' ').map((word) => word.replace('INVOICE', String(invoice)).replace('FOLDER', folder));
  const ran = await vetledger([...words, '--config', clinic.config, '--json'], clinic.env);
  expect(ran.json()).not.toHaveProperty('error');
});

test('an answer that is not as declared is noticed', async () => {
  const problem = {
    id: '4711/invoice/1',
    installation: 4711,
    document: 'invoice 1',
    code: 'x',
    message: 'm',
    todo: 't',
  };
  const answer = (one: object) => JSON.stringify({ problems: [one], remarks: [], vat_returns: [], not_judged: 0 });
  await checkAnswer(['problems', '--json'], answer({ ...problem, since: null }));
  await expect(checkAnswer(['problems', '--json'], answer(problem))).rejects.toThrow('since');
  await expect(checkAnswer(['problems', '--json'], answer({ ...problem, since: 'yesterday' }))).rejects.toThrow(
    'since',
  );
  await expect(checkAnswer(['problems', '--json'], answer({ ...problem, since: null, more: 1 }))).rejects.toThrow(
    'more',
  );
});
