import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { walkChains } from '../../src/ledger/verify.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
import { vetledger } from './support.ts';

const { db, url } = useDatabase();
const id = 52;
let clinic: MirroredClinic;

const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const decide = (document: string, ...how: string[]) =>
  command('late', 'decide', document, ...how, '--reason', 'so it was agreed', '--by', 'M. Virtanen');
const row = { sum: '100.00', vat_percentage: '14', account_number: '3000' };
/** An invoice dated in January, which is already closed. */
const invoice = () => clinic.clinic.createInvoice({ rows: [row], invoice_date: '2026-01-20' }).id;
const stateOf = async (number: number) => {
  const [found] = await query<{ state: string; problem: string | null; late: boolean; decided: string | null }>(
    db,
    `select state, problem_code as problem, late_at_close as late, late_decision as decided
     from document where installation = ? and kind = 'invoice' and id = ?`,
    [id, number],
  );
  return found;
};
const entriesOf = (number: number) =>
  query<{ date: string; period: string; late: boolean; reason: string }>(
    db,
    `select entry_date::text as date, vat_period as period, is_late as late, reason from entry
     where installation = ? and kind = 'invoice' and document_id = ? order by n`,
    [id, number],
  );
const window = async () => {
  await clinic.pull();
  await clinic.post();
};

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id, seed: 5, invoices: 20 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
  await window();
  expect((await command('ledger', 'close', '--through', '2026-01-31', '--yes')).code).toBe(0);
});
afterAll(() => clinic?.remove());

describe('documents that come after the close', () => {
  let [redated, asDated, waiting, changed] = [0, 0, 0, 0];

  test('are listed with what can be decided', async () => {
    [redated, asDated, waiting, changed] = [invoice(), invoice(), invoice(), invoice()];
    await window();
    const { documents, late } = (await command('late', '--json')).json();
    expect(late).toEqual([]);
    expect(documents.map((each: { id: string }) => each.id)).toEqual(
      [redated, asDated, waiting, changed].map((number) => `${id}/invoice/${number}`),
    );
    const finnish = (await command('problems', '--language', 'fi')).stdout;
    expect(finnish).toContain('on suljettu; ensimmäinen avoin päivä on 2026-02-01');
    expect(finnish).toContain('  mitä tehdä: Aja `vetledger late decide` tositteen tunnisteella.');
    const english = (await command('problems', '--json', '--language', 'fi')).json();
    expect(english.problems[0].message).toContain('is closed; the first open day is 2026-02-01');
    expect(documents[0]).toMatchObject({
      installation: id,
      date: '2026-01-20',
      code: 'period_locked',
      decided: null,
      decisions: ['--redate', '--as-dated', '--wait'],
    });
    const { invoice_prefix, invoice_number } = clinic.clinic.invoice(redated);
    const printed = `${invoice_prefix}-${invoice_number}`;
    expect(documents[0].number).toBe(printed);
    expect((await command('late')).stdout).toContain(`${id}/invoice/${redated} ${printed}  2026-01-20`);
    expect((await command('late')).stdout).toContain('not decided; --redate, --as-dated, --wait');
    expect((await command('late', 'list')).stdout).toBe((await command('late')).stdout);
    expect(await stateOf(redated)).toEqual({ state: 'held', problem: 'period_locked', late: true, decided: null });
  });

  test.each([
    ['two at once', ['--redate', '--wait'], 'Give one decision'],
    ['nothing', [], 'Give one decision'],
    [
      'a date that nobody doubts',
      ['--accept-date'],
      'has the problem period_locked, for which --accept-date is not possible',
    ],
  ])('cannot be decided with %s', async (_, how, message) => {
    const refused = await decide(`${id}/invoice/${redated}`, ...how);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(message);
  });

  test('that are not late, or not here, are refused, and then none is decided', async () => {
    const [posted] = await query<{ id: number }>(
      db,
      `select id from document where installation = ? and kind = 'invoice' and state = 'posted' limit 1`,
      [id],
    );
    const notLate = await command(
      ...['late', 'decide', `${id}/invoice/${waiting}`, `${id}/invoice/${posted?.id}`, '--wait', '--reason', 'x'],
    );
    expect(notLate).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${id}/invoice/${posted?.id} is not late`),
    });
    expect((await decide(`${id}/invoice/999999`, '--wait')).stderr).toContain('does not exist in this database');
    expect((await decide(`${id}/invoice/${waiting}/1`, '--wait')).stderr).toContain('so only --redate is possible');
    expect(await query(db, 'select id from late_decision')).toEqual([]);
  });

  test('post as it was decided, with their own VAT period, late', async () => {
    expect((await decide(`${id}/invoice/${redated}`, '--redate')).stdout).toContain(
      `${id}/invoice/${redated}: the next window posts it on the first open day.`,
    );
    await decide(`${id}/invoice/${asDated}`, '--as-dated');
    await decide(`${id}/invoice/${waiting}`, '--wait');
    await window();
    expect(await entriesOf(redated)).toEqual([{ date: '2026-02-01', period: '2026-01', late: true, reason: 'posted' }]);
    expect(await stateOf(redated)).toEqual({ state: 'posted', problem: null, late: false, decided: null });
    expect(await stateOf(asDated)).toMatchObject({ state: 'held', decided: 'as_dated' });
    expect(await stateOf(waiting)).toMatchObject({ state: 'held', decided: 'wait' });
  });

  test('are not posted by a reopen alone, only by their decision', async () => {
    const reopened = await command(...'ledger reopen --from 2026-01-01 --yes --reason x --by M'.split(' '));
    expect(reopened.code).toBe(0);
    await window();
    expect(await entriesOf(asDated)).toEqual([{ date: '2026-01-20', period: '2026-01', late: true, reason: 'posted' }]);
    expect(await stateOf(changed)).toMatchObject({ state: 'held', problem: 'period_locked', late: true });
    expect(await entriesOf(waiting)).toEqual([]);
    const listed = (await command('late')).stdout;
    expect(listed).toContain('2026-01-20 is open again, but the document was late when the books were closed');
    expect(listed).toContain('decided: wait, by M. Virtanen');
  });

  test('a warning names the reopened day on which a decision would post', async () => {
    const dry = ['late', 'decide', `${id}/invoice/${waiting}`, '--redate', '--dry-run'];
    const [{ documents }] = (await command(...dry, '--json')).json().shown.installations;
    expect(documents).toMatchObject([{ day: '2026-01-20', reopened: true }]);
    expect((await command(...dry)).stdout).toContain('Warning: 2026-01-20 was closed before and is open again.');
    const asDatedToo = await command(...dry.map((word) => (word === '--redate' ? '--as-dated' : word)));
    expect(asDatedToo.stdout).not.toContain('Warning');
  });

  test('a decision holds for its version alone', async () => {
    await decide(`${id}/invoice/${changed}`, '--as-dated');
    clinic.clinic.pay(changed, { payment_type: 0, paid: '14.00' });
    clinic.clinic.updateInvoice(changed, { invoice_due_date: '2026-03-31' });
    await window();
    expect(await stateOf(changed)).toMatchObject({ state: 'held', decided: null });
    await decide(`${id}/invoice/${changed}`, '--as-dated');
    await window();
    expect(await stateOf(changed)).toMatchObject({ state: 'posted', problem: null });
  });

  test('explain shows which decision holds, and why the others do not', async () => {
    await decide(`${id}/invoice/${waiting}`, '--as-dated');
    await decide(`${id}/invoice/${waiting}`, '--wait');
    const standings = async (document: number) =>
      (await command('explain', 'invoice', String(document), '--json'))
        .json()
        .decisions.map((one: Record<string, unknown>) => [one.decision, one.holds, one.standing]);
    expect(await standings(waiting)).toEqual([
      ['wait', true, 'holds'],
      ['as_dated', false, 'replaced'],
      ['wait', false, 'replaced'],
    ]);
    expect(await standings(changed)).toEqual([
      ['as_dated', false, 'late_no_more'],
      ['as_dated', false, 'earlier_version'],
    ]);
    const text = (await command('explain', 'invoice', String(changed))).stdout;
    expect(text).toMatch(
      /decided .*agreed \(the document is no longer late\)\n.*agreed \(about an earlier version of the document\)/,
    );
  });

  test('explain shows who decided what, when and why; exports show VAT period and lateness', async () => {
    const explained = await command('explain', 'invoice', String(redated));
    expect(explained.stdout).toMatch(/decided +redate, by M\. Virtanen, [-0-9]+ [:0-9]+ \+0[23]:00: so it was agreed/);
    expect(explained.stdout).toContain('VAT period 2026-01, late');
    const json = (await command('explain', 'invoice', String(redated), '--json')).json();
    expect(json).toMatchObject({
      decisions: [
        { decision: 'redate', by: 'M. Virtanen', reason: 'so it was agreed', holds: false, standing: 'late_no_more' },
      ],
      entries: [{ vat_period: '2026-01', late: true }],
    });
    const csv = (await command('export', '--format', 'csv')).stdout.split('\n');
    expect(csv[0]).toMatch(/,vat_period,late,voucher,mapping,recorded_at,window\r?$/);
    expect(csv.find((line) => line.startsWith(`${id}/invoice/${redated}/1,`))).toMatch(
      /,2026-01,yes,2026-S-\d{6},[0-9a-f]{12},[^,]+Z,\r?$/,
    );
    expect(await walkChains(db, id)).toMatchObject({ broken: null });
  });
});
