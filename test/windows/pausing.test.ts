import { expect, test } from 'vitest';
import type { TimedEvent } from '../../src/domain/events.ts';
import { pauseDelivery, resumeDelivery } from '../../src/erp/outbox/state.ts';
import { Events } from '../../src/runtime/events.ts';
import { pauseStates, setPaused } from '../../src/sync/pauses.ts';
import { pauseNote, pauseStep, ToldPauses } from '../../src/windows/pausing.ts';
import { holdNoteOf } from '../../workflows/messages.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();

const orphaned = 'the installation is no longer configured';
const paused = { isPaused: true, isFollowed: true };
const resumed = { isPaused: false, isFollowed: true };
const untold = (isPaused: boolean) => ({ isPaused, isFollowed: false });
const shut = { paused: true, note: 'x' };
const open = { paused: false, note: 'x' };

test.each([
  ['nobody ever paused', null, open, 'nothing'],
  ['paused in Temporal, never before by us', null, shut, 'note a pause'],
  ['paused by us, the schedule not told', untold(true), open, 'pause the schedule'],
  ['resumed by us, the schedule not told', untold(false), shut, 'resume the schedule'],
  ['paused by us and told', paused, shut, 'nothing'],
  ['resumed in Temporal after our pause', paused, open, 'note a resumption'],
  ['paused in Temporal after our resumption', resumed, shut, 'note a pause'],
  ['paused by both at once', untold(true), shut, 'nothing'],
  ['orphaned, and configured again', null, { paused: true, note: orphaned }, 'resume the schedule'],
  ['orphaned while it was paused', paused, { paused: true, note: orphaned }, 'nothing'],
  ['orphaned after a resumption', resumed, { paused: true, note: orphaned }, 'resume the schedule'],
] as const)('%s', (_, row, schedule, step) => {
  expect(pauseStep(row, schedule)).toBe(step);
});

test('the note of the schedule says who and why; what was written in Temporal stays as it is', () => {
  expect(pauseNote({ via: 'command', actedBy: 'M. Virtanen', reason: 'upgrade' })).toBe(
    'paused by M. Virtanen: upgrade',
  );
  expect(pauseNote({ via: 'temporal', actedBy: 'somebody in Temporal', reason: 'moving' })).toBe('moving');
});

test.each([
  [undefined, { reason: 'no reason was given', by: 'somebody in Temporal' }],
  ['  closing ', { reason: 'closing', by: 'somebody in Temporal' }],
  [
    { reason: 'closing', by: 'Bo' },
    { reason: 'closing', by: 'Bo' },
  ],
  [
    { reason: 7, by: '' },
    { reason: 'no reason was given', by: 'somebody in Temporal' },
  ],
  [['x'], { reason: 'no reason was given', by: 'somebody in Temporal' }],
  [{ reason: 'x'.repeat(900) }, { reason: 'x'.repeat(500), by: 'somebody in Temporal' }],
  [7, null],
])('what a signal carries: %j', (said, note) => {
  expect(holdNoteOf(said)).toEqual(note);
});

test('each pause and resumption of windows and of the delivery is told once, and none that was before the first look', async () => {
  const by = { actedBy: 'Bo', reason: 'upgrade' };
  const ids = [1, 2];
  const events = new Events(() => new Date('2026-05-04T09:00:00Z'));
  const told: TimedEvent[] = [];
  events.on((event) => told.push(event));
  const pauses = new ToldPauses({ db, events });
  const look = async () => pauses.look(ids, await pauseStates(db, ids));
  const windows = (installation: number, isPaused: boolean) =>
    db.transaction((trx) => setPaused(trx, installation, isPaused, { ...by, via: 'command' }));

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
