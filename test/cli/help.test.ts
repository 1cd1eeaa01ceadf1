// `--help` in each language: every text of it has a translation, and every translation has its text.
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { sentenceOf } from '../../src/cli/help.ts';
import { createProgram, examplesOf } from '../../src/cli/program.ts';
import { englishCatalogues } from '../../src/languages/catalogues.ts';
import { loadLanguage } from '../../src/languages/language.ts';
import { templatesOf } from '../../src/languages/templates.ts';
import { type ForeignLanguage, translationsInto } from '../../src/languages/translations.ts';
import { vetledger } from './support.ts';

const foreign: ForeignLanguage[] = ['fi', 'de', 'sv'];
/** Words of commander and of `src/cli/help.ts`. */
const words = [
  'Usage:',
  'Arguments:',
  'Options:',
  'Commands:',
  'default',
  'choices',
  'Examples:',
  'Exit codes:',
  'Start with:',
];

/** Every text of the help. */
function textsOf(command: Command): string[] {
  const described = command.description() === sentenceOf(command.summary()) ? [] : [command.description()];
  return [
    ...[command.summary(), ...described, ...command.options.map(({ description }) => description)],
    ...examplesOf(command).map(([, purpose]) => purpose),
    ...command.commands.flatMap(textsOf),
  ];
}

const io = { env: {}, stdout: process.stdout, stderr: process.stderr, signal: new AbortController().signal };
const program = await createProgram(io, '0', () => {});
const helpOptions = ['print this help', 'print the help of a command'];
const texts = [...new Set([...words, ...helpOptions, ...textsOf(program)])].filter((text) => text !== '');

/** Texts of the catalogue, which the help uses, too. */
const catalogued = new Set(
  [...englishCatalogues]
    .flatMap(([name, of]) => templatesOf(name, of))
    .flatMap(({ holes, literals }) => (holes.length === 0 ? literals : [])),
);

/** What stays as it is in every language: options, code in backticks, settings and examples of values. */
const fixed = /`(?!covered by)[^`]*`|--[a-z][a-z-]+|\b[a-z]+_[a-z_]+\b|\b[A-Z]{2,}_[A-Z_]+\b|\b\d{4}-\d\d-\d\d\b/g;

describe.each(foreign)('%s', (language) => {
  test('every text has a translation, and every translation a text', async () => {
    await loadLanguage(language);
    const found = [...translationsInto(language)].flatMap(([key, text]) =>
      key.startsWith('help.') ? [[key.slice(5), text] as const] : [],
    );
    const translated = new Map(found);
    expect({
      missing: texts.filter((text) => !translated.has(text) && !catalogued.has(text)),
      tooMany: [...translated.keys()].filter((text) => !texts.includes(text)),
    }).toEqual({ missing: [], tooMany: [] });
    const faults = found.flatMap(([english, text]) =>
      (english.match(fixed) ?? []).filter((word) => !text.includes(word)).map((word) => `${english}: ${word}`),
    );
    expect(faults).toEqual([]);
  });
});

test('the language applies to the help', async () => {
  const { stdout } = await vetledger(['sync', '--help', '--language', 'fi']);
  expect(stdout).toContain('Käyttö: vetledger sync [options]');
  expect(stdout).toContain('(oletus: 60)');
  expect(stdout).toContain('Esimerkit:');
});
