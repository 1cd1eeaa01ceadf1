import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { errorText } from '../../src/db/database-errors.ts';
import { businessDate, instantOf } from '../../src/domain/dates.ts';
import { parseMoney } from '../../src/domain/money.ts';
import { isNear, nearest } from '../../src/domain/nearest.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { keepSecret, redact } from '../../src/domain/redact.ts';
import { serverRequestId } from '../../src/domain/request-ids.ts';
import { retryAfterMs } from '../../src/domain/retry-after.ts';
import { atOnce } from '../../src/domain/slices.ts';
import { clip, postgresText, visible, visibleIn, visibleLines, withoutEnd } from '../../src/domain/text.ts';
import { encode, fieldText } from '../../src/erp/code-pages.ts';
import { erpText } from '../../src/erp/erp-text.ts';
import { explain, safeText } from '../../src/erp/targets/api/explain.ts';
import { pageError } from '../../src/erp/targets/api/http.ts';
import { keyIn } from '../../src/erp/targets/api/keyed-text.ts';
import { odooCapabilities } from '../../src/erp/targets/odoo/capabilities.ts';
import { loadedIds } from '../../src/erp/targets/odoo/load.ts';
import { trytonCapabilities } from '../../src/erp/targets/tryton/capabilities.ts';
import { beancount } from '../../src/ledger/export/beancount.ts';
import { csvCell } from '../../src/ledger/export/csv-cell.ts';
import type { ExportedUnit } from '../../src/ledger/export/exported-unit.ts';
import { hledger } from '../../src/ledger/export/hledger.ts';
import { owedByName } from '../../src/mapping/owed.ts';
import { oneLine, quoted } from '../../src/mapping/propose-text.ts';
import { readAnswer } from '../../src/practice/answers.ts';
import { fieldMapOf, keptText, wholeRecord } from '../../src/records/field-map.ts';
import { canonicalJson, readJson } from '../../src/records/json.ts';
import { readListBody } from '../../src/records/list-body.ts';
import { originOf, parseRecord } from '../../src/records/schema.ts';
import { unusableOf } from '../../src/records/unusable.ts';
import { amount, flag, id, readReference, text } from '../../src/records/values.ts';

// Functions that process a text from outside must take time in proportion to its length. Otherwise a field of some
// hundred kilobytes could stop the other clinics of a process.

keepSecret('a-secret-of-this-process-0123456789');
const dialect = loadDialect();
const kinds = ['invoice', 'row', 'payment', 'prepayment'] as const;

/** A record with the text in each field. */
function recordOf(kind: (typeof kinds)[number], value: string): Record<string, unknown> {
  const fields = Object.values(dialect.fields[kind]).map((field) => [field.split('.')[0], value]);
  return { ...Object.fromEntries(fields), id: 1 };
}

function unitOf(value: string): ExportedUnit {
  const facts: [string, string][] = [['party', value]];
  return { id: '1/invoice/1/1', seq: 1, date: '2026-01-01', description: value, facts, recorded: [], lines: [] };
}

/** Errors that a reader may throw for an invalid text. Other errors fail the test. */
function tried(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof PracticeError || error instanceof Error)) throw error;
  }
}

const books = { currency: 'EUR', decimals: 2 } as Parameters<typeof hledger.entry>[1];
const said = (value: string) => ({ http: 200, code: 'UserError', text: value });
const page = (value: string) => ({ status: 502, text: value, retryAfter: value, ids: { request: 'x' } });
const answer = (value: string) => ({ status: 400, headers: { 'retry-after': value }, body: value });

const functions: Record<string, (value: string) => unknown> = {
  redact,
  'redact, cut': (value) => redact(value, 100),
  visible,
  visibleLines,
  visibleIn: (value) => visibleIn({ value }),
  postgresText,
  clip: (value) => clip(value, 1_000),
  withoutEnd: (value) => [withoutEnd(value, '/'), withoutEnd(value, '\n')],
  errorText: (value) => errorText(Object.assign(new Error(value), { code: '22P02' })),
  parseMoney,
  businessDate: (value) => [
    businessDate(value, 'Europe/Helsinki'),
    businessDate(`2026-01-01T${value}`, 'Europe/Helsinki'),
  ],
  instantOf: (value) => instantOf(`2026-01-01T10:00:00.${value}`, 'Europe/Helsinki'),
  nearest: (value) => [nearest(value, ['receivable', 'voucher_liability']), isNear(value, 'same')],
  serverRequestId: (value) => serverRequestId({ 'x-request-id': value }),
  readJson: (value) => tried(() => readJson(value)),
  'readJson, a text': (value) => tried(() => readJson(JSON.stringify([value]))),
  canonicalJson,
  'numbers of JSON': (value) => tried(() => readJson(`[${value.replace(/[^\d.eE+-]/g, '1')}]`)),
  values: (value) => [
    ...[amount, flag, id, text].map((type) => type.read(value)),
    readReference(value, dialect, 'client'),
  ],
  parseRecord: (value) => kinds.map((kind) => parseRecord(kind, recordOf(kind, value), dialect)),
  unusableOf: (value) => kinds.map((kind) => unusableOf(kind, { id: value, url: value }, dialect)),
  originOf: (value) => originOf({ consultation: value }, dialect),
  keptText: (value) => keptText({ id: 1, payer_name: value, unmapped: [value] }, fieldMapOf(dialect, 'invoice')),
  'keptText, everything': (value) => keptText({ [value]: [value] }, wholeRecord),
  'readListBody, a field': (value) =>
    tried(() => atOnce(readListBody('invoice', JSON.stringify({ count: 1, results: [{ id: 1, value }] }), String))),
  'readListBody, the body': (value) =>
    tried(() => atOnce(readListBody('invoice', `{"count":1,"results":[${value}]}`, String))),
  'readListBody, a number that is none': (value) =>
    tried(() =>
      atOnce(readListBody('invoice', `{"count":1,"results":[{"x":NaN,"y":${JSON.stringify(value)}}]}`, String)),
    ),
  retryAfterMs: (value) => retryAfterMs(value, 0),
  readAnswer: (value) =>
    readAnswer(answer(value) as never, 'GET', '/', 0, ['modified__gte'], async () => null).catch(() => null),
  erpText: (value) => erpText(value, 'description', trytonCapabilities),
  'erpText, without limits': (value) =>
    erpText(value, 'description', { text: { encoding: 'windows-1252', lengths: {}, forbidden: '<>' } }),
  fieldText: (value) => [fieldText(value, 'cp437', 200), fieldText(value, 'windows-1252', 60)],
  'the bytes of a file': (value) => encode(value.slice(0, 20_000), 'windows-1252'),
  safeText,
  'explain, Odoo': (value) => explain({ ...said(value), code: 'psycopg2.OperationalError' }, odooCapabilities.errors),
  'explain, Tryton': (value) => explain(said(value), trytonCapabilities.errors),
  'what an import of Odoo says': (value) => tried(() => loadedIds({ ids: false, messages: [{ message: value }] }, [])),
  pageError: (value) => pageError(page(value), odooCapabilities.errors),
  'a key in a reference': keyIn,
  csvCell: (value) => csvCell(value, { separator: ';', decimalPoint: ',' }),
  hledger: (value) => hledger.entry(unitOf(value), books),
  beancount: (value) => beancount.entry(unitOf(value), books),
  owedByName,
  'what mapping init writes': (value) => [oneLine(value), quoted(value)],
};

/** Units that are repeated to make texts which are slow for some patterns. */
const units = [
  ...[
    'a',
    ' ',
    '\n',
    '\t ',
    '/',
    '1',
    '0',
    '.',
    '1.',
    '-',
    'e',
    '"',
    '\\',
    '\\"',
    '""',
    "'",
    ';',
    '; ',
    '=',
    '@',
    ':',
    '://',
  ],
  ...[
    'a://:',
    'a://u',
    'x://u:p',
    'Bearer ',
    'Bearer a',
    'Basic Bearer ',
    '?token=',
    '&secret=a',
    'a-secret-',
    'secret-o',
  ],
  ...[
    '<',
    '<title',
    '<title>',
    '<h1 ',
    '</',
    '<a ',
    '>',
    '[',
    '{',
    '{"a":',
    '[[',
    ',',
    ', ',
    '1,',
    'NaN',
    '"NaN',
    '\\u0000',
    '\\ud800',
  ],
  ...[
    '\0',
    '\u001b',
    '\u202e',
    '\ud800',
    'e\u0301',
    '\u0316\u0300',
    '\u1100',
    '\u200d',
    '👩‍👩‍👧',
    'ﬁ',
    '[ABCDEFGHIJKLMNOPQRST',
    'database "',
  ],
  ...['/1', '/1/', '#', '?', '%', '+02:00', 'T', 'gift', 'pre', 'An error has occurred.'],
];
const ends = ['', '"', 'x', '@', '>', '\u0301', '\\', '1e', '</title>'];

const kilo = 1_024;

/** The least of three times in milliseconds; only one if it is short. */
async function msOf(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const begun = performance.now();
    await work();
    least = Math.min(least, performance.now() - begun);
    if (least < 10) break;
  }
  return least;
}

/** A text of `length` with a given start and end, and a repeated unit between them. */
function textOf(start: string, unit: string, end: string, length: number): string {
  return start + unit.repeat(Math.max(1, Math.ceil((length - start.length - end.length) / unit.length))) + end;
}

/**
 * The peer: reads each character of 1 MB four times. It measures the current speed of the machine, and takes longer
 * than a garbage collection.
 */
function linearPeer(): number {
  const value = 'abc "x"'.repeat((kilo * kilo) / 7);
  let found = 0;
  for (let round = 0; round < 4; round++) {
    for (let at = 0; at < value.length; at++) if (value.charCodeAt(at) === round) found += 1;
  }
  return found;
}

/**
 * The factor by which a function's time may exceed proportional growth, because of garbage collection and compilation.
 */
const slack = 5;

/** Returns null, or how a function's time grew faster than its text. It tests a small size before a large one. */
async function growsTooFast(
  work: (value: string) => unknown,
  make: (length: number) => string,
  sizes: readonly number[],
) {
  let before: { ms: number; length: number } | null = null;
  // The function is compiled first. If it were interpreted at the small size and compiled at the large one, its growth
  // would seem slow.
  for (let round = 0; round < 3; round++) await work(make(sizes[0] ?? 0));
  for (const size of sizes) {
    const value = make(size);
    const ms = await msOf(() => work(value));
    if (before !== null) {
      const expected = (before.ms * value.length) / before.length;
      if (ms > slack * expected && ms > slack * (await msOf(linearPeer))) {
        return `${value.length} characters take ${ms.toFixed(1)} ms; ${before.length} took ${before.ms.toFixed(1)} ms`;
      }
    }
    before = { ms, length: value.length };
  }
  return null;
}

describe.each(Object.entries(functions))('%s', (_name, work) => {
  test('takes time in proportion to a text of up to 1 MB', async () => {
    for (const unit of units) {
      const make = (length: number) => textOf('', unit, 'x', length);
      expect([unit, await growsTooFast(work, make, [4 * kilo, 32 * kilo])]).toEqual([unit, null]);
    }
    for (const unit of ['a', 'a://:', '\\"', '\u0316\u0300']) {
      const make = (length: number) => textOf('', unit, 'x', length);
      expect([unit, await growsTooFast(work, make, [64 * kilo, kilo * kilo])]).toEqual([unit, null]);
    }
  });

  test('and so do random mixtures', async () => {
    const mixture = fc.record({
      start: fc.constantFrom(...units, ''),
      unit: fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
      end: fc.constantFrom(...ends),
    });
    await fc.assert(
      fc.asyncProperty(mixture, async ({ start, unit, end }) => {
        const make = (length: number) => textOf(start, unit, end, length);
        expect(await growsTooFast(work, make, [4 * kilo, 32 * kilo])).toBeNull();
      }),
      { numRuns: 10 },
    );
  });
});

test('the check finds what takes the square of a text’s length', async () => {
  const quadratic = (value: string) => value.replace(/\b(\w+:\/\/[^\s/:@]*:)[^\s@]+(?=@)/g, '');
  const make = (length: number) => textOf('', 'a://:', 'x', length);
  expect(await growsTooFast(quadratic, make, [8 * kilo, 64 * kilo])).toMatch(/characters take/);
});
