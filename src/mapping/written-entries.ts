import { type Line, signed } from '../domain/entry.ts';
import { type Money, parseMoney, sum } from '../domain/money.ts';
import { nearest } from '../domain/nearest.ts';
import { type DocumentKind, documentKinds } from '../terms.ts';

/** A line that was written by hand: debit positive, as in hledger. */
export interface ExpectedLine {
  account: string;
  amount: Money;
  tags: Partial<Record<WrittenTag, string>>;
}

export interface ExpectedEntry {
  date: string;
  kind: DocumentKind;
  id: number;
  lines: ExpectedLine[];
}

/** What a written line can ask of its line besides account and amount, and how the line says it. */
const readTag = {
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
} satisfies Record<string, (line: Line) => string | null>;

export type WrittenTag = keyof typeof readTag;
export const writtenTags = Object.keys(readTag) as WrittenTag[];
const decimalTags: readonly WrittenTag[] = ['rate', 'base'];

/**
 * Entries as an accountant writes them: a line `DATE KIND ID`, and below it indented `ACCOUNT  AMOUNT  ; tag: value, …`.
 * A line that begins with `;` or `#` is a remark. Entries that do not balance are errors of the text.
 */
export function parseEntries(text: string): { entries: ExpectedEntry[] } | { errors: string[] } {
  const entries: ExpectedEntry[] = [];
  const errors: string[] = [];
  for (const [index, written] of text.split('\n').entries()) {
    const line = written.trimEnd();
    const wrong = (message: string) => errors.push(`line ${index + 1}: ${message}`);
    if (line.trim() === '' || /^\s*[;#]/.test(line)) continue;
    if (/^\s/.test(line)) {
      const parsed = parseLine(line.trim());
      const entry = entries.at(-1);
      if (typeof parsed === 'string') wrong(parsed);
      else if (!entry) wrong('no entry has begun: write a line "DATE KIND ID" above it');
      else entry.lines.push(parsed);
      continue;
    }
    const head = /^(\d{4}-\d{2}-\d{2})\s+(\w+)\s+(\d+)(\s+[;#].*)?$/.exec(line);
    const kind = documentKinds.find((each) => each === head?.[2]);
    if (!head || !kind) wrong(`is no "DATE KIND ID" with the kind ${documentKinds.join(', ')}`);
    else entries.push({ date: head[1]!, kind, id: Number(head[3]), lines: [] });
  }
  for (const { kind, id, lines } of entries) {
    const left = sum(lines.map(({ amount }) => amount));
    if (!left.isZero()) errors.push(`${kind} ${id} does not balance: ${left.toFixed()} is left over`);
    if (lines.length === 0) errors.push(`${kind} ${id} has no lines`);
  }
  return errors.length > 0 ? { errors } : { entries };
}

function parseLine(line: string): ExpectedLine | string {
  const [body = '', ...comment] = line.split(';');
  const parts = /^(\S+)\s+(-?\d+(?:\.\d+)?)$/.exec(body.trim());
  const amount = parts && parseMoney(parts[2]!);
  if (!parts || !amount) return `"${line}" is no "ACCOUNT  AMOUNT"`;
  const tags: ExpectedLine['tags'] = {};
  for (const tag of comment.join(';').split(',')) {
    if (tag.trim() === '') continue;
    const colon = tag.indexOf(':');
    const name = tag.slice(0, colon).trim();
    const known = writtenTags.find((each) => each === name);
    if (colon < 0 || !known) {
      const meant = nearest(name, writtenTags);
      return `unknown tag "${tag.trim()}"; ${meant ? `did you mean ${meant}?` : `known are ${writtenTags.join(', ')}`}`;
    }
    tags[known] = tag.slice(colon + 1).trim();
  }
  return { account: parts[1]!, amount, tags };
}

/** What of the expected lines is absent, and what there is besides: both empty where the lines are as expected. */
export function compareLines(expected: ExpectedLine[], lines: Line[]): { absent: ExpectedLine[]; surplus: Line[] } {
  const surplus = [...lines];
  const absent: ExpectedLine[] = [];
  // Those that ask for most choose first, so that none is left without the only line that fits.
  const choosy = [...expected].sort((a, b) => Object.keys(b.tags).length - Object.keys(a.tags).length);
  for (const wanted of choosy) {
    const found = surplus.findIndex((line) => fits(wanted, line));
    if (found < 0) absent.push(wanted);
    else surplus.splice(found, 1);
  }
  return { absent: expected.filter((wanted) => absent.includes(wanted)), surplus };
}

function fits({ account, amount, tags }: ExpectedLine, line: Line): boolean {
  if (line.account !== account || !signed(line).equals(amount)) return false;
  return Object.entries(tags).every(([tag, wanted]) => {
    const found = readTag[tag as WrittenTag](line) ?? '';
    return decimalTags.includes(tag as WrittenTag) && wanted !== ''
      ? parseMoney(wanted)?.toFixed() === found
      : wanted === found;
  });
}

/** A line as it would be written; of an expected one its tags, of a posted one all that have a value. */
export function writeLine(line: ExpectedLine | Line, decimals: number): string {
  const posted = 'side' in line;
  const amount = posted ? signed(line) : line.amount;
  const tags = posted
    ? writtenTags.flatMap((tag) => [[tag, readTag[tag](line)] as const])
    : (Object.entries(line.tags) as [WrittenTag, string][]);
  const written = tags.filter(([, value]) => value !== null).map(([tag, value]) => `${tag}: ${value}`);
  const body = `${line.account.padEnd(8)} ${amount.toFixed(decimals).padStart(12)}`;
  return written.length > 0 ? `${body}  ; ${written.join(', ')}` : body;
}
