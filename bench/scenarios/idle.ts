// (c) Windows with few or no changes: requests, weight, time. bench/nudge.ts measures the time from a change to its
// entry.
import { setTimeout as sleep } from 'node:timers/promises';
import { writeSection } from '../measure.ts';
import { type EngineName, openEngine } from '../parts/engines.ts';
import { fixed, listActions, sumOf, table } from '../parts/figures.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

const latencyMs = 50;

export async function idle(services: Services, quick: boolean): Promise<void> {
  const invoices = quick ? 500 : 2_000;
  const overlapSeconds = quick ? 3 : 20;
  const windowSeconds = quick ? 2 : 5;
  const rows: (string | number)[][] = [];
  const runs: [EngineName, number][] = [
    ['vetledger', 1000],
    ['dlt', 1000],
    ['dlt', 50],
    ['airbyte', 1000],
    ['airbyte', 50],
  ];
  for (const [name, pageSize] of runs.filter(([, size], index) => !quick || index === 0 || size === 50)) {
    const source = await startSource({ invoices, rateWindowSeconds: windowSeconds, latencyMs });
    const engine = await openEngine(name, { source, services, pageSize, overlapSeconds });
    const label = name === 'vetledger' ? engine.name : `${engine.name}, pages of ${pageSize}`;
    try {
      await engine.run(true);
      const windows = [
        ['right after the load', 0, false],
        ['idle: nothing within the overlap', 0, true],
        ['after 20 events', 20, false],
        ['idle, those within the overlap', 0, false],
        ['idle again', 0, true],
      ] as const;
      for (const [what, events, pauses] of quick ? windows.filter(([, , isLong]) => !isLong) : windows) {
        if (events) await source.ask('live', events);
        await sleep((pauses ? overlapSeconds + 2 : windowSeconds) * 1000);
        await source.marks();
        const { seconds } = await engine.run();
        const marks = await source.marks();
        rows.push([
          label,
          what,
          sumOf(marks, 'requests', listActions),
          sumOf(marks, 'weight', listActions),
          sumOf(marks, 'requests') - sumOf(marks, 'requests', listActions),
          sumOf(marks, 'throttled'),
          fixed(seconds),
        ]);
        console.error(rows.at(-1)!.join(', '));
      }
    } finally {
      await engine.dispose();
      source.stop();
    }
  }
  writeSection(
    '(c) Idle and small windows',
    [
      ...services.heading,
      '',
      `${invoices} invoices loaded before; ${latencyMs} ms latency; overlap, lag and look-back ${overlapSeconds} s; the whole process, its start`,
      'included. “Other requests” are write-backs and what goes with them.',
      '',
      table(['engine', 'window', 'list requests', 'weight', 'other requests', '429s', 'seconds'], rows),
    ].join('\n'),
  );
}
