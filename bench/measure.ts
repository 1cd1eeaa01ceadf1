import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** The speed of one piece of work, in items per second of processor time, garbage collection included. */
export interface Measured {
  name: string;
  /** The median of the runs. */
  perSecond: number;
  slowest: number;
  fastest: number;
}

/**
 * Runs each piece of work once to warm up, and then `runs` times in turns, so that other load on the machine affects
 * all of them. It measures the processor time of the process. Each function returns the number of its items, which must
 * be `expected`.
 */
export function measure(
  work: (readonly [name: string, run: () => number])[],
  { runs, expected }: { runs: number; expected: number },
): Measured[] {
  const timed = (run: () => number): number => {
    const started = process.cpuUsage();
    const done = run();
    const { user, system } = process.cpuUsage(started);
    if (done !== expected) throw new Error(`${done} items were done, not ${expected}`);
    return (expected * 1e6) / (user + system);
  };
  for (const [, run] of work) timed(run);
  const speeds = work.map(() => [] as number[]);
  for (let turn = 0; turn < runs; turn += 1) {
    for (const [index, [, run]] of work.entries()) speeds[index]!.push(timed(run));
  }
  return work.map(([name], index) => {
    const sorted = speeds[index]!.toSorted((a, b) => a - b);
    return { name, perSecond: sorted[Math.floor(runs / 2)]!, slowest: sorted[0]!, fastest: sorted.at(-1)! };
  });
}

/** Describes the machine, because figures depend on it. */
export function machine(): string[] {
  const [cpu] = cpus();
  const model = cpu?.model.trim() || 'unknown processor';
  return [`Node.js ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${model}.`];
}

/** A speed with thousands separators. */
export function perSecond(value: number): string {
  return Math.round(value).toLocaleString('en');
}

const results = new URL('./RESULTS.md', import.meta.url);

let isWriting = true;

/** Sets whether `writeSection` writes the file, which is the default, or only prints the section. */
export function writesSections(isWanted: boolean): void {
  isWriting = isWanted;
}

/** Replaces the section `title` of bench/RESULTS.md by `text`. Other sections stay. */
export function writeSection(title: string, text: string): void {
  const heading = `## ${title}\n`;
  if (!isWriting) {
    console.log(`${heading}\n${text}\n`);
    return;
  }
  const [head = '', ...sections] = previous().split(/^(?=## )/m);
  const others = sections.filter((section) => !section.startsWith(heading));
  const all = [head.trim(), ...[...others, `${heading}\n${text}`].map((section) => section.trim()).sort()];
  writeFileSync(results, `${all.join('\n\n')}\n`);
}

function previous(): string {
  try {
    return readFileSync(results, 'utf8');
  } catch {
    return '# Measurements\n\nWritten by the files in `bench/`; each run replaces its own section.\n';
  }
}
