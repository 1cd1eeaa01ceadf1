import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { keepSecret, keepToken, redact } from '../../src/domain/redact.ts';

test('of the tokens of servers, the latest 200 are removed from texts, whole and in pieces', () => {
  keepSecret('lasting-secret-of-the-file');
  keepToken('lasting-secret-of-the-file');
  const token = (n: number) => `same-beginning.${createHash('sha256').update(String(n)).digest('hex')}`;
  for (let n = 1; n <= 300; n++) keepToken(token(n));
  keepToken(token(150));
  const shows = (text: string) => redact(`said ${text} again`).includes(text);
  const ends = [300, 150, 101, 100, 1].map((n) => token(n).slice('same-beginning.'.length));
  expect(ends.map(shows)).toEqual([false, false, false, true, true]);
  expect(shows(token(300))).toBe(false);
  // The beginning is still one of live tokens.
  expect(shows('same-beginning')).toBe(false);
  expect(shows('lasting-secret-of-the-file')).toBe(false);
});
