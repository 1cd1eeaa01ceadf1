import { readFile } from 'node:fs/promises';
import { isMap, isScalar, type ParsedNode, parseDocument, visit } from 'yaml';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { fileErrors, fileTexts } from '../texts/errors/files.ts';

/**
 * Reads a YAML file as plain values. A number that JavaScript would write differently, such as account 0100, stays a text.
 * Throws ConfigError (`configuration_missing`, `mapping_invalid`, …); `todo` is the advice for a missing file.
 */
export async function readYaml(path: string, kind: 'configuration' | 'mapping', todo: string): Promise<unknown> {
  const document = parseDocument<ParsedNode>(await readText(path, kind, todo), { prettyErrors: true });
  const [problem] = document.errors;
  if (problem) {
    throw new ConfigError(fileErrors.notYaml({ kind, path, reason: problem.message.split('\n')[0] ?? '' }));
  }
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'number' && node.source !== undefined && String(node.value) !== node.source) {
        node.value = node.source;
      }
    },
  });
  if (document.contents !== null && !isMap(document.contents) && !isScalar(document.contents)) return [];
  return document.toJS();
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
