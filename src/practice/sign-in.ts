import { createHmac } from 'node:crypto';
import { backoffMs } from '../domain/backoff.ts';
import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import type { Auth } from './auth.ts';
import type { Secret } from './secret.ts';
import type { SignInState, SignInStore } from './sign-in-store.ts';

export interface SignInOptions {
  secret: Secret;
  /** The key of the hash that shows whether the secret has changed. The secret itself is not stored. */
  markKey: string;
  store: SignInStore;
  clock: Clock;
  /** Whether sign-in is paused after a refusal. True in the daemon; false for commands, which sign in at once. */
  waits: boolean;
  /** Called with the error if the state could not be read or stored. */
  failed(error: unknown): void;
}

/** The pause in milliseconds after this number of consecutive refusals. */
export function pauseAfterRefusals(refusals: number): number {
  return backoffMs(refusals, { firstMs: 60_000, longestMs: 3_600_000 });
}

/**
 * Pauses sign-in after a source has refused us (401), until the pause ends or the secret has changed. The pauses grow.
 * Without them, each window would repeat a wrong secret, and the source might lock our account.
 */
export function pacedSignIn(auth: Auth, options: SignInOptions): Auth {
  const { secret, store, clock } = options;
  let state: SignInState | null | undefined;
  const mark = () => markOf(options.markKey, secret.current());
  const stored = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      options.failed(error);
      return otherwise;
    }
  };
  const isBlocked = (found: SignInState | null): found is SignInState =>
    found !== null && found.mark === mark() && clock.now() < found.askAgainAt.getTime();

  const addRefusal = async () => {
    const before = state?.mark === mark() ? state : null;
    // Several concurrent requests are refused together, and count as one refusal.
    if (before && clock.now() < before.askAgainAt.getTime() && options.waits) return;
    const refusals = (before?.refusals ?? 0) + 1;
    const askAgainAt = new Date(clock.now() + pauseAfterRefusals(refusals));
    const refused = { mark: mark(), refusals, since: before?.since ?? new Date(clock.now()), askAgainAt };
    state = refused;
    await stored(() => store.write(refused), undefined);
  };
  const recordRefusal = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof PracticeError && error.code === 'unauthorized') await addRefusal();
      throw error;
    }
  };

  return {
    async token(signal) {
      if (state === undefined) state = await stored(() => store.read(), null);
      if (options.waits && state && isBlocked(state)) {
        // Another process may have signed in since, and the file may contain another secret.
        state = await stored(() => store.read(), state);
        if (state && isBlocked(state) && !secret.readAgain()) throw signInPaused(state);
      }
      return recordRefusal(auth.token(signal));
    },
    renew: (refused, signal) => recordRefusal(auth.renew(refused, signal)),
    refused: addRefusal,
    async accepted() {
      if (!state) return;
      state = null;
      await stored(() => store.clear(), undefined);
    },
  };
}

function signInPaused({ refusals, since, askAgainAt }: SignInState): PracticeError {
  const [sinceText, nextAt] = [since.toISOString(), askAgainAt.toISOString()];
  return new PracticeError('unauthorized', practiceTexts.signInPaused({ refusals, since: sinceText, nextAt }));
}

function markOf(key: string, secret: string): string {
  return createHmac('sha256', key).update(secret).digest('hex').slice(0, 8);
}
