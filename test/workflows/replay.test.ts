import { readdirSync, readFileSync } from 'node:fs';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/src/index.ts';
import { workflowBundle } from '../../src/runtime/bundle.ts';
import * as workflows from '../../workflows/index.ts';

/** Histories of real windows of this build, from scripts/record-histories.ts. */
const folder = new URL('../histories/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const historyOf = (name: string) => proto.temporal.api.history.v1.History.fromObject(JSON.parse(textOf(name)));

/** The workflow's id, with which the ids of its children begin. */
const idOf = (name: string) =>
  historyOf(name).events[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? undefined;

let bundle: string;
beforeAll(async () => {
  bundle = await workflowBundle();
});

describe('stored histories', () => {
  test('each course that a window can take is there', () => {
    const replays = ['replay', 'replay-window', 'replay-refused', 'retry-window'];
    const courses = [
      'first-window',
      'census-window',
      'idle-window',
      'refetch-window',
      'failed-window',
      'timed-out-window',
      'given-up-window',
    ];
    expect(names.map((name) => name.replace('.json', ''))).toEqual(
      expect.arrayContaining([
        ...courses,
        'first-window-given-up',
        'not-opened-window',
        'backfill',
        'scrub',
        'deliver',
        ...replays,
        'replay-one-failed',
      ]),
    );
    expect(activitiesOf('idle-window.json')).toEqual(['openWindow']);
    expect(activitiesOf('census-window.json')).toEqual(['openWindow', 'takeCensus', 'closeWindow']);
    expect(activitiesOf('refetch-window.json')).toContain('pullParts');
    expect(activitiesOf('failed-window.json')).toContain('failWindow');
    expect(activitiesOf('timed-out-window.json')).toContain('failWindow');
    expect(activitiesOf('given-up-window.json')).toContain('failWindow');
    expect(timersOf('given-up-window.json')).toHaveLength(1);
    // The timers are pauses between passes, and not the time-out of the window.
    expect(Math.max(...timersOf('first-window-given-up.json'))).toBeLessThan(10);
    expect(activitiesOf('first-window-given-up.json')).toContain('failWindow');
    expect(activitiesOf('not-opened-window.json')).toEqual(['openWindow', 'noteNotOpened']);
    expect(activitiesOf('first-window.json')).toContain('scanRows');
    expect(activitiesOf('replay-window.json')).toEqual(expect.arrayContaining(['backfillStream', 'closeWindow']));
    expect(activitiesOf('retry-window.json')).toEqual(['openWindow', 'post', 'summarise', 'closeWindow']);
    expect(activitiesOf('replay-refused.json')).toEqual(['planReplay']);
    expect(activitiesOf('backfill.json')).toEqual(
      expect.arrayContaining(['backfillStream', 'scanRows', 'completeRows']),
    );
  });

  test('each type of workflow has a history (run `node scripts/record-histories.ts`)', () => {
    const types = Object.keys(workflows);
    const recorded = names.map(
      (name) => historyOf(name).events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name,
    );
    expect(new Set(recorded)).toEqual(new Set(types));
  });

  test('all replay with the present workflows', async () => {
    const histories = names.map((name) => ({ workflowId: idOf(name) ?? name, history: historyOf(name) }));
    const replayed: string[] = [];
    const options = { workflowBundle: { codePath: bundle } };
    for await (const { error } of Worker.runReplayHistories(options, histories)) {
      const name = names[replayed.length];
      replayed.push(error === undefined ? `${name}` : `${name}: ${error.message}`);
    }
    expect(replayed).toEqual(names);
  });

  test.each([
    ['first-window.json', 'work.writeBack(input, window)', 'work.takeCensus(input, window)'],
    ['refetch-window.json', 'work.pullParts(input, window)', 'work.pullRows(input, window)'],
    ['deliver.json', 'await deliverSlice(input)', 'await scrubSlice(input)'],
    ['replay-window.json', 'work.summarise(input, window)', 'work.takeCensus(input, window)'],
    ['backfill.json', 'completeRows(input, window)', 'scanRows(input, window)'],
    ['failed-window.json', 'close.failWindow(input, window, counts,', 'close.closeWindow(input, window, counts,'],
  ])('%s does not replay where a step is another', async (name, step, other) => {
    const code = readFileSync(bundle, 'utf8');
    const changed = code.replace(step, other);
    expect(changed).not.toBe(code);
    await expect(Worker.runReplayHistory({ workflowBundle: { code: changed } }, historyOf(name))).rejects.toThrow(
      DeterminismViolationError,
    );
  });

  test('they hold ids, counts and plain errors: no record, no personal data, no token', async () => {
    const sandbox = await startSandbox({ seed: 51, invoices: 60 });
    const people = new Set<string>();
    for (const { payer_name, payer_address } of sandbox.clinic.invoices.all() as Iterable<Record<string, unknown>>) {
      for (const text of [payer_name, payer_address]) if (typeof text === 'string' && text !== '') people.add(text);
    }
    await sandbox.stop();
    expect(people.size).toBeGreaterThan(10);
    for (const name of names) {
      const payloads = payloadsOf(JSON.parse(textOf(name)));
      expect(payloads.length).toBeGreaterThan(2);
      const keys = new Set<string>();
      for (const payload of payloads) collectKeys(payload, keys);
      expect([...keys].filter((key) => !known.has(key))).toEqual([]);
      const text = `${textOf(name)}${JSON.stringify(payloads)}`;
      for (const person of people) expect(text).not.toContain(person);
      expect(text).not.toContain('token-of-the-recorded-clinic');
    }
  });
});

/** All allowed names in payloads. Check what a new name carries before you add it. */
const known = new Set(
  `installation trigger kind windowTimeoutSeconds searchAttributes fromDate
   opened sourceTime askedAt remarks
   window id token from to outcome error code message todo health note
   invoices rows payments prepayments seen pulled posted held delivered written written_back refetch
   activity trouble times since at unconfirmed
   api requests weight throttled waited_seconds streams stream step done total summaries
   state pauseMs isMore
   idle censusDue closed
   head seq hash
   identity currency timezone source
   replayed span spans windows invoice row payment prepayment failed failedToOpen leftOut timeoutSeconds
   identity currency timezone source
   settled refused uncertain drafted left unapproved nextDueMs waitingFor`.split(/\s+/),
);

function activitiesOf(name: string): string[] {
  const { events } = JSON.parse(textOf(name)) as {
    events: { activityTaskScheduledEventAttributes?: { activityType: { name: string } } }[];
  };
  return events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType.name ?? []);
}

/** The durations of the timers in seconds. */
const timersOf = (name: string) =>
  historyOf(name).events.flatMap(({ timerStartedEventAttributes }) =>
    timerStartedEventAttributes ? Number(timerStartedEventAttributes.startToFireTimeout?.seconds ?? 0) : [],
  );

/** Every payload of a history, decoded, because a search would not find names in base64. */
function payloadsOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('data' in value && typeof value.data === 'string') {
    const text = Buffer.from(value.data, 'base64').toString();
    return [text.startsWith('{') || text.startsWith('[') || text.startsWith('"') ? JSON.parse(text) : text];
  }
  return Object.values(value).flatMap(payloadsOf);
}

function collectKeys(value: unknown, keys: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) keys.add(key);
    collectKeys(inner, keys);
  }
}
