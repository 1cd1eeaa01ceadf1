import { type Amount, dec, fixed } from '../../sandbox/src/money.ts';
import type { Rng } from '../../sandbox/src/rng.ts';
import type { WatchedClinic } from './clinic.ts';

/** Returns a description of the action; null if the clinic has no suitable record. */
export type Action = (clinic: WatchedClinic, rng: Rng) => string | null;

const reach = 60;

/** Picks one of the newest matching records. */
export function pick<T>(rng: Rng, records: readonly T[], fits: (record: T) => boolean = () => true): T | undefined {
  return rng.pick(records.slice(-reach).filter(fits));
}

/** An amount with the currency's decimals, sometimes zero or negative. */
export function totalAmount(clinic: WatchedClinic, rng: Rng, to = 400): Amount {
  if (rng.chance(0.04)) return fixed(dec(0), clinic.decimals);
  const amount = dec(rng.int(1, to * 100)).div(clinic.decimals === 0 ? 1 : 100);
  return fixed(rng.chance(0.08) ? amount.negated() : amount, clinic.decimals);
}
