import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Revision {
  /** The revision's short hash and subject. */
  name: string;
  folder: string;
}

/**
 * Writes the revision's sources to `folder` and links the packages of this checkout. Returns a text with the reason if
 * the packages do not fit.
 */
export function checkOut(commit: string, folder: string): Revision | string {
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 256 * 1024 * 1024 });
  execFileSync('tar', ['--extract', '--directory', folder], { input: archive });
  const differing = differingPackages(join(folder, 'package-lock.json'));
  if (differing.length > 0) return `its packages are not those of this checkout: ${differing.join(', ')}`;
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const name = execFileSync('git', ['log', '-1', '--format=%h %s', commit], { cwd: root, encoding: 'utf8' }).trim();
  return { name, folder };
}

/** The packages of the revision that this checkout lacks or has in another version. */
function differingPackages(lock: string): string[] {
  const here = packagesOf(join(root, 'package-lock.json'));
  return Object.entries(packagesOf(lock)).flatMap(([path, { version, dev, optional }]) =>
    path === '' || dev || optional || here[path]?.version === version ? [] : [path.replace('node_modules/', '')],
  );
}

/** The packages of a lock file by path. The path of the project is ''. */
function packagesOf(lock: string): Record<string, { version?: string; dev?: true; optional?: true }> {
  return JSON.parse(readFileSync(lock, 'utf8')).packages;
}
