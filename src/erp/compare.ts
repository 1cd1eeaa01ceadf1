import { type Money, minorUnit, zero } from '../domain/money.ts';
import { visible } from '../domain/text.ts';
import type { Capabilities } from './capabilities.ts';
import type { ErpEntry, ErpLine, FoundEntry, FoundLine } from './erp-entry.ts';

/** One thing that the ERP holds otherwise than it was sent. */
export interface Difference {
  what: 'date' | 'journal' | 'origin' | 'line' | 'vat' | 'party' | 'state' | 'text' | 'due_date';
  /** In plain words: what was sent, and what the ERP has. */
  message: string;
}

/** What a comparison needs to know of the target and the books. */
export interface CompareOptions {
  capabilities: Pick<Capabilities, 'lines' | 'vat' | 'read_back'>;
  /** Decimals of the currency's minor unit. */
  decimals: number;
  /** Texts and due dates are compared, too: no ERP has to take them as they are sent, and people change them afterwards. */
  texts?: {
    /** The description of the entry, as its target writes it and reads it back. */
    described: string | null;
  };
}

/**
 * What an entry in the ERP differs in from what was sent; empty where it is equal. The order of lines never counts. What a target
 * normalises is compared in that form (lines that it merges are added up on both sides), and VAT amounts may differ by the
 * tolerance that it declares. A date never may: ERPs are known that move it.
 */
export function compareEntry(entry: ErpEntry, found: FoundEntry, options: CompareOptions): Difference[] {
  const differences: Difference[] = [];
  if (found.state === 'void') differences.push({ what: 'state', message: 'it is void in the ERP' });
  if (found.date !== entry.date) {
    differences.push({ what: 'date', message: `it was sent with the date ${entry.date}; the ERP has ${found.date}` });
  }
  if (found.journal !== entry.journal) {
    differences.push({
      what: 'journal',
      message: `it was sent to the journal ${shown(entry.journal)}; the ERP has ${shown(found.journal)}`,
    });
  }
  // Where the ERP has no place for an origin, none is compared.
  if (entry.originId !== undefined && found.originId !== undefined && found.originId !== entry.originId) {
    differences.push({
      what: 'origin',
      message: `it reverses the ERP’s entry with the id ${entry.originId}; as its origin the ERP has ${found.originId}`,
    });
  }
  return [
    ...differences,
    ...comparedLines(entry, found, options),
    ...comparedVat(entry, found, options),
    ...comparedParties(entry, found, options),
    ...comparedTexts(entry, found, options),
  ];
}

/** Differences as one text for people. */
export function describeDifferences(differences: readonly Difference[]): string {
  return differences.map(({ message }) => message).join('; ');
}

const shown = (text: string) => (text === '' ? 'none' : visible(text));

/** A line as it is compared: where it stands, and its amount, debit positive. */
interface Comparable {
  place: string;
  amount: Money;
}

function comparedLines(entry: ErpEntry, found: FoundEntry, { capabilities, decimals }: CompareOptions): Difference[] {
  const { lines, read_back: readBack } = capabilities;
  const hasParties = lines.party === 'per_line';
  const sentParties = new Set(entry.lines.flatMap(({ party }) => party?.code ?? []));
  const sent = entry.lines.map((line) => ({ place: placeOfSent(line, hasParties), amount: signedAmount(line) }));
  const held = found.lines.map((line) => ({
    place: placeOfFound(line, hasParties ? partyAsSent(line, sentParties) : null),
    amount: line.amount,
  }));
  const isMerged = readBack.normalises.includes('merged_lines');
  const sentLines = isMerged ? merged(sent) : sent;
  const heldLines = isMerged ? merged(held) : held;
  const sentLeft = countedLines(sentLines, decimals);
  const heldLeft = countedLines(heldLines, decimals);
  // Lines that an ERP adds of its own may cancel each other out: they are on the account all the same.
  const placesSent = new Set(sentLines.map(({ place }) => place));
  const cancelledOut = isMerged ? heldLines.filter((line) => line.amount.isZero() && !placesSent.has(line.place)) : [];
  for (const [line, n] of sentLeft) {
    const same = Math.min(n, heldLeft.get(line) ?? 0);
    take(sentLeft, line, same);
    take(heldLeft, line, same);
  }
  return [
    ...[...sentLeft.keys()].map(
      (line): Difference => ({ what: 'line', message: `the line ${line} was sent; the ERP has no such line` }),
    ),
    ...[...heldLeft.keys()].map(
      (line): Difference => ({ what: 'line', message: `the ERP has a line ${line} that was not sent` }),
    ),
    ...cancelledOut.map(
      ({ place }): Difference => ({
        what: 'line',
        message: `the ERP has lines on ${place} that were not sent; they cancel each other out`,
      }),
    ),
  ];
}

/** How often each line is there; a line of zero says nothing. */
function countedLines(lines: readonly Comparable[], decimals: number): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { place, amount } of lines) {
    if (amount.isZero()) continue;
    const line = `${place}, ${sideAndAmount(amount, decimals)}`;
    counted.set(line, (counted.get(line) ?? 0) + 1);
  }
  return counted;
}

function take(counted: Map<string, number>, line: string, n: number): void {
  const left = (counted.get(line) ?? 0) - n;
  if (left > 0) counted.set(line, left);
  else counted.delete(line);
}

/** Lines of one place as one, as an ERP keeps them that merges lines: two sides of a place become their difference. */
function merged(lines: readonly Comparable[]): Comparable[] {
  const byPlace = new Map<string, Money>();
  for (const { place, amount } of lines.filter((line) => !line.amount.isZero()))
    byPlace.set(place, (byPlace.get(place) ?? zero).plus(amount));
  return [...byPlace].map(([place, amount]) => ({ place, amount }));
}

function placeOfSent({ account, party, dimensions }: ErpLine, hasParties: boolean): string {
  return placeOf(account, hasParties ? (party?.code ?? null) : null, dimensions);
}

function placeOfFound({ account, dimensions }: FoundLine, party: string | null): string {
  return placeOf(account, party, dimensions);
}

/** Of several clients that became one party in the ERP, the one that the entry names. */
function partyAsSent({ party, partyAlike = [] }: FoundLine, sent: ReadonlySet<string>): string | null {
  return party !== null && !sent.has(party) ? (partyAlike.find((code) => sent.has(code)) ?? party) : party;
}

function placeOf(account: string, party: string | null, dimensions: Record<string, string>): string {
  const values = Object.entries(dimensions)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name} ${value}`);
  return shown([`account ${account}`, ...(party === null ? [] : [`party ${party}`]), ...values].join(', '));
}

function signedAmount({ side, amount }: ErpLine): Money {
  return side === 'debit' ? amount : amount.negated();
}

/** With the currency's decimals, or with more where the ERP has more. */
function sideAndAmount(amount: Money, decimals: number): string {
  const text = amount.abs().toFixed(Math.max(decimals, amount.decimalPlaces()));
  return `${amount.isNegative() ? 'credit' : 'debit'} ${text}`;
}

/** VAT by account, code and part: which of several lines of an account carries it makes no difference to any return. */
function comparedVat(entry: ErpEntry, found: FoundEntry, { capabilities, decimals }: CompareOptions): Difference[] {
  const sent = new Map<string, Money>();
  const held = new Map<string, Money>();
  const add = (to: Map<string, Money>, place: string, amount: Money) =>
    to.set(place, (to.get(place) ?? zero).plus(amount));
  const classes = alikeCodes(found);
  // A tax without tags tells its base on its tax line only.
  const isTagged = capabilities.vat.mode === 'tagged_rows';
  const vatPlace = (account: string, code: string, part: 'base' | 'tax') =>
    part === 'base'
      ? shown(`the base of the tax code ${classes.get(code) ?? code}${isTagged ? '' : ` on account ${account}`}`)
      : shown(`the amount of the tax code ${code} on account ${account}`);
  for (const line of entry.lines) {
    const { account, vat, side } = line;
    if (vat === null) continue;
    add(sent, vatPlace(account, vat.code, vat.part), signedAmount(line));
    // The base of a tax line is on no other line.
    if (vat.part === 'tax' && vat.base !== null) {
      add(sent, vatPlace(account, vat.code, 'base'), side === 'debit' ? vat.base : vat.base.negated());
    }
  }
  for (const { account, vat } of found.lines) {
    for (const { code, part, amount } of vat) add(held, vatPlace(account, code, part), amount);
  }
  const tolerance = minorUnit(decimals).times(capabilities.vat.tolerance_minor);
  const differences: Difference[] = [];
  for (const place of new Set([...sent.keys(), ...held.keys()])) {
    const [ours, theirs] = [sent.get(place) ?? zero, held.get(place) ?? zero];
    // A tax code at an amount of zero is still a code.
    const isThere = sent.has(place) === held.has(place) || (ours.isZero() && theirs.isZero());
    if (isThere && ours.minus(theirs).abs().lessThanOrEqualTo(tolerance)) continue;
    const told = (of: Map<string, Money>, amount: Money) => (of.has(place) ? sideAndAmount(amount, decimals) : 'none');
    differences.push({
      what: 'vat',
      message: `${place} was sent as ${told(sent, ours)}; the ERP has ${told(held, theirs)}`,
    });
  }
  return differences;
}

/** Codes whose bases the ERP cannot tell apart have one name here: all of them. */
function alikeCodes(found: FoundEntry): Map<string, string> {
  const classes = new Map<string, string>();
  for (const { code, alike, part } of found.lines.flatMap(({ vat }) => vat)) {
    if (part !== 'base' || alike === undefined || alike.length === 0) continue;
    const codes = [...new Set([code, ...alike])].toSorted();
    for (const each of codes) classes.set(each, codes.join(' or '));
  }
  return classes;
}

/** Where the ERP has one party for the entry, it is one of those sent. */
function comparedParties(entry: ErpEntry, found: FoundEntry, { capabilities }: CompareOptions): Difference[] {
  if (capabilities.lines.party !== 'per_entry') return [];
  const sent = new Set(entry.lines.flatMap(({ party }) => (party === null ? [] : [party.code])));
  const held = new Set(found.lines.flatMap(({ party }) => (party === null ? [] : [party])));
  if (sent.size === 0 && held.size === 0) return [];
  const isOurs = held.size > 0 && [...held].every((party) => sent.has(party));
  if (isOurs) return [];
  const listed = (parties: Set<string>) => shown([...parties].toSorted().join(', '));
  return [{ what: 'party', message: `it was sent with the party ${listed(sent)}; the ERP has ${listed(held)}` }];
}

/** The description, and of lines of one account and amount their labels and due dates. */
function comparedTexts(
  entry: ErpEntry,
  found: FoundEntry,
  { capabilities, decimals, texts }: CompareOptions,
): Difference[] {
  if (texts === undefined) return [];
  const differences: Difference[] = [];
  const { described } = texts;
  if (described !== null && !isSameText(described, found.description)) {
    differences.push({
      what: 'text',
      message: `it was sent with the description ${quoted(described)}; the ERP has ${quoted(found.description)}`,
    });
  }
  if (capabilities.read_back.normalises.includes('merged_lines')) return differences;
  const nameOf = (account: string, amount: Money) => shown(`account ${account}, ${sideAndAmount(amount, decimals)}`);
  const held = Map.groupBy(found.lines, ({ account, amount }) => nameOf(account, amount));
  const sent = Map.groupBy(entry.lines, (line) => nameOf(line.account, signedAmount(line)));
  for (const [line, ours] of sent) {
    const theirs = held.get(line) ?? [];
    // A line that is missing is told as that.
    if (theirs.length !== ours.length) continue;
    const labels = without(
      ours.map(({ description }) => plain(description)),
      theirs.map(({ label = '' }) => plain(label)),
    );
    for (const { left, other } of theirs.some(({ label }) => label === undefined) ? [] : labels) {
      const message = `the label ${quoted(left)} of the line on ${line} was sent; the ERP has ${quoted(other)}`;
      differences.push({ what: 'text', message });
    }
    if (theirs.some(({ dueDate }) => dueDate === undefined)) continue;
    const dates = without(
      ours.map(({ dueDate }) => dueDate ?? 'none'),
      theirs.map(({ dueDate }) => dueDate ?? 'none'),
    );
    for (const { left, other } of dates) {
      const message = `the due date ${left} of the line on ${line} was sent; the ERP has ${other}`;
      differences.push({ what: 'due_date', message });
    }
  }
  return differences;
}

/** What the others lack, each beside one that they have instead. */
function without(sent: readonly string[], held: readonly string[]): { left: string; other: string }[] {
  const rest = [...held];
  const missing = sent.filter((text) => {
    const at = rest.indexOf(text);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return missing.map((left, index) => ({ left, other: rest[index] ?? '' }));
}

/** ERPs take away spaces. */
const plain = (text: string) => text.replace(/\s+/gu, ' ').trim();
const isSameText = (one: string, other: string) => plain(one) === plain(other);
const quoted = (text: string) => `“${visible(text)}”`;
