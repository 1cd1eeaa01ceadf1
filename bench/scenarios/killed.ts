// (e) A throttled load is killed and run again: the weight that is spent twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { writeSection } from '../measure.ts';
import { type EngineName, openEngine } from '../parts/engines.ts';
import { count, fixed, leastWeight, listLimits, lists, pullMarks, sumOf, table, windowsFor } from '../parts/figures.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Mark } from '../parts/sandbox-process.ts';
import type { Services } from '../parts/services.ts';

const latencyMs = 50;
const names: EngineName[] = ['vetledger', 'dlt', 'airbyte'];

export async function killed(services: Services, quick: boolean): Promise<void> {
  const windowSeconds = quick ? 2 : 10;
  const invoices = quick ? 2_000 : 9_500;
  // The process is killed after these shares of the shortest possible load.
  const moments = quick ? [0.5] : [0.25, 0.5, 0.8];
  const rows: (string | number)[][] = [];
  for (const name of names) {
    for (const moment of moments) {
      const source = await startSource({ invoices, rateWindowSeconds: windowSeconds, latencyMs });
      const engine = await openEngine(name, { source, services });
      try {
        const windows = Math.max(
          ...lists.map((list) => windowsFor(leastWeight(source.counts, list), listLimits[list])),
        );
        const first = engine.start();
        const before = await marksUntil(source, moment * windows * windowSeconds * 1000);
        first.kill();
        await first.ended;
        before.push(...(await source.marks()));
        // The server grants further requests only after the requests of the killed process have left its rolling
        // window.
        const { seconds } = await engine.run();
        const after = await source.marks();
        const everything = [...before, ...after];
        const all = pullMarks(everything);
        const twice = lists.map((list) => sumOf(all, 'weight', [`${list}.list`]) - leastWeight(source.counts, list));
        const least = lists.reduce((sum, list) => sum + leastWeight(source.counts, list), 0);
        rows.push([
          engine.name,
          `${Math.round(moment * 100)} %`,
          ...twice.map((weight) => fixed(weight / 20, 1)),
          `${count(twice.reduce((sum, weight) => sum + weight, 0))} of ${count(least)}`,
          sumOf(everything, 'throttled'),
          fixed(seconds, 1),
        ]);
        console.error(rows.at(-1)!.join(', '));
      } finally {
        await engine.dispose();
        source.stop();
      }
    }
  }
  writeSection(
    '(e) Killed in the middle of a throttled load, and run again',
    [
      ...services.heading,
      '',
      `${count(invoices)} invoices, window of ${windowSeconds} s, ${latencyMs} ms latency; SIGKILL after a share of the quickest possible load, then one more`,
      'run to the end. Pages of 1000 (weight 20) of each list asked for beyond the least possible; the aim is at most one.',
      '',
      table(
        [
          'engine',
          'killed at',
          ...lists.map((list) => `${list}, pages`),
          'weight beyond the least',
          '429s',
          'second run, s',
        ],
        rows,
      ),
      '',
      'Prepayments are counted until vetledger writes back the first one: what follows is reading before and after writing. The next window,',
      'which the second run opens, too, is in the count.',
      '',
      'The killed process of dlt loses its lists whole, finished ones too: nothing of a run is kept before its extraction has ended. The',
      'Airbyte CDK begins unfinished lists again; what it read before may have to be loaded twice, too.',
    ].join('\n'),
  );
}

/** Waits this long from the first request on, and returns the marks until then. */
async function marksUntil(source: Awaited<ReturnType<typeof startSource>>, ms: number): Promise<Mark[]> {
  const marks: Mark[] = [];
  while (marks.length === 0) {
    await sleep(20);
    marks.push(...(await source.marks()));
  }
  await sleep(Math.max(0, marks[0]!.at + ms - Date.now()));
  return marks;
}
