// `npm pack` and the Dockerfile run this script. It fills dist/ with the program as plain JavaScript, because Node.js
// strips no types under node_modules. It also copies the files that the program reads, to the same places as in a
// checkout. The sandbox, which `npm pack` bundles, gets a dist/ too. `npm run lint` has already checked the types.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { workflowBundle } from '../src/runtime/bundle.ts';

const root = new URL('../', import.meta.url);
const dist = new URL('dist/', root);
const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));

for (const project of ['./', 'sandbox/']) {
  rmSync(new URL(`${project}dist/`, root), { recursive: true, force: true });
  execFileSync(process.execPath, [compiler, '--project', `${project}tsconfig.pack.json`], {
    cwd: root,
    stdio: 'inherit',
  });
}
for (const path of [
  'src/db/migrations/',
  'src/texts/translations/',
  'src/console/static/',
  'mappings/',
  'package.json',
]) {
  cpSync(new URL(path, root), new URL(path, dist), { recursive: true });
}
mkdirSync(new URL('build/', dist));
cpSync(await workflowBundle(), new URL('build/workflows.js', dist));
