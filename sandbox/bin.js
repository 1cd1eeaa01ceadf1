#!/usr/bin/env node
// Plain JavaScript without imports at the top, so that an old Node.js can still say what is wrong.
const needed = 24;
if (Number(process.versions.node.split('.')[0]) < needed) {
  console.error(`error: the sandbox needs Node.js ${needed} or newer; this is ${process.version} (${process.execPath}).`);
  console.error('what to do: install a newer Node.js; in a checkout, `npm ci` and `npx vetledger-sandbox` bring one.');
  process.exit(2);
}
// Node.js keeps what it has compiled: a start takes a third of the time. Where the folder cannot be written it compiles anew.
const caches = process.env.XDG_CACHE_HOME || (process.env.HOME && `${process.env.HOME}/.cache`);
if (caches) process.getBuiltinModule('node:module').enableCompileCache(`${caches}/vetledger/compiled`);

// A checkout runs the sources as they are; a package has them compiled, because Node.js strips no types under node_modules.
import('./src/main.ts').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.url).endsWith('/src/main.ts')) throw error;
  return import('./dist/main.js');
});
