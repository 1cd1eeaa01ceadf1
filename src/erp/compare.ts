import { formatExact, type Money, minorUnit, zero } from '../domain/money.ts';
import { visible } from '../domain/text.ts';
import { differenceTexts } from '../texts/findings/erp-differences.ts';
import type { Capabilities } from './capabilities.ts';
import type { ErpEntry, ErpLine, FoundEntry, FoundLine } from './erp-entry.ts';

/** A difference between the entry that was sent and the entry in the ERP. */
export interface Difference {
  what: 'date' | 'journal' | 'origin' | 'line' | 'vat' | 'party' | 'state' | 'text' | 'due_date';
  /** Says what was sent, and what the ERP has. */
  message: string;
}

export interface CompareOptions {
  capabilities: Pick<Capabilities, 'lines' | 'vat' | 'read_back'>;
  /** Decimals of the currency. */
  decimals: number;
  /**
   * If present, texts and due dates are compared too. Deliveries do not compare them, since an ERP may change texts,
   * and users edit them later.
   */
  texts?: {
    /** The entry's description as the target writes and reads it; null if the target writes none. */
    described: string | null;
  };
}

/**
 * Lists the differences between an entry in the ERP and what was sent; empty if they are equal. The order of lines
 * never counts. Fields that the target normalises are compared in normalised form, so merged lines are added up on both
 * sides. VAT amounts may differ by the tolerance that the target declares. The date must be equal, because some ERPs
 * move it.
 */
export function compareEntry(whole: ErpEntry, found: FoundEntry, options: CompareOptions): Difference[] {
  const { vat } = options.capabilities;
  const entry = 'shows' in vat && vat.shows === 'sent' ? { ...whole, lines: whole.sentLines ?? whole.lines } : whole;
  const differences: Difference[] = [];
  if (found.state === 'void') differences.push({ what: 'state', message: differenceTexts.voided });
  if (found.date !== entry.date) {
    differences.push({ what: 'date', message: differenceTexts.date({ sent: entry.date, held: found.date }) });
  }
  if (found.journal !== entry.journal) {
    const message = differenceTexts.journal({ sent: shown(entry.journal), held: shown(found.journal) });
    differences.push({ what: 'journal', message });
  }
  // Some ERPs store no origin.
  if (entry.originId !== undefined && found.originId !== undefined && found.originId !== entry.originId) {
    const message = differenceTexts.origin({ sent: entry.originId, held: found.originId });
    differences.push({ what: 'origin', message });
  }
  return [
    ...differences,
    ...comparedLines(entry, found, options),
    ...comparedVat(entry, found, options),
    ...comparedParties(entry, found, options),
    ...comparedTexts(entry, found, options),
  ];
}

/** The messages of all differences as one text. */
export function describeDifferences(differences: readonly Difference[]): string {
  return differences.map(({ message }) => message).join('; ');
}

const shown = (text: string) => (text === '' ? differenceTexts.none : visible(text));

/** A line as it is compared. `place`: account, party and dimensions. `amount`: debit positive. */
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
  // Lines that the ERP added may cancel each other out. They are still a difference.
  const placesSent = new Set(sentLines.map(({ place }) => place));
  const cancelledOut = isMerged ? heldLines.filter((line) => line.amount.isZero() && !placesSent.has(line.place)) : [];
  for (const [line, n] of sentLeft) {
    const same = Math.min(n, heldLeft.get(line) ?? 0);
    take(sentLeft, line, same);
    take(heldLeft, line, same);
  }
  return [
    ...[...sentLeft.keys()].map(
      (line): Difference => ({ what: 'line', message: differenceTexts.lineMissing({ line }) }),
    ),
    ...[...heldLeft.keys()].map((line): Difference => ({ what: 'line', message: differenceTexts.lineAdded({ line }) })),
    ...cancelledOut.map(
      ({ place }): Difference => ({ what: 'line', message: differenceTexts.linesCancelOut({ place }) }),
    ),
  ];
}

/** How often each line occurs. Lines of zero are left out. */
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

/**
 * Adds up the lines of each place, as an ERP does that merges lines: debit and credit of a place become their
 * difference.
 */
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

/**
 * The party of a line in the ERP. If a user merged several clients into one party there, it is the client that the
 * entry names.
 */
function partyAsSent({ party, partyAlike = [] }: FoundLine, sent: ReadonlySet<string>): string | null {
  return party !== null && !sent.has(party) ? (partyAlike.find((code) => sent.has(code)) ?? party) : party;
}

function placeOf(account: string, party: string | null, dimensions: Record<string, string>): string {
  const values = Object.entries(dimensions)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name} ${value}`);
  const { account: on, partyOf } = differenceTexts;
  return shown([on({ account }), ...(party === null ? [] : [partyOf({ party })]), ...values].join(', '));
}

function signedAmount({ side, amount }: ErpLine): Money {
  return side === 'debit' ? amount : amount.negated();
}

/** Side and amount as text, with the currency's decimals, or with more if the ERP has more. */
function sideAndAmount(amount: Money, decimals: number): string {
  return `${amount.isNegative() ? 'credit' : 'debit'} ${formatExact(amount.abs(), decimals)}`;
}

/**
 * Compares VAT by account, code and part. It does not matter for a VAT return which line of an account carries the
 * amount.
 */
function comparedVat(entry: ErpEntry, found: FoundEntry, { capabilities, decimals }: CompareOptions): Difference[] {
  if (capabilities.vat.mode === 'from_account') return [];
  const sent = new Map<string, Money>();
  const held = new Map<string, Money>();
  const add = (to: Map<string, Money>, place: string, amount: Money) =>
    to.set(place, (to.get(place) ?? zero).plus(amount));
  const classes = alikeCodes(found);
  // With tagged rows, a tax without tags reports its base on the tax line only.
  const isTagged = capabilities.vat.mode === 'tagged_rows';
  const vatPlace = (account: string, code: string, part: 'base' | 'tax') => {
    if (part === 'tax') return shown(differenceTexts.tax({ code, account }));
    const codes = classes.get(code) ?? code;
    const { base, baseOnAccount } = differenceTexts;
    return shown(isTagged ? base({ code: codes }) : baseOnAccount({ code: codes, account }));
  };
  const hasTaxes = capabilities.vat.mode !== 'tagged_bases';
  for (const line of entry.lines) {
    const { account, vat, side } = line;
    if (vat === null || (vat.part === 'tax' && !hasTaxes)) continue;
    add(sent, vatPlace(account, vat.code, vat.part), signedAmount(line));
    // The base of this tax has no line, so the tax line carries it.
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
    // A tax code with an amount of zero is a difference if only one side has it.
    const isThere = sent.has(place) === held.has(place) || (ours.isZero() && theirs.isZero());
    if (isThere && ours.minus(theirs).abs().lessThanOrEqualTo(tolerance)) continue;
    const textOf = (of: Map<string, Money>, amount: Money) =>
      of.has(place) ? sideAndAmount(amount, decimals) : differenceTexts.none;
    const message = differenceTexts.vat({ place, sent: textOf(sent, ours), held: textOf(held, theirs) });
    differences.push({ what: 'vat', message });
  }
  return differences;
}

/** Gives tax codes whose bases the ERP cannot distinguish one common name, for instance `A or B`. */
function alikeCodes(found: FoundEntry): Map<string, string> {
  const classes = new Map<string, string>();
  for (const { code, alike, part } of found.lines.flatMap(({ vat }) => vat)) {
    if (part !== 'base' || alike === undefined || alike.length === 0) continue;
    const codes = [...new Set([code, ...alike])].toSorted();
    for (const each of codes) classes.set(each, codes.join(differenceTexts.or));
  }
  return classes;
}

/** An ERP with one party per entry must have one of the parties that were sent. */
function comparedParties(entry: ErpEntry, found: FoundEntry, { capabilities }: CompareOptions): Difference[] {
  if (capabilities.lines.party !== 'per_entry') return [];
  const sent = new Set(entry.lines.flatMap(({ party }) => (party === null ? [] : [party.code])));
  const held = new Set(found.lines.flatMap(({ party }) => (party === null ? [] : [party])));
  if (sent.size === 0 && held.size === 0) return [];
  const isOurs = held.size > 0 && [...held].every((party) => sent.has(party));
  if (isOurs) return [];
  const listed = (parties: Set<string>) => shown([...parties].toSorted().join(', '));
  return [{ what: 'party', message: differenceTexts.party({ sent: listed(sent), held: listed(held) }) }];
}

/** Compares the descriptions. Labels and due dates are compared between lines of the same account and amount. */
function comparedTexts(
  entry: ErpEntry,
  found: FoundEntry,
  { capabilities, decimals, texts }: CompareOptions,
): Difference[] {
  if (texts === undefined) return [];
  const differences: Difference[] = [];
  const { described } = texts;
  if (described !== null && !isSameText(described, found.description)) {
    const message = differenceTexts.description({ sent: quoted(described), held: quoted(found.description) });
    differences.push({ what: 'text', message });
  }
  if (capabilities.read_back.normalises.includes('merged_lines')) return differences;
  const nameOf = (account: string, amount: Money) =>
    shown(`${differenceTexts.account({ account })}, ${sideAndAmount(amount, decimals)}`);
  const held = Map.groupBy(found.lines, ({ account, amount }) => nameOf(account, amount));
  const sent = Map.groupBy(entry.lines, (line) => nameOf(line.account, signedAmount(line)));
  for (const [line, ours] of sent) {
    const theirs = held.get(line) ?? [];
    // A missing line is reported by comparedLines.
    if (theirs.length !== ours.length) continue;
    const labels = without(
      ours.map(({ description }) => plain(description)),
      theirs.map(({ label = '' }) => plain(label)),
    );
    for (const { left, other } of theirs.some(({ label }) => label === undefined) ? [] : labels) {
      const message = differenceTexts.label({ sent: quoted(left), held: quoted(other), line });
      differences.push({ what: 'text', message });
    }
    if (theirs.some(({ dueDate }) => dueDate === undefined)) continue;
    const dates = without(
      ours.map(({ dueDate }) => dueDate ?? differenceTexts.none),
      theirs.map(({ dueDate }) => dueDate ?? differenceTexts.none),
    );
    for (const { left, other } of dates) {
      const message = differenceTexts.dueDate({ sent: left, held: other, line });
      differences.push({ what: 'due_date', message });
    }
  }
  return differences;
}

/** Texts of `sent` that are missing in `held`, each with a surplus text of `held`. */
function without(sent: readonly string[], held: readonly string[]): { left: string; other: string }[] {
  const rest = [...held];
  const missing = sent.filter((text) => {
    const at = rest.indexOf(text);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return missing.map((left, index) => ({ left, other: rest[index] ?? '' }));
}

/** ERPs trim and collapse spaces. */
const plain = (text: string) => text.replace(/\s+/gu, ' ').trim();
const isSameText = (one: string, other: string) => plain(one) === plain(other);
const quoted = (text: string) => `“${visible(text)}”`;
