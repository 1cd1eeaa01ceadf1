import { Money } from '../domain/money.ts';

/** How an ERP computes the VAT of each line (`vat` in a capability record), and the decimals of its amounts. */
export interface VatRule {
  mode: 'from_net' | 'from_gross';
  /** `half_up` rounds a half away from zero, so a credit note mirrors its invoice. */
  rounding: 'half_up' | 'half_even';
  decimals: number;
}

/** A part of a base, and the VAT that the ERP computes for it. The line has the amount `net`, or both for `from_gross`. */
export interface TaxedPart {
  net: Money;
  tax: Money;
}

/** A base, and the most parts that it may be divided into. */
export interface Divisible {
  net: Money;
  mostParts: number;
}

/** The VAT that the ERP computes for a line of this amount. The rate is in per cent. */
export function computedTax(amount: Money, rate: Money, { mode, rounding, decimals }: VatRule): Money {
  const whole = mode === 'from_net' ? new Money(100) : rate.plus(100);
  return amount
    .times(rate)
    .div(whole)
    .toDecimalPlaces(decimals, rounding === 'half_up' ? Money.ROUND_HALF_UP : Money.ROUND_HALF_EVEN);
}

/**
 * Divides bases of one rate into as few parts as possible, so that the computed VAT of all parts is exactly `tax`. Null
 * if no such parts were found. Parts have the direction of their base, unless only other parts give the VAT.
 */
export function taxedParts(bases: readonly Divisible[], tax: Money, rate: Money, rule: VatRule): TaxedPart[][] | null {
  const unit = new Money(10).pow(rule.decimals);
  const wanted = unitsOf(tax, unit);
  const nets = bases.map(({ net }) => unitsOf(net, unit));
  if (wanted === null || !nets.every((net) => net !== null)) return null;
  const computing = new Computing(rate, rule);
  const chosen = nets.map((net) => ({ net, ...computing.taxesOf(net) }));
  let missing = wanted - chosen.reduce((sum, { least }) => sum + least, 0n);
  const whole = chosen.map(({ net, least, most }): Part => {
    const more = missing > 0n ? smaller(missing, most - least) : 0n;
    missing -= more;
    return { net, tax: least + more };
  });
  const parts = computing.divide(whole, missing, (index) => bases[index]?.mostParts ?? 1);
  const amount = (units: bigint) => new Money(units.toString()).div(unit);
  return parts?.map((each) => each.map((part) => ({ net: amount(part.net), tax: amount(part.tax) }))) ?? null;
}

/** An amount in minor units; null if it has further decimals. */
function unitsOf(amount: Money, unit: Money): bigint | null {
  const units = amount.times(unit);
  return units.isInteger() ? BigInt(units.toFixed(0)) : null;
}

/** In minor units. */
interface Part {
  net: bigint;
  tax: bigint;
}

/** The computed VAT of a net amount. From gross there may be two, since two gross amounts can have the same net amount. */
interface Taxes {
  least: bigint;
  most: bigint;
}

/**
 * The small parts that are tried have at most this many minor units. The rounding differences of all rates with one
 * decimal repeat within it.
 */
const longestSearch = 2_000n;

/** Finds parts in minor units. `top / bottom` is the rate as a fraction of the net amount. */
class Computing {
  readonly #rule: VatRule;
  readonly #top: bigint;
  readonly #bottom: bigint;
  /** The part with the largest rounding difference upwards, and downwards. */
  readonly #best = new Map<bigint, { net: bigint; gain: bigint }>();

  constructor(rate: Money, rule: VatRule) {
    this.#rule = rule;
    const scale = new Money(10).pow(rate.decimalPlaces());
    this.#top = BigInt(rate.times(scale).toFixed(0));
    this.#bottom = BigInt(scale.times(100).toFixed(0));
  }

  taxesOf(net: bigint): Taxes {
    if (this.#rule.mode === 'from_net') {
      const tax = this.#rounded(net * this.#top, this.#bottom);
      return { least: tax, most: tax };
    }
    const near = this.#rounded(net * this.#top, this.#bottom);
    const possible = [near - 1n, near, near + 1n].filter(
      (tax) => this.#rounded((net + tax) * this.#top, this.#bottom + this.#top) === tax,
    );
    return { least: possible[0] ?? near, most: possible.at(-1) ?? near };
  }

  /** Divides parts until they have `missing` more VAT in sum. The part that needs the fewest new parts is divided first. */
  divide(whole: readonly Part[], missing: bigint, mostParts: (index: number) => number): Part[][] | null {
    const divided = new Map<number, Part[]>();
    let left = missing;
    const step = missing < 0n ? -1n : 1n;
    for (let shift = left; left !== 0n && shift !== 0n; ) {
      let best: { index: number; parts: Part[] } | null = null;
      for (const [index, { net, tax }] of whole.entries()) {
        if (divided.has(index)) continue;
        const most = Math.min(mostParts(index), best === null ? Number.POSITIVE_INFINITY : best.parts.length - 1);
        const parts = this.#partsOf(net, tax + shift, most);
        if (parts !== null) best = { index, parts };
      }
      if (best === null) shift -= step;
      else {
        divided.set(best.index, best.parts);
        left -= shift;
        shift = left;
      }
    }
    return left === 0n ? whole.map((part, index) => divided.get(index) ?? [part]) : null;
  }

  /** The fewest parts of a net amount with this VAT in sum; null if there are none, or if it takes more than `most`. */
  #partsOf(net: bigint, tax: bigint, most: number): Part[] | null {
    const sign = net < 0n ? -1n : 1n;
    const [size, wanted] = [net * sign, tax * sign];
    const found = this.#search(size, wanted, most, true) ?? this.#search(size, wanted, most, false);
    return found?.map((part) => ({ net: part.net * sign, tax: part.tax * sign })) ?? null;
  }

  /**
   * Tries n - 2 times the part with the largest rounding difference, another part, and the rest. With `isPositive`, all
   * of them are above zero.
   */
  #search(net: bigint, tax: bigint, most: number, isPositive: boolean): Part[] | null {
    const needed = this.#gain(net, tax);
    const direction = needed < 0n ? -1n : 1n;
    const longest = isPositive ? smaller(net - 1n, longestSearch) : longestSearch;
    const { net: best, gain } = this.#bestOf(longest, direction);
    if (gain === 0n) return null;
    for (let count = 2; count <= most; count++) {
      if (BigInt(count) * gain < needed * direction) continue;
      const used = BigInt(count - 2) * best;
      for (let one = 1n; one <= longest; one++) {
        const rest = net - used - one;
        if (isPositive ? rest <= 0n : rest === 0n) {
          if (isPositive) break;
          continue;
        }
        const parts = this.#exact([...Array.from({ length: count - 2 }, () => best), one, rest], tax);
        if (parts !== null) return parts;
      }
    }
    return null;
  }

  /** The parts with the VAT `tax` in sum; null if the ERP computes another. */
  #exact(nets: readonly bigint[], tax: bigint): Part[] | null {
    const taxes = nets.map((net) => ({ net, ...this.taxesOf(net) }));
    let missing = tax - taxes.reduce((sum, { least }) => sum + least, 0n);
    if (missing < 0n || missing > taxes.reduce((sum, { least, most }) => sum + most - least, 0n)) return null;
    return taxes.map(({ net, least, most }) => {
      const more = smaller(missing, most - least);
      missing -= more;
      return { net, tax: least + more };
    });
  }

  /** The net amount up to `longest` whose VAT is furthest from the exact VAT, and by how much. */
  #bestOf(longest: bigint, direction: bigint): { net: bigint; gain: bigint } {
    const known = longest === longestSearch ? this.#best.get(direction) : undefined;
    if (known !== undefined) return known;
    let best = { net: 1n, gain: 0n };
    for (let net = 1n; net <= longest; net++) {
      const { least, most } = this.taxesOf(net);
      const gain = this.#gain(net, direction > 0n ? most : least) * direction;
      if (gain > best.gain) best = { net, gain };
    }
    if (longest === longestSearch) this.#best.set(direction, best);
    return best;
  }

  /** The difference between a VAT and the exact VAT of a net amount, as a multiple of `1 / bottom`. */
  #gain(net: bigint, tax: bigint): bigint {
    return tax * this.#bottom - net * this.#top;
  }

  #rounded(top: bigint, bottom: bigint): bigint {
    const size = top < 0n ? -top : top;
    let whole = (2n * size + bottom) / (2n * bottom);
    const isHalf = (2n * size + bottom) % (2n * bottom) === 0n;
    if (isHalf && this.#rule.rounding === 'half_even' && whole % 2n === 1n) whole -= 1n;
    return top < 0n ? -whole : whole;
  }
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
