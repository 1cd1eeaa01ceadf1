import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { withLock } from '../../src/embedded/lock.ts';
import { privateFile, privateFolder } from '../../src/embedded/processes.ts';
import { demoCompany, trytonUsers } from './demo-company.ts';
import { type ProgramOptions, run, setupFolder, trytonProgram } from './program.ts';

const lockWaitMs = 600_000;
const passwordBytes = 18;
const modules = ['account', 'account_invoice', 'analytic_account'];

export type TrytonUser = keyof typeof trytonUsers | 'admin';
export type Passwords = Record<TrytonUser, string>;

/** The login of a user in the prepared database. */
export function loginOf(user: TrytonUser): string {
  return user === 'admin' ? 'admin' : trytonUsers[user].login;
}

export function passwordFile(programDir: string): string {
  return join(programDir, 'passwords.json');
}

/**
 * The passwords of every database that is copied from the template. They are random and created once per program
 * folder.
 */
export function passwordsOf(programDir: string): Passwords {
  const file = passwordFile(programDir);
  if (!existsSync(file)) {
    mkdirSync(programDir, { recursive: true, mode: privateFolder });
    const password = () => randomBytes(passwordBytes).toString('base64url');
    const passwords: Passwords = { api: password(), accountant: password(), admin: password() };
    writeFileSync(`${file}.new`, `${JSON.stringify(passwords, null, 2)}\n`, { mode: privateFile });
    renameSync(`${file}.new`, file);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Passwords;
}

/** The folder of the databases that a server of this data folder serves, each in a file `<name>.sqlite`. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'tryton', 'databases');
}

/** Writes the settings of a server, or of a program that opens the databases of a folder. */
export function writeSettings(
  file: string,
  { folder, port, webRoot }: { folder: string; port: number; webRoot: string | null },
): void {
  const lines = ['[database]', 'uri = sqlite://', `path = ${folder}`, '[web]', `listen = 127.0.0.1:${port}`];
  writeFileSync(file, [...lines, ...(webRoot === null ? [] : [`root = ${webRoot}`]), ''].join('\n'), {
    mode: privateFile,
  });
}

/**
 * Creates the template once: a database with modules, company, chart, taxes, years and users. Copying its file creates
 * a new database within milliseconds. If the setup script, its data or the passwords have changed, it is created again.
 * Returns its file.
 */
export async function trytonTemplate(options: ProgramOptions): Promise<string> {
  const { programDir, progress } = options;
  const onWait = (holder: string) => progress(`Tryton: waiting for process ${holder}, which prepares its database`);
  return withLock(join(programDir, 'template.lock'), { waitMs: lockWaitMs, onWait }, async () => {
    const passwords = passwordsOf(programDir);
    const users = (Object.keys(trytonUsers) as (keyof typeof trytonUsers)[]).map((user) => ({
      ...trytonUsers[user],
      password: passwords[user],
    }));
    const description = JSON.stringify({ ...demoCompany, users });
    const hash = createHash('sha256').update(description).update(passwords.admin);
    for (const name of ['setup.py', 'requirements.txt']) hash.update(readFileSync(join(setupFolder, name)));
    const template = join(programDir, `template-${hash.digest('hex').slice(0, 12)}.sqlite`);
    if (existsSync(template)) return template;
    await makeTemplate(template, { options, description, adminPassword: passwords.admin });
    return template;
  });
}

async function makeTemplate(
  template: string,
  made: { options: ProgramOptions; description: string; adminPassword: string },
): Promise<void> {
  const { options, description, adminPassword } = made;
  const folder = join(options.programDir, 'preparing');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: privateFolder });
  const settings = join(folder, 'trytond.conf');
  writeSettings(settings, { folder, port: 0, webRoot: null });
  const database = join(folder, 'clinic.sqlite');
  closeSync(openSync(database, 'w', privateFile));
  const password = join(folder, 'password');
  writeFileSync(password, `${adminPassword}\n`, { mode: privateFile });
  const environment = { env: options.env, extra: { TRYTONPASSFILE: password } };
  options.progress('Tryton: creating its database (half a minute)');
  const admin = ['-c', settings, '-d', 'clinic', '--all', '--email', 'admin@localhost', '--activate-dependencies'];
  await run(trytonProgram(options.programDir, 'trytond-admin'), [...admin, '-u', ...modules], environment);
  options.progress('Tryton: creating company, chart of accounts, taxes, periods, analytic accounts and users');
  const script = join(setupFolder, 'setup.py');
  await run(trytonProgram(options.programDir, 'python'), [script, settings, 'clinic'], {
    ...environment,
    input: description,
  });
  // Writes everything into the single file, because only that file is copied.
  const opened = new DatabaseSync(database);
  opened.exec('pragma wal_checkpoint(truncate); pragma journal_mode = delete');
  opened.close();
  renameSync(database, template);
  rmSync(folder, { recursive: true, force: true });
}

/** Creates a database from the template. Throws if it exists. */
export function copyTemplate(template: string, file: string): void {
  copyFileSync(template, `${file}.new`);
  if (existsSync(file)) throw new Error(`${file} exists already`);
  renameSync(`${file}.new`, file);
}
