// The program accepts every command line in the docs that has an argument or an option.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { wordsOf } from '../month-end/world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];

/** The command lines of a page: in backticks, and indented. Lines with an ellipsis are ignored. */
function linesOf(page: string): string[] {
  const text = readFileSync(`${root}/${page}`, 'utf8');
  const inline = [...text.matchAll(/`(?:npx )?vetledger ([^`\n]+)`/g)].map(([, line = '']) => line);
  const indented = [...text.matchAll(/^ {4}(?:\$ )?(?:npx )?vetledger ([^\n]+)$/gm)].map(([, line = '']) => line);
  return [...inline, ...indented]
    .map((line) => line.replace(/\s{2,}\S.*$|\s+#.*$|\s*[|>&].*$/, '').trim())
    .filter((line) => !/[…[\]<>=]|\.\.\./.test(line));
}

/** The program's error for a command line; null if it accepts the line, or if the line has only the command's name. */
async function refusal(line: string): Promise<string | null> {
  const io = { env: {}, stdout: process.stdout, stderr: process.stderr, signal: new AbortController().signal };
  const words = wordsOf(line);
  const program = await createProgram(io, '', () => {}, words);
  let command: Command = program;
  let depth = 0;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
    depth += 1;
  }
  if (depth === words.length || depth === 0) return depth === 0 ? `there is no command ${words[0]}` : null;
  const said: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent)
    each.exitOverride().configureOutput({ writeErr: (text) => said.push(text), writeOut: () => {} });
  command.action(() => {});
  try {
    program.parse(words, { from: 'user' });
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Values may be placeholders, and examples may lack required options.
    return /is invalid|argument missing|required option/.test(message) ? null : message;
  }
}

test.each(pages.map((page) => [page]))('%s', async (page) => {
  const refused: string[] = [];
  for (const line of new Set(linesOf(page))) {
    const why = await refusal(line);
    if (why !== null) refused.push(`${line}: ${why}`);
  }
  expect(refused).toEqual([]);
});

test('what a document must not write is noticed', async () => {
  expect(await refusal('mapping check --erp')).toMatch(/missing required argument 'file'/);
  expect(await refusal('reconcile --everything')).toMatch(/unknown option/);
  expect(await refusal('mapping check mappings/demo.yaml --erp')).toBeNull();
  expect(await refusal('mapping check')).toBeNull();
});
