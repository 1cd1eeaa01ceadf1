import { type DraftEntry, type Line, signed } from '../domain/entry.ts';
import { type Money, zero } from '../domain/money.ts';
import { postgresText } from '../domain/text.ts';
import type { DocumentKind } from '../terms.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import { amountsOf, receivables } from './entry-amounts.ts';

/**
 * A posted fact whose value in the source has changed. Amounts and dates are texts; null means that there is no value.
 */
export interface FieldChange {
  field: string;
  old: string | null;
  new: string | null;
}

/** The change of an account's balance by a correction; debit positive. */
export interface AccountEffect {
  account: string;
  amount: Money;
}

/** The posted facts in which two entries of a document differ, as far as their lines show them. */
export function changedFields(posted: DraftEntry, present: DraftEntry, decimals: number): FieldChange[] {
  const [old, now] = [fieldsOf(posted, decimals), fieldsOf(present, decimals)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  return names.flatMap((field) => {
    const change = { field, old: old.get(field) ?? null, new: now.get(field) ?? null };
    return change.old === change.new ? [] : [change];
  });
}

/**
 * The effect on each account of reversing `posted` and posting `present`, if there is one. Accounts without effect are
 * left out.
 */
export function effectOf(
  posted: Pick<DraftEntry, 'lines'>,
  present: Pick<DraftEntry, 'lines'> | null,
): AccountEffect[] {
  const effect = new Map<string, Money>();
  const add = (account: string, amount: Money) => effect.set(account, (effect.get(account) ?? zero).plus(amount));
  for (const line of posted.lines) add(line.account, signed(line).negated());
  for (const line of present?.lines ?? []) add(line.account, signed(line));
  return [...effect]
    .filter(([, amount]) => !amount.isZero())
    .map(([account, amount]) => ({ account, amount }))
    .sort((a, b) => (a.account < b.account ? -1 : 1));
}

/** A message names at most this many changes, and counts the others. */
const named = 8;

/** `total 181.00 → 171.00, department 11 → 12`; empty without changes. */
export function changesText(changes: readonly FieldChange[]): string {
  return listed(changes.map(({ field, old, new: now }) => `${field} ${old ?? 'none'} → ${now ?? 'none'}`));
}

/** `3000 +100.00, 3005 -100.00`; empty without effect. */
export function effectText(effect: readonly AccountEffect[], decimals: number): string {
  return listed(effect.map(({ account, amount }) => `${account} ${signedText(amount, decimals)}`));
}

function signedText(amount: Money, decimals: number): string {
  return `${amount.isNegative() ? '' : '+'}${amount.toFixed(decimals)}`;
}

function listed(parts: readonly string[]): string {
  const more = parts.length - named;
  return [...parts.slice(0, named), ...(more > 0 ? [postingFindings.moreFields({ more })] : [])].join(', ');
}

const totals: Record<DocumentKind, string> = {
  invoice: 'total',
  payment: 'amount',
  prepayment: 'amount',
  vat_due: 'amount',
};

/** The posted facts of an entry by name. The payer's name is not one of them (ACCOUNTING R8). */
function fieldsOf(entry: DraftEntry, decimals: number): Map<string, string | null> {
  const { document, documentDate, original, lines } = entry;
  const fields = new Map<string, string | null>();
  const set = (field: string, value: string | number | null | undefined) => {
    // Lines from the database contain no NUL, so both sides are compared without it.
    fields.set(field, value === null || value === undefined ? null : postgresText(String(value)));
  };
  // The receivable line names the payer. A prepayment has no such line, and names its client on each line.
  const head = lines.find(({ role }) => receivables.includes(role)) ?? lines[0];
  const liability = lines.find(({ role }) => role === 'prepayment_liability');
  set('date', documentDate);
  set('original', original?.id);
  set('client', clientOf(head));
  set('VAT number', head?.party?.vatNumber);
  set('country', head?.party?.countryCode);
  set('department', head?.departmentId);
  set('number', head?.documentNumber);
  set('due date', head?.dueDate);
  set('bank reference', head?.bankReference);
  if (document.kind !== 'invoice')
    set('payment type', lines.find(({ paymentType }) => paymentType !== null)?.paymentType);
  if (document.kind === 'payment') set('client of the prepayment', clientOf(liability));
  const { amount, vat } = amountsOf(entry);
  set(totals[document.kind], amount.toFixed(decimals));
  set('VAT', vat?.toFixed(decimals));
  for (const [field, each] of lineAmounts(lines)) set(field, each.toFixed(decimals));
  return fields;
}

function clientOf(line: Line | undefined): string | undefined {
  return line?.party?.code.replace(/^client:/, '');
}

/** The amounts of net and VAT lines by account, dimensions and VAT group, signed as in the source. */
function lineAmounts(lines: readonly Line[]): Map<string, Money> {
  const amounts = new Map<string, Money>();
  for (const line of lines) {
    if (line.role !== 'revenue' && line.role !== 'vat' && line.role !== 'vat_not_due') continue;
    const { account, dimensions, internal, vat } = line;
    const what = line.role === 'revenue' ? 'net' : 'VAT';
    const tags = [...dimensions, internal.account, internal.dimension1, internal.dimension2].filter(Boolean);
    const group = vat ? groupText(vat.group, vat.rate?.toFixed() ?? null) : '';
    const of = [...tags, ...(group ? [group] : [])].join(', ');
    const field = `${what} on ${account}${of && ` (${of})`}`;
    amounts.set(field, (amounts.get(field) ?? zero).minus(signed(line)));
  }
  return amounts;
}

/** A VAT group's name, and its rate if the name does not contain it: `VAT 25.5 %`, `Standard 25.5 %`. */
function groupText(name: string | null, rate: string | null): string {
  if (rate === null) return name ?? '';
  const numbers: string[] = name?.replaceAll(',', '.').match(/\d+(?:\.\d+)?/g) ?? [];
  return numbers.includes(rate) ? (name ?? '') : [name, `${rate} %`].filter(Boolean).join(' ');
}
