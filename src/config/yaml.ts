import { readFile } from 'node:fs/promises';
import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument, visit } from 'yaml';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { fileErrors, fileTexts } from '../texts/errors/files.ts';

/**
 * Reads a YAML file as plain values. A number that JavaScript would write differently, such as account 0100, stays a text.
 * Throws ConfigError (`configuration_missing`, `mapping_invalid`, …); `todo` is the advice for a missing file.
 */
export async function readYaml(path: string, kind: 'configuration' | 'mapping', todo: string): Promise<unknown> {
  const found = valuesOf(await readText(path, kind, todo));
  if ('fault' in found) throw new ConfigError(fileErrors.notYaml({ kind, path, reason: found.fault }));
  return found.values;
}

/**
 * The values of a YAML text, or its first fault. The parser would compare each key with all others, and give each of thousands of
 * faults its place and an excerpt. A hostile text would then take seconds.
 */
export function valuesOf(text: string): { values: unknown } | { fault: string } {
  const lineCounter = new LineCounter();
  const document = parseDocument<ParsedNode>(text, { prettyErrors: false, uniqueKeys: false, lineCounter });
  const at = (message: string, offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { fault: `${message} at line ${line}, column ${col}` };
  };
  const [problem] = document.errors;
  if (problem) return at(problem.message, problem.pos[0]);
  let second: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) second ??= key.range?.[0];
        keys.add(key.value);
      }
    },
    Scalar(_, node) {
      if (typeof node.value === 'number' && node.source !== undefined && String(node.value) !== node.source) {
        node.value = node.source;
      }
    },
  });
  if (second !== undefined) return at(fileTexts.keyTwice, second);
  if (document.contents !== null && !isMap(document.contents) && !isScalar(document.contents)) return { values: [] };
  return { values: document.toJS() };
}

async function readText(path: string, kind: string, todo: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(fileErrors.missing({ kind, path, reason: unreadableReason(error), todo }));
  }
}

/** The reason why a file cannot be read, as the end of a sentence. */
export function unreadableReason(error: unknown): string {
  const code = codeOf(error);
  return code === 'ENOENT' ? fileTexts.doesNotExist : fileTexts.cannotBeRead({ code: String(code) });
}
