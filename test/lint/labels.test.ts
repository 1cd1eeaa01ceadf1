// Labels that users read are in the catalogue, too: heads of tables, titles of lines, words in cells. Single words are also codes and names
// of fields, so a word counts only where it becomes text.
import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { expect, test } from 'vitest';
import { trackedFiles } from './tracked.ts';

const root = new URL('../../', import.meta.url);

/** Files with labels that are not in the catalogue, with the reason. */
const allowedFiles: Record<string, string> = {
  'src/cli/acting.ts': 'the name of a user without a name, which is stored with an action',
  'src/cli/help.ts': 'words of the help, which test/cli/help.test.ts checks',
  'src/cli/program.ts': 'the names of commands, and the summaries of the help',
  'src/cli/dev.ts': 'the configuration file of `vetledger dev`, and a line for the shell',
  'src/cli/dev-tryton.ts': 'a setting of that file, and a line for the shell',
  'src/cli/dev-console.ts': 'signals of processes, and arguments of the console',
  'src/cli/commands/user.ts': 'names of commands, and the recorded reason',
  'src/cli/commands/explain-answer.ts': 'JSON',
  'src/cli/commands/report-output.ts': 'JSON and CSV',
};

/** Words that are the same in every language: units, marks of time, names of programs, and what a user types or a file is called. */
const sameInAll = /^(?:min|h|d|s|UTC|Tryton|vetledger|E)$/;

interface Node {
  type?: string;
  span?: unknown;
  operator?: string;
  callee?: Node;
  arguments?: { expression: Node }[];
  property?: Node;
  object?: Node;
  key?: Node;
  value?: unknown;
  quasis?: { raw: string }[];
  expressions?: Node[];
  returnType?: unknown;
}

/** Calls whose arguments become text. Calls with other names take codes, or give texts of the catalogue. */
const showing =
  /^(?:push|columns|table|indentedTable|fieldLines|join|concat|padEnd|padStart|note|result|text|write|show|say)$/;
/** Calls that give their arguments on. */
const passing =
  /^(?:map|flatMap|filter|slice|toSorted|toReversed|sort|fromAsync|from|entries|withoutEnd|visible|visibleLines|String)$/;
/** Calls whose texts are help, JSON, errors of programming, or what is looked for in another text. */
const otherTexts =
  /option$|^(?:Error|TypeError|enum|literal|startsWith|endsWith|replace|replaceAll|split|includes|usageError|on|once|off|json)$/i;

/** Between ids in errors, which are made in English: a text with it alone would be recognised in any message. */
const joint = ' or ';

const nameOf = (node: Node | undefined): string => String(node?.property?.value ?? node?.value ?? '');
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const wordsIn = (text: string) => (text.match(/\p{L}[\p{L}’'-]*/gu) ?? []).filter((word) => !sameInAll.test(word));

/** Command lines, SQL, JSON and paths. */
const isCode = (text: string) =>
  /^\s*(?:vetledger|ledger|deliver|late|report|problems|mapping|erp|budget|select|with \w+ as|repeatable read|export)\b|[{}"\\/]|--\w/.test(
    text,
  );

/** Whether a text is more than a code: several words, a capital, or a word beside a blank. */
function isText(text: string): boolean {
  return text !== joint && !isCode(text) && wordsIn(text).length > 0 && /\p{L}[\s:,]|[\s(]\p{L}|^\p{Lu}/u.test(text);
}

/** The labels in some code. `becomesText`: a word at this place is shown to the user. */
function labelsIn(node: unknown, becomesText: boolean): string[] {
  if (Array.isArray(node)) return node.flatMap((each) => labelsIn(each, becomesText));
  if (!isNode(node)) return [];
  const below = (of: unknown, shown = becomesText) => labelsIn(of, shown);
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'TsTypeAnnotation':
    case 'TsTypeParameterInstantiation':
    case 'TsInterfaceDeclaration':
    case 'TsTypeAliasDeclaration':
    case 'TaggedTemplateExpression':
      return [];
    case 'StringLiteral': {
      const text = String(node.value);
      return isText(text) || (becomesText && /^\p{L}{2,}$/u.test(text) && wordsIn(text).length > 0) ? [text] : [];
    }
    case 'TemplateLiteral': {
      const text = (node.quasis ?? []).map(({ raw }) => raw).join('{}');
      const around = text.replaceAll('{}', ' ');
      const isShown = isText(around);
      return [...(isShown ? [text] : []), ...below(node.expressions, true)];
    }
    case 'BinaryExpression':
      return /^(?:[=!]==?|in)$/.test(node.operator ?? '') ? [] : Object.values(node).flatMap((each) => below(each));
    case 'SwitchCase':
      return below((node as { consequent?: unknown }).consequent);
    case 'VariableDeclarator': {
      const { id, init } = node as { id?: { typeAnnotation?: unknown }; init?: Node };
      return below(init, init?.type === 'ArrayExpression' && !id?.typeAnnotation);
    }
    case 'KeyValueProperty':
      return ['description', 'examples'].includes(nameOf(node.key)) ? [] : below(node.value, false);
    case 'MemberExpression':
      return below(node.object, false);
    case 'CallExpression':
    case 'NewExpression': {
      const name = nameOf(node.callee);
      if (otherTexts.test(name)) return below(node.callee, false);
      const isJoin = name === 'join' && node.callee?.type !== 'MemberExpression';
      const shown = (showing.test(name) && !isJoin) || (becomesText && passing.test(name));
      return [...below(node.callee?.object, shown), ...below(node.arguments, shown)];
    }
    case 'FunctionDeclaration':
    case 'ClassMethod':
      return Object.values(node).flatMap((each) => below(each, false));
    default:
      return Object.values(node).flatMap((each) => below(each));
  }
}

const labelsOf = (code: string) => labelsIn(parseSync(code, { syntax: 'typescript', target: 'es2022' }).body, false);

test.each([
  ['lines.push(`  document date $' + '{date}`);', ['  document date {}']],
  ["columns([['account', 'name'], ...rows], []);", ['account', 'name']],
  ["const title = 'Trial balance';", ['Trial balance']],
  ['const text = `$' + '{n} $' + "{isOk ? 'yes' : 'NO'}`;", ['yes', 'NO']],
  ['context.note(`$' + '{n} left`);', ['{} left']],
  ["const header = ['account', 'with VAT'];", ['account', 'with VAT']],
  ["const state = isHeld ? 'held' : 'posted';", []],
  ["if (kind === 'invoice') columns([heads('account', 'name')], []);", []],
  ["throw usageError(usageTexts.noClient, 'erase client');", []],
  ["lines.push(texts.title({ kind: 'invoice' }));", []],
])('%s has the labels %j', (code, labels) => {
  expect(labelsOf(code)).toEqual(labels);
});

test.each(
  trackedFiles.filter(
    (path) => /^src\/cli\/(?:[^/]*|commands\/.*|render\/.*|doctor\/.*)\.ts$/.test(path) && !(path in allowedFiles),
  ),
)('%s has no label', (path) => {
  expect(labelsOf(readFileSync(new URL(path, root), 'utf8'))).toEqual([]);
});
