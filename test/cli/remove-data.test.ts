// `vetledger remove-data` with a real embedded PostgreSQL. It needs no Temporal server, because that part is the same.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acquirePostgres } from '../../src/embedded/index.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { canListen, startHolder, temporaryFolder } from '../embedded/support.ts';
import { runAlone } from '../support/server.ts';
import { vetledger } from './support.ts';

const env = { PATH: process.env.PATH, HOME: process.env.HOME };
const remove = (folder: string, ...more: string[]) => vetledger(['remove-data', folder, '--json', ...more], env);

/** Creates a data folder whose database has the books of this practice API. */
async function withBooks(dataDir: string, source: string): Promise<void> {
  const postgres = await acquirePostgres({ dataDir, progress: () => {}, env });
  await migrateAsOwner(postgres);
  await runAlone(postgres.ownerUrl, `insert into vetledger.book_identity values (4711, 'EUR', 'UTC', '${source}')`);
  await postgres.release();
}

test('books of a real practice need --with-books; those of a sandbox go with --yes; without it nothing goes', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  await withBooks(dataDir, 'https://clinic.example');
  const refused = await remove(dataDir, '--yes');
  expect(refused.code).toBe(2);
  expect(refused.json().error).toMatchObject({
    code: 'data_folder_has_books',
    message: expect.stringContaining('installation 4711 of https://clinic.example, 0 entries'),
    todo: expect.stringContaining('--with-books'),
  });
  const postgres = await acquirePostgres({ dataDir, progress: () => {}, env });
  await runAlone(postgres.ownerUrl, `update vetledger.book_identity set source = 'http://127.0.0.1:8090'`);
  await postgres.release();
  const unasked = await remove(dataDir);
  expect(unasked.code).toBe(2);
  expect(unasked.json().error.message).toContain('--yes');
  const books = [{ installation: 4711, source: 'http://127.0.0.1:8090', entries: 0 }];
  expect(existsSync(join(dataDir, 'services'))).toBe(true);
  const removed = await remove(dataDir, '--yes');
  expect([removed.code, removed.json()]).toEqual([0, { folder: dataDir, removed: true, books }]);
  expect(existsSync(dataDir)).toBe(false);
}, 60_000);

test('a folder in use is left alone; a server that was left running is stopped, and a cluster elsewhere goes, too', async () => {
  const above = temporaryFolder();
  const dataDir = join(above, 'data');
  const elsewhere = join(above, 'elsewhere');
  mkdirSync(dataDir, { mode: 0o711 });
  mkdirSync(elsewhere, { mode: 0o700 });
  writeFileSync(join(dataDir, 'postgres.location'), `${elsewhere}\n`);
  const { child, line } = await startHolder('postgres', dataDir);
  const used = await remove(dataDir, '--yes', '--with-books');
  expect(used.code).toBe(3);
  expect(used.json().error).toMatchObject({
    code: 'data_folder_in_use',
    message: expect.stringContaining(`Process ${child.pid} of vetledger uses `),
  });
  expect(existsSync(join(elsewhere, 'PG_VERSION'))).toBe(true);
  // The process is killed, so its server keeps running.
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  const port = Number(new URL(line).port);
  expect(await canListen(port)).toBe(false);
  expect(await remove(dataDir, '--yes')).toMatchObject({ code: 0 });
  expect([existsSync(dataDir), existsSync(elsewhere), await canListen(port)]).toEqual([false, false, true]);
}, 60_000);

test('a folder that is not vetledger’s, or holds other files, is refused, and nothing in it is touched', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'thesis.txt'), 'years of work');
  const code = async (...more: string[]) => (await remove(folder, '--yes', ...more)).json().error.code;
  expect(await code('--with-books')).toBe('data_folder_unknown');
  mkdirSync(join(folder, 'services'));
  expect(await code('--with-books')).toBe('data_folder_shared');
  expect(readFileSync(join(folder, 'thesis.txt'), 'utf8')).toBe('years of work');
  const unknown = await remove(join(folder, 'none'), '--yes');
  expect([unknown.code, unknown.json().error.code]).toEqual([2, 'data_folder_unknown']);
});

test('files that were made for an ERP count as books; the data of a demo in the folder goes with it', async () => {
  const folder = temporaryFolder();
  for (const each of ['services', 'erp/4711', 'dev-tryton/services'])
    mkdirSync(join(folder, each), { recursive: true });
  const refused = await remove(folder, '--yes');
  expect([refused.code, refused.json().error.code]).toEqual([2, 'data_folder_has_books']);
  expect(await remove(folder, '--yes', '--with-books')).toMatchObject({ code: 0 });
  expect(existsSync(folder)).toBe(false);
});

test('a cluster that cannot be looked into needs --with-books', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'postgres'), { recursive: true, mode: 0o700 });
  mkdirSync(join(folder, 'services'));
  writeFileSync(join(folder, 'postgres', 'PG_VERSION'), '9');
  const refused = await remove(folder, '--yes');
  expect([refused.code, refused.json().error.code]).toEqual([2, 'data_folder_unreadable']);
  expect(await remove(folder, '--yes', '--with-books')).toMatchObject({ code: 0 });
});
