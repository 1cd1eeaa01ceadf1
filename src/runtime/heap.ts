import { setFlagsFromString } from 'node:v8';

/**
 * Limits how much garbage V8 lets accumulate: on a machine with much memory the heap can grow to several times its live size,
 * and a daemon shares its machine. The young generation keeps its size of a few megabytes; the old one is collected after
 * growing by a third. These settings say when to collect. They set no maximum size.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=35');
}
