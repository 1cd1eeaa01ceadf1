import { readFile } from 'node:fs/promises';
import { isMap, isScalar, type ParsedNode, parseDocument, visit } from 'yaml';
import { ConfigError, codeOf } from '../domain/errors.ts';

/**
 * The plain values of a YAML file. Account codes such as 0100 or 1e3 keep the digits that they were written with. Throws
 * ConfigError: `configuration_missing`, `mapping_invalid` and so on; `todo` says what to do about a missing file.
 */
export async function readYaml(path: string, kind: 'configuration' | 'mapping', todo: string): Promise<unknown> {
  const document = parseDocument<ParsedNode>(await readText(path, kind, todo), { prettyErrors: true });
  const [problem] = document.errors;
  if (problem) {
    throw new ConfigError({
      code: `${kind}_invalid`,
      message: `The ${kind} file ${path} is no readable YAML: ${problem.message.split('\n')[0]}`,
      todo: 'Correct that place; texts with special characters belong in quotes.',
    });
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
    const code = codeOf(error);
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigError({ code: `${kind}_missing`, message: `The ${kind} file ${path} ${reason}.`, todo });
  }
}
