// Which vitest project runs a test file.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { longTests, nightlyTests } from './long.ts';

/** `unit` needs no server, `db` needs PostgreSQL, and `system` also needs Temporal or separate processes. */
export type Project = 'unit' | 'db' | 'system' | 'long' | 'nightly';

const needsPostgres = /inject\('databaseUrl'\)/;
const hasMoreRuns = /support\/runs\.ts'/;
const needsTemporal = /'temporalAddress'|embedded\/(index|temporal|postgres)\.ts'/;

/**
 * The test files of each project. The imports of a file from test/ decide which servers it needs. `nightly` also has the files whose
 * random tests have more runs there.
 */
export function testFiles(root: string): Record<Project, string[]> {
  const long = new Set(globSync(longTests, { cwd: root }));
  const nightly = new Set(globSync(nightlyTests, { cwd: root }));
  const read = new Map<string, string>();
  const textOf = (file: string): string => {
    const text = read.get(file) ?? readFileSync(join(root, file), 'utf8');
    read.set(file, text);
    return text;
  };
  const needs = (file: string): Project => {
    const imported = [...filesFrom(root, file, textOf)].filter((each) => each !== 'test/support/global-setup.ts');
    if (imported.some((each) => needsTemporal.test(textOf(each)))) return 'system';
    return imported.some((each) => needsPostgres.test(textOf(each))) ? 'db' : 'unit';
  };
  const files: Record<Project, string[]> = { unit: [], db: [], system: [], long: [...long], nightly: [...nightly] };
  for (const file of globSync('test/**/*.test.ts', { cwd: root })) {
    if (long.has(file) || nightly.has(file)) continue;
    files[needs(file)].push(file);
    if (hasMoreRuns.test(textOf(file))) files.nightly.push(file);
  }
  return files;
}

/** A file and the files of test/ that it imports, directly or through others. */
function filesFrom(
  root: string,
  file: string,
  textOf: (file: string) => string,
  found = new Set<string>(),
): Set<string> {
  found.add(file);
  for (const [, path] of textOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/g)) {
    const target = join(dirname(file), path as string);
    if (!found.has(target) && target.startsWith('test/') && existsSync(join(root, target)))
      filesFrom(root, target, textOf, found);
  }
  return found;
}
