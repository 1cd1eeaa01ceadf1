// The screen Audit: actions, closes, rights and sign-ins of one clinic, and what proves its books.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordAction } from '../../src/actions/record.ts';
import { execute } from '../../src/db/rows.ts';
import type { InstallationReport } from '../../src/reconcile/reconcile-report.ts';
import { saveChainVerdict, saveVerdicts } from '../../src/reconcile/verdict.ts';
import { closePeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { type Browser, clinics, hostileName, openTestConsole, type TestConsole } from './support.ts';
import { linksIn, tablesIn } from './tables.ts';

const database = useDatabase();
const { db } = database;
const [own, empty, foreign] = clinics;
let site: TestConsole;
let viewer: Browser;

const page = async (query = '', of: number = own) => {
  const answer = await viewer.get(`/${of}/audit${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
};
const act = (kind: 'retry_delivery' | 'decide_late', actedBy: string, installation: number = own) =>
  db.transaction((trx) =>
    recordAction(trx, { installation, kind, by: { actedBy, reason: `reason of ${hostileName}` }, input: { ids: [1] } }),
  );

beforeAll(async () => {
  site = await openTestConsole(database);
  await site.user('viewer', [
    ['viewer', own],
    ['viewer', empty],
  ]);
  await site.user('stranger', [['accountant', foreign]]);
  viewer = await site.signedIn('viewer');
  await site.signedIn('stranger');
  for (let n = 0; n < 110; n += 1) await act('retry_delivery', n < 5 ? 'Aino' : 'Matti');
  await act('decide_late', 'Aino');
  await act('decide_late', 'Stranger', foreign);
  const details = { actedBy: 'Aino', reason: 'month', second: 'Matti', checklist: { held: 7 } };
  await closePeriods(db, [{ id: own, today: '2026-02-10', details }], '2026-01-31');
});
afterAll(() => site.close());

test('actions have pages, filters, counts by kind, and a file', async () => {
  const body = await page();
  const [counts, list] = tablesIn(body);
  expect(counts?.rows).toEqual([
    ['books closed', '1'],
    ['decision about a late document', '1'],
    ['delivery tried again', '110'],
  ]);
  expect(counts?.total).toEqual(['Total', '112']);
  expect(list?.rows).toHaveLength(100);
  expect(body).not.toContain('Stranger');
  expect(body).not.toContain('<img');
  const next = linksIn(body).find((link) => link.includes('after='));
  expect(tablesIn((await viewer.get(next ?? '')).body)[1]?.rows).toHaveLength(12);
  expect(tablesIn(await page('?person=Aino'))[1]?.rows).toHaveLength(7);
  expect(tablesIn(await page('?kind=decide_late&person=Aino'))[1]?.rows).toHaveLength(1);
  expect(tablesIn(await page('?kind=decide_late&from=2020-01-01&to=2020-12-31'))).toHaveLength(0);
  const file = await page('?csv=1&person=Aino');
  expect(file.trimEnd().split('\r\n')).toHaveLength(8);
});

test('closes have the persons and the stored checklist', async () => {
  const [closes] = tablesIn(await page('?part=closes'));
  expect(closes?.rows.map((row) => row.slice(2, 5))).toEqual([['closed through 2026-01-31', 'Aino', 'Matti']]);
  expect(closes?.rows[0]?.[6]).toContain('"held": 7');
  expect((await page('?part=closes&csv=1')).trimEnd().split('\r\n')).toHaveLength(2);
});

test('rights and sign-ins are those of the users of this clinic', async () => {
  expect(tablesIn(await page('?part=rights'))[0]?.rows).toEqual([['viewer', 'viewer', '', '']]);
  const signIns = tablesIn(await page('?part=sign_ins'))[0]?.rows;
  expect(signIns?.map((row) => row.slice(1))).toEqual([['viewer', 'signed in', '192.0.2.1']]);
  expect(await page('?part=sign_ins&csv=1')).not.toContain('stranger');
});

test('a clinic without records has each part', async () => {
  for (const part of ['actions', 'closes', 'returns', 'rights', 'sign_ins'])
    expect(await page(`?part=${part}`, empty)).toContain('link 0 with 0 entries');
});

test('the last check of the chains is shown with its age', async () => {
  expect(await page()).toContain('<dd><span class="dim">not checked yet</span></dd>');
  const equations = {} as InstallationReport['equations'];
  await saveVerdicts(db, [{ installation: own, equations } as InstallationReport]);
  expect(await page()).toContain('not checked yet');
  await saveChainVerdict(db, own, []);
  expect(await page()).toMatch(/<dd>no failure, checked [^<]* ago<\/dd>/);
  await saveChainVerdict(db, own, ['chain']);
  expect(await page()).toMatch(
    /<span class="needed">failure: chain \(does NOT hold: [^)]*\), checked [^<]* ago<\/span>/,
  );
});

test('a reason that was erased is shown as such', async () => {
  await execute(
    database.owner,
    `delete from action_reason where action_id = (select id from action where installation = ? and kind = 'decide_late')`,
    [own],
  );
  expect(tablesIn(await page('?kind=decide_late'))[1]?.rows[0]?.[4]).toBe('erased');
});
