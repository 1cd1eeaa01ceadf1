import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { readJson } from '../../src/records/json.ts';
import { parseRecord } from '../../src/records/schema.ts';
import type { SourceRecord } from '../../src/records/types.ts';
import { probeList, verdictOf } from '../../src/sync/capabilities/probe.ts';
import { type ProbeRequest, probeRequestOf } from '../../src/sync/capabilities/probe-request.ts';
import { refusedFilter } from '../../src/sync/capabilities/refused-filter.ts';

const dialect = loadDialect();
const zone = 'Europe/Helsinki';

type Wire = { id: number; [field: string]: unknown };
const invoiceOf = (wire: Wire): SourceRecord => parseRecord('invoice', readJson(JSON.stringify(wire)), dialect);
const rowOf = (wire: Wire): SourceRecord => parseRecord('row', readJson(JSON.stringify(wire)), dialect);

/** Invoices of ten days, with `modified` a minute apart. */
const invoices = Array.from({ length: 10 }, (_, i) => ({
  id: 100 + i * 3,
  invoice_date: `2026-03-${String(10 + i)}`,
  modified: `2026-03-20T10:0${i}:00.500+02:00`,
}));
/** Two rows of each of five invoices. */
const rows = Array.from({ length: 10 }, (_, i) => ({ id: 500 + i, invoice: 41 + Math.floor(i / 2) }));

describe('the request of a probe', () => {
  test.each<[string, SourceRecord[], string, number[]]>([
    ['id__gt', invoices.map(invoiceOf), '113', [115, 118, 121, 124, 127]],
    ['id__lt', invoices.map(invoiceOf), '114', [100, 103, 106, 109, 112]],
    ['id__gt', invoices.slice(0, 2).map(invoiceOf), '101', [103]],
    ['id__gt', [{ id: 7 }, { id: 8 }].map(invoiceOf), '7', [8]],
    ['id__lt', [{ id: 8 }, { id: 7 }].map(invoiceOf), '8', [7]],
    ['id__gte', invoices.map(invoiceOf), '114', [115, 118, 121, 124, 127]],
    ['id__lte', invoices.map(invoiceOf), '113', [100, 103, 106, 109, 112]],
    ['id__gte', [{ id: 7 }, { id: 8 }].map(invoiceOf), '8', [8]],
    ['id__lte', [{ id: 7 }, { id: 8 }].map(invoiceOf), '7', [7]],
    ['modified__gte', invoices.map(invoiceOf), '2026-03-20T08:04:31Z', [115, 118, 121, 124, 127]],
    ['modified__lte', invoices.map(invoiceOf), '2026-03-20T08:04:30Z', [100, 103, 106, 109, 112]],
    ['modified__lt', invoices.map(invoiceOf), '2026-03-20T08:04:31Z', [100, 103, 106, 109, 112]],
    ['invoice_date__gte', invoices.map(invoiceOf), '2026-03-14', [115, 118, 121, 124, 127]],
    ['invoice__is', rows.map(rowOf), '41', [500, 501]],
    ['invoice__in', rows.map(rowOf), '41,42', [500, 501, 502, 503]],
  ])('%s divides the page', (filter, records, value, matching) => {
    const question = probeRequestOf(filter, records, zone) as ProbeRequest;
    expect(question.value).toBe(value);
    const ids = records.filter((record) => question.side(record) === 'in').map(({ id }) => id);
    expect(ids.sort((a, b) => a - b)).toEqual(matching);
  });

  const naive = (...times: string[]) =>
    times.map((time, i) => invoiceOf({ id: i + 1, modified: `2026-03-20T${time}` }));

  test('without offsets the request uses local time', () => {
    const question = probeRequestOf(
      'modified__gte',
      naive('09:00:00', '12:00:00', '15:00:00', '18:00:00'),
      zone,
    ) as ProbeRequest;
    expect(question.value).toBe('2026-03-20T13:30:00');
  });

  test.each<[string, string, SourceRecord[], string]>([
    ['no record', 'id__gt', [], 'the list has no records'],
    ['one record', 'id__gt', [invoiceOf({ id: 1 })], 'the list has only one record'],
    [
      'equal timestamps',
      'modified__gte',
      [1, 2, 3].map((id) => invoiceOf({ id, modified: '2026-03-20T10:00:00Z' })),
      'its first records differ too little in modified',
    ],
    [
      'less than an hour between timestamps without offset',
      'modified__gte',
      naive('09:00:00', '09:20:00', '09:40:00', '10:00:00'),
      'its first records differ too little in modified',
    ],
    [
      'no timestamps',
      'modified__gte',
      [1, 2].map((id) => invoiceOf({ id })),
      'its first records differ too little in modified',
    ],
    [
      'rows of one invoice',
      'invoice__is',
      [1, 2].map((id) => rowOf({ id, invoice: 9 })),
      'its first records differ too little in invoice',
    ],
    [
      'rows of two invoices, for two',
      'invoice__in',
      [1, 2].map((id) => rowOf({ id, invoice: id })),
      'its first records differ too little in invoice',
    ],
  ])('cannot be put where there is %s', (_what, filter, records, reason) => {
    expect(probeRequestOf(filter, records, zone)).toBe(reason);
  });
});

describe('the answer', () => {
  const records = [1, 2, 3, 4, 5, 6].map((id) => invoiceOf({ id }));
  const question = probeRequestOf('id__gt', records, zone) as ProbeRequest;
  const long = { count: 1_000, records };
  const short = { count: 6, records };
  const only = (...ids: number[]) => ids.map((id) => invoiceOf({ id }));

  test.each<[string, typeof long, typeof long, string, RegExp | null]>([
    ['what matches, all of it', short, { count: 3, records: only(4, 5, 6) }, 'honoured', null],
    ['what matches, and what came since', short, { count: 5, records: only(4, 5, 6, 7, 8) }, 'honoured', null],
    ['the first of what matches', long, { count: 997, records: only(4, 5, 6, 7, 8, 9) }, 'honoured', null],
    ['the whole list', short, short, 'ignored', /leave out/],
    ['one record that does not match', short, { count: 4, records: only(3, 4, 5, 6) }, 'ignored', /leave out/],
    [
      'another page of the whole list',
      long,
      { count: 1_001, records: only(40, 41, 42, 43, 44, 45) },
      'ignored',
      /whole list/,
    ],
    ['nothing', short, { count: 0, records: [] }, 'ignored', /lacks/],
    ['all that matches but one', short, { count: 2, records: only(4, 6) }, 'ignored', /lacks/],
  ])('that holds %s', (_what, before, answer, verdict, reason) => {
    const found = verdictOf(question, before, answer);
    expect(found.verdict).toBe(verdict);
    if (reason === null) expect(found.reason).toBeNull();
    else expect(found.reason).toMatch(reason);
  });
});

describe('a list', () => {
  const item = (wire: Wire) => ({ id: wire.id, raw: '', value: readJson(JSON.stringify(wire)) });
  const payments = [1, 2, 3, 4].map((id) => item({ id, invoice: 20 + (id % 2) }));
  const first = { count: 4, results: payments };
  const refused = (message: string, status = 400, fields: string[] = []) =>
    new PracticeError(status === 400 ? 'refused' : 'forbidden', message, { status, fields });
  const probe = (answer: (filters: Record<string, string>) => typeof first) =>
    probeList({ list: async (filters) => answer(filters), dialect, timezone: zone }, 'payment', first);
  const byId = (keep: (id: number) => boolean) => {
    const results = payments.filter(({ id }) => keep(id));
    return { count: results.length, results };
  };

  test('is asked once for each filter, one at a time', async () => {
    const asked: string[] = [];
    const findings = await probe((filters) => {
      asked.push(...Object.entries(filters).map(([filter, value]) => `${filter}=${value}`));
      if (filters.id__gt) return byId((id) => id > Number(filters.id__gt));
      return filters.id__lt ? byId((id) => id < Number(filters.id__lt)) : byId((id) => id % 2 === 1);
    });
    expect(asked).toEqual(['id__gt=2', 'id__lt=3', 'invoice__is=21']);
    expect(findings.map(({ filter, verdict }) => [filter, verdict])).toEqual([
      ['id__gt', 'honoured'],
      ['id__lt', 'honoured'],
      ['invoice__is', 'honoured'],
    ]);
  });

  test('a server that refuses a filter with 400 does not honour it; another failure shows nothing; alternatives are tried', async () => {
    const findings = await probe((filters) => {
      if (filters.id__gt) throw refused('id__gt: unknown');
      if (filters.id__gte) return byId((id) => id >= Number(filters.id__gte));
      if (filters.id__lt) throw refused('not allowed', 403);
      return first;
    });
    expect(findings).toMatchObject([
      { filter: 'id__gt', verdict: 'ignored', reason: 'the server refuses it' },
      { filter: 'id__gte', verdict: 'honoured' },
      { filter: 'id__lt', verdict: 'unknown', reason: 'not allowed' },
      { filter: 'invoice__is', verdict: 'ignored' },
    ]);
  });

  test.each<[string, unknown, Record<string, string>, string | null]>([
    ['names one', refused('no', 400, ['id__lt']), { modified__gte: 'x', id__lt: '4' }, 'id__lt'],
    ['names none of one', refused('no'), { id__lt: '4' }, 'id__lt'],
    ['names none of two', refused('no'), { id__lt: '4', id__gt: '1' }, null],
    ['came without a filter', refused('no'), {}, null],
    ['is no 400', refused('id__lt', 403), { id__lt: '4' }, null],
    ['is no error of the API', new Error('id__lt'), { id__lt: '4' }, null],
  ])('a refusal that %s', (_what, error, sent, filter) => {
    expect(refusedFilter(error, sent)).toBe(filter);
  });
});
