import type { Clock } from '../domain/clock.ts';
import { sleep } from '../domain/concurrency.ts';

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now(), sleep };
