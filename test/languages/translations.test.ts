// The translations of the catalogue: complete, with the parameters of the English texts, and valid.
import { existsSync, globSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { englishCatalogues } from '../../src/languages/catalogues.ts';
import { parseMessage } from '../../src/languages/messages.ts';
import { type Template, templatesOf } from '../../src/languages/templates.ts';
import { type ForeignLanguage, translationsInto } from '../../src/languages/translations.ts';

const root = new URL('../../', import.meta.url);
const files = globSync('src/texts/**/*.ts', { cwd: root })
  .map((path) => path.slice('src/texts/'.length, -'.ts'.length))
  // The page of a closing binder is English, for auditors in any country.
  .filter((file) => !['catalogue', 'plain-error', 'reports/binder-readme'].includes(file));
const foreign: ForeignLanguage[] = ['fi', 'de', 'sv'];
/** Files of src/texts that stay English, because metrics and the Temporal UI have one language for all readers. */
const untranslated = ['metrics', 'temporal'];

const hasWords = ({ literals }: Template) => literals.some((literal) => /\p{L}/u.test(literal));
const fileOf = (key: string) => key.slice(0, key.indexOf('.'));

/** The English templates by key. */
const english = Map.groupBy(
  [...englishCatalogues].flatMap(([name, texts]) => templatesOf(name, texts)),
  ({ key }) => key,
);
const keysOf = (file: string) =>
  [...english].flatMap(([key, templates]) => (fileOf(key) === file && templates.some(hasWords) ? [key] : []));

test('every file of texts exports catalogues, by their name', async () => {
  for (const file of files) {
    const exported: Record<string, unknown> = await import(new URL(`src/texts/${file}.ts`, root).href);
    for (const [name, value] of Object.entries(exported))
      if (typeof value !== 'string') expect(englishCatalogues.has(`${file}.${name}`), `${file}.${name}`).toBe(true);
  }
  expect([...new Set([...englishCatalogues.keys()].map(fileOf))].sort()).toEqual(files.sort());
});

test('the list of untranslated files has only files that exist and have no translation', () => {
  expect(untranslated.filter((file) => !files.includes(file))).toEqual([]);
  const begun = (file: string) =>
    foreign.filter((language) => existsSync(new URL(`src/texts/translations/${language}/${file}.json`, root)));
  expect(untranslated.flatMap(begun)).toEqual([]);
});

describe.each(foreign)('%s', (language) => {
  const texts = translationsInto(language);

  test.each(files.filter((file) => !untranslated.includes(file)))('%s', (file) => {
    const expected = keysOf(file);
    const found = [...texts.keys()].filter((key) => fileOf(key) === file);
    expect({
      missing: expected.filter((key) => !texts.has(key)),
      tooMany: found.filter((key) => !expected.includes(key)),
    }).toEqual({ missing: [], tooMany: [] });
    expect(found.flatMap((key) => faultsOf(key, texts.get(key)!, language))).toEqual([]);
  });
});

/**
 * Parts of a text that stay the same in every language: commands and keys in backticks, options, names with
 * underscores, rules such as R7.
 */
const fixedWords = /`[^`]*`|--[a-z][a-z-]+|\b[A-Za-z]+_[a-z_]+\b|\b[PRE]\d{1,2}\b/g;

/** The faults of a translation. */
function faultsOf(key: string, text: string, language: string): string[] {
  const templates = english.get(key)!;
  const shown = new Set(templates.flatMap(({ holes }) => holes));
  const known = new Set(templates.flatMap(({ holes, fixed }) => [...holes, ...Object.keys(fixed)]));
  const unquoted = text.replace(/'(\{[^']*\})'/g, '$1');
  // A text that is a code, such as `not_final`, is translated into words.
  const worded = templates.map(whole).filter((english) => !/^\w+$/.test(english));
  const fixed = new Set(worded.flatMap((english) => english.match(fixedWords) ?? []));
  try {
    const { parameters } = parseMessage(text, language);
    return [
      ...[...shown].filter((name) => !parameters.has(name)).map((name) => `${key}: the parameter ${name} is missing`),
      ...[...parameters]
        .filter((name) => !known.has(name))
        .map((name) => `${key}: the English text has no parameter ${name}`),
      ...[...fixed].filter((word) => !unquoted.includes(word)).map((word) => `${key}: ${word} is missing`),
    ];
  } catch (error) {
    return [`${key}: ${String(error)}`];
  }
}

/** An English text with its parameters in braces. */
function whole({ literals, holes }: Template): string {
  return literals.map((literal, at) => `${literal}${holes[at] === undefined ? '' : `{${holes[at]}}`}`).join('');
}
