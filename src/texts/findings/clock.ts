import { catalogue } from '../catalogue.ts';

/** Remarks of a window about the source's clock. `skew` is a text such as `2 h ahead of`. */
export const clockRemarkTexts = catalogue('findings/clock.clockRemarkTexts', {
  skew: ({ skew }: { skew: string }): string =>
    `The source's clock is ${skew} the database's. The window reads changes by the earlier of the two, so that it misses none. Synchronise the wrong clock (NTP).`,
  setBack:
    "The source's clock was set back since the last window. The window reads again what changed since both clocks last agreed. If the clock was moved more than once, an earlier change may be missing. `vetledger backfill` reads everything.",
  ahead: ({ duration }: { duration: string }): string => `${duration} ahead of`,
  behind: ({ duration }: { duration: string }): string => `${duration} behind`,
});
