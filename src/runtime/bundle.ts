import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = new URL('../../', import.meta.url);
const workflowsDir = new URL('workflows/', root);

/**
 * Path of the prebuilt workflow bundle. Builds it when there is none for the current sources; `npm ci` normally has built it
 * already (the `prepare` script).
 */
export async function workflowBundle(): Promise<string> {
  const target = fileURLToPath(new URL(`build/workflows-${sourcesHash()}.js`, root));
  if (existsSync(target)) return target;
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('index.ts', workflowsDir)),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.error, error: console.error },
  });
  mkdirSync(new URL('build/', root), { recursive: true });
  // Written under another name and renamed, because another process may look for the bundle at this moment.
  const staging = `${target}.${process.pid}`;
  writeFileSync(staging, code);
  renameSync(staging, target);
  return target;
}

function sourcesHash(): string {
  const hash = createHash('sha256').update(readFileSync(new URL('package-lock.json', root)));
  for (const name of readdirSync(workflowsDir).sort()) {
    hash.update(name).update(readFileSync(new URL(name, workflowsDir)));
  }
  return hash.digest('hex').slice(0, 16);
}
