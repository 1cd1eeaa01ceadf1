import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../embedded/service-error.ts';
import { devTexts } from '../texts/commands/windows.ts';
import { demoTrytonErrors } from '../texts/errors/commands.ts';

/** The ERP of a demo: its configuration, and how to log in. */
export interface DemoErp {
  /** The value of `erp` in the configuration. */
  setting: string;
  mapping: string;
  /** The variables that the configuration names. */
  env: Record<string, string>;
  /** Shell commands that set these variables. */
  exports: string;
  /** The address of its web client, or of the server. */
  address: string;
  /** How to log in. */
  login: string;
  release(): Promise<void>;
}

interface DemoOptions {
  /** Folder of this demo's data. */
  dataDir: string;
  /** Data folder of `npm run tryton`. The demo uses the program that is installed there. */
  sharedDir: string;
  env: NodeJS.ProcessEnv;
  /** Receives the progress messages of the script. */
  stderr: NodeJS.WritableStream;
}

/** The started server, as the script reports it. */
interface Started {
  url: string;
  database: string;
  logins: Record<'api' | 'accountant' | 'admin', string>;
  /** JSON with the password of each login. */
  passwordFile: string;
  hasWebClient: boolean;
}

const script = fileURLToPath(new URL('../../scripts/tryton/main.ts', import.meta.url));

/**
 * Starts the demo's Tryton (`npm run tryton`). It keeps its port, because the outbox identifies the company by its address. Tryton
 * stops when its standard input ends, and therefore also when this process is killed. Throws ServiceError.
 */
export async function startDemoTryton({ dataDir, sharedDir, env, stderr }: DemoOptions): Promise<DemoErp> {
  if (!existsSync(script)) {
    throw new ServiceError({ code: 'tryton_start_failed', ...demoTrytonErrors.noCheckout });
  }
  const portFile = join(dataDir, 'dev', 'tryton-port');
  const port = existsSync(portFile) ? ['--port', readFileSync(portFile, 'utf8')] : [];
  const child = spawn(process.execPath, [script, '--json', '--data-dir', dataDir, ...port], {
    env: { ...env, VETLEDGER_TRYTON: env.VETLEDGER_TRYTON || join(sharedDir, 'tryton') },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.write(text));
  const ended = once(child, 'close');
  const release = async () => {
    child.stdin.end();
    await ended;
  };
  const server = await startedBy(child.stdout, port.length > 0).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  if (port.length === 0) writeFileSync(portFile, new URL(server.url).port);
  const { api, accountant, admin } = server.logins;
  const { api: password } = JSON.parse(readFileSync(server.passwordFile, 'utf8')) as Record<string, string>;
  return {
    setting: `{kind: tryton, url: "${server.url}", database: ${server.database}, user: ${api}, password: "\${TRYTON_PASSWORD}", auto: true}`,
    mapping: new URL('../../mappings/tryton-demo.yaml', import.meta.url).pathname,
    env: { TRYTON_PASSWORD: password ?? '' },
    exports: `export TRYTON_PASSWORD=$(node -p 'require("${server.passwordFile}").api')`,
    address: server.hasWebClient ? `${server.url}/#${server.database}` : devTexts.desktopClient(server),
    login: devTexts.logIn({ accountant, admin, file: server.passwordFile }),
    release,
  };
}

/** Reads the only output line of the script. Throws ServiceError if Tryton did not start. */
async function startedBy(output: NodeJS.ReadableStream, hasPort: boolean): Promise<Started> {
  for await (const line of createInterface(output)) {
    const said = JSON.parse(line) as Started | { error: { code?: string; message: string; todo?: string } };
    if (!('error' in said)) return said;
    const { code, message, todo = '' } = said.error;
    const isInstall = code === 'tryton_install_failed';
    const advice = hasPort && !isInstall ? demoTrytonErrors.portTaken({ todo }) : todo;
    throw new ServiceError({ code: isInstall ? code : 'tryton_start_failed', message, todo: advice });
  }
  throw new ServiceError({ code: 'tryton_start_failed', ...demoTrytonErrors.endedEarly });
}
