// `npm ci` runs this script. It builds the workflows' bundle before the first start, and links our command into
// node_modules/.bin for `npx vetledger`, because npm links only the commands of dependencies.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { workflowBundle } from '../src/runtime/bundle.ts';

const binaries = new URL('../node_modules/.bin/', import.meta.url);
mkdirSync(binaries, { recursive: true });
const link = new URL('vetledger', binaries);
rmSync(link, { force: true });
symlinkSync('../../bin/vetledger.js', link);

await workflowBundle();
