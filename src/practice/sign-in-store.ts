import { instant, integer, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';

/** The fact that a source has refused our sign-in (table `sign_in`). */
export interface SignInState {
  /** A keyed hash of the refused secret. It shows whether the secret has changed. */
  mark: string;
  /** Number of consecutive refusals. */
  refusals: number;
  since: Date;
  /** The daemon does not sign in before this time, unless the secret changes. */
  askAgainAt: Date;
}

export interface SignInStore {
  read(): Promise<SignInState | null>;
  write(state: SignInState): Promise<void>;
  clear(): Promise<void>;
}

export function signInStore(db: Connection, installation: number): SignInStore {
  return {
    read: () => signInState(db, installation),
    async write({ mark, refusals, since, askAgainAt }) {
      await execute(
        db,
        `insert into sign_in (installation, mark, refusals, since, ask_again_at) values (?, ?, ?, ?, ?)
         on conflict (installation) do update set mark = excluded.mark, refusals = excluded.refusals,
           since = excluded.since, ask_again_at = excluded.ask_again_at`,
        [installation, mark, refusals, since, askAgainAt],
      );
    },
    async clear() {
      await execute(db, 'delete from sign_in where installation = ?', [installation]);
    },
  };
}

/**
 * Lets daemons sign in at these sources again at once, despite earlier refusals. Used if an operator checks the
 * connection.
 */
export async function signInNow(db: Connection, installations: readonly number[]): Promise<void> {
  // `since` is in the past by every process's clock.
  await execute(db, 'update sign_in set ask_again_at = since where installation = any(?)', [installations]);
}

/** The refused sign-ins of these installations. Installations whose sign-in was accepted are left out. */
export async function signInStates(
  db: Connection,
  installations: readonly number[],
): Promise<Map<number, SignInState>> {
  const found = await rows(
    db,
    { installation: integer, mark: text, refusals: integer, since: instant, askAgainAt: instant },
    `select installation, mark, refusals, since, ask_again_at as "askAgainAt" from sign_in where installation = any(?)`,
    [installations],
  );
  return new Map(found.map(({ installation, ...state }) => [installation, state]));
}

/** Returns the refused sign-ins. Null if the source has accepted our sign-in, or was never contacted. */
export async function signInState(db: Connection, installation: number): Promise<SignInState | null> {
  return (await signInStates(db, [installation])).get(installation) ?? null;
}
