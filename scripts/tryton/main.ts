// `npm run tryton` runs a Tryton server with the demo's company on this machine until Ctrl-C. `vetledger dev --erp
// tryton` runs it with --json.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { trytonProgramDir } from './program.ts';
import { prepareTryton, startTryton } from './server.ts';

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    port: { type: 'string' },
    'no-web-client': { type: 'boolean', default: false },
    /** Installs Tryton and sets it up without starting it, for build machines. */
    'install-only': { type: 'boolean', default: false },
    /** Prints the started server as one line of JSON, and stops when standard input ends. */
    json: { type: 'boolean', default: false },
  },
});
const dataDir = resolve(values['data-dir'] ?? process.env.VETLEDGER_DATA_DIR ?? '.vetledger');
const progress = (line: string) => void process.stderr.write(`${line}\n`);

function fail(error: Error & { code?: string; todo?: string }): never {
  if (values.json) process.stdout.write(`${JSON.stringify({ error: { ...error, message: error.message } })}\n`);
  else progress(`${error.message}${error.todo ? `\n${error.todo}` : ''}`);
  process.exit(1);
}

if (values['install-only']) {
  await prepareTryton({ programDir: trytonProgramDir(dataDir, process.env), progress, env: process.env }).catch(fail);
  process.exit(0);
}

const stopped = new Promise<void>((done) => {
  // Ctrl-C also reaches the demo, which may still be delivering. So with --json, only the end of standard input stops
  // Tryton.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (values.json ? undefined : done()));
  if (values.json) process.stdin.once('close', done).resume();
});
const server = await startTryton({
  dataDir,
  webClient: !values['no-web-client'],
  progress,
  env: process.env,
  ...(values.port === undefined ? {} : { port: Number(values.port) }),
}).catch(fail);
const { url, database, users, passwordFile, hasWebClient } = server;
const logins = { api: users.api.user, accountant: users.accountant.user, admin: users.admin.user };
process.stdout.write(
  values.json
    ? `${JSON.stringify({ url, database, logins, passwordFile, hasWebClient })}\n`
    : `
Tryton 8.0 is running: ${url}
  database   ${database} (${server.databaseFile()})
  company    ${server.company}
  users      ${logins.accountant} (accountant), ${logins.admin} (administrator), ${logins.api} (API)
  passwords  ${passwordFile}
  ${hasWebClient ? `web client  ${url}/#${database}` : 'no web client: it could not be installed from npm; the desktop client (PyPI: tryton) works, too'}

In vetledger.yaml:
    erp:
      kind: tryton
      url: ${url}
      database: ${database}
      user: ${logins.api}
      password: \${TRYTON_PASSWORD}     # "api" in the file of passwords

Ctrl-C stops it; the next start continues with the same database.
`,
);
// A timer keeps this process alive, because signal listeners and the server do not.
const alive = setInterval(() => {}, 60_000);
await stopped;
clearInterval(alive);
if (!values.json) progress('Tryton: stopping');
await server.release();
