import type { Money } from '../../../domain/money.ts';
import type { CalendarDate, InstallationId } from '../../../terms.ts';
import type { ErpProblem } from '../../port.ts';
import type { FileEntry } from './file-entry.ts';

/** A format of files. Pure: the bytes depend on what is given alone. */
export interface FileFormat {
  /** What a batch may not mix: units of different values go into different files. */
  periodOf(date: CalendarDate): string;
  /** First and last day of the units of a period; null where a batch takes any. */
  daysOf(period: string): { from: CalendarDate; through: CalendarDate } | null;
  fileName(batch: BatchName): string;
  /** Begins a file. */
  begin(): FileWriter;
  /** Rows that a file takes at most, of `WrittenEntry.rows`. */
  maxRows: number;
  /** Accounts and dimensions that the format cannot name, each once. */
  problemsOf(words: FileWords): ErpProblem[];
}

/** What entries use. */
export interface FileWords {
  accounts: readonly { account: string }[];
  dimensions: readonly { theirs: string; values: readonly string[] }[];
}

/** What an entry uses. */
export function wordsOf({ lines }: FileEntry): FileWords {
  const dimensions = new Map<string, Set<string>>();
  for (const line of lines) {
    for (const [name, value] of Object.entries(line.dimensions)) {
      dimensions.set(name, (dimensions.get(name) ?? new Set()).add(value));
    }
  }
  return {
    accounts: [...new Set(lines.map(({ account }) => account))].map((account) => ({ account })),
    dimensions: [...dimensions].map(([theirs, values]) => ({ theirs, values: [...values] })),
  };
}

export interface FileWriter {
  /** The entry's bytes, or why the format cannot tell it; then nothing of it is in the file. */
  entry(entry: FileEntry): WrittenEntry | { problems: ErpProblem[] };
  /** What stands before the entries; asked for after the last of them. */
  head(batch: BatchFacts): Uint8Array;
}

export interface WrittenEntry {
  bytes: Uint8Array;
  rows: number;
  /** What the bytes post, for the manifest: debit positive. */
  posted: { account: string; amount: Money }[];
}

export interface BatchName {
  installation: InstallationId;
  number: number;
  period: string;
}

export interface BatchFacts extends BatchName {
  currency: string;
  /** To the millisecond. */
  createdAt: Date;
}

/** `4711-000001`: the installation and the number of the batch. */
export function batchCode({ installation, number }: Pick<BatchName, 'installation' | 'number'>): string {
  return `${installation}-${String(number).padStart(6, '0')}`;
}

/** The installation and number of `4711-000001`; null where it is none. */
export function parseBatchCode(code: string): Pick<BatchName, 'installation' | 'number'> | null {
  const parts = /^(?<installation>\d{1,15})-(?<number>\d{1,12})$/.exec(code)?.groups;
  return parts ? { installation: idOf(parts.installation), number: idOf(parts.number) } : null;
}

/** Of at most 15 digits. */
function idOf(digits = ''): number {
  return Number(digits);
}
