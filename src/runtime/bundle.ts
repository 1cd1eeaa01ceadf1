import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode } from '@temporalio/worker';
import { isPacked } from '../embedded/optional-packages.ts';

const root = new URL('../../', import.meta.url);
const workflowsDir = new URL('workflows/', root);
const loader = new URL('strip-types-loader.ts', import.meta.url);

/**
 * Path of the prebuilt workflow bundle. A packed program has it. In a checkout it is built when there is none for the current
 * sources; `npm ci` normally has built it already (the `prepare` script).
 */
export async function workflowBundle(): Promise<string> {
  if (isPacked) return fileURLToPath(new URL('build/workflows.js', root));
  const target = fileURLToPath(new URL(`build/workflows-${sourcesHash()}.js`, root));
  if (existsSync(target)) return target;
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('index.ts', workflowsDir)),
    webpackConfigHook: withoutSwc,
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.error, error: console.error },
  });
  mkdirSync(new URL('build/', root), { recursive: true });
  // Written under another name and renamed, because another process may look for the bundle at this moment.
  const staging = `${target}.${process.pid}`;
  writeFileSync(staging, code);
  renameSync(staging, target);
  return target;
}

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** Replaces the SDK's loader of TypeScript files by strip-types-loader.ts. Throws when the SDK's configuration has no such loader. */
function withoutSwc(config: WebpackConfig): WebpackConfig {
  let replaced = 0;
  const rules = config.module?.rules?.map((rule) => {
    if (!rule || typeof rule !== 'object' || !(rule.test instanceof RegExp) || !rule.test.test('workflow.ts'))
      return rule;
    replaced += 1;
    return { ...rule, use: [{ loader: fileURLToPath(loader) }] };
  });
  if (rules === undefined || replaced !== 1) throw new Error('the Temporal SDK bundles TypeScript in another way now');
  return { ...config, module: { ...config.module, rules } };
}

function sourcesHash(): string {
  const hash = createHash('sha256').update(readFileSync(new URL('package-lock.json', root)));
  hash.update(readFileSync(loader));
  for (const name of readdirSync(workflowsDir).sort()) {
    hash.update(name).update(readFileSync(new URL(name, workflowsDir)));
  }
  return hash.digest('hex').slice(0, 16);
}
