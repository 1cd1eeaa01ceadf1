import { expect, test } from 'vitest';
import { checkLock } from '../../scripts/check-lock.ts';
import { type LockEntry, type Platform, readLock } from '../../scripts/lock.ts';

const linux: Platform = { os: 'linux', cpu: 'x64', libc: 'glibc' };
const integrity = 'sha512-AAAA';

function check(entries: Record<string, LockEntry>, platform = linux) {
  return checkLock({ packages: { '': {}, ...entries } }, platform);
}

test('package-lock.json has an integrity for everything that is fetched on Linux', () => {
  const lock = readLock(new URL('../../package-lock.json', import.meta.url));
  expect(checkLock(lock, linux).problems).toEqual([]);
  expect(checkLock(lock, { os: 'linux', cpu: 'arm64', libc: 'glibc' }).problems).toEqual([]);
  expect(Object.keys(lock.packages).length).toBeGreaterThan(300);
});

test('a package without integrity is a problem', () => {
  expect(
    check({ 'node_modules/a': { version: '1.0.0', integrity }, 'node_modules/@s/b': { version: '2.0.0' } }),
  ).toEqual({ problems: ['@s/b@2.0.0 has no integrity'], unchecked: [] });
});

test('nested packages are checked; links and bundled packages have none', () => {
  const entries = {
    'node_modules/a/node_modules/b': { version: '1.0.0' },
    'node_modules/link': { link: true },
    'node_modules/c/node_modules/inside': { version: '1.0.0', inBundle: true },
  };
  expect(check(entries).problems).toEqual(['b@1.0.0 has no integrity']);
});

test.each<[LockEntry, boolean]>([
  [{ os: ['linux'], cpu: ['x64'], libc: ['glibc'] }, true],
  [{ os: ['linux'] }, true],
  [{ os: ['!win32'] }, true],
  [{ os: ['linux'], cpu: ['x64'], libc: ['musl'] }, false],
  [{ os: ['darwin'], cpu: ['x64'] }, false],
  [{ cpu: ['arm64'] }, false],
  [{ os: ['!linux'] }, false],
])('%j without integrity is a problem on Linux: %s', (platform, isProblem) => {
  const { problems, unchecked } = check({ 'node_modules/a': { version: '1.0.0', optional: true, ...platform } });
  expect(problems).toEqual(isProblem ? ['a@1.0.0 has no integrity'] : []);
  expect(unchecked).toEqual(isProblem ? [] : ['a@1.0.0']);
});

test('an entry that names a registry is a problem', () => {
  const { problems } = check({
    'node_modules/a': { version: '1.0.0', integrity, resolved: 'https://registry.example/a.tgz' },
  });
  expect(problems).toEqual(['a@1.0.0 names where it was fetched from (resolved)']);
});
