// Texts that users read are in the catalogue (CONTRIBUTING, "Rules"): the commands and reports hold no sentence.
import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { expect, test } from 'vitest';
import { trackedFiles } from './tracked.ts';

const root = new URL('../../', import.meta.url);

/** Files with texts that are not in the catalogue, with the reason. */
const allowed: Record<string, string> = {
  'src/cli/program.ts': 'the list of commands with a summary of each: definitions of the help',
  'src/binder/chain-format.ts': 'names of hashed fields, and a Python program, for the README.txt of a binder',
  'src/cli/dev.ts': 'the configuration file of `vetledger dev`, and a line for the shell',
  'src/cli/dev-tryton.ts': 'a setting of that configuration file, and a line for the shell',
};

/** Properties of a command's definition that `--help` prints. */
const helpProperties = ['description', 'examples'];

interface Node {
  type?: string;
  callee?: unknown;
  key?: unknown;
  value?: unknown;
  quasis?: { raw: string }[];
}

const nameOf = (node: unknown) => String((node as Node | undefined)?.value ?? '');
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Whether the texts below a node are not for the catalogue: help of options, errors of programming, imports and types. */
function isLeftOut(node: Node): boolean {
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression':
      return /option$|^Error$/i.test(nameOf(node.callee));
    case 'KeyValueProperty':
      return helpProperties.includes(nameOf(node.key));
    default:
      return node.type === 'ImportDeclaration' || node.type === 'TsLiteralType';
  }
}

function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isNode(value) || isLeftOut(value)) return [];
  if (value.type === 'StringLiteral') return [String(value.value)];
  const below = Object.values(value).flatMap(textsIn);
  if (value.type !== 'TemplateLiteral') return below;
  return [(value.quasis ?? []).map(({ raw }) => raw).join('X'), ...below];
}

/** A text of at least four words that is neither SQL nor a command line. */
function isSentence(text: string): boolean {
  if (/^\s*(?:vetledger|ledger|deliver|with|select|sum\()/.test(text)) return false;
  return (
    text
      .replaceAll(/\{\w+\}/g, '')
      .split(/\s+/)
      .filter((word) => /[a-z]{2}/i.test(word)).length >= 4
  );
}

const sentencesOf = (code: string) =>
  textsIn(parseSync(code, { syntax: 'typescript', target: 'es2022' }).body).filter(isSentence);

test.each([
  ["context.note('Nothing was closed today.');", ['Nothing was closed today.']],
  ['context.note(`$' + '{n} of them are not sent`);', ['X of them are not sent']],
  ["new Option('--dry-run', 'only print what would be sent');", []],
  ["const command = { description: 'Sends what is due to the ERP.' };", []],
  ["throw new Error('this can never happen here');", []],
  ["db('select id from entry where id = 1');", []],
])('%s has the sentences %j', (code, sentences) => {
  expect(sentencesOf(code)).toEqual(sentences);
});

test.each(trackedFiles.filter((path) => /^src\/(?:cli|reports)\/.*\.ts$/.test(path) && !(path in allowed)))(
  '%s has no sentence',
  (path) => {
    expect(sentencesOf(readFileSync(new URL(path, root), 'utf8'))).toEqual([]);
  },
);
