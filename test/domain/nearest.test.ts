import { expect, test } from 'vitest';
import { nearest } from '../../src/domain/nearest.ts';

test.each([
  ['recieve', ['receive', 'refuse'], 'receive'],
  ['1990', ['1790', '1900', '2990'], '1900'],
  ['1990', ['1900', '1790'], '1900'],
  ['sam', ['same', 'sum'], 'same'],
  ['7', ['1900', '2411'], null],
])('%s among %j', (word, known, found) => {
  expect(nearest(word, known)).toBe(found);
});
