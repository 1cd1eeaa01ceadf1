// The sandbox's clock: the machine's clock, moved forward, or stopped. Everything in a clinic that depends on time
// follows it: links, uploads, tokens, period locks, reminders, ends of days. Rate limits and pauses between webhook
// attempts follow the machine's clock, so that a stopped clock does not block clients.
import type { Zone } from './zone.ts';

/** A clock's time in epoch milliseconds. `runs` is false for a stopped clock. */
export interface ClockState {
  nowMs: number;
  runs: boolean;
}

export type KeptClock = { offset_ms: number } | { stands_at: number };

export class SandboxClock {
  /** The machine's clock in epoch milliseconds. */
  readonly machine: () => number;
  #offsetMs = 0;
  #standsAt: number | null = null;

  constructor(machine: () => number) {
    this.machine = machine;
  }

  /** The clinic's time in epoch milliseconds. */
  readonly now = (): number => this.#standsAt ?? this.machine() + this.#offsetMs;

  get state(): ClockState {
    return { nowMs: this.now(), runs: this.#standsAt === null };
  }

  /** The form of the clock in a state file. A running clock also advances while no sandbox runs. */
  get kept(): KeptClock {
    return this.#standsAt === null ? { offset_ms: this.#offsetMs } : { stands_at: this.#standsAt };
  }

  resume(kept: KeptClock): void {
    this.#offsetMs = 'offset_ms' in kept ? kept.offset_ms : 0;
    this.#standsAt = 'stands_at' in kept ? kept.stands_at : null;
  }

  set({ nowMs, runs }: ClockState): void {
    this.#offsetMs = nowMs - this.machine();
    this.#standsAt = runs ? null : nowMs;
  }
}

const durationPattern =
  /^P(?=\d|T\d)(?:(\d{1,4})Y)?(?:(\d{1,5})M)?(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/;

/** Whether a text is an ISO 8601 duration of whole units, such as `P31D` or `PT90M`. */
export const isDuration = (text: string): boolean => durationPattern.test(text);

/**
 * The instant one duration after another instant, in epoch milliseconds. Years, months and days are calendar units of
 * the zone: a day can have 23 or 25 hours, and one month after 31 January is the last day of February.
 */
export const afterDuration = (fromMs: number, duration: string, zone: Zone): number => {
  const parts = durationPattern.exec(duration);
  if (!parts) throw new RangeError(`not a duration: ${duration}`);
  const [years, months, weeks, days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0)) as [
    ...[number, number, number, number, number, number, number],
  ];
  const exactMs = (hours * 3600 + minutes * 60 + seconds) * 1000;
  if (years + months + weeks + days === 0) return fromMs + exactMs;
  const local = zone.timestamp(fromMs, 'naive');
  const [year, month, day] = local.slice(0, 10).split('-').map(Number) as [number, number, number];
  const monthsOn = year * 12 + (month - 1) + years * 12 + months;
  const [toYear, toMonth] = [Math.floor(monthsOn / 12), monthsOn % 12];
  const lastDay = new Date(Date.UTC(toYear, toMonth + 1, 0)).getUTCDate();
  const to = new Date(Date.UTC(toYear, toMonth, Math.min(day, lastDay) + weeks * 7 + days));
  const time = local.slice(11);
  const instant = zone.parse(`${to.toISOString().slice(0, 10)}T${time.slice(0, 12)}`);
  if (instant === null) throw new RangeError(`no date ${duration} after ${local}`);
  return instant + exactMs;
};
