import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach } from 'vitest';
import { z } from 'zod';
import { main } from '../../src/cli/main.ts';
import { createProgram, definitionOf } from '../../src/cli/program.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** Parses stdout, which must be one JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads into it freely
  json(): any;
}

/** Runs a command line in this process, with only the given environment. */
export async function vetledger(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  signal = new AbortController().signal,
): Promise<Ran> {
  const stdout = collector();
  const stderr = collector();
  const code = await main(args, { env, stdout: stdout.stream, stderr: stderr.stream, signal });
  if (args.includes('--json')) await checkAnswer(args, stdout.text());
  return { code, stdout: stdout.text(), stderr: stderr.text(), json: () => JSON.parse(stdout.text()) };
}

const errorAnswer = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), todo: z.string() }),
});

/** Throws if an answer does not match the schema of its command exactly. */
export async function checkAnswer(args: readonly string[], stdout: string): Promise<void> {
  const io = { env: {}, stdout: process.stdout, stderr: process.stderr, signal: new AbortController().signal };
  let command = await createProgram(io, '', () => {}, args);
  for (const word of args.filter((arg) => !arg.startsWith('-'))) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
  }
  const definition = definitionOf(command);
  if (definition === undefined || stdout === '') return;
  // `run` prints one document per event.
  for (const line of stdout.trimEnd().split('\n')) {
    const printed = JSON.parse(line);
    const declared = Object.keys(printed).join() === 'error' ? errorAnswer : definition.answer;
    const { success, error } = declared.safeParse(printed);
    if (!success)
      throw new Error(`vetledger ${args.join(' ')}: its answer is not as declared\n${z.prettifyError(error)}`);
  }
}

function collector() {
  const chunks: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder with these files, deleted after the test. */
export function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-cli-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
