import type { Money } from '../domain/money.ts';
import type { CalendarDate } from '../terms.ts';
import type { VatGroupLine, VatKind } from './vat-group-lines.ts';

/** The part of a mapping that knows VAT groups. */
interface WithVatGroups {
  vat_groups: readonly VatGroupLine[];
}

/** A VAT group's line in the mapping, and its index in `vat_groups`. */
export interface FoundVatGroup {
  line: VatGroupLine;
  index: number;
  /** Whether the line is valid on the requested day; true if no day was given. */
  isValid: boolean;
}

/**
 * The line of a VAT group on a day. Lines with the group's name come before lines for any name. Among several lines,
 * the line that is valid on the day is returned, otherwise the line that is valid nearest to it. Null if no line has
 * the group's name and rate.
 */
export function vatGroupOf(
  { vat_groups: lines }: WithVatGroups,
  { name, rate }: { name: string | null; rate: Money | null },
  day: CalendarDate | null = null,
): FoundVatGroup | null {
  const [own, exact] = [name?.trim() || null, rate?.toFixed() ?? null];
  const atRate = lines.flatMap((line, index) => (line.rate.includes(exact) ? [{ line, index }] : []));
  const named = atRate.filter(({ line: { group } }) => group?.includes(own));
  const found = named.length > 0 ? named : atRate.filter(({ line: { group } }) => group === undefined);
  const last = found.at(-1);
  if (last === undefined) return null;
  // Without a day, the latest line counts.
  if (day === null) return { ...(byStart(found).at(-1) ?? last), isValid: true };
  const valid = found.find(({ line: { from, to } }) => (from ?? day) <= day && day <= (to ?? day));
  if (valid !== undefined) return { ...valid, isValid: true };
  const ordered = byStart(found);
  const before = ordered.filter(({ line: { to } }) => to !== undefined && to < day).at(-1);
  return { ...(before ?? ordered[0] ?? last), isValid: false };
}

function byStart<Found extends { line: VatGroupLine }>(found: readonly Found[]): Found[] {
  return found.toSorted((a, b) => ((a.line.from ?? '') < (b.line.from ?? '') ? -1 : 1));
}

/** The kind of a VAT group; null if `vat_groups` has no line for the group. */
export function vatKindOf(
  mapping: WithVatGroups,
  group: { name: string | null; rate: Money | null },
  day: CalendarDate | null = null,
): VatKind | null {
  return vatGroupOf(mapping, group, day)?.line.kind ?? null;
}
