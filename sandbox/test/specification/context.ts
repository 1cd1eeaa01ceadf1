// What the facts of the specification are compared with, and what comes of a comparison.
import { type Field, typeWords } from './field.ts';
import { listed, type Operations, type Schema, variants } from './schemas.ts';
import { spansOf } from './text.ts';

/** What came of a fact or a part of one: compared, with the differences, or not read at all. */
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

/** Values of the sandbox that stand in no schema. */
export interface Facts {
  /** The numbers of each limit, in the order in which the specification gives them. */
  limits: Record<string, readonly number[]>;
  /** The texts of refusals. */
  messages: readonly string[];
  /** The permission of an operation. */
  permissionOf: (key: string) => string | undefined;
  columnProblems: (column: Column) => string[];
  version: string;
  prepaymentTrigger: number;
  maxCatalogErrors: number;
  maxPageSize: number;
  /** The operations of the scope `wholesaler`. */
  wholesalerOperations: readonly string[];
}

export interface Context extends Facts {
  operations: Operations;
  /** Fields of the rows that were read, as `section.name`. */
  fields: Map<string, Field>;
  /** Statuses as the specification writes them, for example `8 In Progress`. */
  statuses: Set<string>;
  /** Whether a text mentions names of the API, and says nothing else. */
  mentions: (text: string) => boolean;
}

/** Every name of a field, parameter, value and path that the operations have. */
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

/** Words that say something about a field: a text with one of them does more than mention names. */
const fieldWords =
  /\b(?:required|optional|mandatory|default|read-only|write-only|writable|at most|at least|maximum|minimum)\b/i;

/** A judge of mentions: names, `name=value`, `a.b`, a list's address with its query; and nothing that says more than that. */
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
