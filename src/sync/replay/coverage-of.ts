import type { Connection } from '../../db/rows.ts';
import { type InstallationId, recordKinds } from '../../terms.ts';
import { readCursors } from '../cursors.ts';
import { coveredBy, type Gap, GapFinder } from './coverage.ts';
import { streamsAround } from './targets.ts';
import { type NotedWindow, selectWindows } from './window-streams.ts';

/** Windows after a failed one that are looked at for its coverage: the first that closes covers it, unless the source's clock was put back. */
const laterAtMost = 500;
/** Those that are looked at first. */
const laterAtFirst = 8;
/** The newest failed windows that `--failed` considers; three and a half days of failures every five minutes. */
const failedAtMost = 1_000;
const pageSize = 5_000;

/** A window that ended and may have read something: a failed one tells an end of a stream. */
const mayHaveRead = `(outcome = 'closed' or (outcome = 'failed' and streams::text ~ '"to":["0-9]'))`;

/** The windows after a failed one, as many as its coverage takes; a streak of failures shares them. */
class LaterWindows {
  readonly #db: Connection;
  readonly #installation: InstallationId;
  #after = Number.POSITIVE_INFINITY;
  #found: NotedWindow[] = [];
  #isAll = false;

  constructor(db: Connection, installation: InstallationId) {
    this.#db = db;
    this.#installation = installation;
  }

  async after(id: number, atMost: number): Promise<NotedWindow[]> {
    const last = this.#found.at(-1)?.id ?? this.#after;
    if (id < this.#after || id >= last) [this.#after, this.#found, this.#isAll] = [id, [], false];
    const start = () => {
      const at = this.#found.findIndex((window) => window.id > id);
      return at < 0 ? this.#found.length : at;
    };
    const missing = atMost - (this.#found.length - start());
    if (missing > 0 && !this.#isAll) {
      const more = await selectWindows(this.#db, `installation = ? and id > ? and ${mayHaveRead} order by id limit ?`, [
        this.#installation,
        this.#found.at(-1)?.id ?? this.#after,
        missing,
      ]);
      this.#isAll = more.length < missing;
      this.#found.push(...more);
    }
    return this.#found.slice(start(), start() + atMost);
  }
}

/** By which windows each of these failed windows is covered; null: by none yet. */
export async function coverageOf(
  db: Connection,
  installation: InstallationId,
  ids: readonly number[],
): Promise<Map<number, number[] | null>> {
  const failed = await selectWindows(db, `installation = ? and id = any(?) and outcome = 'failed' order by id`, [
    installation,
    ids,
  ]);
  return new Map((await withCoverage(db, installation, failed)).map(({ window, by }) => [window.id, by]));
}

async function withCoverage(db: Connection, installation: InstallationId, failed: readonly NotedWindow[]) {
  const later = new LaterWindows(db, installation);
  const told: { window: NotedWindow; by: number[] | null }[] = [];
  for (const window of failed) {
    const needing = { ...window, streams: window.streams ?? (await streamsOfUnopened(db, window)) };
    const by =
      coveredBy(needing, await later.after(window.id, laterAtFirst)) ??
      coveredBy(needing, await later.after(window.id, laterAtMost));
    told.push({ window, by });
  }
  return told;
}

/** What a window that never opened was to read: from where the one before it stood, up to its attempt. */
async function streamsOfUnopened(db: Connection, window: NotedWindow): Promise<NotedWindow['streams']> {
  if (window.kind !== 'window') return null;
  const before = await selectWindows(
    db,
    `installation = ? and id < ? and kind = 'window' and streams is not null order by id desc limit 1`,
    [window.installation, window.id],
  );
  return streamsAround(window, before);
}

/** The live windows that failed and that nothing covers yet, the oldest first. */
export async function uncoveredWindows(db: Connection, installation: InstallationId): Promise<NotedWindow[]> {
  const newest = await selectWindows(
    db,
    `installation = ? and outcome = 'failed' and kind = 'window' order by id desc limit ?`,
    [installation, failedAtMost],
  );
  const told = await withCoverage(db, installation, newest.toReversed());
  return told.flatMap(({ window, by }) => (by === null ? [window] : []));
}

export interface GapReport {
  /** From when the check holds; null: no window has opened yet. */
  since: Date | null;
  gaps: Gap[];
}

/** What the windows of an installation have left unread between them, the present cursors included. */
export async function gapsOf(db: Connection, installation: InstallationId): Promise<GapReport> {
  const finder = new GapFinder();
  // Before the windows: a window that closes meanwhile has read what its cursors tell.
  const cursors = await readCursors(db, installation);
  let isOpen = false;
  for (let after = 0; ; ) {
    const page = await selectWindows(db, 'installation = ? and id > ? order by id limit ?', [
      installation,
      after,
      pageSize,
    ]);
    for (const window of page) {
      if (window.kind === 'window' && window.outcome === 'open') isOpen = true;
      finder.add(window);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) break;
    after = last.id;
  }
  if (!isOpen) {
    for (const stream of recordKinds) {
      const { value } = cursors[stream];
      const watermark = value?.watermark === undefined ? null : Date.parse(value.watermark);
      finder.cursor(stream, stream === 'payment' ? (value?.after ?? null) : watermark);
    }
  }
  return { since: finder.since, gaps: finder.gaps() };
}
