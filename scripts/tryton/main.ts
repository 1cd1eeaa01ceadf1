// `npm run tryton`: a Tryton of the demo's company on this machine, until Ctrl-C.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { trytonProgramDir } from '../../src/embedded/tryton/program.ts';
import { prepareTryton, startTryton } from '../../src/embedded/tryton/server.ts';

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    port: { type: 'string' },
    'no-web-client': { type: 'boolean', default: false },
    /** Installs and sets up, and ends: for a machine that builds. */
    'install-only': { type: 'boolean', default: false },
  },
});
const dataDir = resolve(values['data-dir'] ?? process.env.VETLEDGER_DATA_DIR ?? '.vetledger');
const progress = (line: string) => void process.stderr.write(`${line}\n`);

function fail(error: Error & { todo?: string }): never {
  progress(`${error.message}${error.todo ? `\n${error.todo}` : ''}`);
  process.exit(1);
}

if (values['install-only']) {
  await prepareTryton({ programDir: trytonProgramDir(dataDir, process.env), progress, env: process.env }).catch(fail);
  process.exit(0);
}

const stopped = new Promise<void>((done) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done());
});
const server = await startTryton({
  dataDir,
  webClient: !values['no-web-client'],
  progress,
  env: process.env,
  ...(values.port === undefined ? {} : { port: Number(values.port) }),
}).catch(fail);
const { users } = server;
process.stdout.write(`
Tryton 8.0 is running: ${server.url}
  database   ${server.database} (${server.databaseFile()})
  company    ${server.company}
  users      ${users.accountant.user} (accountant), ${users.admin.user} (administrator), ${users.api.user} (API)
  passwords  ${server.passwordFile}
  ${server.hasWebClient ? `web client  ${server.url}/#${server.database}` : 'no web client: it could not be installed from npm; the desktop client (PyPI: tryton) works, too'}

In vetledger.yaml:
    erp:
      kind: tryton
      url: ${server.url}
      database: ${server.database}
      user: ${users.api.user}
      password: \${TRYTON_PASSWORD}     # "api" in the file of passwords

Ctrl-C stops it; the next start continues with the same database.
`);
// Neither a signal's listener nor the server keeps this process alive.
const alive = setInterval(() => {}, 60_000);
await stopped;
clearInterval(alive);
progress('Tryton: stopping');
await server.release();
