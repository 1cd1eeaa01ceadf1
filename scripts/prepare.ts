// Run by `npm ci`: builds the workflows' bundle ahead of the first start, and links our own command into node_modules/.bin,
// where `npx vetledger` looks for it (npm links the commands of dependencies only).
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { workflowBundle } from '../src/runtime/bundle.ts';

const binaries = new URL('../node_modules/.bin/', import.meta.url);
mkdirSync(binaries, { recursive: true });
const link = new URL('vetledger', binaries);
rmSync(link, { force: true });
symlinkSync('../../bin/vetledger.js', link);

await workflowBundle();
