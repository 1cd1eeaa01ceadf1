// Replaces the parts that may differ between two runs of one world. Everything else is compared unchanged.

import { begins } from './world.ts';

export interface Run {
  /** Start and end of this side's run in milliseconds. Times between them belong to the run. */
  began: number;
  ended: number;
  /** Texts that only this side has, such as its folder and addresses, with their replacements. */
  own: readonly (readonly [string, string])[];
}

/** Members of JSON whose value is an id or a time of the run, with the replacement for a value that is not null. */
const members: Record<string, string> = {
  workflow_id: '<workflow>',
  waited_seconds: '<seconds>',
  seconds: '<seconds>',
};

/** Members whose values are ids of windows. They are numbered in order of the ids, from #1. */
const windowIds = new Set(['window', 'covered_by', 'reset_of']);

/** In addresses, colons are percent-encoded. */
const instant = /\d{4}-\d\d-\d\d[T ]\d\d(?::|%3A)\d\d(?::|%3A)\d\d(?:\.\d+)?(?: ?Z| UTC|[+-]\d\d(?::|%3A)\d\d)/g;
/** The id of an unreadable record is derived from the requested address, which contains times. */
const putAside = /\b(invoice|row|payment|prepayment)[/ ]-\d{6,}\b/g;
/**
 * Keys of entries in an ERP contain the database's id. DATEV's header contains the time, SIE's the number of the batch.
 */
const key = /\b[A-Z2-7]{20}\b/g;
const batch = /\b(4711)-\d{6}\b/g;
const digits = /\b20\d{15}\b/g;
const hash = /\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g;

/**
 * The lines of a command's output in comparable form: JSON with one member per line, CSV without its columns of times
 * and ids.
 */
export function comparable(printed: string, run: Run): string[] {
  const plain = maskText(printed, run);
  const json = parsed(plain);
  if (json !== undefined) return JSON.stringify(maskJson(json), null, 1).split('\n');
  const lines = plain.split(/\r?\n/);
  return lines[0]?.startsWith('entry,seq,') ? maskCsv(lines) : lines;
}

function maskText(text: string, { began, ended, own }: Run): string {
  const renamed = own.reduce((rest, [from, to]) => rest.replaceAll(from, to), text);
  return renamed
    .replace(instant, (found) => {
      const at = Date.parse(
        found
          .replaceAll('%3A', ':')
          .replace(/ ?UTC| Z/, 'Z')
          .replace(' ', 'T'),
      );
      // Times may be rounded down to the second.
      if (at >= began - 1_000 && at <= ended) return '<time of the run>';
      // Times of windows have seconds, while events of the clinic have whole minutes.
      return at >= Date.parse(begins) && at % 60_000 !== 0 ? '<time of a window>' : found;
    })
    .replace(putAside, '$1/<id>')
    .replace(key, '<key>')
    .replace(batch, '$1-<batch>')
    .replace(digits, '<time of the run>')
    .replace(hash, (found) => (/^0+$/.test(found) ? found : '<hash>'));
}

function maskJson(value: unknown): unknown {
  const ids = new Set<number>();
  visit(value, (name, member, of) => {
    if (isWindowId(name, member, of)) ids.add(member as number);
  });
  const ordinals = new Map([...ids].toSorted((a, b) => a - b).map((id, at) => [id, `#${at + 1}`]));
  return JSON.parse(
    JSON.stringify(value, function masked(this: unknown, name, member) {
      if (isWindowId(name, member, this)) return ordinals.get(member as number);
      return member !== null && Object.hasOwn(members, name) ? members[name] : member;
    }),
  );
}

/** True for an element of `windows`. */
const isWindow = (of: unknown): boolean => typeof of === 'object' && of !== null && 'outcome' in of && 'from' in of;

const isWindowId = (name: string, member: unknown, of: unknown): boolean =>
  typeof member === 'number' && (windowIds.has(name) || (name === 'id' && isWindow(of)));

function visit(value: unknown, see: (name: string, member: unknown, of: object) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    see(name, member, value);
    visit(member, see);
  }
}

/** Numbers `mapping` and `window` in order of appearance; `recorded_at` is already masked as a time of the run. */
function maskCsv([header = '', ...lines]: string[]): string[] {
  const at = (name: string) => header.split(',').indexOf(name) - header.split(',').length;
  const columns = ['mapping', 'window'].map((name) => [name, at(name)] as const);
  const seen = new Map<string, string>();
  return [
    header,
    ...lines.map((line) => {
      // Columns are counted from the end, where no text contains a comma.
      const cells = line.split(',');
      for (const [name, index] of columns) {
        const cell = cells.at(index);
        if (!cell || cells.length < -index) continue;
        const key = `${name} ${cell}`;
        if (!seen.has(key))
          seen.set(key, `#${[...seen.keys()].filter((one) => one.startsWith(`${name} `)).length + 1}`);
        cells[cells.length + index] = seen.get(key)!;
      }
      return cells.join(',');
    }),
  ];
}

function parsed(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' ? json : undefined;
  } catch {
    return undefined;
  }
}
