// The screen Machine: ages of processes, the database, Schedules and mail, without clinics of other firms.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { type Browser, clinics, hostileName, openTestConsole, type TestConsole } from './support.ts';
import { tablesIn } from './tables.ts';

const database = useDatabase();
const { db, owner } = database;
const [own, , foreign] = clinics;
let site: TestConsole;
let operator: Browser;

const page = async () => {
  const answer = await operator.get('/machine');
  expect(answer.statusCode).toBe(200);
  return answer.body;
};
const addProcess = (host: string, version: string, secondsAgo: number) =>
  execute(
    owner,
    `insert into daemon (id, command, host, process, version, task_queue, installations, heard_at, temporal_gone_since)
     values (gen_random_uuid(), 'run', ?, 7, ?, 'vetledger', ?, clock_timestamp() - make_interval(secs => ?), null)`,
    [host, version, [own, foreign], secondsAgo],
  );

beforeAll(async () => {
  site = await openTestConsole(database);
  await site.user('operator', [['operator', own]]);
  await site.user('accountant', [['accountant', own]]);
  operator = await site.signedIn('operator');
});
afterAll(() => site.close());

test('without a daemon, a Schedule or a backup, the page says so', async () => {
  const body = await page();
  expect(body).toContain('No daemon was heard of');
  expect(body).toContain('none has succeeded');
  expect(tablesIn(body)[0]?.rows.map((row) => row[1])).toEqual(['not seen by a daemon']);
  expect(body).toContain('no failure');
});

test('processes have ages; old ones are stale, and other versions are marked', async () => {
  await addProcess(hostileName, '0.1.0', 5);
  await addProcess('other', '0.0.9', 5);
  await addProcess('gone', '0.0.9', 600);
  await execute(owner, "insert into backup (finished_at) values (clock_timestamp() - interval '3 hours')");
  await execute(
    owner,
    `insert into schedule_watch (installation, task_queue, paused, missed, skipped, dropped)
     values (?, 'vetledger', false, 2, 0, 0), (?, 'vetledger', false, 5, 0, 0)`,
    [own, foreign],
  );
  await execute(
    db,
    `insert into mail (installation, recipient, topic, cause, notices, decided_at, not_before, error)
     select id, 'x', 'windows', 'c', '[]', '2026-03-10', '2026-03-10', '{"code":"c","message":"refused","todo":"t"}' from unnest(?::bigint[]) id`,
    [[own, foreign]],
  );
  const body = await page();
  const [processes, schedules] = tablesIn(body);
  expect(processes?.rows).toHaveLength(3);
  const by = (host: string) => processes?.rows.find((row) => row[1] === host);
  expect(by(hostileName)?.slice(3, 5)).toEqual(['0.1.0', String(own)]);
  expect(by('other')?.[3]).toContain('not the version of this console');
  expect(by('gone')?.[3]).toBe('0.0.9');
  expect(body.match(/class="stale"/g)).toHaveLength(8);
  expect(body).toContain('3 hours ago');
  expect(schedules?.rows.map((row) => [row[1], row[4]])).toEqual([['runs', '2']]);
  expect(body).toContain('1 waiting after a failure');
  expect(body).not.toContain(String(foreign));
});

test('an accountant has no such page', async () => {
  expect((await (await site.signedIn('accountant')).get('/machine')).statusCode).toBe(404);
});

test('Schedules have their next window and the age of the sight; missing ones, and an old sight, are marked', async () => {
  await execute(owner, `update schedule_watch set next_at = '2026-03-10T09:05:00Z' where installation = ?`, [own]);
  await execute(owner, `insert into schedule_look (task_queue, seen_at) values ('vetledger', '2026-03-10T08:59:30Z')`);
  const ofOwn = async () => (await page()).split('>Schedules<')[1]?.split('</section>')[0] ?? '';
  expect(await ofOwn()).toContain('2026-03-10 09:05:00');
  expect(await ofOwn()).toContain('>30 seconds ago<');
  expect(await ofOwn()).not.toContain('class="stale"');
  await execute(owner, `update schedule_look set seen_at = '2026-03-10T08:58:00Z'`);
  expect(await ofOwn()).toContain('<span class="stale">2 minutes ago</span>');
  await execute(owner, 'update schedule_watch set is_missing = true where installation = ?', [own]);
  expect(await ofOwn()).toContain('missing in Temporal');
});

test('the growth of the database is that of the stored sizes', async () => {
  expect(await page()).not.toContain('more than');
  await execute(
    owner,
    `insert into database_size select (clock_timestamp() at time zone 'utc')::date - n, pg_database_size(current_database()) - n * 1048576
     from unnest(array[40, 12, 3]) n`,
  );
  expect(await page()).toMatch(/12 MB more than 12 days ago/);
});
