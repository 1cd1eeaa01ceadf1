import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = new URL('../../', import.meta.url);
const workflowsDir = new URL('workflows/', root);

/**
 * Path of the workflows' prebuilt bundle, made when it is missing or older than their sources. `npm ci` makes it
 * beforehand (the `prepare` script); a worker then loads it as it is.
 */
export async function workflowBundle(): Promise<string> {
  const target = fileURLToPath(new URL(`build/workflows-${sourcesHash()}.js`, root));
  if (existsSync(target)) return target;
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('index.ts', workflowsDir)),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.error, error: console.error },
  });
  mkdirSync(new URL('build/', root), { recursive: true });
  // Written aside and renamed: another process may be starting at this moment.
  const aside = `${target}.${process.pid}`;
  writeFileSync(aside, code);
  renameSync(aside, target);
  return target;
}

function sourcesHash(): string {
  const hash = createHash('sha256').update(readFileSync(new URL('package-lock.json', root)));
  for (const name of readdirSync(workflowsDir).sort()) {
    hash.update(name).update(readFileSync(new URL(name, workflowsDir)));
  }
  return hash.digest('hex').slice(0, 16);
}
