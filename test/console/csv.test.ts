// A spreadsheet runs no cell of a file of the console as a formula (OWASP, CSV Injection).
import { expect, test } from 'vitest';
import { csvFile } from '../../src/console/parts/pages.ts';

test.each([
  ['=HYPERLINK("http://a.example")', `"'=HYPERLINK(""http://a.example"")"`],
  ['+1+1', "'+1+1"],
  ['-1+1', "'-1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['Rex;=1+1', "Rex;'=1+1"],
  ['\t=1', '\\t=1'],
  ['Rex\r\n=1', 'Rex\\r\\n=1'],
  ['-12.50', '-12.50'],
  ['', ''],
  ['2026-S-000012', '2026-S-000012'],
  ['invoice 7 (KU-7)', 'invoice 7 (KU-7)'],
  ['(=1', '(=1'],
  ['a|=1', "a|'=1"],
  ['Rex, Ärla', '"Rex, Ärla"'],
  ['a\u202eb', 'a\\u202eb'],
])('the cell %j', (cell, written) => {
  const answer = csvFile('a.csv', ['name'], [[cell]]);
  expect('file' in answer ? [...(answer.file.pieces as Iterable<string>)] : null).toEqual([
    'name\r\n',
    `${written}\r\n`,
  ]);
});
