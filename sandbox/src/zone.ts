// The clinic's time zone. Instants are epoch milliseconds in memory and local text in answers.
import { tzOffset } from '@date-fns/tz';

export type TimestampStyle = 'offset' | 'zulu' | 'naive';

const quarterHourMs = 900_000;
const timestampPattern =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?(Z|z|[+-]\d{2}:?\d{2})?)?$/;
const two = (value: number): string => String(value).padStart(2, '0');

export class Zone {
  readonly name: string;
  readonly #offsets = new Map<number, number>();

  constructor(name: string) {
    this.name = name;
    if (Number.isNaN(tzOffset(name, new Date(0)))) throw new RangeError(`unknown time zone: ${name}`);
  }

  /** Minutes east of UTC at an instant. Offsets change only on quarter hours, so they are cached per quarter hour. */
  offsetMinutes(instantMs: number): number {
    const block = Math.floor(instantMs / quarterHourMs);
    let offset = this.#offsets.get(block);
    if (offset === undefined) {
      offset = tzOffset(this.name, new Date(block * quarterHourMs));
      this.#offsets.set(block, offset);
    }
    return offset;
  }

  /** The local calendar date, `YYYY-MM-DD`. */
  date(instantMs: number): string {
    return this.#local(instantMs).slice(0, 10);
  }

  /** The instant at which local clocks show this date and minute of the day. */
  at(date: string, minuteOfDay = 0): number {
    return this.#instantOfLocal(Date.parse(`${date}T00:00:00Z`) + minuteOfDay * 60_000);
  }

  /** ISO 8601 with microseconds. */
  timestamp(instantMs: number, style: TimestampStyle): string {
    if (style === 'zulu') return new Date(instantMs).toISOString().replace('Z', '000Z');
    const local = this.#local(instantMs).replace('Z', '000');
    if (style === 'naive') return local;
    const offset = this.offsetMinutes(instantMs);
    const size = Math.abs(offset);
    return `${local}${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  }

  /** The instant of an ISO 8601 date or timestamp; null if it is malformed. Without an offset it is local. */
  parse(text: string): number | null {
    const match = timestampPattern.exec(text);
    if (!match) return null;
    const [, date, hour = '00', minute = '00', second = '00', fraction = '', offset] = match;
    const asUtc = Date.parse(`${date}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`);
    if (Number.isNaN(asUtc)) return null;
    if (offset === undefined) return this.#instantOfLocal(asUtc);
    if (offset.toUpperCase() === 'Z') return asUtc;
    const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2));
    return asUtc - (offset.startsWith('-') ? -minutes : minutes) * 60_000;
  }

  #local(instantMs: number): string {
    return new Date(instantMs + this.offsetMinutes(instantMs) * 60_000).toISOString();
  }

  #instantOfLocal(localAsUtcMs: number): number {
    const guess = localAsUtcMs - this.offsetMinutes(localAsUtcMs) * 60_000;
    return localAsUtcMs - this.offsetMinutes(guess) * 60_000;
  }
}

/** The calendar date `days` after another date; before it if `days` is negative. */
export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

/** True if the text is an existing calendar date. */
export const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) &&
  new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);
