// The forms of sentences about conventions and resources, and their comparisons.
import { fieldProblems, filterProblems, written } from './compare.ts';
import type { Context } from './context.ts';
import type { Field } from './field.ts';
import { namesOf } from './grammar.ts';
import type { Where } from './places.ts';
import { answersOf, objectAt, type Schema, valueProblems } from './schemas.ts';
import { spansOf, splitOutside } from './text.ts';

/**
 * The pattern of a sentence, and a function that returns the sandbox's differences, or null if it cannot read the
 * sentence.
 */
export type Form = [RegExp, (context: Context, match: RegExpExecArray) => string[] | null];

export const lists = ({ operations }: Context): string[] =>
  [...operations.keys()].filter((key) =>
    answersOf(operations.get(key)).some((schema) => objectAt(schema)?.properties?.results),
  );
export const parameter = ({ operations }: Context, key: string, name: string): Schema | undefined =>
  operations.get(key)?.parameters?.find((one) => one.name === name)?.schema;
export const here = (context: Context, fields: readonly Field[], where: Where): string[] =>
  fields.flatMap((field) => fieldProblems(context.operations, field, where));

/** The fields in a list of names; null if a part of it cannot be read. */
export const listedFields = (text: string): Field[] | null => {
  const { fields, unread: left } = namesOf(text.replace(/`(\w+)`, each `(\{.+\})`/, '`$1` (array of $2)'));
  return left.length > 0 || fields.length === 0 ? null : fields;
};

export const forms: Form[] = [
  [
    /^Query parameters: (.+)\.$/,
    (context, [, names]) =>
      listedFields(names as string)?.flatMap((field) =>
        lists(context).flatMap((key) => {
          const schema = parameter(context, key, field.name);
          const isOther = field.maximum !== undefined && field.maximum !== context.maxPageSize;
          if (isOther) return [`${field.name} is at most ${context.maxPageSize}`];
          return schema ? valueProblems(schema, field, 'written') : [`${key} has no ${field.name}`];
        }),
      ) ?? null,
  ],
  [
    /^A list response carries (.+)\.$/,
    (context, [, names]) => {
      const fields = listedFields(names as string);
      return (
        fields &&
        lists(context).flatMap((key) => {
          const envelope = objectAt(answersOf(context.operations.get(key))[0]);
          return fields.flatMap((field) => {
            const member = envelope?.properties?.[field.name];
            if (!member || !envelope?.required?.includes(field.name)) return [`${key} does not answer ${field.name}`];
            return valueProblems(member, field, 'answered').map((one) => `${key}: ${field.name} ${one}`);
          });
        })
      );
    },
  ],
  [
    /^Operators that occur: (.+)\.$/,
    ({ operations }, [, operators]) => {
      const names = [...operations.values()].flatMap((one) => one.parameters?.map(({ name }) => name) ?? []);
      return spansOf(operators as string)
        .filter((operator) => !names.some((name) => name.endsWith(operator)))
        .map((operator) => `no list has a filter ${operator}`);
    },
  ],
  [
    /^On the client list, adding `(\w+)=or` combines the name filters (.+) with OR\.$/,
    ({ operations }, [, name, filters]) =>
      filterProblems(operations, 'GET /client/', [
        name as string,
        ...spansOf(filters as string).map((filter) => `${filter}__icontains`),
      ]),
  ],
  [
    /^Delta synchronisation: `(\w+)=<timestamp>` on list endpoints .* \(shown for ([a-z, ]+)\)\.$/,
    ({ operations }, [, name, names]) =>
      splitOutside(names as string, /, (?:and )?/).flatMap((one) =>
        filterProblems(operations, `GET /${one}/`, [name!]),
      ),
  ],
  [
    /^Expose parameters: .* \(for example `(\w+)` on invoice rows\)\.$/,
    ({ operations }, [, name]) => filterProblems(operations, 'GET /invoicerow/', [name as string]),
  ],
  [
    /^Invoice list filters: (.+)\.$/,
    ({ operations }, [, filters]) => filterProblems(operations, 'GET /invoice/', spansOf(filters as string)),
  ],
  [
    /^Request bodies are accepted as (.+) on the CRUD endpoints of account numbers, alternative payers and alternative pricings; other endpoints are used with JSON\.$/,
    ({ operations }, [, types]) =>
      [...operations]
        .filter(([key]) => /^P\w+ \/(?:accountnumber|alternative_payer|alternativepricing)\//.test(key))
        .flatMap(([key, { requestBody }]) =>
          spansOf(types as string)
            .filter((type) => !Object.keys(requestBody?.content ?? {}).includes(type))
            .map((type) => `${key} takes no ${type}`),
        ),
  ],
  [
    /^Responses are JSON \(the same schemas are also offered as `([^`]+)`\)\.$/,
    ({ operations }, [, type]) =>
      [...operations].flatMap(([key, { responses }]) =>
        Object.values(responses)
          .filter(
            ({ content }) => content && !key.startsWith('EVENT') && !Object.keys(content).includes(type as string),
          )
          .map(() => `${key} answers no ${type}`),
      ),
  ],
  [
    /^On write, each `(\w+)` entry is `\{(.+)\}`; for select and multi-select fields `(\w+)` is an array of `(\{.+\})` option objects\.$/,
    (context, [, array, shape, value, option]) => {
      const fields = listedFields(shape as string);
      const options = listedFields(`${value} (array of ${option})`);
      const models = ['client', 'patient'];
      const bodies = models.flatMap((model) => [
        `POST /${model}/ ${array}`,
        `PATCH /${model}/{id}/ ${array}`,
        `POST /${model}/{id}/custom_field_values/`,
      ]);
      return (
        fields &&
        options &&
        here(
          context,
          fields.map((one) => ({ ...one, required: true })),
          { create: bodies },
        ).concat(
          ...bodies.map((key) => {
            const one = written(context.operations, key)?.properties?.[value as string];
            const choices = one?.anyOf?.find(({ type }) => type === 'array');
            return choices && options[0] ? valueProblems(choices, options[0], 'written') : [`${key} takes no options`];
          }),
        )
      );
    },
  ],
  [
    /^PUT and DELETE are not supported\.$/,
    ({ operations }) =>
      [...operations.keys()]
        .filter((key) => /^(?:PUT|DELETE) \/eprescription\//.test(key))
        .map((key) => `${key} is served`),
  ],
  [
    /^`(\w+)` may be set by PATCH\.$/,
    (context, [, name]) =>
      written(context.operations, 'PATCH /eprescription/prescription/{id}/')?.properties?.[name as string]
        ? []
        : [`PATCH does not take ${name}`],
  ],
  [
    /^`(\w+)` cannot be set on create; it changes only through `(\w+)`\.$/,
    (context, [, name, action]) => [
      ...(written(context.operations, 'POST /consultation/')?.properties?.[name as string]
        ? [`create takes ${name}`]
        : []),
      ...(written(context.operations, `POST /consultation/{id}/${action}/`)?.required?.includes(name as string)
        ? []
        : [`${action} does not require ${name}`]),
    ],
  ],
  [
    /^Account number: (.+) are the fields that define uniqueness on create\.$/,
    (context, [, names]) =>
      listedFields(names as string)?.flatMap((field) =>
        fieldProblems(context.operations, field, {
          create: ['POST /accountnumber/'],
          change: ['PATCH /accountnumber/{id}/'],
          read: ['GET ', 'POST ']
            .map((one) => `${one}/accountnumber/`)
            .concat(['GET', 'PUT', 'PATCH'].map((one) => `${one} /accountnumber/{id}/`)),
        }),
      ) ?? null,
  ],
  [
    /^On the item POST endpoints, adding query `(\w+)=true` stops the herd-size multiplier being applied to quantities \([a-z ]+\)\.$/,
    ({ operations }, [, name]) =>
      ['medicines', 'procedures', 'supplies', 'foods'].flatMap((kind) =>
        filterProblems(operations, `POST /consultation/{id}/${kind}/`, [name as string]),
      ),
  ],
];
