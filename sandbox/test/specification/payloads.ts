// Reads the requests and answers in the endpoint tables, and compares them with the operations of the row.
import { fieldProblems, filterProblems, written } from './compare.ts';
import { type Context, type Outcome, read, unread } from './context.ts';
import { filterWords } from './error-rows.ts';
import type { Field } from './field.ts';
import { namesOf } from './grammar.ts';
import { accepts, answersOf, bodyOf, type Operations, objectAt, recordsOf, successes } from './schemas.ts';
import { spansOf, splitOutside } from './text.ts';

/** The operations of a row, and the context of their comparison. */
interface Scope extends Context {
  keys: string[];
  section: string;
}

/** Parameters belong to the row's lists, or to its only operation. */
const has = ({ keys, operations }: Scope, names: readonly string[]): string[] =>
  keys
    .filter((key, _index, { length }) => length === 1 || key.startsWith('GET '))
    .flatMap((key) => filterProblems(operations, key, names));

const bodies = (scope: Scope): string[] => scope.keys.filter((key) => !/^(?:GET|DELETE) /.test(key));

/** The sandbox chose that requests may omit these keys; the default is false. */
const mayBeLeftOut = ['use_original_invoice_date'];

/** Compares the fields of a list, or of a shape in braces, with the bodies of the row's operations. */
const takes = (scope: Scope, text: string, isShape = false): string[] | null => {
  const { fields, unread: left } = namesOf(text);
  if (left.length > 0 || fields.length === 0) return null;
  return bodies(scope).flatMap((key) => {
    const where = key.startsWith('PATCH ') ? { change: [key] } : { create: [key] };
    // A request sends all keys of a shape except those that the text calls optional.
    const isAll = isShape && key.startsWith('POST ');
    const described = (field: Field): Field =>
      isAll && !mayBeLeftOut.includes(field.name) ? { ...field, required: field.required ?? true } : field;
    return fields.flatMap((field) => fieldProblems(scope.operations, described(field), where));
  });
};

/** True if the bodies of two operations have the same fields. */
const sameBody = (scope: Scope, key: string, other: string): boolean => {
  const [own, others] = [written(scope.operations, key), written(scope.operations, other)];
  return (
    own !== undefined && String(Object.keys(own.properties ?? {})) === String(Object.keys(others?.properties ?? {}))
  );
};

type Reader = (scope: Scope, match: RegExpExecArray) => string[] | null;

const hasBody = (scope: Scope): string[] =>
  bodies(scope).flatMap((key) => (bodyOf(scope.operations.get(key)) ? [] : [`${key} takes no body`]));

const requiresBody = (scope: Scope): string[] =>
  bodies(scope).flatMap((key) => (scope.operations.get(key)?.requestBody?.required ? [] : [`${key} needs no body`]));

const payloads: [RegExp, Reader][] = [
  [/^(?:query )?`page`, `page_size`$/, (scope) => has(scope, ['page', 'page_size'])],
  [
    /^path `id` integer$/,
    ({ keys, operations }) =>
      keys.flatMap((key) => {
        const schema = operations.get(key)?.parameters?.find((one) => one.in === 'path')?.schema;
        return schema && accepts(schema, 7) && !accepts(schema, 'word') ? [] : [`${key} takes no integer in its path`];
      }),
  ],
  [
    /^body: (.+?)( \(required body\))?$/,
    (scope, [, names, needed]) => {
      const problems = takes(scope, names as string);
      return problems && needed !== undefined ? [...problems, ...requiresBody(scope)] : problems;
    },
  ],
  [/^POST body required$/, (scope) => requiresBody(scope)],
  [/^(?:body )?`\{(.+)\}`(?:, both required)?$/, (scope, [, shape]) => takes(scope, shape as string, true)],
  [
    /^(?:optional |query |for example |optional query )*(?:flags? |filters? |query )?(`\w+(?:=\w+)?`(?:, `\w+`)*)(?: up to (\d+)| enables partial-success mode| \(when given, that channel is not used\))?$/,
    (scope, [whole, spans, maximum]) => {
      const all = spansOf(spans as string);
      const names = all.map((span) => span.replace(/=.*/, ''));
      if (!all.every((span) => !span.includes('=') || scope.mentions(`\`${span}\``))) return null;
      // A single code span is a parameter of a list, or else of a body.
      if (/^(?:for example )?`/.test(whole) && bodies(scope).length > 0) return takes(scope, names.join(', '));
      const isOther = maximum !== undefined && Number(maximum) !== scope.maxPageSize;
      return [...has(scope, names), ...(isOther ? [`a page has at most ${scope.maxPageSize} records`] : [])];
    },
  ],
  [
    /^filters: (.+)$/,
    (scope, [, list]) =>
      splitOutside(list as string, /, /).flatMap((one) => {
        const names = one.startsWith('`') ? spansOf(one).map((span) => span.replace(/=or$/, '')) : filterWords[one];
        return names ? has(scope, names) : [`no filter is known for: ${one}`];
      }),
  ],
  [/^filters listed under Invoice$/, () => []],
  [
    /^only `(\w+)` and `(\w+)` may be updated$/,
    ({ keys, operations }, [, ...names]) =>
      keys.flatMap((key) => {
        const body = bodyOf(operations.get(key));
        const fields = Object.keys(body?.properties ?? {});
        const isClosed = body?.additionalProperties === false;
        return isClosed && String(fields.toSorted()) === String(names.toSorted()) ? [] : [`${key} takes ${fields}`];
      }),
  ],
  [
    /^(?:only the fields to change \()?for example ([a-z_]+(?:, [a-z_]+)*)\)?$/,
    (scope, [, names]) => takes(scope, names as string),
  ],
  [
    /^array of patient objects \(same fields as create\)$/,
    (scope) =>
      scope.keys.flatMap((key) =>
        bodyOf(scope.operations.get(key))?.type === 'array' && sameBody(scope, key, 'POST /patient/')
          ? []
          : [`${key} takes no array of what POST /patient/ takes`],
      ),
  ],
  [
    /^(full|partial) body$/,
    (scope, [, kind]) =>
      scope.keys.flatMap((key) => {
        const create = key.replace(/^\w+/, 'POST').replace('{id}/', '');
        const needs = (one: string): string => String(written(scope.operations, one)?.required ?? []);
        const isRight = sameBody(scope, key, create) && needs(key) === (kind === 'full' ? needs(create) : '');
        return isRight ? [] : [`${key} takes another body than the ${kind} one`];
      }),
  ],
  [/^list$/, (scope) => has(scope, ['page', 'page_size'])],
  [
    /^no body$/,
    ({ keys, operations }) => keys.flatMap((key) => (bodyOf(operations.get(key)) ? [`${key} takes a body`] : [])),
  ],
  [
    /^(?:item payload|common payload plus) \(?([a-z_]+(?:, [a-z_]+)*)\)?$/,
    (scope, [, names]) => takes(scope, names as string),
  ],
  [
    /^(?:see [A-Z][a-z ]+|see record|as for client|POST body alternative payer|(?:common item|diagnosis|note|discharge) payload)$/,
    hasBody,
  ],
  [
    /^for an? \w+ link send (`.+`)$/,
    (scope, [, spans]) =>
      spansOf(spans as string).flatMap((span) => {
        const path = span.split('.');
        const name = path.pop() ?? '';
        return scope.keys.flatMap((key) =>
          written(scope.operations, [key, ...path].join(' '))?.properties?.[name]
            ? []
            : [`${key} does not take ${span}`],
        );
      }),
  ],
  [/^([a-z_]+(?:, [a-z_]+)+)$/, (scope, [, names]) => takes(scope, names as string)],
  [/^(optional [a-z_]+(?:, [a-z_]+)*)$/, (scope, [, names]) => takes(scope, names as string)],
];

const readWith = (readers: [RegExp, Reader][], scope: Scope, fragment: string): Outcome[] => {
  for (const [pattern, reader] of readers) {
    const match = pattern.exec(fragment);
    const problems = match ? reader(scope, match) : null;
    if (problems) return [read(fragment, problems)];
  }
  return [scope.mentions(fragment) ? read(fragment) : unread(fragment)];
};

export const readPayload = (scope: Scope, cell: string): Outcome[] =>
  splitOutside(cell, /; /).flatMap((fragment) => readWith(payloads, scope, fragment));

const declares = ({ keys, operations }: Scope, status: string): string[] =>
  keys.flatMap((key) => (operations.get(key)?.responses[status] ? [] : [`${key} does not declare ${status}`]));

const answerRecords = ({ keys, operations }: Scope) =>
  keys.flatMap((key) =>
    answersOf(operations.get(key)).map((schema) => ({ key, schema, record: objectAt(recordsOf(schema)) })),
  );

const paginated = (scope: Scope): string[] =>
  scope.keys
    .filter((key) => key.startsWith('GET '))
    .flatMap((key) =>
      answersOf(scope.operations.get(key)).every((schema) => objectAt(schema)?.properties?.results)
        ? []
        : [`${key} is no list`],
    );

const answersName = (scope: Scope, name: string): string[] =>
  answerRecords(scope).flatMap(({ key, record }) =>
    record?.required?.includes(name) ? [] : [`${key} does not answer ${name}`],
  );

/** The operations on the same paths that are not in the row. */
const othersOf = (operations: Operations, keys: readonly string[]): string[] =>
  [...operations.keys()]
    .filter((key) => !keys.includes(key) && keys.some((own) => own.split(' ')[1] === key.split(' ')[1]))
    .map((key) => `${key} is served`);

const responses: [RegExp, Reader][] = [
  [/^flat read-only list of all item types$/, ({ keys, operations }) => othersOf(operations, keys)],
  [/^(?!.*\b(?:read-only|writable|required|optional)\b)[a-z' -]+$/, () => []],
  [/^(\d{3}) paginated [a-z ]+$/, (scope, [, status]) => [...declares(scope, status as string), ...paginated(scope)]],
  [/^(\d{3}) with `(\w+)`$/, (scope, [, status, name]) => [...declares(scope, status!), ...answersName(scope, name!)]],
  [
    /^(\d{3}) with no body$/,
    (scope, [, status]) => [
      ...declares(scope, status as string),
      ...scope.keys.flatMap((key) => {
        const body = scope.operations.get(key)?.responses[status as string]?.content?.['application/json'];
        return body ? [`${key} answers a body`] : [];
      }),
    ],
  ],
  [
    /^(\d{3})(?: [a-z ]+(?:, response tells which failed)?)?$/,
    (scope, [, status]) => declares(scope, status as string),
  ],
  [
    /^created patient \(the shown create response is status (\d{3})\)$/,
    ({ keys, operations }, [, status]) =>
      keys.flatMap((key) => {
        const own = successes(operations.get(key) ?? { responses: {} });
        return String(own) === status ? [] : [`${key} answers ${own}`];
      }),
  ],
  [/^paginated(?: [a-z]+| list)?$/, paginated],
  [/^`(\w+)` always included$/, (scope, [, name]) => answersName(scope, name as string)],
  [/^[a-z]+ including `(\w+)`$/, (scope, [, name]) => answersName(scope, name as string)],
  [
    /^`\{(.+)\}`$/,
    (scope, [, shape]) => {
      const { fields, unread: left } = namesOf(shape as string);
      if (left.length > 0) return null;
      return scope.keys.flatMap((key) =>
        fields.flatMap((field) => fieldProblems(scope.operations, field, { read: [key], silent: 'read' })),
      );
    },
  ],
  [/^new invoice with `(\w+)=true`$/, (scope, [, name]) => answersName(scope, name as string)],
  [/^rejected with a validation error when automatic locking is enabled$/, (scope) => declares(scope, '400')],
];

/** A row with several methods gives a status for each, in the same order. */
export const readResponse = (scope: Scope, cell: string): Outcome[] => {
  const fragments = splitOutside(cell, /; /);
  const isEach = scope.keys.length > 1 && fragments.length === scope.keys.length;
  const good = scope.keys.flatMap((key) =>
    successes(scope.operations.get(key) ?? { responses: { 200: {} } }).length > 0 ? [] : [`${key} declares no success`],
  );
  return [
    ...(good.length > 0 ? [read(cell, good)] : []),
    ...fragments.flatMap((fragment, index) =>
      readWith(responses, isEach ? { ...scope, keys: [scope.keys[index] as string] } : scope, fragment),
    ),
  ];
};
