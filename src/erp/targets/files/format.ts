import type { Money } from '../../../domain/money.ts';
import type { CalendarDate, InstallationId } from '../../../terms.ts';
import type { ErpProblem } from '../../port.ts';
import type { FileEntry } from './file-entry.ts';

/** A file format. Pure: the bytes depend only on the arguments. */
export interface FileFormat {
  /** The period of a date. A batch contains units of one period only. */
  periodOf(date: CalendarDate): string;
  /** First and last day of a period; null if a batch may contain all dates. */
  daysOf(period: string): { from: CalendarDate; through: CalendarDate } | null;
  fileName(batch: BatchName): string;
  /** Starts a new file. */
  begin(): FileWriter;
  /** Maximum number of rows in a file. */
  maxRows: number;
  /** Problems of accounts and dimensions that the format cannot name; each occurs once. */
  problemsOf(values: FileValues): ErpProblem[];
}

/** Accounts and dimension values that entries use. */
export interface FileValues {
  accounts: readonly { account: string }[];
  dimensions: readonly { theirs: string; values: readonly string[] }[];
}

export function wordsOf({ lines }: FileEntry): FileValues {
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
  /** The entry's bytes, or the problems if the format cannot hold the entry. Then the file contains nothing of it. */
  entry(entry: FileEntry): WrittenEntry | { problems: ErpProblem[] };
  /** Returns the start of the file, after all entries were written. */
  head(batch: BatchFacts): Uint8Array;
}

export interface WrittenEntry {
  bytes: Uint8Array;
  rows: number;
  /** The amounts per account that the bytes post, debit positive. The manifest adds them up. */
  posted: { account: string; amount: Money }[];
}

export interface BatchName {
  installation: InstallationId;
  number: number;
  period: string;
}

export interface BatchFacts extends BatchName {
  currency: string;
  /** Time of creation, with milliseconds. */
  createdAt: Date;
}

/** Installation and number of a batch, such as `4711-000001`. */
export function batchCode({ installation, number }: Pick<BatchName, 'installation' | 'number'>): string {
  return `${installation}-${String(number).padStart(6, '0')}`;
}

/** Parses a batch code such as `4711-000001`; null if it is invalid. */
export function parseBatchCode(code: string): Pick<BatchName, 'installation' | 'number'> | null {
  const parts = /^(?<installation>\d{1,15})-(?<number>\d{1,12})$/.exec(code)?.groups;
  return parts ? { installation: idOf(parts.installation), number: idOf(parts.number) } : null;
}

/** Parses an id of at most 15 digits, which a number holds exactly. */
function idOf(digits = ''): number {
  return Number(digits);
}
