/** How a server writes its timestamps: with an offset or `Z`, or `naive`, as local time without an offset. */
export type TimestampStyle = 'offset' | 'naive';

/** The tolerated difference between our clock and the source's in a comparison of timestamps (DESIGN "Sync"). */
const clockToleranceMs = 1_000;
/** Around a clock change, a timestamp without offset may stand for two instants, an hour apart. */
const clockChangeMs = 3_600_000;

/**
 * How far a timestamp may differ from its true instant: a second, and an hour more if it has no offset and is near a
 * clock change.
 */
export function toleranceMs(instant: Date, withOffset: boolean, timezone: string): number {
  return withOffset || !isNearClockChange(instant, timezone) ? clockToleranceMs : clockChangeMs + clockToleranceMs;
}

function isNearClockChange(instant: Date, timezone: string): boolean {
  const before = offsetAt(new Date(instant.getTime() - 2 * clockChangeMs), timezone);
  const after = offsetAt(new Date(instant.getTime() + 2 * clockChangeMs), timezone);
  return before !== after;
}

function offsetAt(instant: Date, timezone: string): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' }).formatToParts(
    instant,
  );
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
}

/**
 * An instant as a filter's lower bound, in the server's style: with `Z`, or as local time of the installation. Near a
 * clock change the local time is an hour earlier, because the server may read a repeated hour as the later one.
 */
export function filterTimestamp(instant: Date, style: TimestampStyle, timezone: string): string {
  if (style === 'offset') return `${instant.toISOString().slice(0, 19)}Z`;
  return localText(
    isNearClockChange(instant, timezone) ? new Date(instant.getTime() - clockChangeMs) : instant,
    timezone,
  );
}

function localText(instant: Date, timezone: string): string {
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
  return text.format(instant).replace(' ', 'T');
}

/**
 * An instant as a filter's upper bound: the next whole second, in the latest of its possible local times in `zones`, so
 * that no earlier change is left out.
 */
export function untilTimestamp(instant: Date, style: TimestampStyle, zones: readonly [string, ...string[]]): string {
  const second = new Date(Math.ceil(instant.getTime() / 1000) * 1000);
  if (style === 'offset') return filterTimestamp(second, style, zones[0]);
  // Near a clock change it is an hour later, because the server may read a repeated hour as the earlier one.
  const latest = zones.map((zone) =>
    localText(isNearClockChange(second, zone) ? new Date(second.getTime() + clockChangeMs) : second, zone),
  );
  return latest.toSorted().at(-1) ?? filterTimestamp(second, style, zones[0]);
}

/**
 * `filterTimestamp` for "changed since an instant". The practice API (Conventions 4) does not specify whether its
 * timestamps without offset are local or UTC. The earliest of the times in `zones` loses no change in either case, and
 * reads some hours of changes again. `zones` must not be empty.
 */
export function sinceTimestamp(instant: Date, style: TimestampStyle, zones: readonly [string, ...string[]]): string {
  const [first, ...others] = zones;
  let earliest = filterTimestamp(instant, style, first);
  for (const zone of others) {
    const text = filterTimestamp(instant, style, zone);
    if (text < earliest) earliest = text;
  }
  return earliest;
}
