import { type Amount, dec, fixed } from '../../sandbox/src/money.ts';
import type { Rng } from '../../sandbox/src/rng.ts';
import type { WatchedClinic } from './clinic.ts';

/** Says in words what was done; null when the clinic has nothing to do it to. */
export type Action = (clinic: WatchedClinic, rng: Rng) => string | null;

const reach = 60;

/** One of the newest records that fit. */
export function pick<T>(rng: Rng, records: readonly T[], fits: (record: T) => boolean = () => true): T | undefined {
  return rng.pick(records.slice(-reach).filter(fits));
}

/** An amount with the currency's decimals; now and then zero or negative. */
export function totalAmount(clinic: WatchedClinic, rng: Rng, to = 400): Amount {
  if (rng.chance(0.04)) return fixed(dec(0), clinic.decimals);
  const amount = dec(rng.int(1, to * 100)).div(clinic.decimals === 0 ? 1 : 100);
  return fixed(rng.chance(0.08) ? amount.negated() : amount, clinic.decimals);
}
