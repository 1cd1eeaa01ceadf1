// (a) A full load, the API not being the limit: records per second and peak memory.
import { writeSection } from '../measure.ts';
import { type EngineName, openEngine } from '../parts/engines.ts';
import { count, fixed, median, table, total } from '../parts/figures.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

interface Run {
  seconds: number;
  cpuSeconds: number;
  peakMb: number;
  /** Pull only: vetledger's pull activities; for the others, which do nothing else, the same as `seconds`. */
  pullSeconds: number;
  /** From the start of the process to the last entry: all but the write-backs that are left then. Vetledger's alone. */
  postedSeconds: number;
  records: number;
}

export function fullLoad(services: Services, quick: boolean): Promise<void> {
  const engines: EngineName[] = ['vetledger', 'dlt', 'airbyte'];
  return quick ? atSize(services, engines, 1_000, 1) : atSize(services, engines, 20_000, 3);
}

export async function largeFullLoad(services: Services, quick: boolean): Promise<void> {
  // The same but for its size: nothing that a small version would show.
  // The Airbyte CDK asks for pages by number, which costs the sandbox so much at this size that it alone would be measured.
  if (!quick) await atSize(services, ['vetledger', 'dlt'], 200_000, 1);
}

async function atSize(services: Services, engines: EngineName[], invoices: number, runs: number): Promise<void> {
  const all = new Map<EngineName, Run[]>(engines.map((name) => [name, []]));
  let records = 0;
  // In turns, so that whatever else the machine does falls on all of them.
  for (let turn = 0; turn < runs; turn += 1) {
    for (const name of engines) {
      const measured = await oneRun(services, name, invoices);
      records = measured.records;
      all.get(name)!.push(measured);
      console.error(
        `${name} ${invoices}: ${fixed(measured.seconds)} s, pull ${fixed(measured.pullSeconds)} s, cpu ${fixed(measured.cpuSeconds)} s, ${count(measured.peakMb)} MB`,
      );
    }
  }
  const of = (name: EngineName, field: keyof Run) => median(all.get(name)!.map((each) => each[field]));
  const rows = engines.map((name) => [
    labels[name],
    fixed(of(name, 'seconds')),
    count(records / of(name, 'seconds')),
    fixed(of(name, 'pullSeconds')),
    count(records / of(name, 'pullSeconds')),
    name === 'vetledger' ? fixed(of(name, 'postedSeconds')) : '–',
    fixed(of(name, 'cpuSeconds')),
    count(of(name, 'peakMb')),
  ]);
  const over = (field: 'seconds' | 'postedSeconds') => fixed(of('vetledger', field) / of('dlt', 'seconds'));
  writeSection(
    `(a) Full load of ${count(invoices)} invoices, unthrottled`,
    [
      ...services.heading,
      '',
      `${count(records)} records: ${count(invoices)} invoices, 3 rows each, 0.8 payments, 0.2 prepayments. Limits off, no latency. ${runs > 1 ? `Median of ${runs} runs in turns` : 'One run'};`,
      'the whole process, its start included. Peak: the largest sum of resident memory of the process and its children.',
      'Pull only: for vetledger from the start of its first pull activity to the end of its last, by the Temporal history (there is no',
      'command that only pulls), without the start of the process; for the others, which do nothing else, the whole. All posted: from the',
      'start of the process to the last entry; the write-backs that are left then come after it.',
      ...(engines.includes('airbyte') ? ['The Airbyte CDK only reads and counts: it writes nothing.'] : []),
      '',
      table(
        [
          'engine',
          'seconds',
          'records/s',
          'pull only, s',
          'pull only, records/s',
          'all posted, s',
          'processor s',
          'peak MB',
        ],
        rows,
      ),
      '',
      `vetledger's time until all is posted is ${over('postedSeconds')} of dlt's (aim: 2.0 at most), its whole time ${over('seconds')}.`,
    ].join('\n'),
  );
}

const labels: Record<EngineName, string> = {
  vetledger: 'vetledger: pull, post, ledger, write-back',
  dlt: 'dlt: pull into PostgreSQL',
  airbyte: 'Airbyte CDK: pull and count',
};

async function oneRun(services: Services, name: EngineName, invoices: number): Promise<Run> {
  const source = await startSource({ invoices, rateWindowSeconds: 0, latencyMs: 0 });
  const engine = await openEngine(name, { source, services, replace: true });
  try {
    const started = Date.now();
    const { seconds, cpuSeconds, peakMb } = await engine.run();
    const held = await engine.counts();
    const wanted = total(source.counts);
    if (total(held) !== wanted)
      throw new Error(`${name} has ${total(held)} records, not ${wanted}: ${JSON.stringify(held)}`);
    const pullSeconds = (await engine.pullSeconds?.()) ?? seconds;
    const lastEntry = (await engine.entries?.())?.at(-1);
    const postedSeconds = lastEntry ? (lastEntry.at - started) / 1000 : seconds;
    return { seconds, cpuSeconds, peakMb, pullSeconds, postedSeconds, records: wanted };
  } finally {
    await engine.dispose();
    source.stop();
  }
}
