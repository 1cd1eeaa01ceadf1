import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../embedded/errors.ts';
import { trytonProgramDir } from '../embedded/tryton/program.ts';
import { startTryton, type TrytonServer } from '../embedded/tryton/server.ts';

/** The ERP of a demo: what its configuration says of it, and how to look at it. */
export interface DemoErp {
  /** The value of `erp` in the configuration. */
  setting: string;
  mapping: string;
  /** The variables that the configuration names. */
  env: Record<string, string>;
  /** How to set them in a shell. */
  exports: string;
  /** Lines that tell how to log in. */
  login: string[];
  release(): Promise<void>;
}

interface DemoOptions {
  /** Where this demo's data is. */
  dataDir: string;
  /** Where `npm run tryton` keeps its data: the installed program is shared with it. */
  sharedDir: string;
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
}

/** Starts the demo's Tryton, on the port of its last start: its address is part of what the outbox knows the company by. */
export async function startDemoTryton({ dataDir, sharedDir, env, progress }: DemoOptions): Promise<DemoErp> {
  const portFile = join(dataDir, 'dev', 'tryton-port');
  const options = { dataDir, programDir: trytonProgramDir(sharedDir, env), webClient: true, progress, env };
  let server: TrytonServer;
  if (existsSync(portFile)) {
    try {
      server = await startTryton({ ...options, port: Number(readFileSync(portFile, 'utf8')) });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'tryton_start_failed') throw error;
      throw new ServiceError(
        error.code,
        error.message,
        `${error.todo} If another program has its port now, end that one.`,
        error,
      );
    }
  } else {
    server = await startTryton(options);
    writeFileSync(portFile, new URL(server.url).port);
  }
  const { api, accountant, admin } = server.users;
  return {
    setting: `{kind: tryton, url: "${server.url}", database: ${server.database}, user: ${api.user}, password: "\${TRYTON_PASSWORD}", auto: true}`,
    mapping: new URL('../../mappings/tryton-demo.yaml', import.meta.url).pathname,
    env: { TRYTON_PASSWORD: api.password },
    exports: `export TRYTON_PASSWORD=$(node -p 'require("${server.passwordFile}").api')`,
    login: [
      server.hasWebClient
        ? `Tryton        ${server.url}/#${server.database}`
        : `Tryton        ${server.url}, database ${server.database}; its web client could not be installed, the desktop client (PyPI: tryton) works`,
      `              log in as ${accountant.user} (or ${admin.user}); the passwords are in ${server.passwordFile}`,
    ],
    release: () => server.release(),
  };
}
