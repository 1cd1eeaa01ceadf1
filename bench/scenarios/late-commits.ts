// (f) A first load while events happen in the clinic and commit late, followed by windows until it is quiet: missing
// and stale records.
import { setTimeout as sleep } from 'node:timers/promises';
import { writeSection } from '../measure.ts';
import type { ListCounts } from '../parts/clinic.ts';
import { type EngineName, openEngine, type Versions } from '../parts/engines.ts';
import { count, lists, table } from '../parts/figures.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

const names: EngineName[] = ['vetledger', 'dlt', 'airbyte'];
type Truth = Record<keyof ListCounts, [id: number, modified: number][]>;

export async function lateCommits(services: Services, quick: boolean): Promise<void> {
  const setting = quick
    ? { invoices: 1_500, windowSeconds: 2, overlapSeconds: 2, lateMs: 1_000, livesMs: 3_000, pauseMs: 500 }
    : { invoices: 10_000, windowSeconds: 5, overlapSeconds: 10, lateMs: 6_000, livesMs: 120_000, pauseMs: 5_000 };
  const { invoices, windowSeconds, overlapSeconds, lateMs, livesMs, pauseMs } = setting;
  const rows: (string | number)[][] = [];
  for (const name of names) {
    const source = await startSource({
      invoices,
      rateWindowSeconds: windowSeconds,
      latencyMs: 20,
      quirks: { lateCommitShare: 0.5, lateCommitMs: lateMs },
      late: { everyMs: 50, endsAfterMs: livesMs },
    });
    const engine = await openEngine(name, { source, services, overlapSeconds, airbyteKeeps: true });
    try {
      await source.ask('liveLate');
      const quiet = performance.now() + livesMs;
      let runs = 0;
      while (performance.now() < quiet || runs < 2) {
        await engine.run(runs === 0);
        runs += 1;
        await sleep(pauseMs);
      }
      // After the last commits become visible, two more windows run, as the schedule would open them.
      await sleep(lateMs);
      await engine.run();
      await engine.run();
      const truth = await source.ask<Truth>('truth');
      const held = await engine.versions();
      const found = lists.map((list) => compare(truth[list], held[list], list === 'invoice' || list === 'invoicerow'));
      rows.push([
        engine.name,
        runs + 2,
        ...found.map(({ missing, stale }) => `${missing} / ${stale}`),
        count(lists.reduce((sum, list) => sum + truth[list].length, 0)),
      ]);
      console.error(rows.at(-1)!.join(', '));
    } finally {
      await engine.dispose();
      source.stop();
    }
  }
  writeSection(
    '(f) Missing and stale records after late commits',
    [
      ...services.heading,
      '',
      `${count(invoices)} invoices loaded under the limits (window of ${windowSeconds} s) while the clinic lives on, an event every 50 ms for`,
      `${livesMs / 1000} s; half of them are committed, and so seen, ${lateMs / 1000} s after their id and \`modified\`. Overlap, lag and look-back ${overlapSeconds} s,`,
      'more than any commit is late (dlt: 100 ids for payments; the Airbyte CDK has no look-back for them). Windows follow each other until all',
      'is committed, and two more come after that.',
      '',
      table(['engine', 'runs', ...lists.map((list) => `${list}, missing / stale`), 'records'], rows),
    ].join('\n'),
  );
}

/**
 * A stale record has another `modified` than in the source. The clinic changes no payment or prepayment here, and
 * programs do not read their own write-backs again, so these can only be missing.
 */
function compare(
  truth: [number, number][],
  held: Versions[keyof ListCounts],
  changes: boolean,
): { missing: number; stale: number } {
  let missing = 0;
  let stale = 0;
  for (const [id, modified] of truth) {
    const version = held.get(id);
    if (version === undefined) missing += 1;
    else if (changes && version !== modified) stale += 1;
  }
  return { missing, stale };
}
