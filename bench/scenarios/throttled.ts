// (b) A full load under the limits: how much of each budget is used, 429s, weight and time against the least possible.
import { writeSection } from '../measure.ts';
import { type EngineName, openEngine } from '../parts/engines.ts';
import {
  count,
  fixed,
  leastSeconds,
  leastWeight,
  listLimits,
  lists,
  pullMarks,
  pullSeconds,
  sumOf,
  table,
  useOf,
} from '../parts/figures.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

const latencyMs = 50;
const names: EngineName[] = ['vetledger', 'dlt', 'airbyte'];

export function throttled(services: Services, quick: boolean): Promise<void> {
  return quick ? atWindow(services, 2, 2_000) : atWindow(services, 10, 19_500);
}

export async function throttledAtTrueWindow(services: Services, quick: boolean): Promise<void> {
  // The same but for its length.
  if (!quick) await atWindow(services, 60, 6_000);
}

async function atWindow(services: Services, windowSeconds: number, invoices: number): Promise<void> {
  const shares: (string | number)[][] = [];
  const totals: (string | number)[][] = [];
  let latency = 0;
  let records = '';
  for (const name of names) {
    const source = await startSource({ invoices, rateWindowSeconds: windowSeconds, latencyMs });
    const engine = await openEngine(name, { source, services });
    try {
      latency = source.latencySeconds;
      records = lists.map((list) => `${count(source.counts[list])} ${list}`).join(', ');
      const { seconds } = await engine.run();
      const all = await source.marks();
      const marks = pullMarks(all);
      const uses = lists.map((list) => useOf(marks, `${list}.list`, listLimits[list], windowSeconds));
      shares.push([engine.name, ...uses.map(({ share }) => fixed(share, 3))]);
      const least = lists.reduce((sum, list) => sum + leastWeight(source.counts, list), 0);
      const weight = sumOf(marks, 'weight');
      const soonest = leastSeconds(source.counts, windowSeconds);
      const took = pullSeconds(all);
      totals.push([
        engine.name,
        sumOf(all, 'throttled'),
        `${count(weight)} (${fixed(weight / least, 3)})`,
        `${fixed(took, 1)} (${fixed(took / soonest, 3)})`,
        fixed(seconds, 1),
      ]);
      console.error(
        `${name} at ${windowSeconds} s: ${totals.at(-1)!.join(', ')}; shares ${shares.at(-1)!.slice(1).join(' ')}`,
      );
    } finally {
      await engine.dispose();
      source.stop();
    }
  }
  const bound = windowSeconds / (windowSeconds + latency);
  writeSection(
    `(b) Throttled full load, window of ${windowSeconds} s`,
    [
      ...services.heading,
      '',
      `${records}; limits of the specification in a rolling window of ${windowSeconds} s; every answer takes ${latencyMs} ms more (median of`,
      `a page: ${fixed(latency * 1000, 0)} ms). Share of the budget used while there is work: the time in which that weight could have been`,
      `granted, over the time from the first to the last grant; the bound w / (w + latency) is ${fixed(bound, 3)}, the aim 0.98 of it ${fixed(0.98 * bound, 3)}.`,
      'A list that fits into one window has none.',
      '',
      table(['engine', ...lists], shares),
      '',
      table(
        [
          'engine',
          '429s',
          'weight of lists (of the least)',
          'first to last list request, s (of the least)',
          'whole process, s',
        ],
        totals,
      ),
      '',
      'The whole process of vetledger goes on with write-backs of prepayments, under their own limit of 300 a window; what it reads for them is',
      'not counted here.',
    ].join('\n'),
  );
}
