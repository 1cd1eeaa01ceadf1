import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdBinding } from '../../src/runtime/binding/held.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { fromEnvironment } from '../support/demo-config.ts';
import { runAlone } from '../support/server.ts';
import { vetledger } from './support.ts';

const trytonMapping = fileURLToPath(new URL('../../mappings/tryton-demo.yaml', import.meta.url));
let clinic: TestClinic;
const command = (...args: string[]) => vetledger([...args, '--config', clinic.config], clinic.env);
const sync = () => command('sync', '--wait-delivery', '0', '--json');
const units = () =>
  clinic.rows<{ state: string; doubt: string | null }>(
    'select state, doubt from erp_unit group by state, doubt order by state, doubt',
  );
const noted = async () => {
  const [found] = await clinic.rows<{ value: string }>(`select value from meta where key = 'binding'`);
  return found === undefined ? null : (JSON.parse(found.value) as Record<string, string>);
};
const client = () => clinic.engine.client;
const here = { system: '1', database: '2' };

beforeAll(async () => {
  // An ERP that does not answer; the test checks only what would be sent.
  const erp = `{kind: tryton, url: "http://127.0.0.1:9", database: books, user: api, password: ${fromEnvironment('PRACTICE_TOKEN')}, auto: true}`;
  clinic = await startTestClinic({ seed: 47, invoices: 6, settings: { erp }, mapping: trytonMapping });
  expect((await clinic.sync()).outcome).toBe('closed');
});
afterAll(() => clinic?.stop());

test('a database that is behind what Temporal knows refuses to start, and the original’s work is left alone', async () => {
  const original = await noted();
  expect(original).toMatchObject({ next: null, system: expect.any(String), namespace: expect.any(String) });
  await holdBinding(client(), clinic.app.temporalName, randomUUID(), here);
  for (const refused of [
    await sync(),
    await command('run', '--json'),
    await command('deliver', '--json'),
    await command('cancel', '--yes', '--reason', 'x', '--json'),
  ]) {
    expect(refused.code).toBe(2);
    expect(refused.json().error.code).toBe('database_copied');
  }
  expect((await noted())?.incarnation).toBe(original?.incarnation);
  // After the incarnation is restored, the same database continues.
  await holdBinding(client(), clinic.app.temporalName, original?.incarnation ?? '', here);
  expect((await sync()).code).toBe(0);
});

test('a restored database takes the original’s place: the ERP is asked before anything is sent again, and the original stays out', async () => {
  // The state of a dump that was restored on another server.
  await runAlone(
    clinic.ownerUrl,
    `update vetledger.meta set value = jsonb_set(value::jsonb, '{system}', '"1"')::text where key = 'binding'`,
  );
  const { stderr: warned } = await command('status');
  expect(warned).toContain('looks like a copy: it is on another PostgreSQL server');
  expect(warned).toContain('vetledger adopt --restored');
  expect((await sync()).json().error.code).toBe('database_copied');
  expect((await command('adopt', '--restored', '--copy', '--reason', 'x')).code).toBe(2);
  const args = ['adopt', '--restored', '--reason', 'disk failure', '--by', 'Bo', '--json'];
  expect((await command(...args)).stderr + (await command(...args)).stdout).toContain('uses this database');
  // The test's workers must end first, as the message asks the operator to do.
  await clinic.engine.stop();
  clinic.engine.stop = async () => {};
  expect((await command(...args)).json().error.message).toContain('--yes');

  await runAlone(
    clinic.ownerUrl,
    `insert into vetledger_console.subject (name) values ('aino');
     insert into vetledger_console.session (token_hash, subject_id) select 'x', id from vetledger_console.subject;
     insert into vetledger_console.link (token_hash, subject_id, purpose, expires_at)
       select 'y', id, 'password', clock_timestamp() + interval '1 day' from vetledger_console.subject`,
  );
  const before = await units();
  expect(before).toEqual([{ state: 'pending', doubt: null }]);
  const { code, json } = await command(...args, '--yes');
  expect(code).toBe(0);
  expect(json()).toMatchObject({ adopted: 'restored', looked_up_first: [4711], paused: [], left: [] });
  // A session or a link that ended after the backup must not live again.
  expect(
    await clinic.rows(
      'select token_hash from vetledger_console.session union all select token_hash from vetledger_console.link',
    ),
  ).toEqual([]);
  expect(await units()).toEqual([{ state: 'uncertain', doubt: 'no_answer' }]);
  // The next window posts again what was posted after the backup. The ERP may already have it.
  clinic.sandbox.live(10);
  const synced = await sync();
  expect(synced.json().windows).toMatchObject([{ outcome: 'closed' }]);
  expect(synced.json().windows[0].posted).toBeGreaterThan(0);
  expect(await units()).toEqual([{ state: 'uncertain', doubt: 'no_answer' }]);
  clinic.sandbox.live(10);
  expect((await sync()).json().windows[0].posted).toBeGreaterThan(0);
  expect((await units()).map(({ state }) => state)).toEqual(['pending', 'uncertain']);
  // The ERP has the original's keys, which show that an entry is there.
  expect(
    await clinic.rows('select database_id from (select value as database_id from meta where key = ?) m', [
      'database_id',
    ]),
  ).toEqual([{ database_id: clinic.app.databaseId }]);
  // The original returns with its old name and incarnation.
  const now = await noted();
  await runAlone(
    clinic.ownerUrl,
    `update vetledger.meta set value = '${clinic.app.databaseId}' where key = 'temporal_name'`,
  );
  expect((await sync()).json().error.code).toBe('database_copied');
  expect((await noted())?.incarnation).toBe(now?.incarnation);
});

test('a copy for trials gets new names, is paused, and writes nowhere that belongs to the original', async () => {
  expect((await command('adopt', '--copy', '--reason', 'trying', '--yes', '--json')).json()).toMatchObject({
    adopted: 'copy',
  });
  const [{ paused, delivery }] = (await command('status', '--json')).json().installations;
  expect(paused).toMatchObject({ reason: 'a copy for trials: trying' });
  expect(delivery.paused).toMatchObject({ reason: 'a copy for trials: trying' });
  expect(await clinic.rows('select kind, key from copy_bar order by kind')).toEqual([
    { kind: 'company', key: expect.any(String) },
    { kind: 'source', key: new URL(clinic.sandbox.url).origin },
  ]);
  expect((await command('deliver', 'resume')).code).toBe(0);
  const delivered = await command('deliver', '--json');
  expect(delivered.json().error).toMatchObject({ code: 'copy_barred' });
  expect(
    await clinic.rows(
      `select input ->> 'mode' as mode, reason, input ->> 'evidence' <> '' as shown from action_done where installation is null order by id`,
    ),
  ).toEqual([
    { mode: 'restored', reason: 'disk failure', shown: true },
    { mode: 'copy', reason: 'trying', shown: true },
  ]);
});
