import { Console } from 'node:console';
import { readFileSync } from 'node:fs';
import { type Command, CommanderError } from 'commander';
import { ConfigError, type UserError } from '../domain/errors.ts';
import { redact } from '../domain/redact.ts';
import { visibleLines } from '../domain/text.ts';
import { inLanguage, languageOf, loadLanguage, shown } from '../languages/language.ts';
import { toUserError } from '../runtime/user-errors.ts';
import { type Language, languages } from '../texts/catalogue.ts';
import { resultTexts } from '../texts/commands/results.ts';
import { usageTexts } from '../texts/commands/usage.ts';
import { commandErrors } from '../texts/errors/commands.ts';
import { type Io, isDebugging, OutputClosed, throwIfClosed } from './context.ts';
import { jsonNotes } from './json-notes.ts';
import { createProgram } from './program.ts';

/** Exit code after Ctrl-C, as in shells (128 + SIGINT). */
const interruptedCode = 130;

/** Parses `args` (without program and script), runs the command and prints its error, if any; returns the exit code. */
export async function main(args: string[], given: Io): Promise<number> {
  const language = chosenLanguage(args, given.env);
  const known = { ...given, language: language instanceof ConfigError ? 'en' : language } satisfies Io;
  await loadLanguage(known.language);
  const io = wantsJson(args) ? { ...known, stderr: jsonNotes(given.stderr), asks: given.stderr } : known;
  let exitCode = 0;
  const finished = (code: number) => {
    exitCode = code;
  };
  const program = await createProgram(io, version(), finished, args);
  try {
    if (language instanceof ConfigError) throw language;
    await program.parseAsync(args, { from: 'user' });
    await flushed(io.stdout);
    return exitCode;
  } catch (error) {
    if (error instanceof OutputClosed) return 0;
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (io.signal.aborted) {
      io.stderr.write(`${inLanguage(io.language ?? 'en', () => usageTexts.interrupted)}\n`);
      return interruptedCode;
    }
    const shownError = error instanceof CommanderError ? usageErrorOf(error, program, args) : toUserError(error);
    printError(shownError, args, io);
    return shownError.exitCode;
  }
}

const wantsJson = (args: readonly string[]) => args.includes('--json');

/** The language of --language or VETLEDGER_LANGUAGE, or the error for one that does not exist. */
function chosenLanguage(args: readonly string[], env: NodeJS.ProcessEnv): Language | ConfigError {
  const given = args.findLast((arg, at) => arg.startsWith('--language=') || args[at - 1] === '--language');
  const name = given?.replace(/^--language=/, '') ?? (env.VETLEDGER_LANGUAGE || 'en');
  const known = languages.join(', ');
  return languageOf(name) ?? new ConfigError(commandErrors.languageUnknown({ language: name, known }));
}

function usageErrorOf(error: CommanderError, program: Command, args: string[]): UserError {
  // If no command is given, commander's message is the whole help.
  const message = error.code === 'commander.help' ? usageTexts.noCommand : error.message.replace(/^error: /, '');
  const command = ['vetledger', ...commandPath(program, args)].join(' ');
  return new ConfigError(commandErrors.usage({ message, command }));
}

/** The names of the command in `args`, such as `ledger` and `close`. Stops at the first unknown name. */
function commandPath(program: Command, args: readonly string[]): string[] {
  const [name, ...rest] = args.filter((arg) => !arg.startsWith('-'));
  const command = program.commands.find((one) => one.name() === name);
  return command === undefined ? [] : [command.name(), ...commandPath(command, rest)];
}

function printError(error: UserError, args: string[], io: Io): void {
  if (wantsJson(args)) {
    const { code, message, todo } = error;
    io.stdout.write(`${visibleLines(JSON.stringify({ error: { code, message, todo } }))}\n`);
  } else {
    const text = inLanguage(io.language ?? 'en', () => {
      const lines = [
        usageTexts.error({ message: shown(error.message) }),
        resultTexts.todo({ todo: shown(error.todo) }),
      ];
      return `${lines.join('\n')}\n`;
    });
    io.stderr.write(visibleLines(text));
  }
  if (isDebugging(io, args.includes('--debug') ? { debug: true } : {})) {
    io.stderr.write(`${visibleLines(redact(stackOf(error.cause ?? error)))}\n`);
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(file);
  return version;
}

/** Runs the command line of this process. The first Ctrl-C shuts the command down cleanly, the second one immediately. */
export async function runFromShell(): Promise<void> {
  const args = process.argv.slice(2);
  const notes = wantsJson(args) ? jsonNotes(process.stderr) : process.stderr;
  // stdout is only for the command's result, so console output of packages goes to stderr.
  globalThis.console = new Console(notes, notes);
  const interrupt = new AbortController();
  const onSignal = () => {
    if (interrupt.signal.aborted) process.exit(interruptedCode);
    notes.write(`\n${resultTexts.interrupted}\n`);
    interrupt.abort(new Error('interrupted'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  // Without these listeners, the event would end the process. CommandContext.write reports a closed stdout.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const onHangup = (handler: () => void) => {
    process.on('SIGHUP', handler);
    return () => process.off('SIGHUP', handler);
  };
  const { env, stdin, stdout, stderr } = process;
  const exitCode = await main(args, {
    env,
    stdin,
    stdout,
    stderr,
    signal: interrupt.signal,
    onHangup,
  });
  await flushed(stdout).catch(() => undefined);
  process.exit(exitCode);
}

/** Waits until stdout is written, because process.exit drops buffered output. Throws the errors of `throwIfClosed`. */
async function flushed(stdout: NodeJS.WritableStream): Promise<void> {
  if (stdout.writable) await new Promise<void>((resolve) => stdout.write('', () => resolve()));
  throwIfClosed(stdout);
}
