// The language of texts, comments, docs and names of tests (CONTRIBUTING, "Glossary"): no ruled-out word outside of backticks, and no sentence of more than 25 words for users.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { trackedFiles as tracked } from './tracked.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const contributing = read('CONTRIBUTING.md');
const glossary = contributing.slice(
  contributing.indexOf('## Glossary'),
  contributing.indexOf('## Changing a workflow'),
);
const terms = [...glossary.matchAll(/^\| (?!term|-)([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, term, , not]) => ({
  term: term!,
  not: not!.split(', ').filter((word) => !word.startsWith('*')),
}));
const plain = glossary.match(/These are ruled out: ([^.]+)\./)![1]!.split(/,\s+/);
const ruledOut = [...terms.flatMap(({ not }) => not), ...plain].map((word) => word.trim());
const wrong = new RegExp(`\\b(?:${ruledOut.map((word) => word.replaceAll(' ', '\\s+')).join('|')})\\b`, 'gi');

/** The comments of a TypeScript or SQL file with their lines. */
function commentsOf(text: string): { line: number; text: string }[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?:^|\s)(?:\/\/|--) .*$/gm)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    text: match[0],
  }));
}

/** The names of the tests of a file. */
function titlesOf(text: string): { line: number; text: string }[] {
  return [
    ...text.matchAll(
      /\b(?:test|it|describe)(?:\.\w+)*(?:\([^)'`"]*\))?\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g,
    ),
  ].map((match) => ({ line: text.slice(0, match.index).split('\n').length, text: (match[1] ?? '').slice(1, -1) }));
}

/** The literals of a catalogue file. Each expression in a literal counts as one word. */
function literalsOf(text: string): { line: number; text: string }[] {
  return [...text.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    text: (match[1] ?? match[2] ?? match[3] ?? '').replaceAll(/\$\{[^}]*\}/g, 'X'),
  }));
}

const isCatalogue = (path: string) => path.startsWith('src/texts/') && path.endsWith('.ts');
const isDoc = (path: string) => path.endsWith('.md') && !['CONTRIBUTING.md', 'sandbox/specification.md'].includes(path);

function findings(path: string): string[] {
  const text = read(path);
  const parts = isDoc(path)
    ? text.split('\n').map((line, index) => ({ line: index + 1, text: line }))
    : isCatalogue(path)
      ? [...commentsOf(text), ...literalsOf(text)]
      : [...commentsOf(text), ...titlesOf(text)];
  return parts.flatMap(({ line, text: part }) =>
    [...part.replaceAll(/`[^`\n]*`/g, '').matchAll(wrong)].map(
      ([word]) => `${path}:${line}: ${word!.replaceAll(/\s+/g, ' ')}`,
    ),
  );
}

test('the glossary has about 60 terms, each of them once', () => {
  expect(terms.length).toBeGreaterThanOrEqual(55);
  expect(new Set(terms.map(({ term }) => term)).size).toBe(terms.length);
});

const scanned = tracked.filter(
  (path) =>
    (path.endsWith('.ts') || path.endsWith('.sql') || isDoc(path)) &&
    // The glossary of translations has the terms of other languages.
    !['bench/RESULTS', 'src/texts/translations/'].some((start) => path.startsWith(start)),
);

test.each([...new Set(scanned.map((path) => path.split('/').slice(0, 2).join('/')))])(
  '%s has no ruled-out word',
  (folder) => {
    const paths = scanned.filter((path) => path === folder || path.startsWith(`${folder}/`));
    expect(paths.flatMap(findings)).toEqual([]);
  },
);

describe('texts that users read', () => {
  test.each(tracked.filter(isCatalogue))('%s: a sentence has at most 25 words', (path) => {
    const long = literalsOf(read(path)).flatMap(({ line, text }) =>
      text
        .split(/(?<=[.:;!?])\s+|\\n/)
        .filter((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length > 25)
        .map((sentence) => `${path}:${line}: ${sentence}`),
    );
    expect(long).toEqual([]);
  });

  test('are in the catalogue: no other code has a `todo`', () => {
    const others = tracked.filter((path) => /^(?:src|activities|workflows)\/.*\.ts$/.test(path) && !isCatalogue(path));
    const found = others.flatMap((path) => (/\btodo:\s*['"`]/.test(read(path)) ? [path] : []));
    expect(found).toEqual([]);
  });
});
