// Waits for the start of a daemon with many installations, before idle windows are measured.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { fixed } from './figures.ts';

interface StartOptions {
  installations: number;
  everySeconds: number;
}

/**
 * The overlap of windows: the default, or less if windows follow each other so quickly that no installation would
 * settle within minutes.
 */
const longestOverlapSeconds = 600;
export const overlapOf = ({ everySeconds }: StartOptions) => Math.min(longestOverlapSeconds, 2 * everySeconds);

/** Waits until the first load of each installation is closed. */
export function loaded(db: pg.Client, options: StartOptions): Promise<void> {
  return each(db, options, `select installation from sync_window where outcome = 'closed' group by installation`, []);
}

/**
 * Waits until the work of the start is over for every installation: its first load, the census of its second window,
 * the first step of its scrub, and the overlap, in which each window reads the first load's payments again. Later
 * windows are idle.
 */
export function settled(db: pg.Client, options: StartOptions): Promise<void> {
  return each(
    db,
    options,
    `select installation from sync_window where outcome = 'closed' group by installation
     having sum(coalesce(idle_windows, 1)) > 1 and max(opened_at) > min(closed_at) filter (where idle_windows is null) + make_interval(secs => $1)
     intersect select installation from scrub_pass where requests > 0`,
    [overlapOf(options)],
  );
}

/** Waits until the query returns every installation. */
async function each(db: pg.Client, options: StartOptions, query: string, values: number[]): Promise<void> {
  const { installations, everySeconds } = options;
  const started = performance.now();
  const deadlineMs = (installations * 3 + everySeconds * 6 + overlapOf(options) + 240) * 1000;
  for (;;) {
    const { rowCount } = await db.query(query, values);
    if (rowCount === installations) return;
    if (performance.now() - started > deadlineMs)
      throw new Error(`only ${rowCount} installations are there after ${deadlineMs / 1000} s`);
    await sleep(1_000);
  }
}

/** Wall and processor time since the daemon's start. */
export interface SinceStart {
  seconds: number;
  cpuSeconds: number;
}

export function startText({ seconds, cpuSeconds }: SinceStart): string {
  return `${fixed(seconds, 0)} s; ${fixed(cpuSeconds, 0)} s`;
}
