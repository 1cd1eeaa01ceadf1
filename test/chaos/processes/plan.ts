// Plans the events of a round and their times from its seed.

import { Rng } from '../../../sandbox/src/rng.ts';
import { playedErps } from './erp-wire.ts';

export type Place = 'postgres' | 'temporal' | 'sandbox' | 'erp';

export type Disturbance =
  | { is: 'daemon killed'; which: number; forMs: number }
  | { is: 'daemon stands still'; which: number; forMs: number }
  | { is: 'server killed'; place: Place; forMs: number }
  | { is: 'connections cut'; place: Place; times: number }
  | { is: 'practice API fails'; forMs: number; share: number }
  | { is: 'ERP fails'; forMs: number; share: number }
  | { is: 'clock moved'; byMs: number }
  | { is: 'writes forgotten'; times: number }
  | { is: 'disk full'; forMs: number }
  | Accident;

/** Accidents that an operator meets within a week. */
export type Accident =
  | { is: 'Schedule deleted' }
  | { is: 'practice API hangs'; forMs: number }
  | { is: 'PostgreSQL read-only'; forMs: number }
  | { is: 'PostgreSQL takes no connections'; forMs: number };

export interface Plan {
  invoices: number;
  daemons: number;
  /** The ERP's record; null if nothing is delivered. */
  erp: string | null;
  lateCommitShare: number;
  /** True if disturbances begin before the first window has closed. */
  isEarly: boolean;
  /** Milliseconds after the beginning. */
  events: { atMs: number; happens: Disturbance | { is: 'clinic lives'; events: number } }[];
}

const hourMs = 3_600_000;
const troubleMs = 12_000;

export function planOf(seed: number, given: { erp?: string | null } = {}): Plan {
  const rng = new Rng(seed, 'processes');
  const drawn = rng.chance(0.65) ? rng.pick(playedErps) : null;
  const erp = given.erp === undefined ? drawn : given.erp;
  const daemons = rng.chance(0.5) ? 2 : 1;
  const places: Place[] = ['postgres', 'temporal', 'sandbox', ...(erp === null ? [] : ['erp' as const])];
  const down = () => rng.int(100, 3_000);
  const kinds: [() => Disturbance, number][] = [
    [() => ({ is: 'daemon killed', which: rng.int(0, daemons - 1), forMs: down() }), 5],
    [() => ({ is: 'daemon stands still', which: rng.int(0, daemons - 1), forMs: rng.int(6_500, 9_000) }), 1],
    [() => ({ is: 'server killed', place: rng.pick(places), forMs: down() }), 6],
    [() => ({ is: 'connections cut', place: rng.pick(places), times: rng.int(1, 4) }), 4],
    [() => ({ is: 'practice API fails', forMs: rng.int(500, 4_000), share: rng.pick([0.1, 0.3, 0.7]) }), 3],
    ...(erp === null
      ? []
      : [
          [() => ({ is: 'ERP fails', forMs: rng.int(500, 4_000), share: rng.pick([0.1, 0.3, 0.7]) }), 3] as [
            () => Disturbance,
            number,
          ],
        ]),
    [() => ({ is: 'disk full', forMs: rng.int(500, 3_000) }), 1],
  ];
  const events: Plan['events'] = [];
  for (let left = rng.int(3, 6); left > 0; left--)
    events.push({ atMs: rng.int(0, troubleMs), happens: rng.weighted(kinds)() });
  // The clock changes at most once, because two changes could hide records from all requests.
  if (rng.chance(0.2)) {
    const byMs = rng.pick([-1, 1]) * rng.int(60_000, 2 * hourMs);
    events.push({ atMs: rng.int(0, troubleMs), happens: { is: 'clock moved', byMs } });
  }
  // The next attempt for an ERP's number comes after a minute. At most twice, because the third failure in a row is a
  // problem.
  const lies = new Rng(seed, 'write-backs');
  if (erp === null && lies.chance(0.6))
    events.push({ atMs: lies.int(0, troubleMs / 2), happens: { is: 'writes forgotten', times: lies.int(1, 2) } });
  const accidents = new Rng(seed, 'accidents');
  const lasting = () => accidents.int(500, 4_000);
  const met: (() => Accident)[] = [
    () => ({ is: 'Schedule deleted' }),
    () => ({ is: 'practice API hangs', forMs: lasting() }),
    () => ({ is: 'PostgreSQL read-only', forMs: lasting() }),
    () => ({ is: 'PostgreSQL takes no connections', forMs: lasting() }),
  ];
  for (let left = accidents.int(0, 2); left > 0; left--)
    events.push({ atMs: accidents.int(0, troubleMs), happens: accidents.pick(met)() });
  for (let left = rng.int(6, 14); left > 0; left--)
    events.push({ atMs: rng.int(0, troubleMs), happens: { is: 'clinic lives', events: rng.int(1, 3) } });
  events.sort((a, b) => a.atMs - b.atMs);
  return {
    ...{ invoices: rng.int(12, 40), daemons, erp, events },
    lateCommitShare: rng.pick([0, 0, 0.3]),
    isEarly: rng.chance(0.3),
  };
}
