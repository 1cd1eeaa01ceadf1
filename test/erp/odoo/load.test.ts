import { describe, expect, test } from 'vitest';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import { ErpError } from '../../../src/erp/port.ts';
import { loadedIds } from '../../../src/erp/targets/odoo/load.ts';
import type { JsonValue } from '../../../src/records/json.ts';

const entry = (key: string): ErpEntry => ({
  ...{ key, unitId: '4711/invoice/1/1', installation: 4711, date: '2026-03-05', journal: 'MISC', reverses: null },
  ...{ description: 'Invoice 1', reference: null, lines: [] },
});
const one = [entry('ABCDEFGHIJKLMNOPQRST')];
const two = [...one, entry('BBCDEFGHIJKLMNOPQRST')];
const refused = (message: string, more: object = {}): JsonValue => ({
  ids: false,
  messages: [{ type: 'error', record: 0, rows: { from: 0, to: 1 }, message, ...more }],
  nextrow: 0,
});

function errorOf(answer: JsonValue, entries: readonly ErpEntry[]): ErpError {
  try {
    loadedIds(answer, entries);
  } catch (error) {
    if (error instanceof ErpError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

test('the import returns ids in the order of the entries; a warning beside them is not an error', () => {
  expect(loadedIds({ ids: [8, 7], messages: [], nextrow: 0 }, two)).toEqual([8, 7]);
  expect(loadedIds({ ids: [8], messages: [{ type: 'warning', message: 'x' }] }, one)).toEqual([8]);
});

describe('an import that created nothing', () => {
  test.each<[text: string, means: string, problem: string | null]>([
    ['The entry is not balanced.', 'refused', 'erp_unbalanced'],
    ['An error has occurred.\n\nThe entry is not balanced.', 'refused', 'erp_unbalanced'],
    ['Something that Odoo does not like', 'refused', 'erp_refused'],
    ["You are not allowed to create 'Contact' (res.partner) records.", 'auth', null],
    ['violates foreign key constraint "account_move_line_account_id_fkey"', 'refused', 'erp_account_unknown'],
    // The import reports PostgreSQL's messages as if they were about an entry.
    ['could not serialize access due to concurrent update\n', 'locked', null],
    ['canceling statement due to lock timeout\nLINE 1: INSERT INTO "account_move_line"', 'locked', null],
    // Odoo may have stored the batch before the time-out. The next attempt sends fewer entries, which take less time.
    ['canceling statement due to statement timeout\n', 'doubt', 'erp_refused_unknown'],
    ['could not extend file "base/16/1": No space left on device', 'doubt', 'erp_refused_unknown'],
    ['server closed the connection unexpectedly', 'doubt', 'erp_refused_unknown'],
    ["Unknown error during import: <class 'MemoryError'>: ", 'doubt', 'erp_refused_unknown'],
    ["Unknown database error: 'current transaction is aborted'", 'doubt', 'erp_refused_unknown'],
  ])('%j', (text, means, problem) => {
    const error = errorOf(refused(text), one);
    expect([error.means, error.problem]).toEqual([means, problem]);
  });

  test('names the entry if there is only one, whatever row the message names', () => {
    expect(errorOf(refused('No', { record: 1 }), one).keys).toEqual(['ABCDEFGHIJKLMNOPQRST']);
    expect(errorOf(refused('No', { record: 1 }), two).keys).toEqual([]);
  });

  test('is no refusal without a reason, or with an answer of another form', () => {
    const known = { means: 'doubt', problem: 'erp_refused_unknown' };
    expect(errorOf({ ids: false, messages: [] }, one)).toMatchObject(known);
    expect(errorOf({ ids: false }, one)).toMatchObject(known);
    for (const answer of [{}, { status: 'ok' }, { ids: null }, { ids: ['7'] }, [], true, null] as JsonValue[])
      expect(errorOf(answer, one)).toMatchObject({ means: 'doubt' });
  });
});
