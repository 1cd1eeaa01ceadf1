#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --min-semi-space-size=4 --max-semi-space-size=16 --heap-growing-percent=60
// The flags decide when V8 collects garbage. Without them, on a machine with much memory, the heap would grow to several times
// its live size, although the daemon shares the machine. The heap may grow by 60 % before a full collection: with 35 %, a load
// took a third more processor time and saved only 20 MB. The flags set no maximum. The young generation grows from 4 to 16 MB
// during a load. A load then collects a quarter as often as with 4 MB, and an idle daemon keeps the small size.
// MALLOC_ARENA_MAX limits the free memory that the C library keeps per thread.
//
// This file is plain JavaScript without imports, so that an old version of Node.js can still print the error below.
const needed = 24;
if (Number(process.versions.node.split('.')[0]) < needed) {
  console.error(`error: vetledger needs Node.js ${needed} or newer; this is ${process.version} (${process.execPath}).`);
  console.error(`what to do: install Node.js ${needed}. In a checkout, \`npm ci\` and \`npx vetledger …\` are enough: they use their own Node.js.`);
  process.exit(2);
}
if (process.argv.includes('--json')) {
  // With --json, every line on stderr is JSON (src/cli/json-notes.ts), but Node.js prints its warnings as text.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    process.stderr.write(`${JSON.stringify({ level: 40, time: Date.now(), msg: `${name}: ${message}` })}\n`);
  });
}
// Node.js stores compiled code in the cache folder, which halves the processor time of a start. The embedded servers are in the same
// folder. If the folder is not writable, Node.js compiles the code at each start.
const caches = process.env.XDG_CACHE_HOME || (process.env.HOME && `${process.env.HOME}/.cache`);
if (caches) process.getBuiltinModule('node:module').enableCompileCache(`${caches}/vetledger/compiled`);

// A checkout runs the TypeScript sources. A package contains compiled code, because Node.js strips no types under node_modules.
import('../src/cli/main.ts')
  .catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.url).endsWith('/src/cli/main.ts')) throw error;
    return import('../dist/src/cli/main.js');
  })
  .then(({ runFromShell }) => runFromShell());
