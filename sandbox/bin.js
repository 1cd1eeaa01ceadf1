#!/usr/bin/env node
// This file is plain JavaScript without imports at the top, so that an old version of Node.js can still print the error
// below.
const needed = 24;
if (Number(process.versions.node.split('.')[0]) < needed) {
  console.error(`error: the sandbox needs Node.js ${needed} or newer; this is ${process.version} (${process.execPath}).`);
  console.error('what to do: install a newer Node.js; in a checkout, `npm ci` and `npx vetledger-sandbox` bring one.');
  process.exit(2);
}
// Node.js stores compiled code in the cache folder, which reduces the time of a start to a third. If the folder is not
// writable, Node.js compiles the code at each start.
const caches = process.env.XDG_CACHE_HOME || (process.env.HOME && `${process.env.HOME}/.cache`);
if (caches) process.getBuiltinModule('node:module').enableCompileCache(`${caches}/vetledger/compiled`);

// A checkout runs the TypeScript sources. A package contains compiled code, because Node.js strips no types under
// node_modules.
import('./src/main.ts').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.url).endsWith('/src/main.ts')) throw error;
  return import('./dist/main.js');
});
