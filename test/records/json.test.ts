import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../../src/domain/slices.ts';
import { cutArray } from '../../src/records/cut.ts';
import { canonicalJson, parseJson, storableJson, stringifyJson } from '../../src/records/json.ts';

describe('the wire comes back as it was', () => {
  test.each([
    ['decimals keep their zeros', '{"sum":1.50,"vat":0.2400}'],
    ['negative zero', '{"sum":-0.0}'],
    ['more digits than a float has', '[12345678901234567890.123456789012345678]'],
    ['exponents', '[1E+2,1e-7]'],
    ['integers beyond 2^53', '{"invoice_number":9007199254740993}'],
    ['NUL as an escape', '{"name":"a\\u0000b"}'],
    ['a lone surrogate as an escape', '{"name":"\\ud800"}'],
    ['the key __proto__', '{"__proto__":{"a":1}}'],
    ['empty', '{"a":{},"b":[],"c":"","d":null,"e":true}'],
  ])('%s', (_, text) => {
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  test('a repeated key takes its last value', () => {
    expect(stringifyJson(parseJson('{"a":1,"a":2}'))).toBe('{"a":2}');
  });

  test.each([
    ['cut off', '{"count":1,"results":[{"id":1'],
    ['a page of HTML', '<!doctype html>'],
    ['empty', ''],
    ['nested beyond reason', '['.repeat(200_000)],
  ])('%s is no JSON', (_, text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('canonical text', () => {
  const canonical = (text: string) => canonicalJson(parseJson(text));

  test.each([
    ['trailing zeros', '1.50', '1.5'],
    ['an exponent', '15e-1', '1.5'],
    ['a whole number', '100', '1E+2'],
    ['negative zero', '-0.0', '0'],
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

describe('the elements of a list, cut from its text', () => {
  const textsOf = (text: string) => {
    const cut = atOnce(cutArray(text, 'results'));
    return cut && { rest: cut.rest, elements: cut.elements.map((part) => part.text) };
  };

  test.each([
    ['two records', '{"count":2,"results":[{"a":1.50},{"b":"]}\\\\"}]}', ['{"a":1.50}', '{"b":"]}\\\\"}']],
    ['none', '{"results":[ ],"count":0}', []],
    ['lists in records, spaces around', '{ "results" : [ [1,[2]] , {"c":[3]} ] }', ['[1,[2]]', '{"c":[3]}']],
    ['the key inside another object first', '{"x":{"results":[1]},"results":[2]}', ['2']],
    ['the key as a text first', '{"x":"results","results":[2]}', ['2']],
    ['a missing element', '{"results":[1,]}', ['1', '']],
  ])('%s', (_, text, elements) => {
    expect(textsOf(text)?.elements).toEqual(elements);
  });

  test.each([
    ['no such key', '{"count":1}'],
    ['an object', '{"results":{"a":[1]}}'],
    ['cut off', '{"results":[{"a":1}'],
    ['cut off in a string', '{"results":["a'],
    ['no object', '[1]'],
  ])('%s: no array', (_, text) => {
    expect(textsOf(text)).toBeNull();
  });

  test('of any list they are the elements, and what is left is the list without them', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), fc.json(), fc.constantFrom('', ' ', '\n\t'), (elements, other, space) => {
        const text = `{"other":${other},${space}"results"${space}:${space}[${elements.join(`${space},${space}`)}${space}],"last":${other}}`;
        const parts = textsOf(text);
        expect(parts?.elements).toEqual(elements.map((each) => each.trim()));
        expect(parseJson(parts!.rest)).toEqual(parseJson(`{"other":${other},"results":[],"last":${other}}`));
      }),
    );
  });
});

test('escaped NULs and lone surrogates become the replacement character; nothing else of a text changes', () => {
  expect(storableJson(String.raw`{"a\u0000":"\\u0000 \uD83D\uDE00 \ud83d x \udc00 \u00e4 \n"}`)).toBe(
    String.raw`{"a\ufffd":"\\u0000 \uD83D\uDE00 \ufffd x \ufffd \u00e4 \n"}`,
  );
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
      const stored = JSON.stringify(JSON.parse(storableJson(text)));
      expect(stored).not.toMatch(/[^\\](\\\\)*\\u(0000|d[89a-f])/i);
      expect(JSON.parse(storableJson(text), plain)).toEqual(JSON.parse(text, plain));
    }),
  );
});

function plain(_key: string, value: unknown): unknown {
  const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storable(key), inner]));
}

test('escapes that PostgreSQL refuses become the replacement character, and nothing else changes', () => {
  const part = fc.constantFrom(
    '\\u0000',
    '\\ud83d',
    '\\uDE00',
    '\\ud83d\\ude00',
    '\\\\',
    '\\\\u0000',
    '\\"',
    '\\u00e4',
    'u0000',
    'x',
    '\\uDFFF',
    '\\n',
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const written = `"${parts.join('')}"`;
      const storable = storableJson(written);
      const meant = (JSON.parse(written) as string).toWellFormed().replaceAll('\0', '\ufffd');
      expect(JSON.parse(storable)).toBe(meant);
      if (JSON.parse(written) === meant) expect(storable).toBe(written);
    }),
    { numRuns: 500 },
  );
});
