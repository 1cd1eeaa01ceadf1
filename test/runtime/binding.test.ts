import { expect, test } from 'vitest';
import { copyError, judgeBinding, type NotedBinding, type Whereabouts } from '../../src/runtime/binding/judge.ts';

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

test('who is refused reads both ways on', () => {
  const { message, todo } = copyError('it is on another server');
  expect(message).toContain('it is on another server');
  expect(todo).toContain('adopt --restored');
  expect(todo).toContain('adopt --copy');
});
