import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
import { vetledger } from './support.ts';

const { db, url } = useDatabase();
const id = 53;
let clinic: MirroredClinic;
let payments: number[] = [];

const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const confirm = (...words: string[]) =>
  command('late', 'decide', ...words, '--confirm-gone', '--reason', 'deleted there', '--by', 'M. Virtanen');
const statesOf = async (ids: readonly number[]) => {
  const found = await query<{ state: string }>(
    db,
    `select state from document where installation = ? and kind = 'payment' and id = any(?) order by id`,
    [id, ids],
  );
  return found.map(({ state }) => state);
};

/** Marks payments as missing, as if a census had not found them. */
async function missing(ids: readonly number[], many: boolean): Promise<void> {
  await query(
    db,
    `update mirror_record set missing_at = clock_timestamp(), missing_answer = 'no_record', missing_many = ?
     where installation = ? and kind = 'payment' and id = any(?)`,
    [many, id, ids],
  );
  await query(db, `update document set dirty = true where installation = ? and kind = 'payment' and id = any(?)`, [
    id,
    ids,
  ]);
  await clinic.post();
}

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id, seed: 5, invoices: 30 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
  await clinic.pull();
  await clinic.post();
  const found = await query<{ id: number }>(
    db,
    `select id from document where installation = ? and kind = 'payment' and state = 'posted' order by id limit 10`,
    [id],
  );
  payments = found.map((each) => each.id);
});
afterAll(() => clinic?.remove());

test('one is confirmed by its id, with what its id answered shown before', async () => {
  const [first] = payments;
  await missing([first!], false);
  const { documents } = (await command('late', '--json')).json();
  expect(documents).toMatchObject([
    { id: `${id}/payment/${first}`, code: 'missing_in_source', decisions: ['--confirm-gone'] },
  ]);
  expect(documents[0].message).toContain('a request for its id returned no record');
  expect((await command('late', 'decide', `${id}/payment/${first}`, '--redate', '--reason', 'no')).code).toBe(2);
  expect((await confirm(`${id}/payment/${first}`)).code).toBe(0);
  expect((await confirm(`${id}/payment/${first}`)).code).toBe(1);
  await clinic.post();
  expect(await statesOf([first!])).toEqual(['reversed']);
});

test('many are one problem, and confirmed with the number shown', async () => {
  const many = payments.slice(1, 8);
  await missing(many, true);
  const { problems } = (await command('problems', '--json')).json();
  const one = problems.filter(({ code }: { code: string }) => code === 'source_shrank');
  expect(one).toMatchObject([{ id: `${id}/payment/source_shrank`, document: '7 payments' }]);
  expect(one[0].todo).toContain('code=source_shrank,kind=payment --number 7 --confirm-gone');
  expect((await command('problems')).stdout).toContain('does not show 7 posted documents');
  const filter = ['--filter', 'code=source_shrank,kind=payment'];
  for (const [words, code] of [
    [[`${id}/payment/${many[0]}`], 2],
    [filter, 2],
    [[...filter, '--number', '6'], 2],
    [['--filter', 'code=source_shrank,kind=payment,to=2020-01-01', '--number', '0'], 0],
    [['--filter', 'colour=red', '--number', '7'], 2],
    [[], 2],
  ] as [string[], number][]) {
    expect((await confirm(...words)).code, words.join(' ')).toBe(code);
  }
  expect(await statesOf(many)).toEqual(many.map(() => 'posted'));
  const decided = (await confirm(...filter, '--number', '7', '--json')).json();
  expect(decided.decided).toHaveLength(7);
  await clinic.post();
  expect(await statesOf(many)).toEqual(many.map(() => 'reversed'));
  const [decision] = (await command('explain', 'payment', String(many[0]), '--json')).json().decisions;
  expect(decision).toMatchObject({ decision: 'confirm_gone', reason: 'deleted there', by: 'M. Virtanen' });
});
