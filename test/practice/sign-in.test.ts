import { expect, test } from 'vitest';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { redact } from '../../src/domain/redact.ts';
import { staticToken } from '../../src/practice/auth.ts';
import { fileSecret, fixedSecret, type Secret } from '../../src/practice/secret.ts';
import { pacedSignIn, pauseAfterRefusals } from '../../src/practice/sign-in.ts';
import {
  type SignInState,
  type SignInStore,
  signInNow,
  signInState,
  signInStore,
} from '../../src/practice/sign-in-store.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
const minute = 60_000;

/** A source that accepts one token, called through the auth like in src/practice/exchange.ts. */
function world({ secret, waits = true, store = memory() }: { secret: Secret; waits?: boolean; store?: SignInStore }) {
  let nowMs = Date.parse('2026-05-01T00:00:00Z');
  let right = 'right-token-1';
  let asked = 0;
  const clock = { now: () => nowMs, elapsed: () => nowMs, sleep: async () => undefined };
  const auth = pacedSignIn(staticToken(secret), {
    secret,
    markKey: 'db',
    store,
    clock,
    waits,
    failed: () => undefined,
  });
  const once = async (): Promise<'in' | 'refused' | 'left alone'> => {
    let token: string;
    try {
      token = await auth.token();
    } catch (error) {
      expect(error).toBeInstanceOf(PracticeError);
      return 'left alone';
    }
    for (let renewed = false; ; renewed = true) {
      asked += 1;
      if (token === right) {
        await auth.accepted?.();
        return 'in';
      }
      if (renewed || !(await auth.renew(token))) {
        await auth.refused?.();
        return 'refused';
      }
      token = await auth.token();
    }
  };
  return {
    once,
    pass: (ms: number) => {
      nowMs += ms;
    },
    rights: (token: string) => {
      right = token;
    },
    asked: () => asked,
    store,
  };
}

function memory(): SignInStore {
  let state: SignInState | null = null;
  return {
    read: async () => state,
    write: async (next) => {
      state = next;
    },
    clear: async () => {
      state = null;
    },
  };
}

test('pauses grow from a minute to an hour', () => {
  expect([1, 2, 3, 6, 7, 50].map((n) => pauseAfterRefusals(n) / minute)).toEqual([1, 2, 4, 32, 60, 60]);
});

test('a day of windows with a revoked token sends about 30 requests, not 288, and signs in when the token is valid again', async () => {
  const { once, pass, rights, asked } = world({ secret: fixedSecret('revoked-token') });
  for (let window = 0; window < 288; window++) {
    expect(await once()).not.toBe('in');
    pass(5 * minute);
  }
  expect(asked()).toBeGreaterThanOrEqual(24);
  expect(asked()).toBeLessThanOrEqual(32);
  rights('revoked-token');
  pass(60 * minute);
  expect(await once()).toBe('in');
  expect(await once()).toBe('in');
});

test('a secret that changes in its file ends the pause at once, is read once per refusal, and both are redacted', async () => {
  let text = 'first-secret-of-file';
  const { once, rights, asked, store } = world({ secret: fileSecret(text, () => text) });
  expect(await once()).toBe('refused');
  expect(await once()).toBe('left alone');
  expect(asked()).toBe(1);
  expect(JSON.stringify(await store.read())).not.toContain('first-secret');
  text = 'second-secret-of-file';
  rights(text);
  expect(await once()).toBe('in');
  expect(await store.read()).toBeNull();
  expect(redact('first-secret-of-file and second-secret-of-file')).not.toMatch(/first|second/);
});

test('a token that is rotated while it is valid is read from its file at the 401, within the same request', async () => {
  let text = 'rotated-token-1';
  const { once, rights, asked } = world({ secret: fileSecret(text, () => text) });
  rights(text);
  expect(await once()).toBe('in');
  text = 'rotated-token-2';
  rights(text);
  expect(await once()).toBe('in');
  expect(asked()).toBe(3);
});

test.each([
  [
    'is away',
    () => {
      throw new Error('ENOENT');
    },
  ],
  ['is half written', () => 'line\nline'],
  ['is empty', () => ''],
])('a file that %s changes nothing', (_, read) => {
  const secret = fileSecret('secret-as-it-was', read);
  expect(secret.readAgain()).toBe(false);
  expect(secret.current()).toBe('secret-as-it-was');
});

test('a command signs in at once, and ends the pause of the daemon', async () => {
  const store = memory();
  const secret = fixedSecret('locked-token');
  const daemon = world({ secret, store });
  const byHand = world({ secret, store, waits: false });
  expect(await daemon.once()).toBe('refused');
  expect(await byHand.once()).toBe('refused');
  expect(await daemon.once()).toBe('left alone');
  byHand.rights('locked-token');
  daemon.rights('locked-token');
  expect(await byHand.once()).toBe('in');
  expect(await daemon.once()).toBe('in');
});

test('a paused daemon signs in at once after a request for a window', async () => {
  const daemon = world({ secret: fixedSecret('wrong-token'), store: signInStore(db, 7) });
  const neighbour = world({ secret: fixedSecret('wrong-token'), store: signInStore(db, 8) });
  for (const { once } of [daemon, neighbour]) expect([await once(), await once()]).toEqual(['refused', 'left alone']);
  await signInNow(db, [7]);
  expect([await daemon.once(), await daemon.once()]).toEqual(['refused', 'left alone']);
  expect(await neighbour.once()).toBe('left alone');
  expect((await signInState(db, 7))?.refusals).toBe(2);
});

test('the pause continues after a restart; a new secret is tried at once', async () => {
  const store = memory();
  expect(await world({ secret: fixedSecret('stale-token'), store }).once()).toBe('refused');
  expect(await world({ secret: fixedSecret('stale-token'), store }).once()).toBe('left alone');
  const other = world({ secret: fixedSecret('fresh-token'), store });
  other.rights('fresh-token');
  expect(await other.once()).toBe('in');
});
