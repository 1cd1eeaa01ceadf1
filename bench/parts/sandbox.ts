import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListCounts } from './clinic.ts';
import { median } from './figures.ts';
import type { Mark, SandboxSettings } from './sandbox-process.ts';

const startTimeoutMs = 300_000;
const orderTimeoutMs = 60_000;

/** A sandbox in a separate process. */
export interface Source {
  settings: SandboxSettings;
  /** The `base_url`. */
  url: string;
  /** The address of the API: `{base_url}/<installation>/api/0.1/`. */
  api: string;
  installation: number;
  token: string;
  counts: ListCounts;
  /** The median seconds of a request for a page of 1000, without other requests. */
  latencySeconds: number;
  ask<Result>(order: string, argument?: number): Promise<Result>;
  marks(): Promise<Mark[]>;
  /** The id of the sandbox's process. */
  pid: number;
  stop(): void;
}

/** Starts a sandbox. `program` is the sandbox-process.ts of another revision. */
export async function startSource(
  settings: SandboxSettings,
  program: string | URL = new URL('./sandbox-process.ts', import.meta.url),
): Promise<Source> {
  const child = fork(program, [JSON.stringify(settings)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ready = await answerOf<Pick<Source, 'url' | 'installation' | 'token' | 'counts'> & { ready: true }>(
    child,
    (message) => 'ready' in message,
    startTimeoutMs,
  );
  let serials = 0;
  async function ask<Result>(order: string, argument = 0): Promise<Result> {
    const serial = ++serials;
    const answer = answerOf<{ serial: number; result: Result }>(
      child,
      (message) => message.serial === serial,
      orderTimeoutMs,
    );
    child.send({ order, argument, serial });
    return (await answer).result;
  }
  const api = `${ready.url}/${ready.installation}/api/0.1/`;
  const source = {
    ...ready,
    settings,
    api,
    pid: child.pid!,
    ask,
    marks: () => ask<Mark[]>('marks'),
    stop: () => child.disconnect(),
  };
  const latencySeconds = await probe(api, ready.token, settings.rateWindowSeconds);
  await source.marks();
  return { ...source, latencySeconds };
}

function answerOf<Message>(
  child: ChildProcess,
  isIt: (message: { serial?: number }) => boolean,
  timeoutMs: number,
): Promise<Message> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error('the sandbox does not answer'))), timeoutMs);
    const onMessage = (message: object) => {
      if (isIt(message)) end(() => resolve(message as Message));
    };
    const onExit = (code: number | null) => end(() => reject(new Error(`the sandbox ended with ${code}`)));
    const end = (settle: () => void) => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit);
      settle();
    };
    child.on('message', onMessage).on('exit', onExit);
  });
}

/** The first request warms up the server. Afterwards it waits one window, so that every budget is complete again. */
async function probe(api: string, token: string, windowSeconds: number): Promise<number> {
  const seconds: number[] = [];
  for (const action of [
    'unallocatedpayment',
    'invoicepayment',
    'invoicerow',
    'unallocatedpayment',
    'invoicepayment',
    'invoicerow',
  ]) {
    const started = performance.now();
    const response = await fetch(`${api}${action}/?page_size=1000`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    seconds.push((performance.now() - started) / 1000);
  }
  await sleep(windowSeconds * 1000 + 100);
  return median(seconds.slice(3));
}
