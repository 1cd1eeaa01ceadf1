import { type Line, signed } from '../domain/entry.ts';
import { type Money, parseMoney, sum } from '../domain/money.ts';
import { type DocumentKind, documentKinds } from '../terms.ts';
import { mappingFaults } from '../texts/mapping/faults.ts';
import { knownHint } from './fields.ts';

/** A line written by hand; debit is positive, as in hledger. */
export interface ExpectedLine {
  account: string;
  amount: Money;
  tags: Map<WrittenTag, string>;
}

export interface ExpectedEntry {
  date: string;
  kind: DocumentKind;
  id: number;
  lines: ExpectedLine[];
}

export const writtenTags = [
  ...(['role', 'group', 'rate', 'base', 'party', 'department'] as const),
  ...(['dimension_1', 'dimension_2', 'dimension_3', 'by'] as const),
] as const;
export type WrittenTag = (typeof writtenTags)[number];
const decimalTags: readonly WrittenTag[] = ['rate', 'base'];

/** For each tag, its value in a posted line. */
const readTag: Record<WrittenTag, (line: Line) => string | null> = {
  role: (line: Line) => line.role,
  group: (line: Line) => line.vat?.group ?? null,
  rate: (line: Line) => line.vat?.rate?.toFixed() ?? null,
  base: (line: Line) => line.vat?.base?.toFixed() ?? null,
  party: (line: Line) => line.party?.code ?? null,
  department: (line: Line) => (line.departmentId === null ? null : String(line.departmentId)),
  dimension_1: (line: Line) => line.dimensions[0],
  dimension_2: (line: Line) => line.dimensions[1],
  dimension_3: (line: Line) => line.dimensions[2],
  by: (line: Line) => line.mappedBy,
};

/**
 * Parses written entries: a line `DATE KIND ID`, and indented lines `ACCOUNT  AMOUNT  ; tag: value, …` below it. Lines that
 * begin with `;` or `#` are comments. An entry that does not balance is an error.
 */
export function parseEntries(text: string): { entries: ExpectedEntry[] } | { errors: string[] } {
  const entries: ExpectedEntry[] = [];
  const errors: string[] = [];
  for (const [index, written] of text.split('\n').entries()) {
    const line = written.trimEnd();
    const wrong = (message: string) => errors.push(mappingFaults.atLine({ line: index + 1, message }));
    if (line.trim() === '' || /^\s*[;#]/.test(line)) continue;
    if (/^\s/.test(line)) {
      const parsed = parseLine(line.trim());
      const entry = entries.at(-1);
      if (typeof parsed === 'string') wrong(parsed);
      else if (!entry) wrong(mappingFaults.noEntry);
      else entry.lines.push(parsed);
      continue;
    }
    const [, date, word, id] = /^(\d{4}-\d{2}-\d{2})\s+(\w+)\s+(\d+)(\s+[;#].*)?$/.exec(line) ?? [];
    const kind = documentKinds.find((each) => each === word);
    if (!date || !kind) wrong(mappingFaults.notAnEntry({ kinds: documentKinds.join(', ') }));
    else entries.push({ date, kind, id: Number(id), lines: [] });
  }
  for (const { kind, id, lines } of entries) {
    const left = sum(lines.map(({ amount }) => amount));
    if (!left.isZero()) errors.push(mappingFaults.unbalanced({ kind, id, left: left.toFixed() }));
    if (lines.length === 0) errors.push(mappingFaults.noLines({ kind, id }));
  }
  return errors.length > 0 ? { errors } : { entries };
}

function parseLine(line: string): ExpectedLine | string {
  const [body = '', ...comment] = line.split(';');
  const [, account, decimal] = /^(\S+)\s+(-?\d+(?:\.\d+)?)$/.exec(body.trim()) ?? [];
  const amount = decimal === undefined ? null : parseMoney(decimal);
  if (!account || !amount) return mappingFaults.notALine({ line });
  const tags: ExpectedLine['tags'] = new Map();
  for (const tag of comment.join(';').split(',')) {
    if (tag.trim() === '') continue;
    const colon = tag.indexOf(':');
    const name = tag.slice(0, colon).trim();
    const known = writtenTags.find((each) => each === name);
    if (colon < 0 || !known) {
      return mappingFaults.tagUnknown({ tag: tag.trim(), hint: knownHint(name, writtenTags) });
    }
    tags.set(known, tag.slice(colon + 1).trim());
  }
  return { account, amount, tags };
}

/** Expected lines that are missing, and lines that were not expected. */
export function compareLines(expected: ExpectedLine[], lines: Line[]): { absent: ExpectedLine[]; surplus: Line[] } {
  const surplus = [...lines];
  const absent: ExpectedLine[] = [];
  // Lines with the most tags come first, so that a line with fewer tags does not take their only match.
  const byTagCount = [...expected].sort((a, b) => b.tags.size - a.tags.size);
  for (const wanted of byTagCount) {
    const found = surplus.findIndex((line) => fits(wanted, line));
    if (found < 0) absent.push(wanted);
    else surplus.splice(found, 1);
  }
  return { absent: expected.filter((wanted) => absent.includes(wanted)), surplus };
}

function fits({ account, amount, tags }: ExpectedLine, line: Line): boolean {
  if (line.account !== account || !signed(line).equals(amount)) return false;
  return [...tags].every(([tag, wanted]) => {
    const found = readTag[tag](line) ?? '';
    return decimalTags.includes(tag) && wanted !== '' ? parseMoney(wanted)?.toFixed() === found : wanted === found;
  });
}

/** A line in written form: an expected line with its tags, a posted line with every tag that has a value. */
export function writeLine(line: ExpectedLine | Line, decimals: number): string {
  const posted = 'side' in line;
  const amount = posted ? signed(line) : line.amount;
  const tags = posted ? writtenTags.map((tag) => [tag, readTag[tag](line)] as const) : [...line.tags];
  const written = tags.filter(([, value]) => value !== null).map(([tag, value]) => `${tag}: ${value}`);
  const body = `${line.account.padEnd(8)} ${amount.toFixed(decimals).padStart(12)}`;
  return written.length > 0 ? `${body}  ; ${written.join(', ')}` : body;
}
