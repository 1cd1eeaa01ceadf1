import { readFile } from 'node:fs/promises';
import { ConfigError } from '../domain/errors.ts';
import { parseSpecs, type Specs } from '../mapping/specs.ts';

/** Where the cases of a mapping file stand: `finland.specs.yaml` beside `finland.yaml`. */
export function specsPathOf(mappingPath: string): string {
  return mappingPath.replace(/(\.ya?ml)?$/, '.specs.yaml');
}

/** The cases beside a mapping file; null where it has none. Throws ConfigError listing everything that is wrong with them. */
export async function loadSpecs(mappingPath: string): Promise<Specs | null> {
  const path = specsPathOf(mappingPath);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new ConfigError('specs_unreadable', `The specs file ${path} cannot be read (${code}).`, 'Make it readable.');
  }
  const result = parseSpecs(text);
  if ('specs' in result) return result.specs;
  throw new ConfigError(
    'specs_invalid',
    `The specs file ${path} is not valid: ${result.errors.join('; ')}`,
    'Correct the named places; mappings/generic.specs.yaml shows how cases are written.',
  );
}
