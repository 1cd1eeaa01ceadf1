// Texts in a language: of catalogues inside inLanguage, and of messages that were made in English.
import { beforeAll, describe, expect, test } from 'vitest';
import { currentLanguage, inLanguage, languageOf, loadLanguage, shown } from '../../src/languages/language.ts';
import { parseMessage } from '../../src/languages/messages.ts';
import { catalogue } from '../../src/texts/catalogue.ts';
import { problemCatalogue } from '../../src/texts/problems.ts';

beforeAll(() => loadLanguage('fi'));

describe('inLanguage', () => {
  test('shows the catalogue in the language, and English before and after', () => {
    const read = () => problemCatalogue.client_missing.todo.slice(0, 20);
    expect([read(), inLanguage('sv', read), inLanguage('de', read), inLanguage('en', read), read()]).toEqual([
      'Enter the client in ',
      'Fyll i kunden i klin',
      'Tragen Sie den Kunde',
      'Enter the client in ',
      'Enter the client in ',
    ]);
  });

  test('ends with an error, and can be nested', () => {
    const seen: string[] = [];
    expect(() =>
      inLanguage('fi', () => {
        inLanguage('de', () => seen.push(currentLanguage()));
        seen.push(currentLanguage());
        throw new Error('stop');
      }),
    ).toThrow('stop');
    expect([...seen, currentLanguage()]).toEqual(['de', 'fi', 'en']);
  });

  test('leaves what is no text', () => {
    expect(inLanguage('fi', () => problemCatalogue.overpaid.holds)).toBe(false);
    expect(catalogue('test.list', { words: ['one', 'two'] }).words.map((word) => word.length)).toEqual([3, 3]);
  });
});

test.each([
  ['fi', 'fi'],
  ['en', 'en'],
  ['FI', undefined],
  ['constructor', undefined],
])('languageOf %s is %s', (name, language) => {
  expect(languageOf(name)).toBe(language);
});

describe('shown', () => {
  test('recognises an English text of the catalogue', () => {
    const { todo } = problemCatalogue.client_missing;
    expect(shown(todo, 'de')).toBe(inLanguage('de', () => problemCatalogue.client_missing.todo));
    expect(shown(todo, 'en')).toBe(todo);
    expect(inLanguage('de', () => shown(todo))).toBe(shown(todo, 'de'));
  });

  test.each(['', 'Hansen, Ole', 'x'.repeat(100_000), 'a; '.repeat(1500), ': '.repeat(2400), 'constructor'])(
    'leaves what it does not know: %#',
    (text) => {
      expect(shown(text, 'fi')).toBe(text);
    },
  );
});

describe('messages', () => {
  test.each([
    ['{n, plural, one {{n} rivi} other {{n} riviä}}', { n: 1 }, '1 rivi'],
    ['{n, plural, one {{n} rivi} other {{n} riviä}}', { n: '12345' }, '12345 riviä'],
    ['{x, select, none {ei mitään} other {on {x}}}', { x: null }, 'ei mitään'],
    ['{x, select, none {ei mitään} other {on {x}}}', { x: 0 }, 'ei mitään'],
    ['{x, select, none {ei mitään} other {on {x}}}', { x: 'constructor' }, 'on constructor'],
    ['{x, select, backfill {lukua} other {ajoa}}', { x: 'backfill' }, 'lukua'],
    ["kassan 'oma' <b>{x}</b>", { x: '{y}' }, "kassan 'oma' <b>{y}</b>"],
  ])('%s with %o is %s', (text, params, expected) => {
    expect(parseMessage(text, 'fi').format(params)).toBe(expected);
  });

  test.each(['{n', '{n, number}', '{n, plural, one {#} other {#}}', '{n, plural, one {x}}', '{d, date}'])(
    '%s is refused',
    (text) => {
      expect(() => parseMessage(text, 'fi')).toThrow(SyntaxError);
    },
  );
});
