import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { stringify } from 'yaml';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { type Chart, parseChart } from '../mapping/chart.ts';
import { parseMapping } from '../mapping/parse.ts';
import type { Mapping } from '../mapping/schema.ts';
import { parseSpecs, type Specs } from '../mapping/specs.ts';
import { canonicalJson } from '../records/json.ts';
import { fileErrors, fileTexts } from '../texts/errors/files.ts';
import { readYaml, unreadableReason, valuesOf } from './yaml.ts';

/** A mapping, and the SHA-256 of its content in hex. Layout and comments of the file do not change this hash. */
interface ReadMapping {
  mapping: Mapping;
  mappingHash: string;
}

/** The content of a mapping file as canonical JSON, and the SHA-256 of that JSON. */
export interface MappingFile {
  hash: string;
  content: string;
}

/** Reads and checks a mapping file. Throws a ConfigError that lists every fault. */
export async function loadMapping(path: string): Promise<ReadMapping & { mappingFile: MappingFile }> {
  const data = await readYaml(path, 'mapping', fileTexts.noMapping);
  const content = canonicalJson(data);
  const read = parsed(data, content);
  if ('errors' in read) {
    throw new ConfigError(fileErrors.mappingInvalid({ path, faults: read.errors.join('; ') }));
  }
  return { ...read, mappingFile: { hash: read.mappingHash, content } };
}

/** Reads a mapping from the stored content of `loadMapping`. Throws ConfigError if this version cannot read it. */
export function mappingOf(content: string): ReadMapping {
  const read = parsed(JSON.parse(content), content);
  if (!('errors' in read)) return read;
  throw new ConfigError(fileErrors.mappingInForceInvalid({ faults: read.errors.join('; ') }));
}

function parsed(data: unknown, content: string): ReadMapping | { errors: string[] } {
  const result = parseMapping(data);
  if ('errors' in result) return result;
  return { mapping: result.mapping, mappingHash: createHash('sha256').update(content).digest('hex') };
}

/** Reads a mapping from a text that a person sent. Returns every fault, also of a text that is too deep or expands too far. */
export function mappingOfText(text: string): (ReadMapping & { mappingFile: MappingFile }) | { errors: string[] } {
  try {
    const found = valuesOf(text);
    if ('fault' in found) return { errors: [found.fault] };
    const content = canonicalJson(found.values);
    const read = parsed(found.values, content);
    return 'errors' in read ? read : { ...read, mappingFile: { hash: read.mappingHash, content } };
  } catch (error) {
    // YAML refuses references that expand too far, and JavaScript a nesting that is too deep.
    if (error instanceof ReferenceError || error instanceof RangeError) return { errors: [error.message] };
    throw error;
  }
}

/** The text of a mapping file. Null if it cannot be read. */
export function readMappingText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}

/** A stored mapping as YAML. */
export function yamlOf(content: string): string {
  return stringify(JSON.parse(content), { lineWidth: 0 });
}

/** Like `loadMapping`. If the file does not exist, returns an empty mapping, by which every document is held. */
export async function loadMappingIfPresent(path: string): ReturnType<typeof loadMapping> {
  try {
    return await loadMapping(path);
  } catch (error) {
    if (!(error instanceof ConfigError) || error.code !== 'mapping_missing') throw error;
    return { ...mappingOf('{}'), mappingFile: { hash: '', content: '{}' } };
  }
}

/** The path of a mapping's specs file: for `finland.yaml`, `finland.specs.yaml` in the same folder. */
export function specsPathOf(mappingPath: string): string {
  return mappingPath.replace(/(\.ya?ml)?$/, '.specs.yaml');
}

/** Reads the specs of a mapping file. Null if there is no specs file. Throws a ConfigError that lists every fault. */
export async function loadSpecs(mappingPath: string): Promise<Specs | null> {
  const path = specsPathOf(mappingPath);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return null;
    throw new ConfigError(fileErrors.specsUnreadable({ path, reason: String(code) }));
  }
  const result = parseSpecs(text);
  if ('specs' in result) return result.specs;
  throw new ConfigError(fileErrors.specsInvalid({ path, faults: result.errors.join('; ') }));
}

/** The value of `chart` for a mapping that uses the chart of accounts in the ERP. */
export const chartOfErp = 'erp';

/** Reads the chart file that a mapping names. Null if it names no file. Throws a ConfigError that lists the faults. */
export async function loadChart(mapping: Mapping, mappingPath: string): Promise<{ path: string; chart: Chart } | null> {
  if (mapping.chart === null || mapping.chart === chartOfErp) return null;
  const path = resolve(dirname(mappingPath), mapping.chart);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(fileErrors.chartUnreadable({ path, reason: unreadableReason(error) }));
  }
  const result = parseChart(text);
  if ('chart' in result) return { path, chart: result.chart };
  const faults = result.errors.slice(0, shownFaults).join('; ');
  throw new ConfigError(fileErrors.chartInvalid({ path, faults, more: result.errors.length - shownFaults }));
}

const shownFaults = 20;
