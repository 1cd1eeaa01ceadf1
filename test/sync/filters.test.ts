import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { readJson } from '../../src/records/json.ts';
import { parseRecord } from '../../src/records/schema.ts';
import { contradictedFilter } from '../../src/sync/walk/filter-check.ts';
import { filterTimestamp, sinceTimestamp, untilTimestamp } from '../../src/sync/walk/timestamps.ts';
import type { RecordKind } from '../../src/terms.ts';

const zone = 'Europe/Helsinki';
const check = (kind: RecordKind, fields: object, filter: string, value: string) =>
  contradictedFilter(
    { [filter]: value },
    parseRecord(kind, readJson(JSON.stringify({ id: 7, ...fields })), loadDialect()),
    zone,
  );

describe('a record that shows its filter to be ignored', () => {
  const cases: [RecordKind, object, string, string, boolean][] = [
    ['invoice', {}, 'id__gt', '7', true],
    ['invoice', {}, 'id__gte', '7', false],
    ['invoice', {}, 'id__lt', '7', true],
    ['invoice', {}, 'id__lte', '7', false],
    ['invoice', {}, 'id__lte', '6', true],
    ['invoice', { invoice_date: '2026-03-01' }, 'invoice_date__gte', '2026-03-02', true],
    ['invoice', { invoice_date: '2026-03-01' }, 'invoice_date__lte', '2026-03-01', false],
    ['invoice', { invoice_date: '2026-03-02' }, 'invoice_date__lte', '2026-03-01', true],
    ['invoice', { invoice_date: '2026-03-01T23:30:00Z' }, 'invoice_date__lte', '2026-03-01', false],
    ['invoice', { invoice_date: '2026-03-03T23:30:00Z' }, 'invoice_date__lte', '2026-03-01', true],
    ['invoice', { invoice_date: '2026-03-03' }, 'invoice_date__is_null', 'true', true],
    ['invoice', {}, 'invoice_date__gte', '2026-03-01', false],
    ['prepayment', { modified: '2026-03-01T10:00:00Z' }, 'modified__lt', '2026-03-01T10:00:00Z', false],
    ['prepayment', { modified: '2026-03-01T10:00:02Z' }, 'modified__lt', '2026-03-01T10:00:00Z', true],
    ['prepayment', { modified: '2026-03-01T10:00:02Z' }, 'modified__lte', '2026-03-01T10:00:00.999999Z', true],
    ['payment', { date_added: '2026-03-01T10:00:00Z' }, 'date_added__gte', '2026-03-01T10:00:05Z', true],
    ['payment', { date_added: '2026-03-01T10:00:00Z' }, 'date_added__lte', '2026-03-01T10:00:05Z', false],
    ['payment', { invoice: 5 }, 'invoice__is', '6', true],
    ['payment', { invoice: 5 }, 'invoice__in', '4,5,6', false],
    ['row', {}, 'invoice__in', '4,5,6', true],
  ];
  test.each(cases)('%s %j under %s=%s: %s', (kind, fields, filter, value, ignored) => {
    expect(check(kind, fields, filter, value)).toBe(ignored ? filter : null);
  });
});

test.each([
  ['with an offset', 'offset', '2026-10-25T00:30:00.500Z', '2026-10-25T00:30:00Z'],
  ['local', 'naive', '2026-06-01T09:00:00Z', '2026-06-01T12:00:00'],
  ['near a change of clocks an hour earlier', 'naive', '2026-10-25T00:30:00Z', '2026-10-25T02:30:00'],
] as const)('a lower bound %s', (_name, style, instant, text) => {
  expect(filterTimestamp(new Date(instant), style, zone)).toBe(text);
});

test.each([
  ['with an offset nothing is in doubt', 'offset', zone, '2026-06-01T09:00:00Z', '2026-06-01T09:00:00Z'],
  ['east of Greenwich UTC is the earlier', 'naive', zone, '2026-06-01T09:00:00Z', '2026-06-01T09:00:00'],
  ['west of it the local time is', 'naive', 'America/New_York', '2026-06-01T09:00:00Z', '2026-06-01T05:00:00'],
] as const)('what has changed since, where a time may be local or UTC: %s', (_name, style, timezone, instant, text) => {
  expect(sinceTimestamp(new Date(instant), style, [timezone, 'UTC'])).toBe(text);
});

test.each([
  ['the next whole second', 'offset', zone, '2026-06-01T09:00:00.200Z', '2026-06-01T09:00:01Z'],
  ['a whole second itself', 'offset', zone, '2026-06-01T09:00:00Z', '2026-06-01T09:00:00Z'],
  ['east of Greenwich the local time is the later', 'naive', zone, '2026-06-01T09:00:00Z', '2026-06-01T12:00:00'],
  ['west of it UTC is', 'naive', 'America/New_York', '2026-06-01T09:00:00Z', '2026-06-01T09:00:00'],
  ['near a change of clocks an hour later', 'naive', zone, '2026-10-25T01:30:00Z', '2026-10-25T04:30:00'],
  ['before the clocks go back', 'naive', zone, '2026-10-25T00:30:00Z', '2026-10-25T03:30:00'],
] as const)('an upper bound: %s', (_name, style, timezone, instant, text) => {
  expect(untilTimestamp(new Date(instant), style, [timezone, 'UTC'])).toBe(text);
});
