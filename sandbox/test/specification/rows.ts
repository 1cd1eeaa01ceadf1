// Reads the rows of the specification's tables and compares them.
import { endpointsIn } from '../specified.ts';
import { answered, fieldProblems, written } from './compare.ts';
import { type Context, type Outcome, read, unread } from './context.ts';
import { errorRows } from './error-rows.ts';
import { emptyField, type Field } from './field.ts';
import { namesOf, readNotes, typeOf, typesOf } from './grammar.ts';
import { readPayload, readResponse } from './payloads.ts';
import { fieldTables, itemKinds, recordRows, type Where } from './places.ts';
import { accepts, answersOf } from './schemas.ts';
import { describesFields, type Row, spansOf, splitOutside } from './text.ts';

/** The fields of a row, whose names and types are in the same order. */
const fieldsOf = (names: string, types: string): Field[] | null => {
  const [each, kinds] = [splitOutside(names, /, /), splitOutside(types, /, /)];
  const fields: Field[] = [];
  for (const [index, name] of each.entries()) {
    const own = kinds.length === 0 ? {} : typesOf((kinds.length === each.length ? kinds[index] : undefined) ?? types);
    if (!own || each.indexOf(name) !== index) return null;
    fields.push({ ...emptyField(name), ...own });
  }
  return fields;
};

const placeOf = ({ section, caption }: Row): Where | undefined =>
  fieldTables[`${section} | ${caption}`] ?? (caption === '' ? fieldTables[section] : undefined);

/** Compares a row of a field table, or returns the notes that cannot be read. */
const compareRow = (context: Context, row: Row, notes: string, where: Where | undefined): Outcome[] => {
  const { Field: names = '', Type: types = '' } = row.cells;
  const fields = fieldsOf(names, types);
  if (!fields || !where) return [unread(row.text)];
  const left = new Set<string>();
  const problems = fields.flatMap((field) => {
    for (const note of readNotes(field, notes)) left.add(note);
    const like = field.likeField === undefined ? undefined : context.fields.get(`${field.likeField}.${field.name}`);
    if (like) Object.assign(field, { values: like.values, refused: like.refused });
    else if (field.likeField !== undefined) return [`${field.name}: no table of ${field.likeField} has it`];
    context.fields.set(`${row.section.replace(/^.*: /, '').toLowerCase()}.${field.name}`, field);
    return fieldProblems(context.operations, field, where);
  });
  return [read(row.text, problems), ...[...left].map((note) => mentionedOr(context, note))];
};

const mentionedOr = (context: Context, note: string): Outcome => (context.mentions(note) ? read(note) : unread(note));

const required: Record<string, string> = { yes: 'required', no: 'optional' };

const itemRow = (context: Context, row: Row): Outcome[] => {
  const { Field: name = '', 'Applies to': kinds = '', Values: values = '' } = row.cells;
  const field = emptyField(name);
  const left = readNotes(field, typeOf(values) ? '' : values);
  Object.assign(field, typesOf(values) ?? {});
  const applies = splitOutside(kinds, /, /);
  const others = itemKinds.all.filter((kind) => !applies.includes(kind));
  const where = { create: applies.map(itemKinds.create), read: itemKinds.read, nullable: [name] };
  const elsewhere = others.filter((kind) => written(context.operations, itemKinds.create(kind))?.properties?.[name]);
  return [
    read(row.text, [
      ...(applies.every((kind) => itemKinds.all.includes(kind)) ? [] : [`there are no items ${kinds}`]),
      ...fieldProblems(context.operations, field, where),
      ...elsewhere.map((kind) => `${kind} take ${name}`),
    ]),
    ...left.map(unread),
  ];
};

const recordRow = (context: Context, row: Row): Outcome[] => {
  const { Record: record = '', Fields: text = '' } = row.cells;
  const where = recordRows[record];
  if (!where) return [unread(row.text)];
  const groups = splitOutside(text, /; /);
  const created = groups.map((group) => /^`(\w+)` is returned at creation$/.exec(group)?.[1]);
  const { fields, unread: left } = namesOf(groups.filter((_group, index) => !created[index]).join('; '));
  const problems = created.flatMap((name) => {
    if (name === undefined) return [];
    const [pointer = ''] = where.create ?? [];
    return [
      ...(written(context.operations, pointer)?.properties?.[name] ? [`${pointer} takes ${name}`] : []),
      ...answered(context.operations, pointer).flatMap((one) =>
        one?.required?.includes(name) ? [] : [`${pointer} does not answer ${name}`],
      ),
    ];
  });
  return [
    read(row.text, [...problems, ...fields.flatMap((field) => fieldProblems(context.operations, field, where))]),
    ...left.map(unread),
  ];
};

const settingsRow = (context: Context, row: Row): Outcome[] => {
  const { Field: name = '', Notes: notes = '' } = row.cells;
  if (!/^\w+$/.test(name)) return [unread(row.text)];
  const where = placeOf(row) ?? {};
  const [first = '', ...rest] = splitOutside(notes, /; /);
  const types = typesOf(first);
  const field: Field = { ...emptyField(name), ...types };
  const left = readNotes(field, types ? rest.join('; ') : notes);
  // The rows do not say whether requests write these fields, so that is not compared.
  const isWritten = field.role === 'writable';
  const place = isWritten || where.elsewhere?.[name] ? where : { ...where, change: [], create: [] };
  return [
    read(row.text, fieldProblems(context.operations, field, place)),
    ...left.map((one) => mentionedOr(context, one)),
  ];
};

/** Compares the sandbox with a row of the table of an event's payload. A field `a.b` is the member `b` of the object `a`. */
const eventRow = (context: Context, row: Row): Outcome[] => {
  const { Field: names = '', Type: types = '', Optional: optional = '', Meaning: meaning = '' } = row.cells;
  const events = spansOf(`\`${row.section.replace(/^Events: | payload$/g, '').replaceAll(' and ', '` and `')}\``);
  const fields = fieldsOf(names, types);
  const [isOptional = '', ...more] = splitOutside(optional, /; /);
  if (!fields || !/^(?:yes|no)$/.test(isOptional)) return [unread(row.text)];
  const problems = fields.flatMap((field) => {
    const path = field.name.split('.');
    const last = path.pop() ?? '';
    const left = readNotes(Object.assign(field, { name: last }), meaning);
    if (left.length > 0) return left.map((note) => `the note cannot be read: ${note}`);
    return events.flatMap((event) => {
      const pointer = ['EVENT', event, ...path].join(' ');
      const [object] = answered(context.operations, pointer);
      const member = object?.properties?.[last];
      // An optional field is absent or null in some events.
      const sometimes = isOptional === 'yes' && !object?.required?.includes(last);
      const isNull = member && field.answered && isOptional === 'yes' && sometimes ? accepts(member, null) : undefined;
      const answeredType = isNull === undefined ? {} : { answered: { ...field.answered!, nullable: isNull } };
      const described = { ...field, ...answeredType, sometimes };
      return [
        ...path.flatMap((_name, depth) => {
          const [parent] = answered(context.operations, ['EVENT', event, ...path.slice(0, depth)].join(' '));
          return parent?.required?.includes(path[depth] ?? '') ? [] : [`${event} has not always ${path[depth]}`];
        }),
        ...fieldProblems(context.operations, described, { read: [pointer], silent: 'read' }),
      ];
    });
  });
  const others = more.filter(describesFields).map((note) => {
    // The note gives the type of a member of the row's object.
    const [, name, type] = /^`(\w+)` is (string or null) \(.*\)$/.exec(note) ?? [];
    if (name === undefined || type === undefined) return mentionedOr(context, note);
    const where = { read: events.map((event) => `EVENT ${event} ${names}`), silent: 'read' } as const;
    return read(note, fieldProblems(context.operations, { ...emptyField(name), ...typesOf(type) }, where));
  });
  return [read(row.text, problems), ...others];
};

const columnRow = (context: Context, row: Row): Outcome[] => {
  const { Column: name = '', Type: type = '', Required: need = '' } = row.cells;
  return [read(row.text, context.columnProblems({ name, type, need, example: spansOf(row.cells.Meaning ?? '') }))];
};

const endpointRow = (context: Context, row: Row): Outcome[] => {
  const { Method: methods = '', Path: path = '', Payload: payload = '', Response: response = '' } = row.cells;
  const keys = endpointsIn(methods, path).map((one) => `${one.method} ${one.path}`);
  // The object storage is not part of the API.
  if (keys.length === 0 || path.includes('{upload_url}')) return [unread(row.text)];
  const missing = keys.filter((key) => !context.operations.has(key));
  // A path in words may name the field that the request writes.
  const [object = '', name] = /`(\w+)\.(\w+)`/.exec(path)?.slice(1) ?? [];
  const untaken = keys.filter(
    (key) => name !== undefined && !written(context.operations, `${key} ${object}`)?.properties?.[name],
  );
  const scoped = { ...context, keys, section: row.section };
  return [
    read(row.text, [
      ...missing.map((key) => `${key} is not served`),
      ...untaken.map((key) => `${key} does not take ${object}.${name}`),
    ]),
    ...readPayload(scoped, payload),
    ...readResponse(scoped, response),
  ];
};

const errorRow = (context: Context, row: Row): Outcome[] => {
  const { Situation: situation = '', Response: response = '' } = row.cells;
  const known = errorRows[situation];
  if (!known) return [unread(row.text)];
  const [shown, keys] = known;
  const [, status = '400'] = /^(\d{3})\b/.exec(response) ?? [];
  const isRead = /^\d{3}|^validation error$|^rejected$|^error keyed by field/.test(response);
  const header = /header `([\w-]+)`/.exec(response)?.[1];
  const quoted = /'([^']+\.)'/.exec(response)?.[1];
  const problems = (keys === 'all' ? [...context.operations.keys()] : keys).flatMap((key) => {
    const operation = context.operations.get(key);
    if (key.startsWith('EVENT')) return [];
    const answer = operation?.responses[status];
    if (!answer) return [`${key} does not declare ${status}`];
    const hasHeader = header === undefined || Object.keys(answer.headers ?? {}).includes(header);
    return hasHeader ? [] : [`${key}: ${status} has no header ${header}`];
  });
  if (Number(status) !== shown) problems.push(`the answer is ${shown}, not ${status}`);
  if (quoted !== undefined && !context.messages.includes(quoted)) problems.push(`no refusal says '${quoted}'`);
  for (const span of spansOf(response.replace(/header `[\w-]+`/, ''))) {
    if (!context.mentions(`\`${span}\``)) problems.push(`${span} is not known`);
  }
  return [isRead ? read(row.text, problems) : unread(row.text)];
};

const limitRow = (context: Context, row: Row): Outcome[] => {
  const { Limit: limit = '', Value: value = '' } = row.cells;
  const actual = context.limits[limit];
  if (!actual) return [unread(row.text)];
  const numbers = (value.match(/\d[\d,]*/g) ?? []).map((one) => Number(one.replaceAll(',', '')));
  const names = value.match(/[a-z]+_[a-z_]+/g) ?? [];
  const problems = String(numbers) === String(actual) ? [] : [`the sandbox has ${actual}, not ${numbers}`];
  return [
    read(row.text, [
      ...problems,
      ...names.flatMap((name) => (context.mentions(`\`${name}\``) ? [] : [`${name} is not known`])),
    ]),
  ];
};

/** Compares a transition: the section has its statuses as values, and a body accepts the status that it sends. */
const transitionRow = (context: Context, row: Row): Outcome[] => {
  const { From: from = '', 'Moved by': moved = '', To: to = '' } = row.cells;
  const sent = /^POST update_status `\{status: (\d+)\}`$/.exec(moved)?.[1];
  if (sent !== undefined) {
    const body = written(context.operations, 'POST /consultation/{id}/update_status/')?.properties?.status;
    const unknown = [from, to].filter((status) => !context.statuses.has(status));
    const isTaken = body && accepts(body, Number(sent)) && to.startsWith(`${sent} `);
    return [
      read(row.text, [
        ...unknown.map((name) => `${name} is no status`),
        ...(isTaken ? [] : [`update_status does not take ${sent}`]),
      ]),
    ];
  }
  const [, name = '', value = ''] = /\(`(\w+)` (\d+)\)$/.exec(to) ?? [];
  const action = /^POST (\w+)$/.exec(moved)?.[1];
  if (name !== '' && action !== undefined) {
    const [record] = answered(context.operations, `POST /order/{id}/${action}/`);
    const schema = record?.properties?.[name];
    return [
      read(row.text, schema && accepts(schema, Number(value)) ? [] : [`${action} does not answer ${name} ${value}`]),
    ];
  }
  return [mentionedOr(context, row.text)];
};

const eventNameRow = (context: Context, row: Row): Outcome[] =>
  answersOf(context.operations.get(`EVENT ${row.cells.Event}`)).length > 0
    ? [read(row.text)]
    : [read(row.text, [`no event ${row.cells.Event} is sent`])];

/** The readers of each table's rows, by the table's headers. */
const tables: Record<string, (context: Context, row: Row) => Outcome[]> = {
  'Field | Type | Notes': (context, row) => compareRow(context, row, row.cells.Notes ?? '', placeOf(row)),
  'Field | Type | Required | Rules': (context, row) => {
    const { Required: need = '', Rules: rules = '' } = row.cells;
    const either = /^one of (\w+) or (\w+)$/.exec(need)?.slice(1);
    const isKnown = required[need] !== undefined || either?.every((name) => context.mentions(`\`${name}\``));
    if (!isKnown) return [unread(row.text)];
    return compareRow(context, row, `${required[need] ?? 'optional'}; ${rules}`, placeOf(row));
  },
  'Field | Applies to | Values': itemRow,
  'Record | Fields': recordRow,
  'Field | Notes': settingsRow,
  'Field | Type | Optional': eventRow,
  'Field | Type | Optional | Meaning': eventRow,
  'Column | Type | Required | Meaning': columnRow,
  'Method | Path | Payload | Response': endpointRow,
  'Situation | Response': errorRow,
  'Limit | Value': limitRow,
  'Event | Emitted when': eventNameRow,
  'From | Moved by | Condition | To | Other effects': transitionRow,
  'Moved by | To | Event': transitionRow,
};

export const readRow = (context: Context, row: Row): Outcome[] =>
  tables[row.table]?.(context, row) ?? [unread(row.text)];
