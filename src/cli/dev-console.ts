import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Role } from '../console/users/rights.ts';
import { addSubject, grantRole, makeLink, subjectNamed } from '../console/users/subjects.ts';
import type { Db } from '../db/pool.ts';
import { serverEnvironment } from '../embedded/environment.ts';

/** The users of the demo. Their links sign in once. */
const demoUsers: readonly { name: string; role: Role }[] = [
  { name: 'accountant', role: 'accountant' },
  { name: 'second-accountant', role: 'accountant' },
  { name: 'operator', role: 'operator' },
  { name: 'administrator', role: 'admin' },
];

export interface DemoConsole {
  /** A link per user of the demo, which signs in once. */
  links: { name: string; link: string }[];
  stop(): Promise<void>;
}

/** Starts the console of the demo as a process, and makes a link for each of its users. Throws if it does not start within 30 s. */
export async function startDemoConsole(options: {
  db: Db;
  installation: number;
  configFile: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
}): Promise<DemoConsole> {
  const { db, installation, configFile, dataDir, env } = options;
  const program = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));
  // Any free port: the demo may run twice on a machine.
  const child = spawn(
    process.execPath,
    [program, 'console', '--json', '--config', configFile, '--listen', '127.0.0.1:0'],
    // Ctrl-C reaches the group of the terminal. The demo ends the console after its own work.
    {
      env: { ...serverEnvironment(env), VETLEDGER_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    },
  );
  const stop = () => stopChild(child);
  try {
    const url = await addressOf(child);
    // `user add` prints links with this address.
    appendFileSync(configFile, `console: {listen: ${JSON.stringify(new URL(url).host)}}\n`);
    const links: DemoConsole['links'] = [];
    for (const { name, role } of demoUsers) {
      const id = (await subjectNamed(db, name))?.id ?? (await addSubject(db, name, 'en'));
      if (id === null) continue;
      await grantRole(db, id, { role, installation: role === 'admin' ? null : installation, until: null });
      links.push({ name, link: `${url}/link/${await makeLink(db, id, 'sign_in')}` });
    }
    return { links, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const startWithinMs = 30_000;
const stopWithinMs = 5_000;

/** The address from the console's first line. */
async function addressOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the console has no output');
  const lines = createInterface({ input: child.stdout });
  try {
    const [line] = await once(lines, 'line', { signal: AbortSignal.timeout(startWithinMs) });
    const { url }: { url?: string } = JSON.parse(String(line));
    if (url === undefined) throw new Error(`the console did not start: ${line}`);
    return url;
  } finally {
    lines.close();
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  await ended;
  clearTimeout(kill);
}
