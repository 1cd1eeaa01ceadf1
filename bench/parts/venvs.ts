import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './processes.ts';

const peersFolder = fileURLToPath(new URL('../peers/', import.meta.url));
const cacheFolder = fileURLToPath(new URL('../../.vetledger/bench/', import.meta.url));
const installTimeoutMs = 600_000;

export type Peer = 'dlt' | 'airbyte';

const programs: Record<Peer, string> = { dlt: 'dlt_load.py', airbyte: 'airbyte_read.py' };

export interface PeerCommand {
  /** The name on PyPI. */
  name: string;
  python: string;
  program: string;
  version: string;
}

/**
 * Returns the Python of a peer's virtual environment and its program. The environment is created once, and again if its
 * requirements change.
 */
export async function peerCommand(peer: Peer): Promise<PeerCommand> {
  const folder = `${cacheFolder}${peer}`;
  const requirements = `${peersFolder}${peer}.requirements.txt`;
  const text = readFileSync(requirements, 'utf8');
  const stamp = `${folder}/requirements.sha256`;
  const wanted = createHash('sha256').update(text).digest('hex');
  const python = `${folder}/bin/python`;
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    console.error(`${peer}: making its Python environment in ${folder}`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(cacheFolder, { recursive: true });
    await run({ command: 'python3', args: ['-m', 'venv', folder], timeoutMs: installTimeoutMs });
    const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await run({ command: python, args, timeoutMs: installTimeoutMs });
    writeFileSync(stamp, wanted);
  }
  const name = { dlt: 'dlt', airbyte: 'airbyte-cdk' }[peer];
  const version = new RegExp(`^${name}(?:\\[.*\\])?==(.+)$`, 'm').exec(text)?.[1] ?? 'unknown';
  return { name, python, program: `${peersFolder}${programs[peer]}`, version };
}
