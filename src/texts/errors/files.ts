import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** Errors of the files that vetledger reads: configuration, mapping, specs and chart of accounts. */
export const fileErrors = catalogue('errors/files.fileErrors', {
  missing: ({
    kind,
    path,
    reason,
    todo,
  }: {
    kind: string;
    path: string;
    reason: string;
    todo: string;
  }): PlainError => ({
    code: `${kind}_missing`,
    message: `The ${kind} file ${path} ${reason}.`,
    todo,
  }),
  notYaml: ({ kind, path, reason }: { kind: string; path: string; reason: string }): PlainError => ({
    code: `${kind}_invalid`,
    message: `The ${kind} file ${path} is not valid YAML: ${reason}`,
    todo: 'Correct that place. A text with special characters needs quotes.',
  }),
  mappingInvalid: ({ path, faults }: { path: string; faults: string }): PlainError => ({
    code: 'mapping_invalid',
    message: `The mapping file ${path} is not valid: ${faults}`,
    todo: 'Correct the named lines, and test the file with `vetledger mapping check FILE`.',
  }),
  mappingInForceInvalid: ({ faults }: { faults: string }): PlainError => ({
    code: 'mapping_invalid',
    message: `The mapping in force is not valid for this version of vetledger: ${faults}`,
    todo: 'Correct the mapping file, and put it in force with `vetledger mapping apply`.',
  }),
  specsUnreadable: ({ path, reason }: { path: string; reason: string }): PlainError => ({
    code: 'specs_unreadable',
    message: `The specs file ${path} cannot be read (${reason}).`,
    todo: 'Give vetledger the right to read it.',
  }),
  specsInvalid: ({ path, faults }: { path: string; faults: string }): PlainError => ({
    code: 'specs_invalid',
    message: `The specs file ${path} is not valid: ${faults}`,
    todo: 'Correct the named places; mappings/generic.specs.yaml is an example.',
  }),
  chartUnreadable: ({ path, reason }: { path: string; reason: string }): PlainError => ({
    code: 'chart_unreadable',
    message: `The chart of accounts ${path} ${reason}.`,
    todo: 'Correct `chart` in the mapping file; its path is relative to that file.',
  }),
  chartInvalid: ({ path, faults, more }: { path: string; faults: string; more: number }): PlainError => ({
    code: 'chart_invalid',
    message: `The chart of accounts ${path} is not valid: ${faults}${more > 0 ? `; and ${more} more` : ''}`,
    todo: 'Correct the named lines; mappings/charts/generic.csv is an example.',
  }),
});

/** Parts of the errors above. */
export const fileTexts = catalogue('errors/files.fileTexts', {
  doesNotExist: 'does not exist',
  cannotBeRead: ({ code }: { code: string }) => `cannot be read (${code})`,
  keyTwice: 'A map has this key twice',
  noConfiguration:
    'Name it with --config, or copy vetledger.yaml of the project. `vetledger dev` needs no configuration.',
  noMapping:
    'Correct `mapping` in the configuration, or make the file with `vetledger mapping init`. mappings/generic.yaml is an example.',
});
