import { describe, expect, test } from 'vitest';
import { RateLimits } from '../src/http/rate.ts';
import { dec, fixed, negated } from '../src/money.ts';
import type { RecordBase } from '../src/records.ts';
import { Table } from '../src/table.ts';
import { Zone } from '../src/zone.ts';

describe('Zone', () => {
  const zone = new Zone('Europe/Helsinki');
  test.each([
    ['2026-03-29T00:59:59Z', '2026-03-29T02:59:59.000000+02:00'],
    ['2026-03-29T01:00:00Z', '2026-03-29T04:00:00.000000+03:00'],
    ['2026-10-25T00:30:00Z', '2026-10-25T03:30:00.000000+03:00'],
    ['2026-10-25T01:30:00Z', '2026-10-25T03:30:00.000000+02:00'],
  ])('%s is %s there', (utc, local) => {
    expect(zone.timestamp(Date.parse(utc), 'offset')).toBe(local);
    expect(zone.parse(local)).toBe(Date.parse(utc));
  });

  test.each([
    ['2026-01-31T22:30:00', '2026-01-31T20:30:00.000Z'],
    ['2026-01-31', '2026-01-30T22:00:00.000Z'],
    ['2026-06-01 10:00', '2026-06-01T07:00:00.000Z'],
    ['2026-06-01T10:00:00.123456-0330', '2026-06-01T13:30:00.123Z'],
    ['2026-06-01T10:00:00 02:00', null],
    ['2026-13-01T10:00:00Z', null],
    ['yesterday', null],
  ])('parses %s', (text, expected) => {
    const instant = zone.parse(text);
    expect(instant === null ? null : new Date(instant).toISOString()).toBe(expected);
  });
});

test.each([
  ['0.125', 2, '0.12'],
  ['0.135', 2, '0.14'],
  ['-0.125', 2, '-0.12'],
  ['-0.004', 2, '0.00'],
  ['2.5', 0, '2'],
  ['3.5', 0, '4'],
])('%s rounds half-even to %i decimals as %s', (text, places, expected) => {
  expect(fixed(dec(text), places)).toBe(expected);
});

test('negation keeps zero unsigned', () => {
  expect(['1.50', '-1.50', '0.00', '-0.0'].map(negated)).toEqual(['-1.50', '1.50', '0.00', '0.0']);
});

test('RateLimits: a true rolling window; each slot becomes free after one window', () => {
  const limits = new RateLimits(60);
  const ask = (weight: number, at: number) => {
    const taken = limits.take('invoice.list', weight, at * 1000);
    return taken.granted ? 'granted' : taken.retryAfterSeconds;
  };
  expect([ask(20, 0), ask(20, 30), ask(20, 31)]).toEqual(['granted', 'granted', 'granted']);
  expect([ask(1, 31), ask(21, 31), ask(61, 31)]).toEqual([29, 59, 60]);
  expect([ask(20, 60), ask(1, 60), ask(1, 90)]).toEqual(['granted', 30, 'granted']);
});

describe('Table', () => {
  const filled = () => {
    const table = new Table<RecordBase & { group: number }>(1, (record) => record.group);
    for (let id = 1; id <= 9; id++) table.add({ id, created: id, modified: 100 - id, group: id % 3 });
    return table;
  };
  const ids = (records: readonly RecordBase[]) => records.map((record) => record.id);

  test('selects by id range, ids, group and modified, always in order of id', () => {
    const table = filled();
    expect(ids(table.select({ idGreaterThan: 3, idLessThan: 6 }))).toEqual([4, 5]);
    expect(ids(table.select({ ids: [7, 2, 7, 99] }))).toEqual([2, 7]);
    expect(ids(table.select({ groups: [1, 2, 1] }))).toEqual([1, 2, 4, 5, 7, 8]);
    expect(ids(table.select({ modifiedFrom: 97 }))).toEqual([1, 2, 3]);
  });

  test('a change moves a record in the modified index; a deleted one is nowhere', () => {
    const table = filled();
    const ninth = table.get(9);
    if (ninth) table.change(ninth, { modified: 200 });
    table.delete(2);
    expect(ids(table.select({ modifiedFrom: 97 }))).toEqual([1, 3, 9]);
    expect(ids(table.select({ idLessThan: 4 }))).toEqual([1, 3]);
    expect(ids(table.of(2))).toEqual([5, 8]);
  });
});
