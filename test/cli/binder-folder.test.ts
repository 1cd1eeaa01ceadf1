import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { writeFolder } from '../../src/binder/folder.ts';
import { folderOf } from './support.ts';

let folder = '';
beforeEach(() => {
  folder = folderOf({ 'binder/a.csv': 'old' });
});
const never = new AbortController().signal;

test('a folder is written whole, for the owner only, and replaces the one before', async () => {
  const files = await writeFolder(join(folder, 'binder'), never, async (add) => [await add('b.csv', ['x', 'y'])]);
  // `printf xy | sha256sum`
  const sha256 = '769a4e6d0003189c7e96c5d9b7e810a0d11c3a12832527ec94b0f86d277f51ca';
  expect(files).toEqual([{ name: 'b.csv', bytes: 2, sha256 }]);
  expect(readdirSync(join(folder, 'binder'))).toEqual(['b.csv']);
  expect(statSync(join(folder, 'binder')).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'binder/b.csv')).mode & 0o777).toBe(0o600);
});

test.each(['Ctrl-C', 'an error'])('after %s, the folder is as it was and nothing is left behind', async (cause) => {
  const aborted = new AbortController();
  const pieces = async function* () {
    yield 'first';
    if (cause === 'an error') throw new Error('the database is away');
    aborted.abort(new Error('interrupted'));
    yield 'second';
  };
  const writing = writeFolder(join(folder, 'binder'), aborted.signal, (add) => add('a.csv', pieces()));
  await expect(writing).rejects.toThrow(cause === 'an error' ? 'the database is away' : 'interrupted');
  expect(readdirSync(folder)).toEqual(['binder']);
  expect(readFileSync(join(folder, 'binder/a.csv'), 'utf8')).toBe('old');
});

test('a folder that cannot be written is an error with a next step', async () => {
  await expect(writeFolder(join(folder, 'absent/binder'), never, async () => null)).rejects.toMatchObject({
    code: 'out_not_writable',
    message: expect.stringContaining('ENOENT'),
  });
});
