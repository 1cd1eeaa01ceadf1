import { changedIdentities } from '../bookkeeping/identity.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { type DaySpan, latestTurn, placeByHash, type Turn, type TurnPlace, turnAfter } from '../domain/daily-turn.ts';
import { attemptsAtMost, dueTurns, type TurnState, turnStates } from '../reconcile/turns.ts';
import { pauseStates } from '../sync/pauses.ts';
import { windowPaces } from '../sync/schedule-state.ts';
import type { InstallationId } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';
import type { Verdict } from './verdict.ts';

/** The reason why an installation is not reconciled automatically although its turn is due. */
export const putOffReasons = ['paused', 'first_load', 'identity_changed'] as const;
export type PutOff = (typeof putOffReasons)[number];

/** A turn that is due. */
export interface DueTurn extends Turn {
  installation: InstallationConfig;
  putOff: PutOff | null;
}

type Placed = Pick<InstallationConfig, 'id' | 'timezone'>;

function placeOf(span: DaySpan, { id, timezone }: Placed): TurnPlace {
  return { span, timezone, share: placeByHash(id) };
}

/**
 * The due turns that no daemon has taken, longest due first. Only the newest turn of an installation counts, so several
 * days without a daemon cause only one reconciliation.
 */
export async function turnsToTake(
  db: Connection,
  installations: readonly InstallationConfig[],
  span: DaySpan,
  now: Date,
): Promise<DueTurn[]> {
  const turns = installations.map((installation) => ({
    installation,
    ...latestTurn(placeOf(span, installation), now),
  }));
  const due = await dueTurns(
    db,
    turns.map(({ installation: { id }, day }) => ({ installation: id, day })),
  );
  const waiting = turns.filter(({ installation }) => due.has(installation.id));
  if (waiting.length === 0) return [];
  const putOff = await putOffs(
    db,
    waiting.map(({ installation }) => installation),
  );
  return waiting
    .map((turn) => ({ ...turn, putOff: putOff.get(turn.installation.id) ?? null }))
    .sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** Installations that are not reconciled automatically now, with the reason. */
async function putOffs(
  db: Connection,
  installations: readonly InstallationConfig[],
): Promise<Map<InstallationId, PutOff>> {
  const ids = installations.map(({ id }) => id);
  const pauses = await pauseStates(db, ids);
  const changed = await changedIdentities(db, installations);
  const loaded = await windowPaces(db, ids, 0);
  return new Map(
    loaded.flatMap(({ installation: id, syncedTo }) => {
      const isPaused = pauses.get(id)?.isPaused ?? false;
      const reason = putOffReason({ syncedTo, isPaused, refused: changed.get(id) ?? null });
      return reason === null ? [] : [[id, reason] as const];
    }),
  );
}

/** The reason why an installation is not reconciled automatically now. Null if nothing prevents it. */
export function putOffReason({
  syncedTo,
  isPaused,
  refused,
}: {
  syncedTo: Date | null;
  isPaused: boolean;
  refused: PlainError | null;
}): PutOff | null {
  if (refused !== null) return 'identity_changed';
  if (isPaused) return 'paused';
  return syncedTo === null ? 'first_load' : null;
}

/** When an installation is reconciled automatically, and what prevents it, as `status --json` prints it. */
export interface ReconcileStatus {
  /** Age of the verdict; null before the first. */
  age_seconds: number | null;
  /** Whether the installation has entries that were never reconciled, or not for two days. */
  old: boolean;
  /**
   * Time of the next reconciliation. A time in the past means that a daemon must begin now. Null if the daemon does not
   * reconcile (`reconcile.between: never`).
   */
  next_at: Date | null;
  put_off: PutOff | null;
  /** The error of the last attempt; null if it succeeded. */
  error: PlainError | null;
}

/** An older verdict does not count. */
const oldAfterMs = 2 * 86_400_000;

/**
 * Reads the reconciliation state of these installations at once. The returned function gives the status of one of them.
 */
export async function reconcileStatuses(
  db: Connection,
  installations: readonly Placed[],
  { span, now }: { span: DaySpan | null; now: Date },
): Promise<(installation: Placed, verdict: Verdict, putOff: PutOff | null) => ReconcileStatus> {
  const states = await turnStates(
    db,
    installations.map(({ id }) => id),
  );
  return (installation, { reconciled, empty }, putOff) => {
    const state = states.get(installation.id) ?? null;
    const ageMs = reconciled === null ? null : now.getTime() - reconciled.checked_at.getTime();
    return {
      age_seconds: ageMs === null ? null : Math.round(ageMs / 1000),
      old: !empty && putOff === null && (ageMs === null || ageMs > oldAfterMs),
      next_at: span === null ? null : nextAt(placeOf(span, installation), state, now),
      put_off: putOff,
      error: state?.error ?? null,
    };
  };
}

function nextAt(place: TurnPlace, state: TurnState | null, now: Date): Date {
  const latest = latestTurn(place, now);
  if (state === null || state.day < latest.day) return latest.at;
  const isToRepeat = state.day === latest.day && !state.isDone && state.attempts < attemptsAtMost;
  if (isToRepeat) return state.notBefore;
  const next = turnAfter(place, latest);
  // If the span was moved to later on the same day, the turn of that day is already taken.
  return (next.day > state.day ? next : turnAfter(place, next)).at;
}
