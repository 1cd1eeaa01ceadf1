import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Writes the bundle of the program's workflows with shorter times (hurry.ts) to a file in the folder. */
export async function hurriedBundle(folder: string): Promise<string> {
  const quiet = () => undefined;
  const { code } = await bundleWorkflowCode({
    workflowsPath: path('../../../workflows/index.ts'),
    workflowInterceptorModules: [path('./hurry.ts')],
    logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: console.error },
  });
  const file = join(folder, 'workflows.js');
  writeFileSync(file, code);
  return file;
}
