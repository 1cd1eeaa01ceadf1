import { describe, expect, test } from 'vitest';
import { businessDate, dateIn, firstOpenDay, instantOf } from '../../src/domain/dates.ts';

const helsinki = 'Europe/Helsinki';

describe('business date', () => {
  test.each([
    ['a plain date stays', '2026-01-15', helsinki, '2026-01-15'],
    ['a plain date stays west of Greenwich', '2026-01-15', 'America/New_York', '2026-01-15'],
    ['without an offset it is in the zone', '2026-01-15T23:59:59', helsinki, '2026-01-15'],
    ['a space instead of T', '2026-01-15 23:59', helsinki, '2026-01-15'],
    ['an evening invoice in UTC', '2026-01-15T21:59:59Z', helsinki, '2026-01-15'],
    ['midnight in the zone, told in UTC', '2026-01-15T22:00:00Z', helsinki, '2026-01-16'],
    ['lower case', '2026-01-15t22:00:00z', helsinki, '2026-01-16'],
    ['with fractions', '2026-01-15T21:59:59.999999Z', helsinki, '2026-01-15'],
    ['own offset, just after midnight', '2026-01-16T00:00:00+02:00', helsinki, '2026-01-16'],
    ['a foreign offset', '2026-01-15T23:30:00-05:00', helsinki, '2026-01-16'],
    ['an offset without colon', '2026-01-15T23:30:00+0000', helsinki, '2026-01-16'],
    ['an offset of hours', '2026-01-15T23:30:00+00', helsinki, '2026-01-16'],
    ['the year turns', '2025-12-31T22:00:00Z', helsinki, '2026-01-01'],
    ['summer time moves midnight', '2026-07-01T21:00:00Z', helsinki, '2026-07-02'],
    ['the night summer time begins', '2026-03-28T22:00:00Z', helsinki, '2026-03-29'],
    ['the night it ends, still summer', '2026-10-24T21:00:00Z', helsinki, '2026-10-25'],
    ['the night after it ended', '2026-10-25T21:59:59Z', helsinki, '2026-10-25'],
    ['half an hour zone', '2026-01-15T18:29:59Z', 'Asia/Kolkata', '2026-01-15'],
    ['half an hour zone, midnight', '2026-01-15T18:30:00Z', 'Asia/Kolkata', '2026-01-16'],
    ['the leap day', '2028-02-29', helsinki, '2028-02-29'],
    ['no such day', '2026-02-30', helsinki, null],
    ['no such leap day', '2026-02-29T10:00:00Z', helsinki, null],
    ['no such month', '2026-13-01', helsinki, null],
    ['no such hour', '2026-01-15T24:00:00', helsinki, null],
    ['no such offset', '2026-01-15T10:00:00+25:00', helsinki, null],
    ['another order', '15.01.2026', helsinki, null],
    ['half a timestamp', '2026-01-15T', helsinki, null],
    ['empty', '', helsinki, null],
    ['the last day', '9999-12-31', helsinki, '9999-12-31'],
    ['the year 10000 in the zone', '9999-12-31T23:59:59Z', helsinki, null],
    ['the year 9999 in the zone', '9999-12-31T23:59:59Z', 'America/New_York', '9999-12-31'],
    ['the first day', '0001-01-01', helsinki, '0001-01-01'],
    ['the year 0 in the zone', '0001-01-01T00:00:00Z', 'America/New_York', null],
    ['the year 0', '0000-12-31', helsinki, null],
    ['a year of five digits', '10000-01-01', helsinki, null],
  ])('%s', (_, text, zone, expected) => {
    expect(businessDate(text, zone)).toBe(expected);
  });
});

describe('instant', () => {
  test.each([
    ['with Z', '2026-01-15T10:00:00Z', '2026-01-15T10:00:00.000Z'],
    ['with an offset', '2026-01-15T10:00:00.5+02:00', '2026-01-15T08:00:00.500Z'],
    ['without, in winter', '2026-01-15T10:00:00', '2026-01-15T08:00:00.000Z'],
    ['without, in summer', '2026-07-15T10:00:00', '2026-07-15T07:00:00.000Z'],
    ['a plain date is midnight', '2026-01-15', '2026-01-14T22:00:00.000Z'],
    ['the last second before the gap', '2026-03-29T02:59:59', '2026-03-29T00:59:59.000Z'],
    ['within the gap', '2026-03-29T03:30:00', '2026-03-29T01:30:00.000Z'],
    ['after the gap', '2026-03-29T04:00:00', '2026-03-29T01:00:00.000Z'],
    ['told twice: the earlier', '2026-10-25T03:30:00', '2026-10-25T00:30:00.000Z'],
    ['after the hour told twice', '2026-10-25T04:00:00', '2026-10-25T02:00:00.000Z'],
  ])('%s', (_, text, expected) => {
    expect(instantOf(text, helsinki)?.toISOString()).toBe(expected);
  });

  test('nothing of an impossible day', () => {
    expect(instantOf('2026-04-31T10:00:00Z', helsinki)).toBeNull();
  });

  test('each thousandth of a minute is read as it is written, finer digits cut off', () => {
    const misread = Array.from({ length: 60_000 }, (_, ms) => new Date(Date.UTC(2026, 0, 15, 10, 0, 0, ms)))
      .map((instant) => [instant.toISOString(), instant.toISOString().replace('Z', '999Z')] as const)
      .filter((texts) => texts.some((text) => instantOf(text, helsinki)?.toISOString() !== texts[0]));
    expect(misread).toEqual([]);
  });
});

describe('local time', () => {
  // Changes of offset at odd minutes, of half an hour, across the date line, and from local mean time.
  test.each([
    ['Europe/Helsinki', '2026-03-28', '2026-10-24', '1921-04-30'],
    ['America/St_Johns', '2006-10-28', '2006-04-01', '2026-03-07'],
    ['Australia/Lord_Howe', '2026-04-04', '2026-10-03'],
    ['Pacific/Apia', '2011-12-29'],
  ])('%s: each quarter of an hour around a change is as Intl has it', (timezone, ...days) => {
    const clock = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short' });
    const instants = days.flatMap((day) =>
      Array.from({ length: 3 * 96 }, (_, n) => new Date(Date.parse(`${day}T00:00:00Z`) + n * 900_000)),
    );
    // Each instant is tested twice; the second time, the result comes from the cache.
    for (const instant of [...instants, ...instants]) expect(dateIn(timezone, instant)).toBe(clock.format(instant));
  });
});

describe('first open day', () => {
  test.each([
    ['no lock', '2026-01-15', null, null, '2026-01-15'],
    ['the day after our close is open', '2026-02-01', '2026-01-31', null, '2026-02-01'],
    ['the closed day itself moves on', '2026-01-31', '2026-01-31', null, '2026-02-01'],
    ['over the end of the year', '2025-12-30', '2025-12-31', null, '2026-01-01'],
    ["the source's lock date is its earliest open day", '2026-02-01', null, '2026-02-01', '2026-02-01'],
    ["before the source's lock date", '2026-01-31', null, '2026-02-01', '2026-02-01'],
    ['the later of both', '2026-01-15', '2026-01-31', '2026-03-01', '2026-03-01'],
    ['ours the later', '2026-01-15', '2026-03-31', '2026-03-01', '2026-04-01'],
  ])('%s', (_, from, closedThrough, earliestOpen, expected) => {
    expect(firstOpenDay(from, { closedThrough, earliestOpen })).toBe(expected);
  });
});
