import { createHmac } from 'node:crypto';
import { backoffMs } from '../domain/backoff.ts';
import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import type { Auth } from './auth.ts';
import type { Secret } from './secret.ts';
import type { SignInState, SignInStore } from './sign-in-store.ts';

export interface SignInOptions {
  secret: Secret;
  /** Makes the mark by which a changed secret is told from the one that was refused; the secret is not stored. */
  markKey: string;
  store: SignInStore;
  clock: Clock;
  /** Whether the source is left alone for the pause: in the daemon. What somebody runs by hand asks at once. */
  waits: boolean;
  /** Told of what could not be stored. */
  failed(error: unknown): void;
}

/** How long a source is left alone after so many refusals. */
export function pauseAfterRefusals(refusals: number): number {
  return backoffMs(refusals, { firstMs: 60_000, longestMs: 3_600_000 });
}

/**
 * Leaves a source alone that has refused us (401), with growing pauses, until it is time to ask again or the secret has changed.
 * Otherwise each window would ask anew with what cannot be right, and the source, or whoever watches it, would lock us out.
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

  const note = async () => {
    const before = state?.mark === mark() ? state : null;
    // Several requests under way are refused together, and count once.
    if (before && clock.now() < before.askAgainAt.getTime() && options.waits) return;
    const refusals = (before?.refusals ?? 0) + 1;
    const askAgainAt = new Date(clock.now() + pauseAfterRefusals(refusals));
    const noted = { mark: mark(), refusals, since: before?.since ?? new Date(clock.now()), askAgainAt };
    state = noted;
    await stored(() => store.write(noted), undefined);
  };
  const noting = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof PracticeError && error.code === 'unauthorized') await note();
      throw error;
    }
  };

  return {
    async token(signal) {
      if (state === undefined) state = await stored(() => store.read(), null);
      if (options.waits && state && isBlocked(state)) {
        // Another process may have got in since, and the file may hold another secret by now.
        state = await stored(() => store.read(), state);
        if (state && isBlocked(state) && !secret.readAgain()) throw leftAlone(state);
      }
      return noting(auth.token(signal));
    },
    renew: (refused, signal) => noting(auth.renew(refused, signal)),
    refused: note,
    async accepted() {
      if (!state) return;
      state = null;
      await stored(() => store.clear(), undefined);
    },
  };
}

function leftAlone({ refusals, since, askAgainAt }: SignInState): PracticeError {
  const times = refusals === 1 ? 'once' : `${refusals} times`;
  return new PracticeError(
    'unauthorized',
    `the practice API has refused our sign-in ${times} since ${since.toISOString()}; it is asked again ${askAgainAt.toISOString()}, or as soon as the secret has changed`,
  );
}

function markOf(key: string, secret: string): string {
  return createHmac('sha256', key).update(secret).digest('hex').slice(0, 8);
}
