import { expect, test } from 'vitest';
import { judgeBinding, type NotedBinding, refusalError, type Whereabouts } from '../../src/runtime/binding/judge.ts';

const here: Whereabouts = { system: '7', database: '16384', timeline: '00000001', namespace: 'ns-1' };
const noted: NotedBinding = { ...here, incarnation: 'b', next: null };
const b = { incarnation: 'b' };
const outside = { isEmbedded: false };
const embedded = { isEmbedded: true };
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
