// Writes docs/reference/CLI.md, docs/reference/JSON.md, docs/reference/PROBLEMS.md, the pages of docs/erp, the diagram of docs/developers/architecture.md, the sandbox's OpenAPI description and the JSON schemas of
// mapping files and their cases from the code and layers.json. Run: `node scripts/docs.ts`; `--check` writes nothing and fails if a file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import { faultsSchema } from '../sandbox/src/faults.ts';
import { controlRoutes } from '../sandbox/src/http/control/index.ts';
import { describeApi } from '../sandbox/src/index.ts';
import { defaultQuirks, quirksSchema } from '../sandbox/src/quirks.ts';
import { scenarios } from '../sandbox/src/scenarios.ts';
import { createProgram, definitionOf, examplesOf } from '../src/cli/program.ts';
import { type ConfigKey, configKeys } from '../src/config/schema.ts';
import { reliedOn } from '../src/erp/cautious.ts';
import { knownFacts, type Provenance } from '../src/erp/provenance.ts';
import { provenances } from '../src/erp/targets/provenance.ts';
import { mappingJsonSchema } from '../src/mapping/schema.ts';
import { specsJsonSchema } from '../src/mapping/specs.ts';
import { vatFormJsonSchema } from '../src/mapping/vat-form.ts';
import { type ErpProblemDefinition, erpProblemCatalogue } from '../src/texts/erp-problems.ts';
import { exitCodes } from '../src/texts/exit-codes.ts';
import { type ProblemDefinition, problemCatalogue } from '../src/texts/problems.ts';

const generated = '<!-- Written by `npm run docs`; edit the code it comes from instead. -->';

const { env, stdout, stderr } = process;
const io = { env, stdout, stderr, signal: new AbortController().signal };
const program = await createProgram(io, '', () => {});

function cliPage(): string {
  return [
    generated,
    '# Command line',
    program.description(),
    'In a checkout, run `npm ci` once and then `npx vetledger …`.',
    '## Commands',
    table(
      ['command', 'what it does'],
      runnable(program).map((command) => [
        `[\`${fullName(command)}\`](#${anchor(fullName(command))})`,
        command.summary(),
      ]),
    ),
    ...runnable(program).flatMap(commandSection),
    '## Exit codes',
    table(['code', 'meaning'], Object.entries(exitCodes)),
    'Every error on stderr has a message and a next step. With `--json`, stdout has one document `{"error":{"code","message","todo"}}`. A command ends with 130 after Ctrl-C.',
    '## Configuration',
    `The default file is \`vetledger.yaml\`; \`--config\` names another one. Any value can name an environment variable as \`\${NAME}\`. Secrets must do so. Relative paths start at the folder of the file. The \`vetledger.yaml\` of a checkout is an example.`,
    table(['key', 'default', 'meaning'], configRows(configKeys(), '')),
    '## Environment',
    table(
      ['variable', 'meaning'],
      [
        ['`VETLEDGER_DATA_DIR`', 'overrides `data_dir`; also where `vetledger dev` keeps its data'],
        [
          '`VETLEDGER_LOG`',
          'level of the log on stderr: trace, debug, info, warn, error, fatal or silent; the default is info for `run` and warn for other commands',
        ],
        ['`VETLEDGER_LANGUAGE`', 'same as `--language`: en, fi, de or sv'],
        ['`VETLEDGER_DEBUG`', 'same as `--debug`: stack traces of errors'],
        ['`PRACTICE_TOKEN`, `DATABASE_URL`, `TEMPORAL_ADDRESS`', 'named in the `vetledger.yaml` of a checkout'],
      ],
    ),
  ].join('\n\n');
}

function jsonPage(): string {
  const shared = new Map<string, string>();
  const sections = new Map<string, string[]>();
  for (const command of runnable(program)) {
    const answer = definitionOf(command)?.answer;
    if (answer === undefined) continue;
    const { $defs = {}, ...schema } = z.toJSONSchema(answer) as JsonSchema;
    for (const [name, of] of Object.entries($defs)) shared.set(name, shapeOf(of, ''));
    const shape = shapeOf(schema, '');
    sections.set(shape, [...(sections.get(shape) ?? []), fullName(command)]);
  }
  const block = (text: string) => `\`\`\`ts\n${text}\n\`\`\``;
  return [
    generated,
    '# Answers of `--json`',
    'This page shows what each command prints on stdout with `--json`. Errors are in the [command reference](CLI.md#exit-codes). `?` marks an optional field. `time` is an instant in UTC such as `"2026-03-01T08:00:00.000Z"`. `date` is a day such as `"2026-03-01"`. `amount` is a text such as `"-12.50"` in the currency of the installation. The end of the page describes shared types such as `window`.',
    ...[...sections].flatMap(([shape, names]) => [`## ${names.join(', ')}`, block(shape)]),
    '## Shared types',
    ...[...shared]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([name, shape]) => [`### ${name}`, block(shape)]),
  ].join('\n\n');
}

interface JsonSchema {
  type?: string | string[];
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema | false;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
}

/** Renders a JSON schema as a TypeScript type. */
function shapeOf(schema: JsonSchema, indent: string): string {
  const { type, format, items, properties = {}, required = [], additionalProperties: others } = schema;
  if (schema.$ref !== undefined) return schema.$ref.replace('#/$defs/', '');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map((one) => shapeOf(one, indent)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (type === 'array') {
    if (!items) return '[]';
    const item = shapeOf(items, indent);
    return / \| [^{}]*$/.test(item) || (items.anyOf ?? items.oneOf) !== undefined ? `(${item})[]` : `${item}[]`;
  }
  if (type === 'object') {
    const inner = `${indent}  `;
    const lines = Object.entries(properties).map(
      ([name, of]) => `${inner}${name}${required.includes(name) ? '' : '?'}: ${shapeOf(of, inner)}`,
    );
    if (typeof others === 'object') lines.push(`${inner}[name]: ${shapeOf(others, inner)}`);
    return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${indent}}`;
  }
  if (type === 'string')
    return format === 'date-time' ? 'time' : format === 'date' ? 'date' : schema.pattern ? 'amount' : 'string';
  return Array.isArray(type) ? type.join(' | ') : (type ?? 'unknown');
}

/** Commands that can be run, in the order of the help. */
function runnable(parent: Command): Command[] {
  return parent.commands.flatMap((command) => [
    ...(examplesOf(command).length > 0 ? [command] : []),
    ...runnable(command),
  ]);
}

function commandSection(command: Command): string[] {
  const options = command.options.map((option) => {
    const notes = [
      ...(option.mandatory ? ['required'] : []),
      ...(option.argChoices ? [option.argChoices.join(', ')] : []),
      ...(option.defaultValue === undefined || option.negate ? [] : [`default ${option.defaultValue}`]),
    ];
    return [`\`${option.flags}\``, `${option.description}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`];
  });
  const usage = command.usage().replace(/ ?\[command\]/, '');
  const examples = examplesOf(command).map(([line, purpose]) => `# ${purpose}\n${line}`);
  return [
    `### ${fullName(command)}`,
    command.description(),
    `\`${fullName(command)} ${usage}\``,
    table(['option', 'meaning'], options),
    `\`\`\`sh\n${examples.join('\n\n')}\n\`\`\``,
  ];
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

function configRows(keys: ConfigKey, path: string): string[][] {
  return Object.entries(keys.properties ?? {}).flatMap(([name, key]) => {
    const full = path ? `${path}.${name}` : name;
    const below = key.items ? configRows(key.items, `${full}[]`) : configRows(key, full);
    const required = keys.required?.includes(name) ?? false;
    const plain = typeof key.default === 'object' || key.default === undefined;
    return [
      [`\`${full}\``, plain ? (required ? 'required' : '') : `\`${String(key.default)}\``, key.description ?? ''],
      ...below,
    ];
  });
}

function problemsPage(): string {
  const entries = Object.entries(problemCatalogue as Record<string, ProblemDefinition>).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const rows = (holds: boolean) =>
    entries
      .filter(([, problem]) => problem.holds === holds)
      .map(([code, { sentence, todo }]) => [`\`${code}\``, sentence, todo]);
  const erpRows = (retried: boolean) =>
    Object.entries(erpProblemCatalogue as Record<string, ErpProblemDefinition>)
      .filter(([, problem]) => problem.retried === retried)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, { sentence, todo }]) => [`\`${code}\``, sentence, todo]);
  const header = ['code', 'what it means', 'what to do'];
  return [
    generated,
    '# Problems of documents',
    '`vetledger problems`, `explain` and `reconcile` print these codes. A held document never blocks another one. vetledger judges it again when its record, the mapping or a lock changes. `vetledger problems retry ID` judges it immediately. After you change the mapping file, run a command that posts, such as `vetledger sync`. A running daemon then uses the new mapping too. [Close a month](../accountants/month-end.md) shows an example.',
    '## Problems that keep a document, or its change, out of the books',
    table(header, rows(true)),
    '## Remarks on posted documents',
    table(header, rows(false)),
    '## Entries that are not in the ERP',
    '`vetledger problems`, `deliver` and `explain` print these codes of deliveries. The entry is in our books. It delays only the entries that correct it.',
    '### Tried again automatically',
    'vetledger sends these entries again when the cause is gone.',
    table(header, erpRows(true)),
    '### Not sent again before `vetledger deliver retry`',
    'Repeated refusals may block the API user. vetledger looks an entry up before it sends it again, so it never sends an entry twice.',
    table(header, erpRows(false)),
  ].join('\n\n');
}

/** What a target's capability record says about the ERP, and how each fact is known. */
function factsPage(known: Provenance): string {
  const origin = { measured: 'measured', spec: 'specification', docs: 'documentation', third_party: 'others' };
  const shown = (value: unknown) => `\`${typeof value === 'string' && value !== '' ? value : JSON.stringify(value)}\``;
  const used = new Map(knownFacts({ ...known, capabilities: reliedOn(known) }).map(({ fact, value }) => [fact, value]));
  const relied = (fact: string, value: unknown) =>
    JSON.stringify(used.get(fact)) === JSON.stringify(value) ? '' : `; deliveries use ${shown(used.get(fact))}`;
  return [
    generated,
    `# What vetledger knows about ${known.erp}`,
    'The fields of the capability record (`src/erp/capabilities.ts`), and how each one is known. An **assumed** field may be wrong; `vetledger erp check` names it. Until a field on which the safety of a delivery depends is measured, deliveries use its least favourable value.',
    table(
      ['field', 'value', 'known from', 'where'],
      knownFacts(known).map(({ fact, value, from, where }) => [
        `\`${fact}\``,
        fact === 'errors' ? `${value} patterns` : `${shown(value)}${relied(fact, value)}`,
        from === 'assumed' ? '**assumed**' : origin[from],
        where,
      ]),
    ),
  ].join('\n\n');
}

function table(header: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

interface Layer {
  name: string;
  path: string;
  about: string;
  pure?: boolean;
  uses: string[];
  /** The layers of which only types may be imported, except for the files in `values`. */
  types?: string[];
  values?: string[];
}

interface Layers {
  layers: Layer[];
  apart: { name: string; path: string; importedBy: string[] };
}

/** The layers that a layer uses, without those that it also reaches through another layer. */
function directUses({ uses }: Layer, byName: ReadonlyMap<string, Layer>): string[] {
  const reaches = (from: string, to: string): boolean =>
    (byName.get(from)?.uses ?? []).some((used) => used === to || reaches(used, to));
  return uses.filter((used) => !uses.some((other) => other !== used && reaches(other, used)));
}

/** The files that a layer may import from a layer that it does not use as a whole. */
function partsUsed({ values = [] }: Layer, used: Layer | undefined): string {
  const files = values.filter((file) => used !== undefined && file.startsWith(`${used.path}/`));
  return ['types', ...files.map((file) => file.slice(file.lastIndexOf('/') + 1))].join(', ');
}

/** Draws the layers. An arrow is an import; a dashed arrow is an import of types, or of a separate program. */
function layerDiagram({ layers, apart }: Layers): string {
  const nodes = layers.map(
    ({ name, about, pure }) => `  ${name}["<b>${name}</b><br/>${about}"]${pure ? ':::pure' : ''}`,
  );
  const byName = new Map(layers.map((layer) => [layer.name, layer]));
  const arrows = layers.flatMap((layer) => [
    ...directUses(layer, byName).map((used) => `  ${layer.name} --> ${used}`),
    ...(layer.types ?? []).map((used) => `  ${layer.name} -. ${partsUsed(layer, byName.get(used))} .-> ${used}`),
  ]);
  const starters = layers.filter(({ path }) => apart.importedBy.some((file) => file.startsWith(`${path}/`)));
  return [
    '```mermaid',
    'flowchart TD',
    ...nodes,
    `  ${apart.name}(["<b>${apart.name}</b><br/>a separate program"])`,
    ...arrows,
    ...starters.map(({ name }) => `  ${name} -. starts .-> ${apart.name}`),
    '  classDef pure stroke-width:3px',
    '```',
  ].join('\n');
}

/** The tables of the sandbox's guide. */
function sandboxGuide(): string {
  const shapes = (schema: z.ZodObject) => {
    const { properties = {} } = z.toJSONSchema(schema) as JsonSchema;
    return Object.entries(properties) as [string, JsonSchema & { description?: string }][];
  };
  const defaultOf = (name: string) => `\`${JSON.stringify(defaultQuirks[name as keyof typeof defaultQuirks])}\``;
  const oneLine = (shape: string) => `\`${shape.replace(/\s+/g, ' ')}\``;
  const tables = {
    control: table(
      ['endpoint', 'what it does'],
      controlRoutes.map(({ method, path, summary }) => [`\`${method} ${path}\``, summary]),
    ),
    quirks: table(
      ['quirk', 'default', 'what it is'],
      shapes(quirksSchema).map(([name, { description = '' }]) => [`\`${name}\``, defaultOf(name), description]),
    ),
    faults: table(
      ['fault', 'what happens', 'settings'],
      shapes(faultsSchema).map(([name, { description = '', ...schema }]) => {
        const { properties = {} } = (schema.anyOf ?? []).find(({ type }) => type === 'object') ?? schema;
        const own = Object.entries(properties).filter(
          ([key]) => !['probability', 'count', 'skip', 'action'].includes(key),
        );
        return [`\`${name}\``, description, own.map(([key, of]) => oneLine(`${key}: ${shapeOf(of, '')}`)).join(', ')];
      }),
    ),
    scenarios: table(
      ['scenario', 'what it is'],
      Object.entries(scenarios).map(([name, { about }]) => [`\`${name}\``, about]),
    ),
  };
  return Object.entries(tables).reduce(
    (text, [name, rows]) => withSection('sandbox/README.md', name, rows, text),
    readOr('sandbox/README.md') ?? '',
  );
}

/** Returns the file with the text between the markers of `section` replaced. Throws if the markers are missing. */
function withSection(file: string, section: string, content: string, text = readOr(file) ?? ''): string {
  const [start, end] = [`<!-- ${section}: written by \`npm run docs\` -->`, `<!-- end of ${section} -->`];
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${file} has no markers ${start} and ${end}`);
  return `${text.slice(0, from)}${start}\n${content}\n${text.slice(to)}`;
}

const layers = JSON.parse(readOr('layers.json') ?? '{}') as Layers;
const generatedFiles: readonly (readonly [name: string, text: string])[] = [
  ['docs/reference/CLI.md', `${cliPage()}\n`],
  ['docs/reference/JSON.md', `${jsonPage()}\n`],
  ['docs/reference/PROBLEMS.md', `${problemsPage()}\n`],
  ...Object.entries(provenances).map(([kind, known]) => [`docs/erp/${kind}.md`, `${factsPage(known)}\n`] as const),
  ['sandbox/README.md', sandboxGuide()],
  ['docs/developers/architecture.md', withSection('docs/developers/architecture.md', 'layers', layerDiagram(layers))],
  ['sandbox/openapi.json', `${JSON.stringify(await describeApi(), null, 2)}\n`],
  ['mappings/mapping.schema.json', `${JSON.stringify(mappingJsonSchema(), null, 2)}\n`],
  ['mappings/specs.schema.json', `${JSON.stringify(specsJsonSchema(), null, 2)}\n`],
  ['mappings/vat-form.schema.json', `${JSON.stringify(vatFormJsonSchema(), null, 2)}\n`],
];

/** The names of the generated files whose text is another one. */
export const outdatedFiles = (): string[] =>
  generatedFiles.filter(([name, text]) => readOr(name) !== text).map(([name]) => name);

if (import.meta.main) {
  if (!process.argv.includes('--check')) {
    for (const [name, text] of generatedFiles) writeFileSync(pathOf(name), text);
  } else {
    for (const name of outdatedFiles()) {
      console.error(`${name} is out of date; run \`npm run docs\`.`);
      process.exitCode = 1;
    }
  }
}

function readOr(name: string): string | null {
  try {
    return readFileSync(pathOf(name), 'utf8');
  } catch {
    return null;
  }
}

function pathOf(name: string): URL {
  return new URL(`../${name}`, import.meta.url);
}
