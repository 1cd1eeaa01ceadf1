import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode } from '@temporalio/worker';
import { isPacked } from '../embedded/optional-packages.ts';

const root = new URL('../../', import.meta.url);
const loader = new URL('strip-types-loader.ts', import.meta.url);

/**
 * Path of the workflow bundle. A packed program contains it. In a checkout, it is built if none exists for the current
 * sources. `npm ci` normally builds it (the `prepare` script).
 */
export async function workflowBundle(): Promise<string> {
  if (isPacked) return fileURLToPath(new URL('build/workflows.js', root));
  const target = fileURLToPath(new URL(`build/workflows-${sourcesHash()}.js`, root));
  if (existsSync(target)) return target;
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('workflows/index.ts', root)),
    webpackConfigHook: withoutSwc,
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.error, error: console.error },
  });
  mkdirSync(new URL('build/', root), { recursive: true });
  // The file is written under another name and then renamed, because another process may read it at this moment.
  const staging = `${target}.${process.pid}`;
  writeFileSync(staging, code);
  renameSync(staging, target);
  return target;
}

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/**
 * Replaces the SDK's loader of TypeScript files by strip-types-loader.ts. Throws if the SDK's configuration has no such
 * loader.
 */
function withoutSwc(config: WebpackConfig): WebpackConfig {
  let replaced = 0;
  const rules = config.module?.rules?.map((rule) => {
    if (!rule || typeof rule !== 'object' || !(rule.test instanceof RegExp) || !rule.test.test('workflow.ts'))
      return rule;
    replaced += 1;
    return { ...rule, use: [{ loader: fileURLToPath(loader) }] };
  });
  if (rules === undefined || replaced !== 1)
    throw new Error('the Temporal SDK no longer bundles TypeScript with the loader that this function replaces');
  return { ...config, module: { ...config.module, rules } };
}

/** Hash of the sources of the bundle. These are the workflows, and the folders from which they import texts and functions. */
function sourcesHash(): string {
  const hash = createHash('sha256').update(readFileSync(new URL('package-lock.json', root)));
  hash.update(readFileSync(loader));
  for (const folder of ['workflows/', 'src/texts/', 'src/domain/']) {
    const names = readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((each) => each.endsWith('.ts')).sort()) {
      hash.update(name).update(readFileSync(new URL(folder + name, root)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
