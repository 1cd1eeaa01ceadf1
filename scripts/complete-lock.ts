// Completes package-lock.json after `npm install`. A registry mirror that lacks the binaries of other platforms makes npm leave
// them out of the lock, and `npm ci` then refuses the lock. Each missing optional package is entered with the version its parent
// pins and the platform its name states, so that `npm ci` works here and fetches the package on that platform. Then every entry
// gets its `integrity` from the registry, if the registry has the package, and loses its `resolved`, which names a registry.
// Run: `node scripts/complete-lock.ts`.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { fetchedEntries, type LockEntries, type LockEntry, packageName, readLock } from './lock.ts';

const file = 'package-lock.json';
const lookUpsAtOnce = 8;
const lookUpTimeoutMs = 60_000;

const operatingSystems = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
  'windows',
  'aix',
];
const processors = [
  'arm64',
  'x64',
  'ia32',
  'arm',
  'ppc64',
  's390x',
  'riscv64',
  'loong64',
  'mips64el',
  'wasm32',
  'ppc64le',
];

const lock = readLock(file);
addMissingPlatforms(lock.packages);
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
for (const entry of Object.values(lock.packages)) delete entry.resolved;
await addMissingIntegrity();
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);

function addMissingPlatforms(packages: LockEntries): void {
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const key = `node_modules/${name}`;
      if (packages[key] || packages[`${path}/${key}`]) continue;
      const platform = platformIn(name);
      if (platform === null) continue;
      packages[key] = {
        version: range.replace(/^[^\d]*/, ''),
        optional: true,
        ...(entry.dev ? { dev: true } : {}),
        ...platform,
      };
      console.log(`added ${name} ${range}`);
    }
  }
}

/** The platform that a package's name states, such as `@swc/core-linux-arm64-musl`. */
function platformIn(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> | null {
  const words = name.split(/[/-]/);
  const os = operatingSystems.find((word) => words.includes(word));
  const cpu = processors.find((word) => words.includes(word));
  if (!os && !cpu) return null;
  return {
    ...(os ? { os: [os === 'windows' ? 'win32' : os] } : {}),
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(os === 'linux' ? { libc: [/musl/.test(name) ? 'musl' : 'glibc'] } : {}),
  };
}

async function addMissingIntegrity(): Promise<void> {
  const missing = fetchedEntries(lock).filter(([, { integrity }]) => integrity === undefined);
  const next = missing.values();
  const lookUp = async () => {
    for (const [path, entry] of next) {
      const id = `${packageName(path)}@${entry.version}`;
      const integrity = await integrityOf(id);
      if (integrity === null) console.log(`the registry has no ${id}: its integrity stays open`);
      else entry.integrity = integrity;
    }
  };
  await Promise.all(Array.from({ length: lookUpsAtOnce }, lookUp));
}

/** Null when the registry does not have the package. */
async function integrityOf(id: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', id, 'dist.integrity', '--json'], {
      timeout: lookUpTimeoutMs,
    });
    const integrity: unknown = JSON.parse(stdout);
    return typeof integrity === 'string' ? integrity : null;
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && String(error.stdout).includes('E404')) return null;
    throw error;
  }
}
