// Compares a field of the specification with the schemas of its operations.
import type { Field } from './field.ts';
import type { Where } from './places.ts';
import {
  accepts,
  answersOf,
  bodyOf,
  type Operations,
  objectAt,
  recordsOf,
  type Schema,
  valueProblems,
} from './schemas.ts';

const parted = (pointer: string): { key: string; path: string[] } => {
  const [method = '', path = '', ...names] = pointer.split(' ');
  return { key: `${method} ${path}`, path: names };
};

/** The object at the pointer in the body of a request. */
export const written = (operations: Operations, pointer: string): Schema | undefined => {
  const { key, path } = parted(pointer);
  return objectAt(bodyOf(operations.get(key)), path);
};

/** The objects at the pointer in the successful answers. */
export const answered = (operations: Operations, pointer: string): (Schema | undefined)[] => {
  const { key, path } = parted(pointer);
  const answers = answersOf(operations.get(key));
  if (answers.length === 0) return [undefined];
  return answers.map((schema) => objectAt(recordsOf(schema), path));
};

export const filterProblems = (operations: Operations, list: string, filters: readonly string[]): string[] => {
  const names = operations.get(list)?.parameters?.flatMap((one) => (one.in === 'query' ? [one.name] : [])) ?? [];
  return filters.filter((filter) => !names.includes(filter)).map((filter) => `${list} has no filter or flag ${filter}`);
};

/** Describes each difference between one field and the schemas. */
export const fieldProblems = (operations: Operations, field: Field, place: Where): string[] => {
  const where = place.elsewhere?.[field.name] ?? place;
  const { name, role } = field;
  const says = role !== undefined || field.required !== undefined;
  const isOnlyAnswered =
    role === 'read-only' ||
    where.answeredOnly?.includes(name) === true ||
    (where.silent === 'read' && !says && !where.alsoWritten?.includes(name));
  const bodies = [
    ...(where.create ?? []).map((pointer) => ({ pointer, isCreate: true })),
    ...(where.change ?? []).map((pointer) => ({ pointer, isCreate: false })),
  ];
  const problems: string[] = [];
  for (const { pointer, isCreate } of bodies) {
    // A field of the answer may be writable in the other body only.
    const isListed = where.alsoWritten?.includes(name) === true;
    const body = written(operations, pointer);
    const schema = body?.properties?.[name];
    if (!body) problems.push(`${pointer} takes no such object`);
    else if (isOnlyAnswered && schema) problems.push(`${pointer} takes ${name}, which is answered only`);
    else if (!isOnlyAnswered && !schema && !isListed) problems.push(`${pointer} does not take ${name}`);
    else if (!isOnlyAnswered && schema && !isListed) {
      const isRequired = body.required?.includes(name) === true;
      if (isCreate && field.required === true && !isRequired) problems.push(`${pointer}: ${name} is optional`);
      if (field.required === false && isRequired) problems.push(`${pointer}: ${name} is required`);
      if (!isCreate && isRequired) problems.push(`${pointer}: a change requires ${name}`);
      const mayBeNull = [...(where.nullable ?? []), ...(where.nullWritten ?? [])].includes(name);
      if (field.written && !field.written.nullable && !mayBeNull && accepts(schema, null)) {
        problems.push(`${pointer}: ${name} may be null`);
      }
      if (field.written?.nullable && !accepts(schema, null)) problems.push(`${pointer}: ${name} may not be null`);
      const inChange = isCreate ? field : { ...field, default: undefined };
      problems.push(...valueProblems(schema, inChange as Field, 'written').map((one) => `${pointer}: ${name} ${one}`));
    }
  }
  for (const pointer of where.read ?? []) {
    for (const record of answered(operations, pointer)) {
      const schema = record?.properties?.[name];
      if (!record) problems.push(`${pointer} answers no such object`);
      else if (role === 'write-only') {
        if (schema) problems.push(`${pointer} answers ${name}, which is written only`);
      } else if (!schema) problems.push(`${pointer} does not answer ${name}`);
      else problems.push(...answerProblems(record, schema, field, where).map((one) => `${pointer}: ${name} ${one}`));
    }
  }
  const filters = [...field.filters, ...field.flags];
  if (filters.length > 0) problems.push(...filterProblems(operations, where.list ?? 'the table', filters));
  return problems;
};

const answerProblems = (record: Schema, schema: Schema, field: Field, where: Where): string[] => {
  const { name } = field;
  const problems: string[] = [];
  const isAlways = record.required?.includes(name) === true;
  if (isAlways === (field.sometimes === true))
    problems.push(isAlways ? 'is in every answer' : 'is not in every answer');
  const mayBeNull = accepts(schema, null);
  if (field.answered && field.answered.nullable !== mayBeNull && !(mayBeNull && where.nullable?.includes(name))) {
    problems.push(mayBeNull ? 'may be null' : 'may not be null');
  }
  const more = where.moreAnswered?.[name];
  const described = more && field.values ? { ...field, values: [...field.values, more] } : field;
  const allowed = (where.nullable ?? []).map((one) => `${one.replace(`${name}.`, '')} may be null`);
  const values = valueProblems(schema, described, 'answered');
  return [...problems, ...values.filter((problem) => !allowed.includes(problem))];
};
