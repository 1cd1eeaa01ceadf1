// The data that facts of the specification are compared with, and the outcome of a comparison.
import { type Field, typeWords } from './field.ts';
import { listed, type Operations, type Schema, variants } from './schemas.ts';
import { spansOf } from './text.ts';

/** The outcome for a fact or a part of it: compared, with the differences; or not readable. */
export interface Outcome {
  text: string;
  isRead: boolean;
  problems: string[];
}

export const read = (text: string, problems: string[] = []): Outcome => ({ text, isRead: true, problems });
export const unread = (text: string): Outcome => ({ text, isRead: false, problems: [] });

export interface Column {
  name: string;
  type: string;
  need: string;
  example: string[];
}

/** Values of the sandbox that are not in a schema. */
export interface Facts {
  /** The numbers of each limit, in the order of the specification. */
  limits: Record<string, readonly number[]>;
  /** The texts of refusals. */
  messages: readonly string[];
  /** Returns the permission of an operation. */
  permissionOf: (key: string) => string | undefined;
  columnProblems: (column: Column) => string[];
  version: string;
  prepaymentTrigger: number;
  maxCatalogErrors: number;
  maxPageSize: number;
  /** The operations with the scope `wholesaler`. */
  wholesalerOperations: readonly string[];
}

export interface Context extends Facts {
  operations: Operations;
  /** The fields of the rows that were read, as `section.name`. */
  fields: Map<string, Field>;
  /** Statuses in the form of the specification, for example `8 In Progress`. */
  statuses: Set<string>;
  /** Returns whether a text only mentions names of the API. */
  mentions: (text: string) => boolean;
}

/** The names of all fields, parameters, values and paths of the operations. */
const namesOf = (operations: Operations): Set<string> => {
  const names = new Set(['true', 'false', 'null']);
  const walk = (schema: Schema | undefined): void => {
    for (const one of schema ? variants(schema) : []) {
      for (const value of listed(one)) if (typeof value === 'string') names.add(value);
      for (const [name, inner] of Object.entries(one.properties ?? {})) {
        names.add(name);
        walk(inner);
      }
      walk(one.items);
    }
  };
  for (const [key, operation] of operations) {
    const [, path = ''] = key.split(' ');
    names.add(key).add(path);
    for (const part of path.split('/')) names.add(part);
    for (const { name } of operation.parameters ?? []) names.add(name);
    walk(operation.requestBody?.content?.['application/json']?.schema);
    for (const { content } of Object.values(operation.responses)) walk(content?.['application/json']?.schema);
  }
  return names;
};

/** Words that describe a field. A text with one of them does more than mention names. */
const fieldWords =
  /\b(?:required|optional|mandatory|default|read-only|write-only|writable|at most|at least|maximum|minimum)\b/i;

/**
 * Makes the check for mentions: names, `name=value`, `a.b`, and addresses of lists with a query. A text with more than
 * these is not a mention.
 */
export const mentionsOf = (operations: Operations): ((text: string) => boolean) => {
  const names = namesOf(operations);
  const isValue = (value: string): boolean => names.has(value) || /^(?:<\w+>|\d+)$/.test(value);
  const isKnown = (span: string): boolean => {
    const [, path = '', query] = /^(\/[^?]*\/)\?(.+)$/.exec(span) ?? [];
    if (query !== undefined) return names.has(`GET ${path}`) && query.split('&').every(isKnown);
    const [, name, value] = /^([a-z]\w*)(?:=|: )(\S+)$/.exec(span) ?? [];
    if (name !== undefined) return names.has(name) && isValue(value ?? '');
    const [, keyed] = /^\{(\w+): <\w+>\}$/.exec(span) ?? [];
    const address = span.startsWith('/') || / \//.test(span) ? span.replace(/<id>|\{\w+\}/g, '{id}') : span;
    if (names.has(keyed ?? address)) return true;
    const parts = span.split(/\.| \+ '-' \+ /);
    return parts.length > 1 && parts.every((part) => names.has(part));
  };
  return (text) => {
    const spans = spansOf(text);
    const rest = text.replace(/`[^`]*`/g, '');
    return (
      spans.length > 0 && !/\d/.test(rest) && !typeWords.test(rest) && !fieldWords.test(rest) && spans.every(isKnown)
    );
  };
};
