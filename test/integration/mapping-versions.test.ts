// Tests which mapping is in force when processes have different files.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  applyMapping,
  fileRemark,
  followMappingFiles,
  holdMapping,
  withMappingInForce,
} from '../../src/bookkeeping/mapping-versions.ts';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { loadMapping, mappingOf } from '../../src/config/mapping-files.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

const { db, owner, url, truncate } = useDatabase();
const id = 61;
let clinic: MirroredClinic;
beforeEach(async () => {
  await truncate();
  clinic = new MirroredClinic(db, url, { id, seed: 3, invoices: 1 });
});
afterEach(() => clinic.remove());

/** The installation of a process whose file has this mapping. */
async function fileOf(version: string): Promise<InstallationConfig> {
  const mappingPath = clinic.file(`${version}.yaml`, `version: ${version}\nroles: {receivable: "1700"}\n`);
  return { id, mappingPath, ...(await loadMapping(mappingPath)) } as InstallationConfig;
}

const start = async (version: string, followFile = true) => {
  const [started] = await followMappingFiles(db, [await fileOf(version)], { followFile });
  return started!;
};
const versions = async () =>
  (
    await query<{ version: string; applied_by: string | null }>(
      db,
      `select v.version, a.subject as applied_by from mapping_version v left join action a on a.id = v.action_id
       where v.installation = ? order by v.number`,
      [id],
    )
  ).map(({ version, applied_by }) => (applied_by === null ? version : `${version} by ${applied_by}`));
const because = { actedBy: 'A. Laine', reason: 'agreed' };

test('the first file is version 1, a later one the next, and the same again nothing', async () => {
  for (const file of ['a', 'a', 'b', 'b']) {
    const { installation, file: state } = await start(file);
    expect([installation.mapping.version, state]).toEqual([file, 'in force']);
  }
  expect(await versions()).toEqual(['a', 'b']);
});

test('of two processes with different files both post by the newer one, and the older one does not take it back', async () => {
  const first = await start('a');
  await start('b');
  expect((await withMappingInForce(db, first.installation)).mapping.version).toBe('b');
  const again = await start('a');
  expect(again).toMatchObject({ file: 'earlier', number: 2, installation: { mapping: { version: 'b' } } });
  expect(fileRemark(again)).toMatch(
    /a\.yaml is not the mapping in force of installation 61, which is version 2 \(b \(\w{12}\) in the database\): .*`vetledger mapping apply \S+a\.yaml --reason TEXT`/,
  );
  expect(await versions()).toEqual(['a', 'b']);
  // The accountant applies it again, and the start of the other process does not undo that.
  expect(await applyMapping(db, await fileOf('a'), because)).toBe(true);
  expect(await applyMapping(db, await fileOf('a'), because)).toBe(false);
  expect((await start('b')).installation.mapping.version).toBe('a');
  expect(await versions()).toEqual(['a', 'b', 'a by A. Laine']);
});

test('without mapping.follow_file a changed file is a proposal; the first one is in force all the same', async () => {
  expect(await start('a', false)).toMatchObject({ file: 'in force', number: 1 });
  const changed = await start('b', false);
  expect(changed).toMatchObject({ file: 'proposal', number: 1, installation: { mapping: { version: 'a' } } });
  expect(fileRemark(changed)).toContain('mapping.follow_file is off');
  await applyMapping(db, await fileOf('b'), because);
  expect(await start('b', false)).toMatchObject({ file: 'in force', number: 2 });
});

test('processes that start at the same time begin each mapping once', async () => {
  const files = ['a', 'b', 'a', 'b', 'c', 'c', 'a', 'b'];
  const started = await Promise.all(files.map((file) => start(file)));
  expect(started.every(({ number }) => number !== null)).toBe(true);
  expect((await versions()).toSorted()).toEqual(['a', 'b', 'c']);
});

test('a poster that waits for a change of the mapping posts nothing by the old one', async () => {
  const { installation } = await start('a');
  const change = await db.transaction();
  await query(change, `select pg_advisory_xact_lock(hashtextextended('vetledger mapping ${id}', 0))`);
  const posting = db.transaction((trx) => holdMapping(trx, installation));
  posting.catch(() => undefined);
  const changed = await fileOf('b');
  await query(
    change,
    `insert into mapping_version (installation, number, mapping_hash, content, version) values (?, 2, ?, ?, 'b')`,
    [id, changed.mappingFile.hash, changed.mappingFile.content],
  );
  await sleep(300);
  await change.commit();
  await expect(posting).rejects.toMatchObject({ code: 'mapping_superseded' });
});

test('a change of the mapping waits for postings under way', async () => {
  const { installation } = await start('a');
  const posting = await db.transaction();
  await holdMapping(posting, installation);
  const applying = applyMapping(db, await fileOf('b'), because);
  await sleep(300);
  expect(await versions()).toEqual(['a']);
  await posting.commit();
  await applying;
  expect(await versions()).toEqual(['a', 'b by A. Laine']);
});

test('a version is kept as it was, under the hash of its content', async () => {
  const { mappingFile } = (await start('a')).installation;
  await expect(db.raw(`update mapping_version set content = '{}'`)).rejects.toThrow(/permission denied/);
  await expect(owner.raw(`delete from mapping_version`)).rejects.toThrow();
  await expect(
    db.raw('insert into mapping_version (installation, number, mapping_hash, content) values (?, 2, ?, ?)', [
      id,
      mappingFile.hash,
      mappingFile.content.replace('1700', '1701'),
    ]),
  ).rejects.toThrow(/mapping_version_check/);
});

const folder = fileURLToPath(new URL('../../mappings/', import.meta.url));
const ready = readdirSync(folder).filter((name) => /(?<!specs|practice-api)\.yaml$/.test(name));

test.each(ready)('%s comes back from the database as it was read from the file', async (name) => {
  const { mapping, mappingHash, mappingFile } = await loadMapping(folder + name);
  expect(mappingOf(mappingFile.content)).toEqual({ mapping, mappingHash });
});

test('mapping apply puts a file in force for the installations that name it, or for a named one', async () => {
  await clinic.configure(`version: 2026-1\n`);
  const run = (line: string[]) => vetledger([...line, '--config', clinic.config, '--json'], clinic.env);
  const changed = clinic.file('mapping.yaml', 'version: 2026-2\n');
  const applied = await run(['mapping', 'apply', changed, '--reason', 'agreed', '--by', 'A. Laine']);
  expect(applied).toMatchObject({ code: 0 });
  expect(applied.json()).toMatchObject({ version: '2026-2', installations: [{ installation: id, applied: true }] });
  expect((await run(['mapping', 'history'])).json().installations[0].versions).toMatchObject([
    { number: 1, version: '2026-1' },
    { number: 2, version: '2026-2', applied_by: 'A. Laine', reason: 'agreed' },
  ]);
  const again = await run(['mapping', 'apply', changed, '--reason', 'agreed']);
  expect(again.json().installations).toEqual([{ installation: id, applied: false }]);
  const unnamed = ['mapping', 'apply', demoMapping, '--reason', 'another'];
  expect(await run(unnamed)).toMatchObject({ code: 2, stdout: expect.stringContaining('--installation ID') });
  expect((await run([...unnamed, '--installation', String(id)])).json().installations).toEqual([
    { installation: id, applied: true },
  ]);
  expect(await run(['mapping', 'apply', clinic.file('no.yaml', 'roles: 1\n'), '--reason', 'x'])).toMatchObject({
    code: 2,
  });
});
