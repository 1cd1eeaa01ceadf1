import { setTimeout as sleep } from 'node:timers/promises';
import { isDelivered } from '../config/erp.ts';
import { dueWork } from '../erp/outbox/read.ts';
import type { App } from '../runtime/app.ts';
import { isDelivering } from '../runtime/deliveries.ts';
import type { Engine } from '../runtime/worker.ts';

/**
 * Begins the delivery of each installation now, and again and again: a process that died after its window had closed, and before
 * it asked for the delivery, leaves due work that nobody else would ask for.
 */
export function startDeliveries(app: App, engine: Engine, everyMs: number): { stop(): Promise<void> } {
  const delivered = app.config.installations.filter(({ erp }) => isDelivered(erp));
  if (delivered.length === 0) return { stop: async () => undefined };
  let running = Promise.resolve();
  const request = async () => {
    for (const { id } of delivered) {
      try {
        await engine.requestDelivery(id);
      } catch (err) {
        app.log.warn({ err, installation: id }, 'the delivery was not begun; it is tried again');
      }
    }
  };
  const next = () => {
    running = running.then(request);
  };
  next();
  const timer = setInterval(next, everyMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

export interface DeliveryProgress {
  installation: number;
  /** Units settled since the wait began. */
  done: number;
  left: number;
}

export interface DeliveryWait {
  /** The longest wait; null: until the deliveries have ended. */
  seconds: number | null;
  signal: AbortSignal;
  onProgress?: (progress: DeliveryProgress) => void;
}

const pollMs = 500;

/**
 * Waits until no delivery of these installations is under way: nothing is due any more. Returns the installations whose
 * deliveries still are, at the end of the wait or after an abort.
 */
export async function waitForDeliveries(
  app: App,
  engine: Engine,
  installations: readonly number[],
  { seconds, signal, onProgress }: DeliveryWait,
): Promise<number[]> {
  const deadline = seconds === null ? null : performance.now() + seconds * 1000;
  const most = new Map<number, number>();
  let open = [...installations];
  for (;;) {
    const still: number[] = [];
    for (const id of open) {
      const { left } = await dueWork(app.db, id);
      const highest = Math.max(left, most.get(id) ?? 0);
      most.set(id, highest);
      onProgress?.({ installation: id, done: highest - left, left });
      if (await isDelivering(app, engine.client, id)) still.push(id);
    }
    open = still;
    if (open.length === 0 || signal.aborted || (deadline !== null && performance.now() >= deadline)) return open;
    await Promise.race([sleep(pollMs, undefined, { signal }).catch(() => undefined), engine.failed]);
  }
}
