import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { walkChains } from '../../src/ledger/verify.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
import { vetledger } from './support.ts';

const { db, owner, url } = useDatabase();
const id = 51;
let clinic: MirroredClinic;

const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const ledger = (line: string, ...more: string[]) => command('ledger', ...line.split(' '), ...more);
const links = () =>
  query<{ kind: string; through: string }>(db, 'select kind, through::text from ledger_close order by seq');

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id, seed: 4, invoices: 30 });
  // Without a gift card account, payments by gift card are held.
  const mapping = readFileSync(demoMapping, 'utf8').replace(/^ *gift_card_liability:.*\n/m, '');
  await clinic.configure(mapping);
  const row = { sum: '100.00', vat_percentage: '14', account_number: '3000' };
  const invoice = clinic.clinic.createInvoice({ rows: [row] });
  clinic.clinic.pay(invoice.id, { payment_type: 9, paid: '14.00' });
  await clinic.pull();
  await clinic.post();
});
afterAll(() => clinic?.remove());

describe('a month that is to be closed', () => {
  test('its checklist names what to look at, and --dry-run closes nothing', async () => {
    const { code, stdout } = await ledger('close --through 2026-03-10 --dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain(`Installation ${id}, to be closed through 2026-03-10 (nothing is closed yet)`);
    expect((await ledger('close --through 2026-03-10 --dry-run --language fi')).stdout).toMatch(
      /mitään ei ole vielä suljettu[\s\S]*\n {2}KATSO {2}[\s\S]*\nTarkista rivit, joissa on KATSO, ennen/,
    );
    expect(stdout).toContain('LOOK  last window: none has closed, not beyond 2026-03-10: run `vetledger sync`');
    expect(stdout).toMatch(/LOOK {2}held documents: \d+ documents? \((.*, )?\d+ role_unmapped/);
    expect(stdout).toContain('ok    late documents (`vetledger late`): none');
    expect(stdout).toContain('ok    not in the ERP: nothing is delivered');
    expect(stdout).toMatch(/unused prepayments: 1 account with a balance\n +\d+ +prepayment_liability +-\d+\.\d\d/);
    expect(await links()).toEqual([]);
    const { installations } = (await ledger('close --through 2026-03-10 --dry-run --json')).json();
    expect(installations[0].checklist).toMatchObject({
      through: '2026-03-10',
      closed_through: null,
      ok: false,
      last_window: { ok: false, to: null },
      undelivered: null,
      late: { ok: true, count: 0 },
    });
  });

  test('is refused without a terminal and without --yes, and before its last day is over', async () => {
    const refused = await ledger('close --through 2026-02-28');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('There is no terminal for the question, so --yes is required.');
    expect((await ledger('close --through 2999-12-31 --yes')).code).toBe(2);
    expect(await links()).toEqual([]);
  });

  test('is closed by a name, with the checklist as it was shown; the chain stays whole', async () => {
    const closed = await ledger('close --through 2026-01-31 --yes --json', '--by', 'M. Virtanen');
    expect(closed.json().installations).toMatchObject([
      { installation: id, closed_through: '2026-01-31', by: 'M. Virtanen', second: null, checklist: { ok: false } },
    ]);
    const [stored] = (await ledger('closes --json')).json().installations[0].closes;
    expect(stored).toMatchObject({ by: 'M. Virtanen', second: null, reason: null });
    expect(stored.checklist).toEqual(closed.json().installations[0].checklist);
    expect(await walkChains(db, id)).toMatchObject({ broken: null });
    // The period is already closed, so nothing is written.
    const again = await ledger('close --through 2026-01-31 --yes');
    expect(again.stdout).toContain('closed through 2026-01-31');
    expect(await links()).toEqual([{ kind: 'close', through: '2026-01-31' }]);
  });

  test.each([
    ['who closed it', `update action set subject = 'somebody'`, /^action \d+$/],
    ['the action', 'update ledger_close set action_id = null', /^close through 2026-01-31$/],
    [
      'the checklist',
      `update ledger_close set details = replace(details, '"ok":false', '"ok":true')`,
      /^close through/,
    ],
  ])('%s cannot be changed behind the chain', async (_, sql, entryId) => {
    const undone = new Error('undone');
    await owner
      .transaction(async (trx) => {
        await trx.raw('set local session_replication_role = replica');
        await trx.raw(sql);
        expect(await walkChains(trx, id)).toMatchObject({ broken: { entryId: expect.stringMatching(entryId) } });
        throw undone;
      })
      .catch((error) => expect(error).toBe(undone));
  });
});

describe('a closed period', () => {
  test('is opened again by a name with a reason, as a link of the chain', async () => {
    expect((await ledger('reopen --from 2026-02-01 --yes', '--reason', 'x')).stderr).toContain('2026-02-01 is open');
    expect((await ledger('reopen --from 2026-01-10', '--reason', 'x')).stderr).toContain('--yes is required');
    const reason = 'the statement of January was wrong';
    const opened = await ledger('reopen --from 2026-01-10 --yes --json', '--by', 'A. Laine', '--reason', reason);
    expect(opened.json().installations).toMatchObject([
      { installation: id, open_from: '2026-01-10', by: 'A. Laine', second: null, reason },
    ]);
    expect(await links()).toEqual([
      { kind: 'close', through: '2026-01-31' },
      { kind: 'reopen', through: '2026-01-09' },
    ]);
    expect(await walkChains(db, id)).toMatchObject({ broken: null });
    expect((await ledger('closes')).stdout).toMatch(
      / {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0[23]:00 {2}closed through 2026-01-31 .* by M\. Virtanen[\s\S]* reopened; closed through 2026-01-09 since {2}by A\. Laine +the statement of January was wrong/,
    );
  });

  test('takes entries from the first open day on, and none before it', async () => {
    const day = async (date: string) =>
      (await query<{ refused: boolean }>(db, 'select ?::date <= closed_through(?) as refused', [date, id]))[0]?.refused;
    expect([await day('2026-01-09'), await day('2026-01-10')]).toEqual([true, false]);
  });
});

describe('with two_persons', () => {
  beforeEach(() => {
    const text = readFileSync(clinic.config, 'utf8');
    if (!text.includes('two_persons')) appendFileSync(clinic.config, '\ntwo_persons: true\n');
  });

  test.each([
    ['one name', [], 'requires two persons'],
    ['the same name twice', ['--second', ' m. virtanen'], 'The second person is the same as the first one'],
    ['an empty second name', ['--second', ' '], '--second is empty'],
  ])('%s is refused', async (_, second, message) => {
    const refused = await ledger('close --through 2026-01-31 --yes', '--by', 'M. Virtanen', ...second);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(message);
    const reopen = ['--reason', 'x', '--by', 'M. Virtanen', ...second];
    expect((await ledger('reopen --from 2026-01-01 --yes', ...reopen)).stderr).toContain(message);
  });

  test('both names are recorded', async () => {
    const both = ['--by', 'M. Virtanen', '--second', 'A. Laine'];
    const closed = await ledger('close --through 2026-01-31 --yes --json', ...both);
    expect(closed.json().installations).toMatchObject([{ by: 'M. Virtanen', second: 'A. Laine' }]);
    expect((await ledger('closes --json')).json().installations[0].closes.at(-1)).toMatchObject({
      kind: 'close',
      through: '2026-01-31',
      by: 'M. Virtanen',
      second: 'A. Laine',
    });
  });
});

test('with VAT on payment, the books close only after a window that has posted the latest days', async () => {
  const mapping = readFileSync(demoMapping, 'utf8').replace(
    /^policies:\n/m,
    'policies:\n  vat_due: {payment: 2026-01-01, latest: {months: 12}}\n',
  );
  await clinic.configure(mapping);
  const refused = await ledger('close --through 2026-02-28 --yes --json', '--by', 'M. Virtanen');
  expect(refused.code).toBe(1);
  expect(refused.json().error).toMatchObject({ code: 'latest_days_open', todo: expect.stringContaining('sync') });
  await query(
    owner,
    `insert into sync_window (installation, kind, workflow_id, run_id, trigger, outcome, to_time, closed_at)
     values (?, 'window', 'w', 'r', 'sync', 'closed', '2026-03-01T00:00:00+02', clock_timestamp())`,
    [id],
  );
  expect((await ledger('close --through 2026-02-28 --yes', '--by', 'M. Virtanen')).code).toBe(0);
});
