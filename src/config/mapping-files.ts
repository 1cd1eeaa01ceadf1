import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { type Chart, parseChart } from '../mapping/chart.ts';
import { parseMapping } from '../mapping/parse.ts';
import type { Mapping } from '../mapping/schema.ts';
import { parseSpecs, type Specs } from '../mapping/specs.ts';
import { canonicalJson } from '../records/json.ts';
import { readYaml } from './yaml.ts';

/** A mapping, and the SHA-256 of its content in hex; layout and comments of a file do not change it. */
interface ReadMapping {
  mapping: Mapping;
  mappingHash: string;
}

/** What a mapping file holds: its content as canonical JSON, and the SHA-256 of that. */
export interface MappingFile {
  hash: string;
  content: string;
}

/** Reads and checks a mapping file. Throws ConfigError with every fault. */
export async function loadMapping(path: string): Promise<ReadMapping & { mappingFile: MappingFile }> {
  const data = await readYaml(
    path,
    'mapping',
    'Correct `mapping` in the configuration, or make the file with `vetledger mapping init`; mappings/generic.yaml is one to start from.',
  );
  const content = canonicalJson(data);
  const read = parsed(data, content);
  if ('errors' in read) {
    throw new ConfigError({
      code: 'mapping_invalid',
      message: `The mapping file ${path} is not valid: ${read.errors.join('; ')}`,
      todo: 'Correct the named lines, and try it with `vetledger mapping check FILE`.',
    });
  }
  return { ...read, mappingFile: { hash: read.mappingHash, content } };
}

/** A mapping from the content that `loadMapping` gave. Throws ConfigError where this version cannot read it. */
export function mappingOf(content: string): ReadMapping {
  const read = parsed(JSON.parse(content), content);
  if (!('errors' in read)) return read;
  throw new ConfigError({
    code: 'mapping_invalid',
    message: `The mapping in force is not valid for this version of vetledger: ${read.errors.join('; ')}`,
    todo: 'Correct the mapping file, and put it in force with `vetledger mapping apply`.',
  });
}

function parsed(data: unknown, content: string): ReadMapping | { errors: string[] } {
  const result = parseMapping(data);
  if ('errors' in result) return result;
  return { mapping: result.mapping, mappingHash: createHash('sha256').update(content).digest('hex') };
}

/** As loadMapping; without the file, an empty mapping, which holds every document. */
export async function loadMappingIfPresent(path: string): ReturnType<typeof loadMapping> {
  try {
    return await loadMapping(path);
  } catch (error) {
    if (!(error instanceof ConfigError) || error.code !== 'mapping_missing') throw error;
    return { ...mappingOf('{}'), mappingFile: { hash: '', content: '{}' } };
  }
}

/** Path of a mapping's specs file: `finland.specs.yaml` beside `finland.yaml`. */
export function specsPathOf(mappingPath: string): string {
  return mappingPath.replace(/(\.ya?ml)?$/, '.specs.yaml');
}

/** The specs beside a mapping file; null where it has none. Throws ConfigError with every fault. */
export async function loadSpecs(mappingPath: string): Promise<Specs | null> {
  const path = specsPathOf(mappingPath);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return null;
    throw new ConfigError({
      code: 'specs_unreadable',
      message: `The specs file ${path} cannot be read (${code}).`,
      todo: 'Make it readable.',
    });
  }
  const result = parseSpecs(text);
  if ('specs' in result) return result.specs;
  throw new ConfigError({
    code: 'specs_invalid',
    message: `The specs file ${path} is not valid: ${result.errors.join('; ')}`,
    todo: 'Correct the named places; mappings/generic.specs.yaml shows how cases are written.',
  });
}

/** `chart` of a mapping that leaves the chart to the ERP. */
export const chartOfErp = 'erp';

/** The chart that a mapping names as a file, beside it; null where it names none. Throws ConfigError with every fault. */
export async function loadChart(mapping: Mapping, mappingPath: string): Promise<{ path: string; chart: Chart } | null> {
  if (mapping.chart === null || mapping.chart === chartOfErp) return null;
  const path = resolve(dirname(mappingPath), mapping.chart);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const reason = codeOf(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${codeOf(error)})`;
    throw new ConfigError({
      code: 'chart_unreadable',
      message: `The chart of accounts ${path} ${reason}.`,
      todo: 'Correct `chart` in the mapping file; its path is relative to that file.',
    });
  }
  const result = parseChart(text);
  if ('chart' in result) return { path, chart: result.chart };
  throw new ConfigError({
    code: 'chart_invalid',
    message: `The chart of accounts ${path} is not valid: ${result.errors.slice(0, shownFaults).join('; ')}${result.errors.length > shownFaults ? `; and ${result.errors.length - shownFaults} more` : ''}`,
    todo: 'Correct the named lines; mappings/charts/generic.csv shows how a chart is written.',
  });
}

const shownFaults = 20;
