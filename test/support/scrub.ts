import { type InstallationConfig, loadConfig } from '../../src/config/load-config.ts';
import { priorities } from '../../src/practice/budget.ts';
import type { PullContext } from '../../src/sync/context.ts';
import { type ScrubPace, scrubSlice } from '../../src/sync/scrub/scrub.ts';
import { ownEchoes } from '../../src/writeback/echoes.ts';
import type { TestClinic } from './clinic.ts';
import { pullContextOf } from './pull-context.ts';

/** A pace limited only by the rate budget. */
export const atOnce: ScrubPace = { days: null, minShare: 0, requestsAtMost: 1_000, now: () => new Date() };

/** The context of a scrub of the clinic. */
export async function scrubContext(clinic: TestClinic, client?: PullContext['client']): Promise<PullContext> {
  const { app, config, env } = clinic;
  const [{ id, dialect, timezone, overlapSeconds }] = (await loadConfig(config, env)).installations as [
    InstallationConfig,
  ];
  return pullContextOf({
    ...{ db: app.db, installation: id, dialect, timezone, client: client ?? app.practice(id).forWindow() },
    ...{ owner: 'scrub', priority: priorities.scrub, overlapMs: overlapSeconds * 1000 },
    findOwnEchoes: ownEchoes(app.db, id, dialect),
  });
}

/** Runs one whole pass without the daemon. */
export async function scrubPass(clinic: TestClinic): Promise<void> {
  const report = await scrubSlice(await scrubContext(clinic), atOnce);
  if (report.state !== 'finished') throw new Error(`the pass is ${report.state}`);
}
