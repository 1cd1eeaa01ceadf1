import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Decimal } from 'decimal.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unusedPort } from '../embedded/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { vetledger } from './support.ts';

const demo = readFileSync(new URL('../../mappings/demo.yaml', import.meta.url), 'utf8');
const demoFile = fileURLToPath(new URL('../../mappings/demo.yaml', import.meta.url));
const bin = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));
/** A mapping that holds payments by gift card (type 9). */
// The rule is removed too, so that only payments by gift card are held, and not the sale of gift cards.
const withoutGiftCards = demo
  .replace(/^ *gift_card_liability:.*\n/m, '')
  .replace(/^ *- when: .*\n *role: gift_card_liability\n/m, '');

let clinic: TestClinic;
let folder: string;
let mappingFile: string;
let config: string;
let invoiceId: number;
let giftCardPayment: number;
let heldBySync: number;

function command(line: string, env: NodeJS.ProcessEnv = clinic.env) {
  return vetledger([...line.split(' '), '--config', config], env);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vetledger-commands-'));
  mappingFile = join(folder, 'mapping.yaml');
  writeFileSync(mappingFile, withoutGiftCards);
  clinic = await startTestClinic({ invoices: 60, mapping: mappingFile });
  const row = { sum: '100.00', vat_percentage: '14', account_number: '3000' };
  const invoice = clinic.sandbox.clinic.createInvoice({ rows: [row] });
  invoiceId = invoice.id;
  giftCardPayment = clinic.sandbox.clinic.pay(invoiceId, { payment_type: 9, paid: '14.00' }).id;
  const first = await clinic.sync();
  expect(first).toMatchObject({ outcome: 'closed' });
  heldBySync = first.held;
  // Separate task queues, because the test clinic's worker keeps its initial mapping and token.
  config = join(folder, 'vetledger.yaml');
  const written = readFileSync(clinic.config, 'utf8');
  writeFileSync(config, written.replace(/^(temporal: .*)\}$/m, '$1, task_queue: commands}'));
});

afterAll(async () => {
  await clinic?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('after a first sync with a mapping that lacks an account', () => {
  test('status: lag, budgets, states, problems and the next step', async () => {
    const { code, json } = await command('status --json');
    expect(code).toBe(0);
    const [status] = json().installations;
    expect(status).toMatchObject({
      installation: clinic.sandbox.installation,
      lag_seconds: expect.any(Number),
      last_window: { outcome: 'closed', error: null, remarks: [] },
      states: { invoices: { posted: expect.any(Number) }, payments: { held: expect.any(Number) } },
      next_step: expect.stringContaining('vetledger problems'),
    });
    expect(status.budgets.map(({ action }: { action: string }) => action)).toContain('invoice.list');
    expect((await command('status')).stdout).toMatch(
      /synced to .* ago[\s\S]*invoice\.list +\[[#.]{20}\][\s\S]*next step/,
    );
    // Books that were never reconciled do not pass the check, although nothing is late.
    const unchecked = await command('status --check --json');
    expect(unchecked.code).toBe(1);
    expect(unchecked.json()).toMatchObject({
      summary: { late: 0, reconcile_old: 1 },
      installations: [{ reconcile: { age_seconds: null, old: true, put_off: null, next_at: expect.any(String) } }],
    });
    expect((await command('status')).stdout).toMatch(
      /reconciled +not checked yet; run `vetledger reconcile`\n[\s\S]* {2}reconcile +never; (?:next|due since) 20/,
    );
    expect((await command('reconcile')).code).toBe(0);
    expect((await command('status')).stdout).toMatch(
      / {2}reconciled +yes, as of [\s\S]* {2}reconcile +\d+ s ago; (?:next|due since) 20/,
    );
    // Held documents alone do not fail the check.
    expect((await command('status --check')).code).toBe(0);
    // The trigger that protects ended windows is disabled for this change.
    const shifted = (sign: '-' | '+') =>
      clinic.asOwner(`begin; alter table sync_window disable trigger user;
        update sync_window set to_time = to_time ${sign} interval '1 hour';
        alter table sync_window enable trigger user; commit`);
    await shifted('-');
    const checked = await command('status --check --json');
    await shifted('+');
    expect(checked.code).toBe(1);
    expect(checked.json()).toMatchObject({ summary: { late: 1 }, installations: [{ late: true, health: 'late' }] });
  });

  test('status with a Temporal that cannot be reached: says so first, exit code 1 with --check, and starts no server', async () => {
    const address = `127.0.0.1:${await unusedPort()}`;
    const gone = join(folder, 'gone.yaml');
    writeFileSync(gone, readFileSync(config, 'utf8').replace(/^temporal: .*$/m, `temporal: {address: "${address}"}`));
    const run = (line: string) => vetledger([...line.split(' '), '--config', gone], clinic.env);
    // Each waits some seconds for the server.
    const [{ code, json }, checked] = await Promise.all([run('status --json'), run('status --check')]);
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      temporal: { ok: false, address, error: { code: 'temporal_unreachable', todo: expect.stringContaining(address) } },
      installations: [{ health: 'waiting', cause: { code: 'temporal_unreachable' } }],
    });
    expect(checked.code).toBe(1);
    expect(checked.stdout.split('\n')[0]).toBe(`Temporal at ${address} does not answer, so no window opens.`);
    expect((await command('status --json')).json().temporal).toMatchObject({ ok: true, error: null });
  });

  test('problems: the held payment with what to do', async () => {
    const id = `${clinic.sandbox.installation}/payment/${giftCardPayment}`;
    const { problems } = (await command('problems --json')).json();
    expect(problems).toContainEqual({
      id,
      installation: clinic.sandbox.installation,
      document: `payment ${giftCardPayment}`,
      code: 'role_unmapped',
      message: expect.stringContaining('gift_card_liability'),
      todo: expect.stringMatching(/\w/),
      since: expect.stringMatching(/^\d{4}-/),
      outside: {
        ...{ date: expect.stringMatching(/^\d{4}-/), customer: expect.any(String), department: expect.any(Number) },
        ...{
          number: expect.stringMatching(/-\d+$/),
          amount: '14.00',
          vat: null,
          posted: false,
          changes: [],
          effect: [],
        },
        causes: ['the mapping has no account for roles.gift_card_liability'],
      },
    });
    // `sync`, `status` and `problems` report the same number.
    expect(problems).toHaveLength(heldBySync);
    const { stdout } = await command('problems');
    expect(stdout).toContain(id);
    const head = `${heldBySync} ${heldBySync === 1 ? 'document' : 'documents'} with a problem:\n  ${heldBySync}  role_unmapped`;
    expect(stdout).toContain(head);
    const cents = problems.reduce(
      (sum: number, { outside }: { outside: { amount: string } }) => sum + Math.round(Number(outside.amount) * 100),
      0,
    );
    expect(stdout.slice(stdout.indexOf(head) + head.length)).toMatch(
      new RegExp(`^ {2}${(cents / 100).toFixed(2)} {2}the mapping has no account for roles.gift_card_liability\n`),
    );
  });

  test('the verdict says both: reconciled, and what is not in the books', async () => {
    interface Held {
      document: string;
      outside: { amount: string; vat: string | null; date: string };
    }
    const held: Held[] = (await command('problems --json')).json().problems;
    const kinds = Map.groupBy(held, ({ document }) => `${document.split(' ')[0]}s`);
    const figures = [...kinds].map(([kind, of]) => {
      const total = (texts: string[]) => texts.reduce((sum, text) => sum.plus(text), new Decimal(0)).toFixed(2);
      const amount = total(of.map(({ outside }) => outside.amount));
      const vat = kind === 'invoices' ? total(of.map((each) => each.outside.vat ?? '0')) : null;
      const oldest = of.map(({ outside }) => outside.date).sort()[0];
      const figure = { documents: of.length, amount, vat, oldest, unknown: 0 };
      return [kind, { ...figure, reasons: { held: figure } }];
    });
    const outside = Object.fromEntries(figures);

    const reconciled = await command('reconcile --json');
    expect(reconciled.code).toBe(0);
    expect(reconciled.json()).toMatchObject({
      ...{ ok: true, complete: false },
      installations: [{ ok: true, complete: false, empty: false, outside }],
    });
    expect((await command('reconcile --complete')).code).toBe(1);
    const { stdout } = await command('reconcile');
    expect(stdout).toContain(`Installation ${clinic.sandbox.installation}: reconciled, NOT complete\n`);
    expect(stdout).toContain('Not in the books');

    const status = (await command('status --json')).json();
    expect(status.summary).toMatchObject({ incomplete: 1, not_reconciled: 0 });
    expect(status.installations[0].verdict).toEqual({
      reconciled: { ok: true, failing: [], checked_at: expect.any(String) },
      ...{ complete: false, outside, left_as_posted: {}, empty: false },
    });
    expect((await command('status')).stdout).toMatch(
      /\n {2}reconciled {4}yes, as of .*\n {2}complete {6}NO: \d+ \w+ \(\d+\.\d\d.* not in the books\n/,
    );
  });

  test('explain: a posted invoice from its rows to its lines', async () => {
    const { code, json } = await command(`explain invoice ${invoiceId} --json`);
    expect(code).toBe(0);
    const explained = json();
    expect(explained).toMatchObject({ state: 'posted', problem: null, judgement: { state: 'posted' } });
    // The proofs P1 to P6.
    expect(explained.judgement.proofs.map(({ holds }: { holds: boolean }) => holds)).toEqual(Array(6).fill(true));
    expect(explained.source[0].record.id).toBe(invoiceId);
    expect(explained.entries).toHaveLength(1);
    expect(explained.entries[0]).toMatchObject({
      id: `${clinic.sandbox.installation}/invoice/${invoiceId}/1`,
      in_force: true,
      reason: 'posted',
    });
    expect(explained.entries[0].lines[0]).toMatchObject({
      account: '1700',
      role: 'receivable',
      amount: '114.00',
      rule: 'R1',
      mapped_by: 'roles.receivable',
    });
    const { stdout } = await command(`explain invoice ${invoiceId}`);
    expect(stdout).toMatch(
      /^Invoice \d+ of installation \d+: posted\n[\s\S]*holds +P1[\s\S]*Dr +1700 +receivables +receivable +114\.00/,
    );
    expect(stdout).toMatch(/P1 rows add up to the totals \(rows 100\.00 net, total 100\.00; rows 14\.00 VAT/);
    expect(stdout).toMatch(/Cr +\S+ +VAT +vat +14\.00 +R1 .* at 14 %, base 100\.00/);
  });

  test('explain: a held payment says which proof fails and what to do', async () => {
    const { stdout } = await command(`explain payment ${giftCardPayment}`);
    expect(stdout).toMatch(
      /: held\n[\s\S]*problem +role_unmapped[\s\S]*what to do[\s\S]*FAILS +P4[\s\S]*Entries\n {2}none/,
    );
  });

  test('explain: a prepayment with its write-back', async () => {
    const [prepayment] = await clinic.rows<{ id: number }>(
      `select document_id as id from write_back where state = 'done' limit 1`,
    );
    const explained = (await command(`explain prepayment ${prepayment!.id} --json`)).json();
    expect(explained.write_back).toMatchObject({ state: 'done', entry_id: explained.entries.at(-1).id });
    expect((await command(`explain prepayment ${prepayment!.id}`)).stdout).toMatch(
      /Write-back\n {2}external_id .*: done/,
    );
  });

  test('explain: an unknown document ends with exit code 1 and a plain sentence', async () => {
    const { code, json } = await command('explain invoice 999999999 --json');
    expect(code).toBe(1);
    expect(json().error).toMatchObject({ code: 'document_unknown', message: expect.stringContaining('999999999') });
  });

  test('mapping check: exit code 1 with what the source uses and the file lacks', async () => {
    const { code, json } = await command(`mapping check ${mappingFile} --json`);
    expect(code).toBe(1);
    expect(json().lacks).toEqual([
      expect.objectContaining({
        installation: clinic.sandbox.installation,
        code: 'role_unmapped',
        message: expect.stringContaining('gift_card_liability'),
        count: expect.any(Number),
        gross: expect.stringMatching(/^\d+(\.\d+)?$/),
      }),
    ]);
    expect(await command(`mapping check ${demoFile} --json`)).toMatchObject({ code: 0 });
  });

  test('reconcile: holds with documents held, and with records that are newer than the mirror', async () => {
    const before = await command('reconcile --json');
    expect(before.json()).toMatchObject({ ok: true, installations: [{ ok: true, equations: { E6: { ok: true } } }] });
    expect(before.code).toBe(0);
    clinic.sandbox.clinic.createInvoice({ rows: [{ sum: '10.00', vat_percentage: '14', account_number: '3000' }] });
    expect(await command('reconcile --json')).toMatchObject({ code: 0, stderr: '' });
    expect((await command('reconcile')).stdout).toContain('E6');
  });

  test('reconcile: a record that the mirror missed is a difference, exit code 1', async () => {
    const change = (gone: string) =>
      `update mirror_record set gone_at = ${gone} where kind = 'invoice' and id = ${invoiceId}`;
    await clinic.rows(change('now()'));
    try {
      const { code, json } = await command('reconcile --json');
      expect(code).toBe(1);
      expect(json().installations[0].equations.E6).toMatchObject({ ok: false, difference: 1 });
    } finally {
      await clinic.rows(change('null'));
    }
  });

  test('reconcile: goes on without the source, and says so', async () => {
    const { code, stderr } = await command('reconcile', { ...clinic.env, PRACTICE_TOKEN: 'wrong' });
    expect(stderr).toMatch(/the source cannot be reached/);
    expect(code).toBe(0);
  });

  test('problems retry: posts what the mapping holds no more', async () => {
    writeFileSync(mappingFile, demo);
    const id = `${clinic.sandbox.installation}/payment/${giftCardPayment}`;
    const { code, json } = await command(`problems retry ${id} --json`);
    expect(code).toBe(0);
    expect(json()).toMatchObject({ windows: [{ outcome: 'closed' }], problems: [] });
    expect((await command(`explain payment ${giftCardPayment} --json`)).json().state).toBe('posted');
    expect(await command(`problems retry ${clinic.sandbox.installation}/payment/999999999`)).toMatchObject({ code: 1 });
  });

  test('sync: the JSON of one more window, in which nothing is new', async () => {
    const { code, json } = await command('sync --json');
    expect(code).toBe(0);
    expect(json().windows).toHaveLength(1);
    expect(json().windows[0]).toMatchObject({
      installation: clinic.sandbox.installation,
      from: expect.any(String),
      to: expect.any(String),
      outcome: 'closed',
      seen: { invoices: expect.any(Number) },
      pulled: { invoices: 0, rows: 0, payments: 0, prepayments: 0 },
      posted: 0,
      held: 0,
      delivered: 0,
      written_back: 0,
      api: {
        requests: expect.any(Number),
        weight: expect.any(Number),
        throttled: 0,
        waited_seconds: expect.any(Number),
      },
      // The existing verdict is older than this window.
      verdict: { reconciled: { ok: null, failing: [] }, complete: true, outside: {}, empty: false },
    });
    expect(await command('reconcile --complete')).toMatchObject({ code: 0 });
    const { stdout } = await command('sync');
    expect(stdout).toMatch(/window closed\n {2}interval[\s\S]*pulled[\s\S]*requests, weight/);
    expect(stdout).toMatch(/ {2}reconciled +last checked 20.* \+0[23]:00, before this window; run/);
  });

  test('sync: a refused token ends with exit code 3, and the attempt is noted', async () => {
    const { code, json } = await command('sync --json', { ...clinic.env, PRACTICE_TOKEN: 'wrong' });
    expect(code).toBe(3);
    expect(json().error).toMatchObject({ code: 'unauthorized', todo: expect.stringMatching(/token/) });
    const { windows } = (await command('windows --failed --json')).json();
    expect(windows).toMatchObject([{ outcome: 'failed', error: { code: 'unauthorized' } }]);
    expect((await command('sync')).code).toBe(0);
  });

  test('windows: the newest first, and those that failed', async () => {
    const { windows } = (await command('windows --json')).json();
    expect(windows.at(-1)).toMatchObject({ outcome: 'closed', from: null });
    expect((await command('windows --limit 1 --json')).json().windows).toHaveLength(1);
    expect((await command('windows')).stdout).toMatch(/^window +installation/);
    expect((await command('windows --failed')).stdout).toMatch(/unauthorized/);
  });

  test('export: the same journal on stdout and in a file, which appears whole or not at all', async () => {
    const out = join(folder, 'books.journal');
    const written = await command(`export --format hledger --out ${out} --json`);
    expect(written.json()).toMatchObject({ out });
    const onStdout = await command('export --format hledger');
    expect(onStdout.stdout).toBe(readFileSync(out, 'utf8'));
    expect(onStdout.stdout).toContain(`(${clinic.sandbox.installation}/invoice/${invoiceId}/1)`);
    expect(await command(`export --format csv --out ${join(folder, 'none/x.csv')}`)).toMatchObject({ code: 2 });
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('export: a table of two installations only where it is asked for', async () => {
    const two = join(folder, 'two.yaml');
    const text = readFileSync(clinic.config, 'utf8');
    const [one = ''] = /(?<=^installations:\n)(?: {2}.*\n)+/m.exec(text) ?? [];
    writeFileSync(two, text.replace(one, `${one}${one.replace(/id: \d+/, 'id: 12')}`));
    const exported = (options: string) =>
      vetledger(['export', '--format', ...options.split(' '), '--config', two], clinic.env);
    expect(await exported('csv')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/--all/) });
    const { stdout } = await exported('csv --all');
    expect(stdout).toBe((await exported(`csv --installation ${clinic.sandbox.installation}`)).stdout);
    expect((await exported('hledger')).code).toBe(0);
  });

  test('export: a reader that goes away is no error', () => {
    const line = `"${process.execPath}" "${bin}" export --format csv --config "${config}" | head -n 1`;
    const output = execFileSync('bash', ['-c', `set -o pipefail; (${line}) 2>&1`], {
      env: clinic.env,
      encoding: 'utf8',
    });
    // If the pipe took the whole export before its reader ended, stderr has the heads of the books.
    const lines = output.trim().split('\n');
    expect(lines.filter((each) => !each.startsWith('vetledger export '))).toEqual([expect.stringMatching(/^\w+,/)]);
  });

  test('ledger: the chain is whole; periods close forwards and only when they are over', async () => {
    expect((await command('ledger verify --json')).json()).toMatchObject({
      ok: true,
      installations: [{ ok: true, broken: null }],
    });
    expect(await command('ledger close --through 2001-02-28 --yes --json')).toMatchObject({ code: 0 });
    expect((await command('ledger close --through 2001-01-31 --yes --json')).json().error.code).toBe('period_closed');
    expect(await command('ledger close --through 2999-12-31')).toMatchObject({ code: 2 });
    expect(await clinic.rows('select through from ledger_close')).toEqual([{ through: '2001-02-28' }]);
  });

  test('doctor: everything is tried and well; an ignored filter is a warning, a refused token exit code 3', async () => {
    const well = (await command('doctor --json')).json();
    expect(well.checks.filter(({ status }: { status: string }) => status !== 'ok')).toEqual([]);
    expect(well.ok).toBe(true);
    clinic.sandbox.setQuirks({ ignoredFilters: ['invoice__in'], departmentSettings: '403' });
    try {
      const { code, json } = await command('doctor --json');
      expect(code).toBe(0);
      const warned = json().checks.filter(({ status }: { status: string }) => status === 'warn');
      expect(warned.map(({ check }: { check: string }) => check)).toEqual(
        expect.arrayContaining([
          'filter invoice__in on invoice rows',
          expect.stringMatching(/^settings of department/),
        ]),
      );
    } finally {
      clinic.sandbox.setQuirks({ ignoredFilters: [], departmentSettings: 'ok' });
    }
    const token = join(folder, 'token');
    writeFileSync(token, clinic.sandbox.token);
    chmodSync(token, 0o644);
    const fromFile = join(folder, 'token-in-a-file.yaml');
    writeFileSync(fromFile, readFileSync(config, 'utf8').replace(/PRACTICE_TOKEN/, `file:${token}`));
    const open = await vetledger(['doctor', '--json', '--config', fromFile], clinic.env);
    expect(open.json().checks).toContainEqual(
      expect.objectContaining({ check: 'secrets', status: 'warn', message: expect.stringContaining(token) }),
    );
    const refused = await command('doctor', { ...clinic.env, PRACTICE_TOKEN: 'wrong' });
    expect(refused.code).toBe(3);
    expect(refused.stdout).toMatch(/^fail .*list of invoices.*\n +what to do: .*token/m);
  });
});
