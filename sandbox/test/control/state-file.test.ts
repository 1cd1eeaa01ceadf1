// The state file: the changes that a killed process loses, and the lock that excludes a second process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { start } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
let files = 0;
let file = '';
const processes: ChildProcess[] = [];
beforeEach(() => {
  files += 1;
  file = join(folder, String(files), 'clinic.ndjson');
  mkdirSync(join(folder, String(files)));
});
afterEach(async () => {
  for (const child of processes.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Starts a sandbox in a process. Resolves to its address, or to its output on stderr if it ended. */
const run = async (...options: string[]): Promise<{ child: ChildProcess; url: string; error: string }> => {
  const child = spawn(process.execPath, [
    main,
    '--port',
    '0',
    '--invoices',
    '20',
    '--state',
    file,
    '--json',
    ...options,
  ]);
  processes.push(child);
  let error = '';
  child.stderr.on('data', (chunk) => {
    error += chunk;
  });
  const [chunk] = await Promise.race([once(child.stdout, 'data'), once(child, 'close').then(() => [''])]);
  return { child, url: chunk === '' ? '' : JSON.parse(String(chunk)).url, error };
};

const authorization = 'Bearer sandbox-token';
const newest = async (url: string, path: string) => {
  const answer = await fetch(`${url}/4711/api/0.1/${path}?page_size=1000`, { headers: { authorization } });
  return ((await answer.json()) as { results: { id: number; modified: string }[] }).results.at(-1);
};
const prepay = async (url: string): Promise<number> => {
  const answer = await fetch(`${url}/4711/api/0.1/unallocatedpayment/`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ client: `${url}/4711/api/0.1/client/2001/`, department: `${url}/4711/api/0.1/department/11/` },
      ...{ payment_type: 0, paid: '10.00' },
    }),
  });
  return ((await answer.json()) as { id: number }).id;
};

test('--durable: what was answered is there after kill -9', async () => {
  const { child, url } = await run('--durable');
  let last = 0;
  for (let n = 0; n < 5; n++) last = await prepay(url);
  child.kill('SIGKILL');
  await once(child, 'close');
  const again = await run('--durable');
  expect((await newest(again.url, 'unallocatedpayment/'))?.id).toBe(last);
});

test('without it, what is older than 100 ms is there after kill -9', async () => {
  const { child, url } = await run();
  const last = await prepay(url);
  await new Promise((resolve) => setTimeout(resolve, 100));
  child.kill('SIGKILL');
  await once(child, 'close');
  const again = await run();
  expect((await newest(again.url, 'unallocatedpayment/'))?.id).toBe(last);
});

test('a second process is refused by the name of the first, and the file stays whole', async () => {
  const { child, url } = await run();
  const second = await run();
  expect(second.url).toBe('');
  expect(second.error).toMatch(
    new RegExp(`process ${child.pid} has .*clinic\\.ndjson open[\\s\\S]*what to do: .*lock`),
  );
  const last = await prepay(url);
  expect((await newest(url, 'unallocatedpayment/'))?.id).toBe(last);
  child.kill('SIGTERM');
  await once(child, 'close');
  expect((await run()).url).not.toBe('');
});

test('a batch that was cut off in the middle does not count, and the next one does not run into it', async () => {
  const first = await start({ stateFile: file });
  first.sandbox.live(3);
  await first.sandbox.stop();
  const whole = readFileSync(file, 'utf8');
  appendFileSync(file, `${JSON.stringify(['client', { id: 9999, firstname: 'Half' }, 9999])}\n["client",{"id":99`);
  const second = await start({ stateFile: file });
  expect(second.sandbox.clinic.clients.get(9999)).toBeUndefined();
  expect(readFileSync(file, 'utf8')).toBe(whole);
  second.sandbox.live(3);
  const invoices = second.sandbox.clinic.invoices.all();
  await second.sandbox.stop();
  const third = await start({ stateFile: file });
  expect(third.sandbox.clinic.invoices.all()).toEqual(invoices);
});

test('each kind of change is kept: quiet ones, deletions, settings of departments, snapshots that are restored', async () => {
  const { sandbox, control, send, ref } = await start({ stateFile: file, durable: true });
  const { clinic } = sandbox;
  const invoice = clinic.createInvoice({ client: 2001, rows: [{ sum: '10.00' }, { sum: '5.00' }] });
  const [row] = clinic.invoiceRows.of(invoice.id);
  clinic.deleteRecord('invoicerow', row?.id ?? 0);
  await control('POST', 'snapshots', { name: 'kept' });
  clinic.deleteRecord('invoice', invoice.id);
  await control('POST', 'snapshots/kept/restore');
  await control('PATCH', 'departments/11', { allow_nhp_processing: false });
  const { json } = await send('POST', 'alternative_payer/', { name: 'X', country: 'FI' });
  if (json?.id) await send('DELETE', `alternative_payer/${json.id}/`);
  expect(ref('client', 1)).toContain('/client/1/');
  const tables = [...clinic.tables].map(([name, table]) => [name, table.all(), table.nextId]);
  const departments = [...clinic.departments];
  await sandbox.stop();
  const { clinic: loaded } = (await start({ stateFile: file })).sandbox;
  expect([...loaded.tables].map(([name, table]) => [name, table.all(), table.nextId])).toEqual(tables);
  expect([...loaded.departments]).toEqual(departments);
});

test('the file is written anew before it grows without end', async () => {
  const { sandbox } = await start({ stateFile: file, durable: true, invoices: 5 });
  const text = 'x'.repeat(100_000);
  const client = sandbox.clinic.clients.get(2001)!;
  for (let n = 0; n < 120; n++)
    sandbox.clinic.commit(() => sandbox.clinic.update(sandbox.clinic.clients, client, { email: `${n}${text}` }));
  expect(statSync(file).size).toBeLessThan(9_000_000);
});

test('a file that is none is named, and not overwritten', async () => {
  writeFileSync(file, 'something else\n');
  await expect(start({ stateFile: file })).rejects.toThrow(/clinic\.ndjson is not a sandbox state file/);
  expect(readFileSync(file, 'utf8')).toBe('something else\n');
});

test('a clock that was put forward goes on from there after a restart', async () => {
  const now = () => new Date('2026-05-20T12:00:00Z');
  const first = await start({ stateFile: file, now });
  await first.control('POST', 'clock', { advance: 'P10D' });
  await first.sandbox.stop();
  const later = () => new Date('2026-05-20T13:00:00Z');
  const second = await start({ stateFile: file, now: later });
  expect((await second.control('GET', 'clock')).json).toMatchObject({ now: '2026-05-30T13:00:00.000Z', runs: true });
});
