import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { vetledger } from './support.ts';

let clinic: TestClinic;
let posted: number;

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 81, invoices: 30, settings: { erp: '{kind: csv}' } });
  ({ posted } = await clinic.sync());
  // A separate task queue, so that the commands run on their workers and not on the test's.
  const written = readFileSync(clinic.config, 'utf8');
  writeFileSync(clinic.config, written.replace(/^(temporal: .*)\}$/m, '$1, task_queue: deliver}'));
});
afterAll(() => clinic?.stop());

const command = (...args: string[]) => vetledger([...args, '--config', clinic.config], clinic.env);
const status = async () => (await command('status', '--json')).json().installations[0];
const states = async () => {
  const found = await clinic.rows<{ state: string; n: number }>(
    `select state, count(*)::int as n from erp_unit group by state order by state`,
  );
  return Object.fromEntries(found.map(({ state, n }) => [state, n]));
};

test('what a first load brings waits for approval, and status says so', async () => {
  expect(posted).toBeGreaterThan(20);
  const { delivery, next_step } = await status();
  expect(delivery).toMatchObject({ kind: 'csv', delivered: 0, left: 0, unapproved: posted, refused: 0, paused: null });
  expect(delivery.unapproved_dates.from <= delivery.unapproved_dates.through).toBe(true);
  expect(next_step).toContain('vetledger deliver --approve --through DATE');
  expect((await command('status')).stdout).toContain(
    `delivery      0 delivered, 0 left, ${posted} waiting for approval, 0 refused`,
  );
});

describe('while it is paused', () => {
  test('pause needs a reason, says who has paused, and windows go on', async () => {
    expect((await command('deliver', 'pause', '--reason', ' ')).code).toBe(2);
    const { code, json } = await command('deliver', 'pause', '--reason', 'closing', '--by', 'M. Virtanen', '--json');
    expect(code).toBe(0);
    expect(json()).toEqual({ paused: [4711] });
    expect((await command('deliver', 'pause', '--reason', 'again')).stdout).toContain('was already paused');
    expect((await status()).delivery.paused).toMatchObject({ by: 'M. Virtanen', reason: 'closing' });
    expect((await status()).next_step).toContain('vetledger deliver resume');
    const synced = await command('sync', '--json');
    expect(synced.code).toBe(0);
    expect(synced.json().windows).toMatchObject([{ outcome: 'closed', delivered: 0 }]);
    expect(synced.stderr).toContain('paused by M. Virtanen: closing');
  });

  test('approval is asked for, given up to a day, and recorded', async () => {
    const asked = await command('deliver', '--approve', '--through', '2099-12-31');
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain(`${posted} entries wait for approval`);
    expect(await states()).toEqual({ pending: posted });
    expect((await status()).delivery.unapproved).toBe(posted);

    const [half] = await clinic.rows<{ day: string; n: number }>(
      `select day, (select count(*)::int from erp_unit where unit_date <= day::date) as n
       from (select percentile_disc(0.5) within group (order by unit_date)::text as day from erp_unit) m`,
    );
    const args = ['deliver', '--approve', '--through', half!.day, '--yes', '--by', 'M. Virtanen', '--json'];
    const { code, json } = await command(...args);
    expect(code).toBe(0);
    expect(json().installations).toMatchObject([
      { installation: 4711, delivered: 0, left: half!.n, unapproved: posted - half!.n, paused: { by: 'M. Virtanen' } },
    ]);
    expect(await clinic.rows(`select kind, acted_by from action_done order by id`)).toEqual([
      { kind: 'pause_delivery', acted_by: 'M. Virtanen' },
      { kind: 'approve_delivery', acted_by: 'M. Virtanen' },
    ]);
  });

  test('a refused entry is a problem with what to do, which explain shows, too; retry sends it again', async () => {
    const [unit] = await clinic.rows<{ unit_id: string; document_id: number }>(
      `update erp_unit u set state = 'refused', problem_code = 'erp_account_unknown', problem_message = 'no account 3000',
         problem_since = clock_timestamp()
       from entry e where e.id = u.unit_id and e.kind = 'invoice' and u.unit_id =
         (select unit_id from erp_unit where not needs_approval and unit_id like '4711/invoice/%' order by seq limit 1)
       returning unit_id, document_id`,
    );
    const { problems } = (await command('problems', '--json')).json();
    expect(problems).toContainEqual({
      id: unit!.unit_id,
      installation: 4711,
      document: `invoice ${unit!.document_id}`,
      code: 'erp_account_unknown',
      message: 'no account 3000',
      todo: expect.stringContaining('vetledger deliver retry'),
      since: expect.any(String),
    });
    const told = (await command('problems')).stdout;
    expect(told).toMatch(
      /^1 entry, number or row refused:\n {2}1 {2}erp_account_unknown {2,}The account does not exist in the ERP/m,
    );
    expect(told).toContain(`  ${unit!.unit_id} `);
    expect(told).toMatch(/^ +no account 3000$/m);
    expect((await status()).delivery.refused).toBe(1);

    const explained = await command('explain', 'invoice', String(unit!.document_id));
    expect(explained.stdout).toContain('to the ERP: refused');
    expect(explained.stdout).toContain('erp_account_unknown: no account 3000');
    const asJson = (await command('explain', 'invoice', String(unit!.document_id), '--json')).json();
    expect(asJson.entries[0].delivery).toMatchObject({ unit: unit!.unit_id, state: 'refused' });

    expect((await command('deliver', 'retry')).code).toBe(2);
    const unknown = await command('deliver', 'retry', '4711/invoice/0/1', '--json');
    expect(unknown.code).toBe(1);
    expect(unknown.json().error.code).toBe('unit_unknown');
    const { code, json } = await command('deliver', 'retry', unit!.unit_id, '--json');
    expect(code).toBe(0);
    expect(json()).toEqual({ retried: [unit!.unit_id], problems: [] });
    expect((await states()).refused).toBeUndefined();
    const again = await command('deliver', 'retry', unit!.unit_id);
    expect(again.stdout).toContain(`0 entries tried again.\n${unit!.unit_id} was not refused: waits for its delivery.`);
  });
});

test('after resume, deliver hands over what was approved, and sync what it posts, which it waits for and counts', async () => {
  const resumed = await command('deliver', 'resume', '--json');
  expect(resumed.code).toBe(0);
  expect(resumed.json()).toEqual({ resumed: [4711] });
  expect((await command('deliver', 'resume')).stdout).toContain('was not paused');
  const { pending: unsent = 0 } = await states();
  const { unapproved } = (await status()).delivery;
  const dry = await command('deliver', '--dry-run', '--json');
  expect(dry.code).toBe(0);
  expect(dry.json().installations).toMatchObject([{ installation: 4711, to_send: unsent - unapproved, lacking: 0 }]);
  expect(dry.json().installations[0].units).toHaveLength(unsent - unapproved);

  const delivered = await command('deliver', '--json');
  expect(delivered.code).toBe(0);
  expect(delivered.json().installations).toMatchObject([
    { installation: 4711, delivered: unsent - unapproved, left: 0, unapproved, refused: 0 },
  ]);
  const rest = await command('deliver', '--approve', '--through', '2099-12-31', '--yes', '--json');
  expect(rest.json().installations).toMatchObject([{ delivered: unapproved, left: 0, unapproved: 0 }]);
  expect(Object.keys(await states())).toEqual(['handed_over']);

  clinic.sandbox.live(20);
  const [window] = (await command('sync', '--json')).json().windows;
  expect(window.posted).toBeGreaterThan(0);
  expect(window.delivered).toBe(window.posted);
  expect((await status()).next_step).not.toContain('deliver');
});

test('a number that could not be written to the practice software is a problem, and explain shows the value there', async () => {
  const [{ document_id: id } = { document_id: 0 }] = await clinic.rows<{ document_id: number }>(
    `insert into write_back (installation, kind, document_id, unit_id, value_is, value, state, error_code, error, error_since)
     select 4711, kind, document_id, id, 'erp_number', '2026/17', 'taken', 'external_id_taken', 'it holds ABC', clock_timestamp()
     from entry where kind = 'prepayment' limit 1
     on conflict (installation, kind, document_id) do update set value_is = excluded.value_is, value = excluded.value,
       state = excluded.state, error_code = excluded.error_code, error = excluded.error,
       error_since = excluded.error_since returning document_id`,
  );
  const { problems } = (await command('problems', '--json')).json();
  expect(problems).toContainEqual({
    ...{ id: `4711/prepayment/${id}`, installation: 4711, document: `prepayment ${id}`, code: 'external_id_taken' },
    ...{ message: 'it holds ABC', todo: expect.stringContaining('remove the value'), since: expect.any(String) },
  });
  expect((await command('explain', 'prepayment', String(id))).stdout).toContain('external_id 2026/17: taken');
});

test('an installation without an ERP has nothing to deliver', async () => {
  const written = readFileSync(clinic.config, 'utf8');
  writeFileSync(clinic.config, written.replace('erp: {kind: csv}', 'erp: {kind: ledger}'));
  try {
    const { code, json } = await command('deliver', '--json');
    expect(code).toBe(2);
    expect(json().error.code).toBe('nothing_delivered');
    expect((await status()).delivery).toBeNull();
  } finally {
    writeFileSync(clinic.config, written);
  }
});
