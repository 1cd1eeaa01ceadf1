// Identifiers that the clinic draws from its random stream, so that the same seed gives the same ones.
import type { Rng } from '../rng.ts';

/** A text of `length` hexadecimal digits. */
export const hex = (rng: Rng, length: number): string =>
  Array.from({ length }, () => rng.int(0, 15).toString(16)).join('');

/** A UUID, version 4. */
export const uuid = (rng: Rng): string =>
  [hex(rng, 8), hex(rng, 4), `4${hex(rng, 3)}`, `${rng.pick(['8', '9', 'a', 'b'])}${hex(rng, 3)}`, hex(rng, 12)].join(
    '-',
  );
