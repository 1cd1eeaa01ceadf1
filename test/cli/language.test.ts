// The language of a command's texts: --language and VETLEDGER_LANGUAGE. JSON is always English.
import { expect, test } from 'vitest';
import { vetledger } from './support.ts';

test.each([
  [['status', '--language', 'xx'], {}, 'xx'],
  [['status', '--language=no'], { VETLEDGER_LANGUAGE: 'fi' }, 'no'],
  [['problems'], { VETLEDGER_LANGUAGE: 'FI' }, 'FI'],
])('%j with %j is refused with the list', async (args, env, language) => {
  const { code, stderr } = await vetledger(args, env);
  expect(code).toBe(2);
  expect(stderr).toBe(
    `error: There are no texts in the language ${language}.\nwhat to do: Give one of en, fi, de, sv in --language or VETLEDGER_LANGUAGE.\n`,
  );
});

test('an unknown language is an error in JSON, too', async () => {
  const { code, json } = await vetledger(['status', '--json', '--language', 'xx']);
  expect([code, json().error.code]).toEqual([2, 'usage']);
});
