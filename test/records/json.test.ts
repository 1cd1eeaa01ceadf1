import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { fieldMapOf, keptText, wholeRecord } from '../../src/records/field-map.ts';
import { canonicalJson, exactNumber, readJson, readVerbatim, stringifyJson } from '../../src/records/json.ts';
import { isReadAsItIs } from '../support/json-keys.ts';
import { runs } from '../support/runs.ts';

describe('numbers are written by value, without losing a digit', () => {
  test.each([
    ['decimals', '{"sum":1.50,"vat":0.2400}', '{"sum":1.5,"vat":0.24}'],
    ['negative zero', '{"sum":-0.0}', '{"sum":0}'],
    ['more digits than a float has', '[12345678901234567890.123456789012345678]', null],
    ['the same with zeros', '[12345678901234567890.10]', '[12345678901234567890.1]'],
    ['exponents', '[1E+2,1e-7,15e-1]', '[100,1e-7,1.5]'],
    ['exponents beyond a float', '[1e400,25e-999]', null],
    ['integers beyond 2^53', '{"invoice_number":9007199254740993}', null],
    ['a number alone', '9007199254740993', null],
    ['digits and commas in texts', '{"a":"x,12345678901234567890","b":1}', null],
    ['NUL as an escape', '{"name":"a\\u0000b"}', null],
    ['a lone surrogate as an escape', '{"name":"\\ud800"}', null],
    ['the key __proto__', '{"__proto__":{"a":1}}', null],
    ['the key __proto__ beside a long number', '{"__proto__":{"a":9007199254740993}}', null],
    ['empty', '{"a":{},"b":[],"c":"","d":null,"e":true}', null],
    ['a text that begins as a marked number does', '["\ue000x",9007199254740993]', null],
  ])('%s', (_, text, written) => {
    expect(stringifyJson(readJson(text))).toBe(written ?? text);
  });

  test.each([
    ['decimals', '{"sum":1.50,"vat":[0.2400,-0.0,-0,10,100,0]}'],
    ['exponents', '[1E+2,1e-7,15e-1,1e400]'],
    ['long numbers', '{"a":12345678901234567890.10,"b":{"c":9007199254740993}}'],
    ['digits in texts', '{"a":"1.50,2.0","b":1.50}'],
  ])('read verbatim, %s keep their notation', (_, text) => {
    expect(stringifyJson(readVerbatim(text))).toBe(text);
  });

  test('the last value of a repeated key counts', () => {
    expect(stringifyJson(readJson('{"a":1,"a":2}'))).toBe('{"a":2}');
  });

  test.each([
    ['cut off', '{"count":1,"results":[{"id":1'],
    ['a page of HTML', '<!doctype html>'],
    ['empty', ''],
    ['nested beyond reason', '['.repeat(200_000)],
    ['nested beyond reason, and closed', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['a long number with a zero before it', '[01234567890123456789]'],
    ['a long number without digits behind its point', '[1234567890123456789.]'],
    ['NaN', '[NaN]'],
  ])('%s is no JSON', (_, text) => {
    expect(() => readJson(text)).toThrow(SyntaxError);
  });
});

describe('canonical text', () => {
  const canonical = (text: string) => canonicalJson(readJson(text));

  test.each([
    ['trailing zeros', '1.50', '1.5'],
    ['an exponent', '15e-1', '1.5'],
    ['a whole number', '100', '1E+2'],
    ['negative zero', '-0.0', '0'],
    ['the notation of a long number', '12345678901234567890', '1234567890123456789e1'],
    ['zeros behind a long number', '0.12345678901234567890', '12345678901234567.89e-17'],
    ['the order of keys', '{"b":1,"a":{"d":2,"c":3}}', '{"a":{"c":3.0,"d":2},"b":1}'],
    ['spaces and escapes', '{"a":"\\u0041"}', '{ "a" : "A" }'],
    ['an exponent that would fill the memory', '1e999999999', '10e999999998'],
  ])('%s makes no difference', (_, one, other) => {
    expect(canonical(one)).toBe(canonical(other));
  });

  test.each([
    ['a string is no number', '1.5', '"1.5"'],
    ['strings are taken as they are', '"1.50"', '"1.5"'],
    ['digits beyond a float count', '0.12345678901234567890', '0.12345678901234567891'],
    ['the sign counts', '-1', '1'],
    ['the power counts', '10', '1'],
    ['the order of a list counts', '[1,2]', '[2,1]'],
    ['null is not absent', '{"a":null}', '{}'],
  ])('%s', (_, one, other) => {
    expect(canonical(one)).not.toBe(canonical(other));
  });
});

/** A value whose numbers have digits independent of their notation. */
const number = fc.record({
  sign: fc.constantFrom('', '-'),
  digits: fc.bigInt({ min: 0n, max: 10n ** 25n }),
  places: fc.integer({ min: 0, max: 30 }),
});
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    number,
    fc.string({ unit: 'binary' }),
    fc.constantFrom(null, true, false, 'a\\u0000', '\ud800', '\0'),
    fc.array(tie('value'), { maxLength: 3 }).map((list) => ({ list })),
    fc
      .uniqueArray(fc.tuple(fc.string({ unit: 'binary' }).filter(isReadAsItIs), tie('value')), {
        maxLength: 4,
        selector: ([key]) => postgresText(key),
      })
      .map((members) => ({ members })),
  ),
}));

/** The JSON text of such a value; `choose` decides the notation. */
function written(of: unknown, choose: () => number): string {
  if (typeof of !== 'object' || of === null) return JSON.stringify(of);
  if ('list' in of)
    return `[${(of.list as unknown[]).map((each) => written(each, choose)).join(choose() ? ' , ' : ',')}]`;
  if ('members' in of) {
    const members = (of.members as [string, unknown][]).map(
      ([key, each]) => `${JSON.stringify(key)}:${written(each, choose)}`,
    );
    return `{${(choose() ? members.reverse() : members).join(',')}}`;
  }
  const { sign, digits, places } = of as { sign: string; digits: bigint; places: number };
  const zeros = choose() % 4;
  if (choose()) return `${sign}${digits}${'0'.repeat(digits === 0n ? 0 : zeros)}e${-places - zeros}`;
  const padded = String(digits).padStart(places + 1, '0');
  const point = padded.length - places;
  const fraction = padded.slice(point) + '0'.repeat(zeros);
  return `${sign}${padded.slice(0, point)}${fraction === '' ? '' : `.${fraction}`}`;
}

describe('the text that is kept of a record', () => {
  const plain = () => 0;

  test('is the same for every notation of the same content, and another one for another content', () => {
    fc.assert(
      fc.property(value, value, fc.infiniteStream(fc.nat(3)), (one, other, choices) => {
        const text = (of: unknown, choose: () => number) => keptText(readJson(written(of, choose)), wholeRecord);
        const first = text(one, plain);
        expect(text(one, () => choices.next().value ?? 0)).toBe(first);
        expect(text(other, plain) === first).toBe(meaning(one) === meaning(other));
        expect(keptText(readJson(first), wholeRecord)).toBe(first);
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('has nothing that PostgreSQL refuses', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (json) => {
        const text = keptText(readJson(json), wholeRecord);
        expect(text).not.toMatch(/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/i);
        expect(text.isWellFormed()).toBe(true);
      }),
    );
    expect(keptText({ 'a\0': '\\u0000 \u{1f600} \ud83d x \udc00 ä \n' }, wholeRecord)).toBe(
      '{"a\ufffd":"\\\\u0000 \u{1f600} \ufffd x \ufffd ä \\n"}',
    );
  });

  test('keeps every digit of a long number', () => {
    fc.assert(
      fc.property(number, ({ sign, digits, places }) => {
        const text = written({ sign, digits, places }, plain);
        const kept = keptText(readJson(`{"paid":${text}}`), fieldMapOf(loadDialect(), 'payment'));
        const [, whole = '', fraction = ''] = /:-?(\d+)(?:\.(\d+))?(?:e[+-]\d+)?\}$/.exec(kept) ?? [];
        const significant = (all: string) => all.replace(/^0+|0+$/g, '');
        expect(significant(whole + fraction)).toBe(significant(String(digits)));
      }),
    );
  });
});

/** The meaning of a value, computed without our code. */
function meaning(of: unknown): string {
  if (typeof of === 'string') return JSON.stringify(postgresText(of));
  if (typeof of !== 'object' || of === null) return String(of);
  if ('list' in of) return `[${(of.list as unknown[]).map(meaning).join()}]`;
  if ('members' in of) {
    const members = (of.members as [string, unknown][]).map(
      ([key, each]) => [postgresText(key), meaning(each)] as const,
    );
    return JSON.stringify(['object', ...new Map(members)].sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
  }
  const { sign, digits, places } = of as { sign: string; digits: bigint; places: number };
  if (digits === 0n) return '0';
  let [significant, power] = [digits, -places];
  for (; significant % 10n === 0n; significant /= 10n) power += 1;
  return `${sign}${significant}e${power}`;
}

function postgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

test.each([
  ['1e3', 1000],
  ['0.10', 0.1],
  ['100000000000000000000', 1e20],
])('a number that a float holds is one: %s', (text, number) => {
  expect(exactNumber(text)).toBe(number);
});
