import { businessDate } from '../domain/dates.ts';
import { days } from '../mapping/vat-group-lines.ts';
import { vatGroupOf } from '../mapping/vat-groups.ts';
import type { CalendarDate } from '../terms.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import type { Findings } from './findings.ts';
import type { NetGroup, VatGroup } from './groups.ts';
import type { InvoiceFacts, PostingContext } from './types.ts';

/**
 * The day whose VAT rules apply to an invoice: the invoice date. For a credit note, the date of the first original of
 * its chain; null if that date is unknown.
 */
export function vatDay({ invoice, originalDate }: InvoiceFacts, context: PostingContext): CalendarDate | null {
  const text = invoice.creditNote ? (originalDate ?? null) : invoice.invoiceDate;
  return text === null ? null : businessDate(text, context.timezone);
}

/**
 * Adds the remark `vat_rate_expired` for VAT groups that are not valid on this day, or holds the document if the
 * mapping requires that.
 */
export function reviewValidity(
  groups: readonly VatGroup[],
  day: CalendarDate | null,
  { mapping }: PostingContext,
  findings: Findings,
): void {
  if (day === null) return;
  for (const group of groups) {
    const found = vatGroupOf(mapping, group, day);
    if (found === null || found.isValid) continue;
    const valid = mapping.vat_groups
      .filter((line) => line === found.line || isAlike(line, found.line))
      .map(days)
      .join(', ');
    const message = postingFindings.vatGroupExpired({ group: vatGroupLabel(group), valid, day });
    if (mapping.policies.vat_rate_expired === 'hold') findings.hold('vat_rate_expired', message);
    else findings.report('vat_rate_expired', message);
  }
}

type GroupLine = PostingContext['mapping']['vat_groups'][number];

function isAlike(one: GroupLine, other: GroupLine): boolean {
  return JSON.stringify([one.group, one.rate]) === JSON.stringify([other.group, other.rate]);
}

const toEu = ['eu_goods', 'eu_services'];

/**
 * Adds the remark `eu_without_vat_number`: the buyer must pay the VAT of a group, but the invoice has no VAT number of
 * the buyer, or one of our own country.
 */
export function reviewBuyer(
  net: readonly NetGroup[],
  { invoice }: InvoiceFacts,
  day: CalendarDate | null,
  { mapping }: PostingContext,
  findings: Findings,
): void {
  const number = invoice.payer.vatNumber?.replaceAll(/[^0-9a-z]/gi, '').toUpperCase() || null;
  const reported = new Set<VatGroup>();
  for (const { vat } of net) {
    const kind = vatGroupOf(mapping, vat, day)?.line.kind;
    if (kind === undefined || reported.has(vat) || !(toEu.includes(kind) || kind === 'reverse_charge')) continue;
    reported.add(vat);
    const group = vatGroupLabel(vat);
    if (number === null) findings.report('eu_without_vat_number', postingFindings.noVatNumber({ group, kind }));
    else if (toEu.includes(kind) && isOwn(number, invoice.payer.countryCode, mapping.country))
      findings.report(
        'eu_without_vat_number',
        postingFindings.ownVatNumber({ group, kind, country: mapping.country ?? '' }),
      );
  }
}

/** Greece writes EL before its VAT numbers, all others their country code. A number without letters is of the payer's country. */
function isOwn(number: string, payerCountry: string | null, country: string | null): boolean {
  if (country === null) return false;
  const [prefix] = /^[A-Z]{2}/.exec(number) ?? [];
  const of = prefix ?? payerCountry?.trim().toUpperCase();
  return of === country || (country === 'GR' && of === 'EL');
}

/** A VAT group in messages, such as `VAT group Standard at 25.5 %`. */
export function vatGroupLabel({ name, rate }: Pick<VatGroup, 'name' | 'rate'>): string {
  const { withoutName, withoutRate, atRate } = postingFindings;
  return postingFindings.vatGroup({
    name: name ?? withoutName,
    rate: rate === null ? withoutRate : atRate({ rate: rate.toFixed() }),
  });
}
