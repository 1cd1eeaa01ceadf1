// The screen Windows: its list, counts, file and time line show the recorded windows, and no other clinic's.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSpans, shapeOf } from '../../src/console/screens/windows/time-line.ts';
import { execute } from '../../src/db/rows.ts';
import type { DrawnWindow } from '../../src/queries/windows.ts';
import { useDatabase } from '../support/database.ts';
import { type Browser, clinics, hostileName, openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const [own, , foreign] = clinics;
let site: TestConsole;
let operator: Browser;

/** One window for each 5 minutes of 2026-03-09 from 00:00 UTC. */
async function addWindow(
  n: number,
  given: { installation?: number; kind?: string; outcome?: string; message?: string } = {},
): Promise<void> {
  const { installation = own, kind = 'window', outcome = 'closed', message } = given;
  const opened = new Date(Date.UTC(2026, 2, 9) + n * 300_000);
  const error = message === undefined ? null : JSON.stringify({ code: 'practice_failed', message, todo: 'Wait.' });
  await execute(
    database.db,
    `insert into sync_window (installation, kind, trigger, outcome, from_time, to_time, opened_at, closed_at, error, workflow_id, run_id)
     values (?, ?, 'schedule', ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[installation, kind, outcome, new Date(opened.getTime() - 300_000), opened, opened],
      ...[outcome === 'open' ? null : opened, error, `w${n}`, `${installation}-${n}`],
    ],
  );
}

beforeAll(async () => {
  site = await openTestConsole(database);
  await site.user('operator', [['operator', own]]);
  operator = await site.signedIn('operator');
});
afterAll(() => site.close());

const cells = (body: string) => (body.match(/<tbody>.*?<\/tbody>/gs) ?? []).at(-1) ?? '';
const ids = (body: string) => [...cells(body).matchAll(/id="w(\d+)"/g)].map(([, id]) => Number(id));

test('a clinic without windows has a page', async () => {
  const { body, statusCode } = await operator.get(`/${own}/windows`);
  expect(statusCode).toBe(200);
  expect(body).toContain('0 closed, 0 failed, 0 open');
});

test('pages, filters, counts and the file have the same windows', async () => {
  for (let n = 0; n < 150; n += 1) await addWindow(n);
  await addWindow(150, { outcome: 'failed', message: `error of ${hostileName}` });
  await addWindow(151, { kind: 'backfill' });
  await addWindow(300, { outcome: 'open' });
  await addWindow(0, { installation: foreign });

  const first = await operator.get(`/${own}/windows`);
  expect(first.body).toContain('151 closed, 1 failed, 1 open');
  expect(first.body).not.toContain('<img');
  expect(ids(first.body)).toHaveLength(100);
  const next = /href="([^"]+)" rel="next"/.exec(first.body)?.[1]?.replaceAll('&amp;', '&');
  const second = await operator.get(next ?? '');
  expect(ids(second.body)).toHaveLength(53);
  expect(second.body).not.toContain('rel="next"');
  expect(new Set([...ids(first.body), ...ids(second.body)]).size).toBe(153);

  const failed = await operator.get(`/${own}/windows?outcome=failed`);
  expect(ids(failed.body)).toHaveLength(1);
  expect(failed.body).toContain('href="https://temporal.example/ui/namespaces/default/workflows/w150"');
  expect(failed.body).toContain('0 closed, 1 failed, 0 open');
  expect(ids((await operator.get(`/${own}/windows?kind=backfill`)).body)).toHaveLength(1);

  // The clinic's day begins at 22:00 UTC, so 2026-03-09 has the windows up to 264.
  const day = await operator.get(`/${own}/windows?from=2026-03-10&to=2026-03-10`);
  expect(ids(day.body)).toHaveLength(1);
  expect(day.body).toContain('0 closed, 0 failed, 1 open');

  const file = await operator.get(`/${own}/windows?csv=1&outcome=failed`);
  expect(file.headers['content-disposition']).toBe(`attachment; filename="windows-${own}.csv"`);
  const lines = file.body.trimEnd().split('\r\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain('2026-03-09T12:30:00.000Z');
  expect((await operator.get(`/${own}/windows?csv=1`)).body.trimEnd().split('\r\n')).toHaveLength(154);
});

test('the time line marks failed, open and other windows by shape, in each span', async () => {
  for (const span of ['day', 'week', 'month']) {
    const { body } = await operator.get(`/${own}/windows?span=${span}`);
    const line = /<svg class="line" viewBox="0 0.*?<\/svg>/s.exec(body)?.[0] ?? '';
    for (const [shape, drawn] of [
      ['failed', '<path'],
      ['open', '<circle'],
      ['other', '<path'],
    ])
      expect(line).toContain(`<g class="${shape}">${drawn}`);
  }
});

test('the band of a time line has a hole where no closed window has read', () => {
  const window = (from: number | null, to: number, given: Partial<DrawnWindow> = {}): DrawnWindow => ({
    ...{ id: 1, kind: 'window', outcome: 'closed', isCovered: false, idleWindows: null },
    ...{ from: from === null ? null : new Date(from), to: new Date(to), openedAt: new Date(to), ...given },
  });
  const windows = [
    window(null, 20),
    window(18, 30),
    window(30, 40, { outcome: 'failed' }),
    window(50, 60),
    window(40, 50, { kind: 'replay' }),
  ];
  expect(readSpans(windows, new Date(10))).toEqual([
    { from: 10, to: 30 },
    { from: 50, to: 60 },
  ]);
  expect(windows.map(shapeOf)).toEqual(['closed', 'closed', 'failed', 'closed', 'other']);
});

test('running work has its step, wait and last cause, with a link into Temporal', async () => {
  await execute(database.owner, `delete from sync_window where outcome = 'open'`);
  expect((await operator.get(`/${own}/windows`)).body).toContain('Nothing runs.');
  await addWindow(301, { outcome: 'open' });
  const trouble = {
    error: { code: 'timeout', message: `no answer from ${hostileName}`, todo: 'Wait.' },
    times: 3,
    at: '2026-03-10T08:20:00Z',
    failingSince: '2026-03-10T08:00:00Z',
    since: '2026-03-10T08:00:00Z',
  };
  await execute(
    database.owner,
    `insert into open_step (run_id, activity, installation, step, attempt, is_ended, unexplained, trouble, api, waits_for, waits_since)
     values (?, 'a', ?, 'pullRows', 4, true, 0, ?, '{}', 'the rate budget', '2026-03-10T08:30:00Z')`,
    [`${own}-301`, own, JSON.stringify(trouble)],
  );
  const { body } = await operator.get(`/${own}/windows`);
  const running = body.split('Running work')[1]?.split('</section>')[0] ?? '';
  for (const text of [
    '>read the rows of changed invoices<',
    '>4<',
    'the rate budget',
    '2026-03-10 10:30:00',
    'no answer from &lt;img',
    'Wait.',
  ])
    expect(running).toContain(text);
  expect(running).toContain(`href="https://temporal.example/ui/namespaces/default/workflows/w301/${own}-301/history"`);
});
