// Completes package-lock.json after `npm install`: a registry mirror that lacks the binaries of other
// platforms makes npm leave them out of the lock, and `npm ci` then refuses the lock. Each missing
// optional package is entered with the version its parent pins and the platform its name states, so that
// `npm ci` works there and, on such a platform, fetches it. Run: `node scripts/complete-lock.ts`.
import { readFileSync, writeFileSync } from 'node:fs';

interface LockEntry {
  version?: string;
  resolved?: string;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

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

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, LockEntry> };
for (const [path, entry] of Object.entries({ ...lock.packages })) {
  delete entry.resolved;
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] || lock.packages[`${path}/${key}`]) continue;
    const words = name.split(/[/-]/);
    const os = operatingSystems.find((word) => words.includes(word));
    const cpu = processors.find((word) => words.includes(word));
    if (!os && !cpu) continue;
    lock.packages[key] = {
      version: range.replace(/^[^\d]*/, ''),
      optional: true,
      ...(entry.dev ? { dev: true } : {}),
      ...(os ? { os: [os === 'windows' ? 'win32' : os] } : {}),
      ...(cpu ? { cpu: [cpu] } : {}),
      ...(os === 'linux' ? { libc: [/musl/.test(name) ? 'musl' : 'glibc'] } : {}),
    };
    console.log(`added ${name} ${range}`);
  }
}
const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync('package-lock.json', `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
