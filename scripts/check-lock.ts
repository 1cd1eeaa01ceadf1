// Checks package-lock.json: every package that is fetched on this platform has an `integrity`, and no entry names a registry.
// Packages of other platforms that lack one are listed only: a registry mirror may not have them. Run: `node scripts/check-lock.ts`.
import { fetchedEntries, isFor, type Lock, type Platform, packageName, readLock, thisPlatform } from './lock.ts';

export interface LockFindings {
  /** One line each; the lock is good when there is none. */
  problems: string[];
  /** Packages without `integrity` that are not fetched on this platform. */
  unchecked: string[];
}

export function checkLock(lock: Lock, platform: Platform): LockFindings {
  const problems: string[] = [];
  const unchecked: string[] = [];
  for (const [path, entry] of fetchedEntries(lock)) {
    const name = `${packageName(path)}@${entry.version}`;
    if (entry.resolved !== undefined) problems.push(`${name} names where it was fetched from (resolved)`);
    if (entry.integrity !== undefined) continue;
    if (isFor(entry, platform)) problems.push(`${name} has no integrity`);
    else unchecked.push(name);
  }
  return { problems, unchecked };
}

if (import.meta.main) {
  const { problems, unchecked } = checkLock(readLock('package-lock.json'), thisPlatform());
  if (unchecked.length > 0) console.log(`without integrity, for other platforms: ${unchecked.join(', ')}`);
  for (const problem of problems) console.error(`package-lock.json: ${problem}`);
  if (problems.length > 0) {
    console.error('what to do: run `node scripts/complete-lock.ts`, and commit package-lock.json');
    process.exitCode = 1;
  }
}
