import { beforeEach, describe, expect, test } from 'vitest';
import { bool, integer, nullable, text } from '../../src/db/columns.ts';
import { row, rows } from '../../src/db/rows.ts';
import { claimDocuments, waitingDocuments } from '../../src/documents/claim-documents.ts';
import { countWaiting } from '../../src/documents/count.ts';
import { countInForce, documentsInForce, everything } from '../../src/documents/in-force.ts';
import { markDirty, markForChangedConditions, markKnown } from '../../src/documents/mark.ts';
import { markRefetched, noteRefetched } from '../../src/documents/mark-refetched.ts';
import { type JudgedState, saveJudged, saveRemapped } from '../../src/documents/save.ts';
import { documentKinds } from '../../src/terms.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
let installation = 100;
beforeEach(() => {
  installation += 1;
});

const later = () => new Date(Date.now() + 3_600_000);
const claim = (includeAwaitingParts = false, judgedBefore = later()) =>
  db.transaction((trx) => claimDocuments(trx, installation, { limit: 10, includeAwaitingParts, judgedBefore }));
const idsOf = (documents: { id: number }[]) => documents.map(({ id }) => id);
const judged = (id: number, mark: number, change: Partial<JudgedState> = {}): JudgedState => ({
  ...{ kind: 'invoice', id, mark, state: 'posted', documentDate: '2026-02-01', awaitsParts: false, reports: [] },
  ...{
    entryId: `${installation}/invoice/${id}/1`,
    inputHash: 'h',
    entriesAdded: 1,
    problem: null,
    remapHeld: false,
    outside: null,
    late: { atClose: false, version: null, decision: null },
  },
  ...change,
});
const stored = (id: number) =>
  row(
    db,
    { dirty: bool, refetch: text, state: text, code: nullable(text), since: nullable(text), entries: integer },
    `select dirty, refetch, state, problem_code as code, problem_since::text as since, entry_count as entries
     from document where installation = ? and kind = 'invoice' and id = ?`,
    [installation, id],
  );
const reports = () =>
  rows(
    db,
    { code: text, message: text },
    'select code, message from document_report where installation = ? order by code',
    [installation],
  );

describe('marking', () => {
  test('new documents are inserted, known ones are marked; markKnown inserts none', async () => {
    await markDirty(db, installation, 'invoice', [2, 1]);
    await markKnown(db, installation, 'invoice', [1, 3]);
    const claimed = await claim();
    expect(claimed.map(({ id, mark, state }) => [id, mark, state])).toEqual([
      [1, 1, 'pending'],
      [2, 1, 'pending'],
    ]);
  });

  test('a document that is marked while it is being judged stays marked', async () => {
    await markDirty(db, installation, 'invoice', [1, 2]);
    await saveJudged(db, installation, [judged(1, 1), judged(2, 1)]);
    await markDirty(db, installation, 'invoice', [1]);
    const [document] = await claim();
    expect(document).toMatchObject({ id: 1, mark: 2, entryCount: 1 });
    await saveJudged(db, installation, [judged(1, 1, { entriesAdded: 0 })]);
    expect(idsOf(await claim())).toEqual([1]);
    await saveJudged(db, installation, [judged(1, 2, { entriesAdded: 0 })]);
    expect(idsOf(await claim())).toEqual([]);
  });

  test('changed conditions mark what has a problem or lies before the start date', async () => {
    await markDirty(db, installation, 'invoice', [1, 2, 3]);
    const problem = { code: 'role_unmapped', message: 'm' };
    await saveJudged(db, installation, [
      judged(1, 1, { state: 'held', problem, entryId: null, inputHash: null, entriesAdded: 0 }),
      judged(2, 1, { state: 'before_start', entryId: null, inputHash: null, entriesAdded: 0 }),
      judged(3, 1),
    ]);
    const waiting = (conditionsChanged: boolean) =>
      waitingDocuments(db, installation, { after: null, limit: 10, conditionsChanged });
    expect([idsOf(await waiting(false)), idsOf(await waiting(true))]).toEqual([[], [1, 2]]);
    await markForChangedConditions(db, installation);
    expect(idsOf(await waiting(false))).toEqual([1, 2]);
  });
});

test('a document whose parts are wanted is claimed again once they came, or in the last round, once', async () => {
  await markDirty(db, installation, 'invoice', [1]);
  const began = new Date(0);
  await saveJudged(db, installation, [judged(1, 1, { awaitsParts: true, state: 'pending' })]);
  expect(await countWaiting(db, installation)).toEqual({ held: 0, wanted: 1, isMarked: true });
  expect([idsOf(await claim()), idsOf(await claim(true, began)), idsOf(await claim(true))]).toEqual([[], [], [1]]);
  await markRefetched(db, installation, [{ kind: 'invoice', id: 1 }]);
  expect(await claim()).toMatchObject([{ id: 1, mark: 2, refetch: 'done' }]);
  await saveJudged(db, installation, [judged(1, 2)]);
  await noteRefetched(db, installation, [{ kind: 'invoice', id: 1 }]);
  expect(await stored(1)).toMatchObject({ dirty: false, refetch: 'done' });
});

test('a change that is held counts as held, as `problems` lists it', async () => {
  await markDirty(db, installation, 'invoice', [1, 2, 3]);
  const problem = { code: 'role_unmapped', message: 'm' };
  await saveJudged(db, installation, [
    judged(1, 1),
    judged(2, 1, { state: 'held', problem, entryId: null, inputHash: null, entriesAdded: 0 }),
    judged(3, 1, { problem: { code: 'change_held', message: 'm' } }),
  ]);
  expect(await countWaiting(db, installation)).toEqual({ held: 2, wanted: 0, isMarked: false });
});

test('a problem keeps the instant when it was found, and reports are one row for each code', async () => {
  await markDirty(db, installation, 'invoice', [1]);
  const held = (code: string, found: JudgedState['reports'] = []) =>
    saveJudged(db, installation, [judged(1, 1, { state: 'held', problem: { code, message: code }, reports: found })]);
  const one = { code: 'vat_rate_disagrees', message: 'row 1' };
  await held('rows_missing', [one, { ...one, message: 'row "2"' }, { code: 'due_sum_disagrees', message: 'due' }]);
  const { since } = await stored(1);
  expect(await reports()).toEqual([
    { code: 'due_sum_disagrees', message: 'due' },
    { code: 'vat_rate_disagrees', message: 'row 1; row "2"' },
  ]);
  await held('rows_missing', [one]);
  expect((await stored(1)).since).toBe(since);
  expect(await reports()).toEqual([one]);
  await held('rows_stale');
  expect((await stored(1)).since).not.toBe(since);
  expect(await reports()).toEqual([]);
});

test('a correction after a changed mapping leaves marks, state and reports', async () => {
  await markDirty(db, installation, 'invoice', [1]);
  await saveJudged(db, installation, [judged(1, 1, { reports: [{ code: 'due_sum_disagrees', message: 'due' }] })]);
  await markDirty(db, installation, 'invoice', [1]);
  const [document] = await documentsInForce(db, installation, everything, {
    kinds: documentKinds,
    after: null,
    limit: 10,
    lock: false,
  });
  expect(document).toMatchObject({ id: 1, entryId: `${installation}/invoice/1/1`, entryCount: 1 });
  await saveRemapped(db, installation, [judged(1, 1, { state: 'held', entriesAdded: 2 })]);
  expect(await stored(1)).toMatchObject({ dirty: true, state: 'posted', entries: 3 });
  expect(await reports()).toHaveLength(1);
});

test('documents in force are selected by id or by document date', async () => {
  await markDirty(db, installation, 'invoice', [1, 2, 3]);
  await saveJudged(db, installation, [
    judged(1, 1, { documentDate: '2026-01-31' }),
    judged(2, 1),
    judged(3, 1, { entryId: null, inputHash: null, state: 'reversed' }),
  ]);
  const found = async (selection: Partial<typeof everything>) =>
    idsOf(
      await documentsInForce(
        db,
        installation,
        { ...everything, ...selection },
        { kinds: documentKinds, after: null, limit: 10, lock: false },
      ),
    );
  expect(await found({})).toEqual([1, 2]);
  expect(await found({ from: '2026-02-01' })).toEqual([2]);
  expect(await found({ to: '2026-01-31' })).toEqual([1]);
  expect(await found({ documents: [{ kind: 'invoice', id: 2 }] })).toEqual([2]);
  expect(await found({ documents: [{ kind: 'payment', id: 2 }] })).toEqual([]);
  expect(await countInForce(db, installation, everything)).toBe(2);
});
