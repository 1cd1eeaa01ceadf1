// What may differ between two runs of one world, and what is written in its place. Everything else is compared as it is.

import { begins } from './world.ts';

export interface Run {
  /** Milliseconds: when the run of this side began and ended. Times in between are the run's own. */
  began: number;
  ended: number;
  /** Texts that only this side has, such as its folder and its addresses, and what stands for each. */
  own: readonly (readonly [string, string])[];
}

/** Members of JSON whose value is an id or a time of the run, by name, and what is written for a value that is not null. */
const members: Record<string, string> = {
  workflow_id: '<workflow>',
  waited_seconds: '<seconds>',
  seconds: '<seconds>',
};

/** Members whose values are ids of windows: the first one that is shown, in order of the ids, is #1. */
const windowIds = new Set(['window', 'covered_by', 'reset_of']);

/** In addresses, colons are written otherwise. */
const instant = /\d{4}-\d\d-\d\d[T ]\d\d(?::|%3A)\d\d(?::|%3A)\d\d(?:\.\d+)?(?: ?Z| UTC|[+-]\d\d(?::|%3A)\d\d)/g;
/** The id of a record that could not be read: it is made from the address that was asked, which has times. */
const putAside = /\b(invoice|row|payment|prepayment)[/ ]-\d{6,}\b/g;
/** Keys of entries in an ERP tell their database; DATEV's heading has the time, SIE's the number of the batch. */
const key = /\b[A-Z2-7]{20}\b/g;
const batch = /\b(4711)-\d{6}\b/g;
const digits = /\b20\d{15}\b/g;
const hash = /\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g;

/** The lines of what a command printed, comparable: JSON a member a line, CSV without its columns of times and ids. */
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
      // Windows end, and ask from, such times of the clinic; events have whole minutes there.
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

/** An element of `windows`. */
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

/** `mapping` and `window` by the order in which they appear; `recorded_at` is a time of the run already. */
function maskCsv([header = '', ...lines]: string[]): string[] {
  const at = (name: string) => header.split(',').indexOf(name) - header.split(',').length;
  const columns = ['mapping', 'window'].map((name) => [name, at(name)] as const);
  const seen = new Map<string, string>();
  return [
    header,
    ...lines.map((line) => {
      // Counted from the end: no text with a comma stands there.
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
