import { expect, test } from 'vitest';
import type { TimedEvent } from '../../src/domain/events.ts';
import { pauseDelivery, resumeDelivery } from '../../src/erp/outbox/state.ts';
import { Events } from '../../src/runtime/events.ts';
import { pauseStates, setPaused } from '../../src/sync/pauses.ts';
import { nudgeNow } from '../../src/windows/nudge-now.ts';
import { PauseEvents, wantedState } from '../../src/windows/pausing.ts';
import { orphanNote } from '../../src/windows/schedule-names.ts';
import { holdNoteOf } from '../../workflows/messages.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();

const bo = { actedBy: 'Bo', reason: 'upgrade' };
const held = { paused: true, note: 'paused by Bo: upgrade (vetledger pause)' };

test.each([
  ['nobody ever paused', null, { paused: false }, { paused: false }],
  ['paused by us, the schedule not told', bo, { paused: false }, held],
  ['resumed by us, the schedule not told', null, held, { paused: false }],
  ['paused by us and told', bo, held, held],
  ['paused by us, and resumed in Temporal', bo, { paused: false, note: 'moved' }, held],
  ['paused by both', bo, { paused: true, note: 'moving' }, held],
  ['paused in Temporal', null, { paused: true, note: 'paused by Anna' }, { paused: true, note: 'paused by Anna' }],
  ['paused in Temporal without a note', null, { paused: true }, { paused: true, note: '' }],
  ['orphaned, and configured again', null, { paused: true, note: orphanNote }, { paused: false }],
  ['orphaned while it was paused', bo, { paused: true, note: orphanNote }, held],
] as const)('how the schedule has to be: %s', (_, pause, now, wanted) => {
  expect(wantedState(pause, now)).toEqual(wanted);
});

test.each([
  ['not paused', { paused: false }, 'asked'],
  ['resumed, and the Schedule still has our pause', held, 'asked'],
  ['paused in Temporal', { paused: true, note: 'moving' }, 'paused'],
] as const)('a window asked for now: %s', async (_, state, wanted) => {
  let triggered = 0;
  const handle = { describe: async () => ({ state }), trigger: async () => (triggered += 1) };
  const client = { schedule: { getHandle: () => handle }, withDeadline: (_at: number, work: () => unknown) => work() };
  const app = { db, temporalName: 'x', config: { temporal: { taskQueue: 'vetledger' } } };
  expect(await nudgeNow(app as never, client as never, 77)).toEqual({ installation: 77, state: wanted });
  expect(triggered).toBe(wanted === 'asked' ? 1 : 0);
});

test.each([
  [undefined, { reason: 'no reason was given', by: 'a user of the Temporal UI' }],
  ['  closing ', { reason: 'closing', by: 'a user of the Temporal UI' }],
  [
    { reason: 'closing', by: 'Bo' },
    { reason: 'closing', by: 'Bo' },
  ],
  [
    { reason: '', by: '' },
    { reason: 'no reason was given', by: 'a user of the Temporal UI' },
  ],
  [{ reason: 7 }, null],
  [{ why: 'closing' }, null],
  [['x'], null],
  [[1, 2], null],
  [{ reason: 'x'.repeat(900) }, { reason: 'x'.repeat(500), by: 'a user of the Temporal UI' }],
  [7, null],
])('what a signal carries: %j', (said, note) => {
  expect(holdNoteOf(said)).toEqual(note);
});

test('each pause and resumption of windows and of the delivery is logged once, and none from before the first look', async () => {
  const by = { actedBy: 'Bo', reason: 'upgrade' };
  const ids = [1, 2];
  const events = new Events(() => new Date('2026-05-04T09:00:00Z'));
  const told: TimedEvent[] = [];
  events.on((event) => told.push(event));
  const pauses = new PauseEvents({ db, events });
  const look = async () => pauses.look(ids, await pauseStates(db, ids));
  const windows = (installation: number, isPaused: boolean) =>
    db.transaction((trx) => setPaused(trx, installation, isPaused, by));

  await db.transaction((trx) => pauseDelivery(trx, 1, by));
  await windows(1, true);
  await look();
  expect(told).toEqual([]);
  await db.transaction((trx) => resumeDelivery(trx, 1, by));
  await db.transaction((trx) => pauseDelivery(trx, 2, { ...by, reason: 'closing' }));
  await windows(1, false);
  await look();
  await look();
  const of = { time: '2026-05-04T09:00:00.000Z', by: 'Bo' };
  expect(told).toEqual([
    { event: 'resumed', installation: 1, what: 'windows', reason: 'upgrade', ...of },
    { event: 'resumed', installation: 1, what: 'delivery', reason: 'upgrade', ...of },
    { event: 'paused', installation: 2, what: 'delivery', reason: 'closing', ...of },
  ]);
});
