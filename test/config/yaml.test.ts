// YAML texts as people send them: the first fault with its place, also of a text that was made to take long.
import { expect, test } from 'vitest';
import { valuesOf } from '../../src/config/yaml.ts';

test.each<[string, unknown]>([
  ['a: 0100\nb: [1, {c: 2.50}]', { a: '0100', b: [1, { c: '2.50' }] }],
  ['a: {b: 1}\nc: {b: 1}', { a: { b: 1 }, c: { b: 1 } }],
  ['a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
])('%j is read', (text, values) => {
  expect(valuesOf(text)).toEqual({ values });
});

test.each([
  ['a: 1\nb: 2\na: 3', 'A map has this key twice at line 3, column 1'],
  ['a:\n  - {b: 1, "b": 2}', 'A map has this key twice at line 2, column 12'],
  ['a: [1\nb: 2', /^Flow sequence .* at line 2, column 1$/],
])('%j has a fault', (text, fault) => {
  expect(valuesOf(text)).toEqual({ fault: expect.stringMatching(fault) });
});

/** As long as a form of the console accepts. Before, the first took 2.4 s of processor time. */
test.each([
  ['commas', `[${','.repeat(60_000)}`],
  ['nested lists', '['.repeat(60_000)],
  ['7,500 keys and a second one', `${Array.from({ length: 7500 }, (_, n) => `k${n}: 1\n`).join('')}k0: 1`],
])('a text of %s has a fault after at most 1.6 s of processor time', (_, text) => {
  const before = process.cpuUsage();
  expect(valuesOf(text)).toHaveProperty('fault');
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1600);
});
