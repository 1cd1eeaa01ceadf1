#!/usr/bin/env node
// Plain JavaScript without imports at the top, so that an old Node.js can still say what is wrong.
const needed = 24;
if (Number(process.versions.node.split('.')[0]) < needed) {
  console.error(`error: vetledger needs Node.js ${needed} or newer; this is ${process.version} (${process.execPath}).`);
  console.error('what to do: in a checkout run `npm ci` and then `npx vetledger …`, which brings its own Node.js.');
  process.exit(2);
}
import('../src/cli/main.ts').then(({ runFromShell }) => runFromShell());
