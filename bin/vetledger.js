#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --min-semi-space-size=4 --max-semi-space-size=16 --heap-growing-percent=60
// The flags say when V8 collects garbage: on a machine with much memory the heap would grow to several times its live size, and a
// daemon shares its machine. The heap grows by 60 % before it is collected as a whole: with 35 % a load took a third more processor time for 20 MB
// less. The heap is no maximum: what needs more memory gets it. The young generation grows while a load fills it, from
// 4 MB to 16: a load collects a quarter as often as with 4 MB, and an idle daemon keeps the small one.
// The C library would keep free memory for each of many threads; two arenas bound it.
//
// Plain JavaScript without imports at the top, so that an old Node.js can still say what is wrong.
const needed = 24;
if (Number(process.versions.node.split('.')[0]) < needed) {
  console.error(`error: vetledger needs Node.js ${needed} or newer; this is ${process.version} (${process.execPath}).`);
  console.error('what to do: in a checkout run `npm ci` and then `npx vetledger …`, which brings its own Node.js.');
  process.exit(2);
}
if (process.argv.includes('--json')) {
  // All of stderr is JSON then (src/cli/json-notes.ts); Node.js would print its warnings as text.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    process.stderr.write(`${JSON.stringify({ level: 40, time: Date.now(), msg: `${name}: ${message}` })}\n`);
  });
}
// Node.js keeps what it has compiled, in the folder that also holds the embedded servers: a start takes half the processor time. Where the
// folder cannot be written it compiles anew.
const caches = process.env.XDG_CACHE_HOME || (process.env.HOME && `${process.env.HOME}/.cache`);
if (caches) process.getBuiltinModule('node:module').enableCompileCache(`${caches}/vetledger/compiled`);

// A checkout runs its sources as they are; a package has them compiled, since Node.js strips no types under node_modules.
import('../src/cli/main.ts')
  .catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.url).endsWith('/src/cli/main.ts')) throw error;
    return import('../dist/src/cli/main.js');
  })
  .then(({ runFromShell }) => runFromShell());
