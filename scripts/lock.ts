// What complete-lock.ts and check-lock.ts know about package-lock.json.
import { readFileSync } from 'node:fs';

export interface LockEntry {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  inBundle?: boolean;
  optional?: boolean;
  dev?: boolean;
  /** Needed by a development dependency and by an optional one. */
  devOptional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

/** `packages` of the lock, by path: `node_modules/NAME`, and '' for the project itself. */
export type LockEntries = Record<string, LockEntry>;

export interface Lock {
  packages: LockEntries;
}

/** What npm compares with an entry's `os`, `cpu` and `libc`. */
export interface Platform {
  os: string;
  cpu: string;
  /** Null except on Linux. */
  libc: 'glibc' | 'musl' | null;
}

export function readLock(file: string | URL): Lock {
  return JSON.parse(readFileSync(file, 'utf8')) as Lock;
}

/** The name in an entry's path: of `node_modules/a/node_modules/@s/b` it is `@s/b`. */
export function packageName(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Entries that npm fetches on some platform, by path: not the project, links, or what comes inside another package. */
export function fetchedEntries({ packages }: Lock): [path: string, entry: LockEntry][] {
  return Object.entries(packages).filter(([path, { link, inBundle }]) => path !== '' && !link && !inBundle);
}

/** Whether npm installs a package on a platform. */
export function isFor({ os, cpu, libc }: LockEntry, platform: Platform): boolean {
  return (
    allows(os, platform.os) && allows(cpu, platform.cpu) && (platform.libc === null || allows(libc, platform.libc))
  );
}

/** A list of names, or of names with `!` before them; any value is allowed without a list. */
function allows(list: string[] | undefined, value: string): boolean {
  if (list === undefined || list.length === 0) return true;
  if (list.includes(`!${value}`)) return false;
  return list.includes(value) || list.every((name) => name.startsWith('!'));
}

export function thisPlatform(): Platform {
  const { platform: os, arch: cpu } = process;
  return { os, cpu, libc: os === 'linux' ? libcOfThisProcess() : null };
}

function libcOfThisProcess(): 'glibc' | 'musl' {
  const report: unknown = process.report.getReport();
  return JSON.stringify(report).includes('"glibcVersionRuntime"') ? 'glibc' : 'musl';
}
