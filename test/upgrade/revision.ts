import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLock } from '../../scripts/lock.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Revision {
  name: string;
  folder: string;
  /** Whether it starts on a database that a newer version has expanded. */
  bearsExpansions: boolean;
}

const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });

/**
 * The revision to come from: VETLEDGER_UPGRADE_FROM; otherwise the latest tag before this commit, the commit before it, or, where
 * files were changed since, this commit itself. Null where this clone has none, as a shallow one.
 */
export function previousRevision(): string | null {
  const wanted = process.env.VETLEDGER_UPGRADE_FROM;
  const isChanged = git('diff', '--quiet', 'HEAD').status !== 0;
  const tag = git('describe', '--tags', '--abbrev=0', 'HEAD~1');
  const name = wanted ?? (tag.status === 0 ? tag.stdout.trim() : isChanged ? 'HEAD' : 'HEAD~1');
  const found = git('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
  if (found.status === 0) return found.stdout.trim();
  if (wanted) throw new Error(`VETLEDGER_UPGRADE_FROM names no commit of this clone: ${wanted}`);
  return null;
}

/** The revision's sources in `folder`, with the packages of this checkout; a string tells why they do not fit. */
export function checkOut(commit: string, folder: string): Revision | string {
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 256 * 1024 * 1024 });
  execFileSync('tar', ['--extract', '--directory', folder], { input: archive });
  const differing = differingPackages(join(folder, 'package-lock.json'));
  if (differing.length > 0) return `its packages are not those of this checkout: ${differing.join(', ')}`;
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    name: execFileSync('git', ['log', '-1', '--format=%h %s', commit], { cwd: root, encoding: 'utf8' }).trim(),
    folder,
    bearsExpansions: existsSync(join(folder, 'src/db/migrations.ts')),
  };
}

/** Packages that its program uses and that this checkout has not, or in another version. */
function differingPackages(lock: string): string[] {
  const here = readLock(join(root, 'package-lock.json')).packages;
  return Object.entries(readLock(lock).packages).flatMap(([path, { version, dev, optional }]) =>
    path === '' || dev || optional || here[path]?.version === version ? [] : [path.replace('node_modules/', '')],
  );
}
