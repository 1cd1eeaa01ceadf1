// (a) Full loads without rate limits: records per second and peak memory.
import { writeSection } from '../measure.ts';
import { type EngineName, openEngine } from '../parts/engines.ts';
import { count, fixed, median, table, total } from '../parts/figures.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

interface Run {
  seconds: number;
  cpuSeconds: number;
  peakMb: number;
  /** Seconds of vetledger's pull activities; for the other programs, which only pull, the same as `seconds`. */
  pullSeconds: number;
  records: number;
}

/** A program with its task. vetledger runs with and without its write-backs. */
interface Job {
  engine: EngineName;
  writesBack: boolean;
  label: string;
}

const posting: Job = { engine: 'vetledger', writesBack: false, label: 'vetledger: pull, post, ledger' };
const writing: Job = { engine: 'vetledger', writesBack: true, label: 'vetledger: pull, post, ledger, write-back' };
const dlt: Job = { engine: 'dlt', writesBack: false, label: 'dlt: pull into PostgreSQL' };
const airbyte: Job = { engine: 'airbyte', writesBack: false, label: 'Airbyte CDK: pull and count' };

export function fullLoad(services: Services, quick: boolean): Promise<void> {
  const jobs = [posting, writing, dlt, airbyte];
  return quick ? atSize(services, jobs, 1_000, 1) : atSize(services, jobs, 20_000, 3);
}

export async function largeFullLoad(services: Services, quick: boolean): Promise<void> {
  // This is the load above with more invoices. A small version would show nothing new. The Airbyte CDK is left out: it
  // requests pages by number. With so many invoices, only the time of the sandbox would be measured.
  if (!quick) await atSize(services, [posting, writing, dlt], 200_000, 1);
}

async function atSize(services: Services, jobs: Job[], invoices: number, runs: number): Promise<void> {
  const all = new Map<Job, Run[]>(jobs.map((job) => [job, []]));
  let records = 0;
  // The programs run in turns, so that other load on the machine affects all of them.
  for (let turn = 0; turn < runs; turn += 1) {
    for (const job of jobs) {
      const measured = await oneRun(services, job, invoices);
      records = measured.records;
      all.get(job)!.push(measured);
      console.error(
        `${job.label} ${invoices}: ${fixed(measured.seconds)} s, pull ${fixed(measured.pullSeconds)} s, cpu ${fixed(measured.cpuSeconds)} s, ${count(measured.peakMb)} MB`,
      );
    }
  }
  const of = (job: Job, field: keyof Run) => median(all.get(job)!.map((each) => each[field]));
  const rows = jobs.map((job) => [
    job.label,
    fixed(of(job, 'seconds')),
    count(records / of(job, 'seconds')),
    fixed(of(job, 'pullSeconds')),
    count(records / of(job, 'pullSeconds')),
    fixed(of(job, 'cpuSeconds')),
    count(of(job, 'peakMb')),
  ]);
  const over = (job: Job) => fixed(of(job, 'seconds') / of(dlt, 'seconds'));
  writeSection(
    `(a) Full load of ${count(invoices)} invoices, unthrottled`,
    [
      ...services.heading,
      '',
      `${count(records)} records: ${count(invoices)} invoices, 3 rows each, 0.8 payments, 0.2 prepayments. Limits off, no latency. ${runs > 1 ? `Median of ${runs} runs in turns` : 'One run'};`,
      'the whole process, its start included. Peak: the largest sum of resident memory of the process and its children.',
      'Pull only: for vetledger from the start of its first pull activity to the end of its last, by the Temporal history (there is no',
      'command that only pulls), without the start of the process; for the others, which do nothing else, the whole.',
      ...(jobs.includes(airbyte) ? ['The Airbyte CDK only reads and counts: it writes nothing.'] : []),
      '',
      table(['engine', 'seconds', 'records/s', 'pull only, s', 'pull only, records/s', 'processor s', 'peak MB'], rows),
      '',
      `Over dlt's time: vetledger without write-back ${over(posting)} (aim: 2.0 at most), with it ${over(writing)}.`,
    ].join('\n'),
  );
}

async function oneRun(services: Services, { engine: name, writesBack, label }: Job, invoices: number): Promise<Run> {
  const source = await startSource({ invoices, rateWindowSeconds: 0, latencyMs: 0 });
  const engine = await openEngine(name, { source, services, replace: true, writesBack });
  try {
    const { seconds, cpuSeconds, peakMb } = await engine.run();
    const held = await engine.counts();
    const wanted = total(source.counts);
    if (total(held) !== wanted)
      throw new Error(`${label} has ${total(held)} records, not ${wanted}: ${JSON.stringify(held)}`);
    const pullSeconds = (await engine.pullSeconds?.()) ?? seconds;
    return { seconds, cpuSeconds, peakMb, pullSeconds, records: wanted };
  } finally {
    await engine.dispose();
    source.stop();
  }
}
