import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach } from 'vitest';
import { main } from '../../src/cli/main.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** stdout as the one JSON document it must be. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads into it freely
  json(): any;
}

/** Runs a command line in this process, with nothing but the given environment. */
export async function vetledger(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  signal = new AbortController().signal,
): Promise<Ran> {
  const stdout = collector();
  const stderr = collector();
  const code = await main(args, { env, stdout: stdout.stream, stderr: stderr.stream, signal });
  return { code, stdout: stdout.text(), stderr: stderr.text(), json: () => JSON.parse(stdout.text()) };
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

/** A folder with these files in it, removed after the test. */
export function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-cli-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
