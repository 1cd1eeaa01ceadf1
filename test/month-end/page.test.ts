import { expect, test } from 'vitest';
import { filled, normalised } from './page.ts';
import { wordsOf } from './world.ts';

test.each([
  ['asked up to 2025-10-31 18:59:58 UTC', 'asked up to 2025-10-31 hh:mm:ss UTC'],
  ['since 2026-11-22 13:08:44 UTC', 'since yyyy-mm-dd hh:mm:ss UTC'],
  ['2030-01-02T03:04:05.678Z', 'yyyy-mm-dd hh:mm:ss UTC'],
  ['changed 2025-11-04 11:00:00 +02:00', 'changed 2025-11-04 hh:mm:ss +02:00'],
  ['recorded 2026-07-01 08:00:00 +03:00', 'recorded yyyy-mm-dd hh:mm:ss +hh:mm'],
  [`link 7, ${'0a'.repeat(32)}`, 'link 7, (hash)'],
  [`summary-head ${'0'.repeat(64)}`, `summary-head ${'0'.repeat(64)}`],
  ['hash 026580515974; mapping 1f596d85eb0b', 'hash (hash); mapping (hash)'],
  ['reference 110000000372 of 2025-10-30', 'reference 110000000372 of 2025-10-30'],
])('%s stands as %s', (printed, asked) => {
  expect(normalised(printed)).toBe(asked);
});

const block = (name: string, text = '') => `<!-- output: ${name} -->\n\`\`\`console\n${text}\`\`\``;
const printed = 'one\ntwo\nthree\nfour\n';

test('each block gets its command and what it printed, whatever stood there', () => {
  const transcript = new Map([
    ['a', { line: 'late', printed: 'nothing\n' }],
    ['b', { line: 'problems', printed: 'one\n' }],
  ]);
  const page = `before\n${block('a')}\nbetween\n${block('b', '$ old\nold\n')}\nafter`;
  const text = filled(page, transcript);
  expect(text).toBe(
    `before\n${block('a', '$ npx vetledger late\nnothing\n')}\nbetween\n${block('b', '$ npx vetledger problems\none\n')}\nafter`,
  );
  expect(filled(text, transcript)).toBe(text);
});

test.each([
  ['a first 2', 'one\ntwo\n…\n'],
  ['a until thr', 'one\ntwo\n…\n'],
  ['a only ^one|^four', 'one\n…\nfour\n'],
  ['a', printed],
])('the marker %s keeps its lines', (marker, asked) => {
  expect(filled(block(marker), new Map([['a', { line: 'x', printed }]]))).toBe(
    block(marker, `$ npx vetledger x\n${asked}`),
  );
});

test('an output that the page lacks, or that nothing prints, is an error', () => {
  const transcript = new Map([['a', { line: 'x', printed }]]);
  expect(() => filled('no blocks', transcript)).toThrow('has no output a');
  expect(() => filled(`${block('a')}\n${block('b')}`, transcript)).toThrow('the output b');
  expect(() => filled(block('a until five'), transcript)).toThrow('no line begins with five');
});

test('command lines are taken apart as by a shell', () => {
  expect(wordsOf('late decide 1 --reason "so it is" --by M')).toEqual(
    ['late', 'decide', '1', '--reason', 'so it is', '--by', 'M'], //
  );
});
