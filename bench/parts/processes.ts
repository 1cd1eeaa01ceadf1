import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const sampleEveryMs = 50;
/** Linux counts processor time in ticks. */
const ticksPerSecond = 100;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  seconds: number;
  /** Processor time and the peak of resident memory of the process and its descendants; 0 on systems without /proc. */
  cpuSeconds: number;
  peakMb: number;
}

export interface Running {
  pid: number;
  kill(signal?: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export interface Command {
  command: string;
  args: string[];
  env?: Record<string, string>;
  timeoutMs: number;
}

/** Starts a program and measures it until it ends. A program that exceeds its time limit is killed. */
export function start({ command, args, env, timeoutMs }: Command): Running {
  const started = performance.now();
  const child: ChildProcess = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid!;
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-20_000);
  });
  let peakMb = 0;
  const cpu = new Map<number, number>();
  const sample = () => {
    const tree = treeOf(pid);
    const rss = tree.reduce((sum, each) => sum + each.rssMb, 0);
    peakMb = Math.max(peakMb, rss, highWaterMb(pid));
    for (const each of tree) cpu.set(each.pid, each.cpuSeconds);
  };
  const sampling = setInterval(sample, sampleEveryMs);
  const timer = setTimeout(() => killTree(pid), timeoutMs);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearInterval(sampling);
      clearTimeout(timer);
      const cpuSeconds = [...cpu.values()].reduce((sum, each) => sum + each, 0);
      resolve({ code, signal, stdout, stderr, seconds: (performance.now() - started) / 1000, cpuSeconds, peakMb });
    });
  });
  return { pid, kill: (signal = 'SIGKILL') => (signal === 'SIGKILL' ? killTree(pid) : void child.kill(signal)), ended };
}

/** Runs a program to its end. If it fails, throws an error with its output. */
export async function run(command: Command): Promise<Ended> {
  const ended = await start(command).ended;
  if (ended.code !== 0) {
    throw new Error(
      `${command.command} ${command.args.join(' ')} ended with ${ended.code ?? ended.signal}:\n${ended.stderr.slice(-3000)}\n${ended.stdout.slice(-2000)}`,
    );
  }
  return ended;
}

function killTree(pid: number): void {
  for (const each of [...treeOf(pid).map((process) => process.pid), pid]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}

interface Sampled {
  pid: number;
  parent: number;
  cpuSeconds: number;
  /** The processor seconds of the process's children that have ended. */
  endedCpuSeconds: number;
  rssMb: number;
}

/** The process and its descendants. */
function treeOf(root: number): Sampled[] {
  const all = processIds().flatMap((pid) => statOf(pid) ?? []);
  const tree = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of all) {
      if (!tree.has(parent) || tree.has(pid)) continue;
      tree.add(pid);
      grown = true;
    }
  }
  return all.filter(({ pid }) => tree.has(pid));
}

/** The processor seconds of a process and its descendants so far, including ended ones; 0 on systems without /proc. */
export function usageOf(pid: number): number {
  return treeOf(pid).reduce((sum, { cpuSeconds, endedCpuSeconds }) => sum + cpuSeconds + endedCpuSeconds, 0);
}

/** The id of the process whose command line contains the text. */
export function processWith(text: string): number {
  const found = processIds().find((pid) => commandLineOf(pid).includes(text));
  if (found === undefined) throw new Error(`no process has ${text} in its command line`);
  return found;
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function statOf(pid: number): Sampled | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses can contain any characters, so parsing starts after it.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return {
      pid,
      parent: fields[1]!,
      cpuSeconds: (fields[11]! + fields[12]!) / ticksPerSecond,
      endedCpuSeconds: (fields[13]! + fields[14]!) / ticksPerSecond,
      rssMb: (fields[21]! * 4096) / 1e6,
    };
  } catch {
    return null;
  }
}

function highWaterMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return (Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024) / 1e6;
  } catch {
    return 0;
  }
}
