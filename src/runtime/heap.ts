import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the heap near what is in use. On a machine with much memory V8 lets garbage pile up to several times of that, and a
 * daemon shares its machine. The young generation stays as large as it is (some megabytes), the old one is collected when
 * it has grown by a third. Both are rules of when to collect, no limits: work that needs more gets it.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=35');
}
