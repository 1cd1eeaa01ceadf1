// (d) Two workers on one installation under the limits. One of them is killed and restarted during the load.
import { setTimeout as sleep } from 'node:timers/promises';
import { writeSection } from '../measure.ts';
import { type Vetledger, vetledger } from '../parts/engines.ts';
import {
  count,
  fixed,
  leastWeight,
  listLimits,
  lists,
  pullMarks,
  spanSeconds,
  sumOf,
  table,
  useOf,
} from '../parts/figures.ts';
import type { Running } from '../parts/processes.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

const latencyMs = 50;
const loadTimeoutMs = 1_800_000;
const quickTimeoutMs = 120_000;
/** A daemon starts within this time, so that both work before the load has proceeded far. */
const secondWorkerAfterMs = 500;

export async function twoWorkers(services: Services, quick: boolean): Promise<void> {
  const windowSeconds = quick ? 1 : 10;
  const invoices = quick ? 1_200 : 19_500;
  const shares: (string | number)[][] = [];
  const totals: (string | number)[][] = [];
  let latency = 0;
  const timeoutMs = quick ? quickTimeoutMs : loadTimeoutMs;
  const runs = [
    ['two workers', null],
    ['two workers, one killed and restarted', 0.4],
  ] as const;
  for (const [what, killAfter] of quick ? runs.slice(1) : runs) {
    const source = await startSource({ invoices, rateWindowSeconds: windowSeconds, latencyMs });
    const engine = await vetledger({ source, services });
    const workers: Running[] = [];
    latency = source.latencySeconds;
    try {
      workers.push(engine.daemon());
      await sleep(secondWorkerAfterMs);
      workers.push(engine.daemon());
      if (killAfter !== null) {
        const rows = source.counts.invoicerow;
        await until(
          engine,
          `select count(*) > ${Math.round(rows * killAfter)} as done from mirror_record where kind = 'row'`,
          timeoutMs,
        );
        const [victim] = workers.splice(0, 1);
        victim!.kill();
        await victim!.ended;
        workers.push(engine.daemon());
      }
      await until(
        engine,
        "select count(*) > 0 as done from sync_window where outcome <> 'open' and kind = 'window'",
        timeoutMs,
      );
      const failed = await engine.query("select error from sync_window where outcome = 'failed'");
      const all = await source.marks();
      const marks = pullMarks(all);
      shares.push([
        what,
        ...lists.map((list) => fixed(useOf(marks, `${list}.list`, listLimits[list], windowSeconds).share, 3)),
      ]);
      const least = lists.reduce((sum, list) => sum + leastWeight(source.counts, list), 0);
      const weight = sumOf(marks, 'weight');
      totals.push([
        what,
        sumOf(all, 'throttled'),
        `${count(weight)} (${fixed(weight / least, 3)})`,
        fixed(spanSeconds(marks), 1),
        failed.length ? `failed: ${JSON.stringify(failed)}` : 'closed',
      ]);
      console.error(`${totals.at(-1)!.join(', ')}; shares ${shares.at(-1)!.slice(1).join(' ')}`);
    } finally {
      for (const worker of workers) worker.kill('SIGTERM');
      await Promise.all(workers.map((worker) => worker.ended));
      await engine.dispose();
      source.stop();
    }
  }
  const bound = windowSeconds / (windowSeconds + latency);
  writeSection(
    '(d) Two workers, and a restart',
    [
      ...services.heading,
      '',
      `Two \`vetledger run\` on one database load ${count(invoices)} invoices in a window of ${windowSeconds} s, ${latencyMs} ms latency. Share as in (b); the`,
      `bound is ${fixed(bound, 3)}, the aim 0.98 of it ${fixed(0.98 * bound, 3)}.`,
      '',
      table(['', ...lists], shares),
      '',
      table(['', '429s', 'weight of lists (of the least)', 'first to last list request, s', 'window'], totals),
    ].join('\n'),
  );
}

async function until(engine: Vetledger, question: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (
    !(await engine.query<{ done: boolean }>(question).then(
      (rows) => rows[0]!.done,
      () => false,
    ))
  ) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs / 1000} s: ${question}`);
    await sleep(100);
  }
}
