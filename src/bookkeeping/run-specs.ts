import type { DraftEntry } from '../domain/entry.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { SpecCase, Specs } from '../mapping/specs.ts';
import { compareLines, writeLine } from '../mapping/written-entries.ts';
import { judge } from '../posting/index.ts';
import { refOf } from '../posting/name-absence.ts';
import type { PostingContext } from '../posting/types.ts';
import type { Dialect } from '../records/dialect.ts';
import { specFacts } from './spec-facts.ts';

/** The outcome of a case. If there are no differences, all entries and problems are as expected. */
export interface CaseResult {
  name: string;
  ok: boolean;
  /** Text for people, one line for each difference: `-` expected and absent, `+` present and not expected. */
  differences: string[];
}

/** Judges every case's documents by the mapping and compares the entries and problems with the expected ones. Pure. */
export function runSpecs(specs: Specs, mapping: Mapping, dialect: Dialect): CaseResult[] {
  const context: PostingContext = {
    installation: 1,
    timezone: specs.timezone,
    currency: specs.currency,
    decimals: specs.decimals,
    startDate: specs.startDate,
    mapping,
    closedThrough: null,
    sourceLockDates: new Map(),
  };
  return specs.cases.map((spec) => {
    const differences = differencesOf(spec, context, dialect);
    return { name: spec.name, ok: differences.length === 0, differences };
  });
}

function differencesOf(spec: SpecCase, context: PostingContext, dialect: Dialect): string[] {
  const posted = new Map<string, DraftEntry>();
  const held = new Map<string, { code: string; message: string }>();
  const states = new Map<string, string>();
  const remarks = new Map<string, { code: string; message: string }[]>();
  for (const facts of specFacts(spec, context.decimals, dialect)) {
    const { kind, id } = refOf(facts);
    const name = `${kind} ${id}`;
    const { state, entry, problem, reports } = judge(facts, context);
    if (reports.length > 0) remarks.set(name, reports);
    states.set(name, state);
    if (entry) posted.set(name, entry);
    if (problem) held.set(name, problem);
  }
  const differences: string[] = spec.remarks === null ? [] : remarkDifferences(spec.remarks, remarks);
  for (const wanted of spec.entries) {
    const name = `${wanted.kind} ${wanted.id}`;
    const entry = posted.get(name);
    posted.delete(name);
    if (!entry) {
      const state = states.get(name);
      const problem = held.get(name);
      const why = problem ? `it is held: ${problem.message} (${problem.code})` : `it is ${state}`;
      differences.push(`${name}: nothing is posted; ${state ? why : 'the case has no such document'}`);
      continue;
    }
    if (entry.date !== wanted.date) differences.push(`${name}: dated ${entry.date}, expected ${wanted.date}`);
    const { absent, surplus } = compareLines(wanted.lines, entry.lines);
    const write = (sign: string) => (line: Parameters<typeof writeLine>[0]) =>
      `${name}: ${sign} ${writeLine(line, context.decimals)}`;
    differences.push(...absent.map(write('-')), ...surplus.map(write('+')));
  }
  for (const [name, entry] of posted) {
    differences.push(`${name}: an entry that no case expects, dated ${entry.date}`);
    differences.push(...entry.lines.map((line) => `${name}: + ${writeLine(line, context.decimals)}`));
  }
  for (const [name, code] of Object.entries(spec.held)) {
    const found = held.get(name);
    if (found?.code !== code) {
      const state = states.get(name);
      const instead = found ? `held as ${found.code}: ${found.message}` : (state ?? 'no document of the case');
      differences.push(`${name}: expected to be held as ${code}; it is ${instead}`);
    }
    held.delete(name);
  }
  const explained = new Set(spec.entries.map(({ kind, id }) => `${kind} ${id}`));
  for (const [name, { code, message }] of held) {
    if (!explained.has(name)) differences.push(`${name}: held as ${code}, which no case expects: ${message}`);
  }
  return differences;
}

function remarkDifferences(
  wanted: Record<string, string[]>,
  found: ReadonlyMap<string, { code: string; message: string }[]>,
): string[] {
  return [...new Set([...Object.keys(wanted), ...found.keys()])].flatMap((name) => {
    const codes = wanted[name] ?? [];
    const reports = found.get(name) ?? [];
    const absent = codes.filter((code) => !reports.some((report) => report.code === code));
    const surplus = reports.filter(({ code }) => !codes.includes(code));
    return [
      ...absent.map((code) => `${name}: expected the remark ${code}`),
      ...surplus.map(({ code, message }) => `${name}: remarked as ${code}, which the case does not expect: ${message}`),
    ];
  });
}
