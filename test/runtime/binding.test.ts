import { expect, test } from 'vitest';
import { judgeBinding, type NotedBinding, refusalError, type Whereabouts } from '../../src/runtime/binding/judge.ts';

const here: Whereabouts = { system: '7', database: '16384', timeline: '00000001', namespace: 'ns-1' };
const noted: NotedBinding = { ...here, incarnation: 'b', next: null };
const b = { incarnation: 'b' };
const outside = { isEmbedded: false, trustsFailover: false };
const embedded = { isEmbedded: true, trustsFailover: false };
const trusting = { isEmbedded: false, trustsFailover: true };
const trustingEmbedded = { isEmbedded: true, trustsFailover: true };
const promoted = { ...here, timeline: '00000002' };
const unknown: Whereabouts = { system: null, database: null, timeline: null, namespace: null };

test.each([
  ['the first start', here, null, null, outside, 'to bind'],
  ['as it was', here, noted, b, outside, 'bound'],
  ['a process that ended before Temporal was told', here, { ...noted, next: 'c' }, b, outside, 'bound'],
  [
    'a process that ended after Temporal was told',
    here,
    { ...noted, next: 'c' },
    { incarnation: 'c' },
    outside,
    'bound',
  ],
  ['a backup from before it was bound', here, null, b, outside, 'refused'],
  ['a dump restored on another server', { ...here, system: '8' }, noted, b, outside, 'refused'],
  ['the same with a Temporal of its own', { ...here, system: '8', namespace: 'ns-2' }, noted, null, outside, 'refused'],
  [
    'the same with the development server',
    { ...here, system: '8', namespace: 'ns-2' },
    noted,
    null,
    embedded,
    'refused',
  ],
  ['a dump restored beside the original', { ...here, database: '16390' }, noted, b, outside, 'refused'],
  ['a point-in-time restore', { ...here, timeline: '00000002' }, noted, b, outside, 'refused'],
  ['a promoted standby that is trusted', promoted, noted, b, trusting, 'to bind'],
  [
    'the tenth timeline after the ninth',
    { ...here, timeline: '0000000A' },
    { ...noted, timeline: '00000009' },
    b,
    trusting,
    'to bind',
  ],
  [
    'one that lacks the note after Temporal was told',
    promoted,
    { ...noted, next: 'c' },
    { incarnation: 'c' },
    trusting,
    'to bind',
  ],
  ['one that lacks the note before Temporal was told', promoted, noted, { incarnation: 'c' }, trusting, 'refused'],
  ['one that lacks two renewals', promoted, { ...noted, next: 'c' }, { incarnation: 'd' }, trusting, 'refused'],
  ['one beside a Temporal that has lost the Schedule', promoted, noted, null, trusting, 'refused'],
  ['one with another Temporal namespace', { ...promoted, namespace: 'ns-2' }, noted, b, trusting, 'refused'],
  ['one with a new development server', { ...promoted, namespace: 'ns-2' }, noted, null, trustingEmbedded, 'refused'],
  ['an older timeline', here, { ...noted, timeline: '00000002' }, b, trusting, 'refused'],
  ['a newer timeline of another server', { ...promoted, system: '8' }, noted, b, trusting, 'refused'],
  ['a newer timeline of another database', { ...promoted, database: '16390' }, noted, b, trusting, 'refused'],
  ['the server before the failover, which is behind', here, noted, { incarnation: 'c' }, trusting, 'refused'],
  ['as it was, where a failover would be trusted', here, noted, b, trusting, 'bound'],
  ['a disk that was put back', here, noted, { incarnation: 'c' }, outside, 'refused'],
  ['another Temporal namespace', { ...here, namespace: 'ns-2' }, noted, null, outside, 'refused'],
  ['a development server whose file was deleted', { ...here, namespace: 'ns-2' }, noted, null, embedded, 'to bind'],
  ['a Schedule that was deleted', here, noted, null, outside, 'to bind'],
  [
    'servers that tell nothing of themselves',
    unknown,
    { ...unknown, incarnation: 'b', next: null },
    b,
    outside,
    'bound',
  ],
  [
    'such servers, and a copy that is behind',
    unknown,
    { ...unknown, incarnation: 'a', next: null },
    b,
    outside,
    'refused',
  ],
] as const)('%s', (_, at, note, held, where, is) => {
  expect(judgeBinding(at, note, held, where).is).toBe(is);
});

test('a refusal names its evidence and both ways on', () => {
  const refused = refusalError({ is: 'refused', evidence: 'it is on another server', isTemporal: false });
  expect(refused).toMatchObject({ code: 'database_copied', exitCode: 2 });
  expect(refused.message).toContain('it is on another server');
  expect(refused.todo).toContain('adopt --restored');
  expect(refused.todo).toContain('adopt --copy');
});

test('where only Temporal differs, a supervisor starts the daemon again: its data may come back', () => {
  const verdict = judgeBinding({ ...here, namespace: 'ns-2' }, noted, null, outside);
  if (verdict.is !== 'refused') throw new Error(verdict.is);
  const refused = refusalError(verdict);
  expect(refused).toMatchObject({ code: 'temporal_replaced', exitCode: 3 });
  expect(refused.todo).toContain('adopt --restored');
});
