// The methods that a client may call, with the argument names that `/json/2` uses.

import { python } from './domain.ts';
import { type Context, type Env, Float, type Values } from './env.ts';
import { accessError, OdooError, userError, valueError } from './errors.ts';
import { load, recordOf } from './load.ts';
import { backToDraft, cancel, post } from './moves.ts';
import { reconcile, unreconcile } from './reconcile.ts';
import { checkAccess, groupsOf, mayAccess, type Operation, ruleOf } from './rights.ts';
import type { Json, Row } from './store.ts';

type Arguments = Record<string, Json | undefined>;

interface Method {
  /** True if the first argument is a list of record ids. */
  ofRecords: boolean;
  /** The names of the other arguments; those with `?` are optional. */
  names: string[];
  run(env: Env, model: string, ids: number[], args: Arguments): unknown;
}

const of = (ofRecords: boolean, names: string, run: Method['run']): Method => ({
  ...{ ofRecords, run },
  names: names === '' ? [] : names.split(' '),
});
const model = (names: string, run: Method['run']) => of(false, names, run);
const records = (names: string, run: Method['run']) => of(true, names, run);

const searchOptions = ({ order, limit, offset }: Arguments) => ({
  order: (order || null) as string | null,
  limit: (limit || null) as number | null,
  offset: (offset ?? 0) as number,
});

const everyModel: Record<string, Method> = {
  search: model('domain offset? limit? order?', (env, name, _, args) =>
    env.search(name, args.domain ?? [], searchOptions(args)),
  ),
  search_count: model('domain limit?', (env, name, _, { domain }) => env.search(name, domain ?? []).length),
  search_read: model('domain? fields? offset? limit? order? load?', (env, name, _, args) => {
    const fields = (args.fields ?? null) as string[] | null;
    // Odoo checks for unknown fields before it reads.
    for (const field of fields ?? []) env.fieldOf(name, field);
    return env.read(name, env.search(name, args.domain ?? [], searchOptions(args)), fields, args.load === '');
  }),
  read: records('fields? load?', (env, name, ids, { fields, load: how }) =>
    env.read(name, ids, (fields ?? null) as string[] | null, how === ''),
  ),
  create: model('vals_list', (env, name, _, { vals_list: values }) =>
    Array.isArray(values) ? env.create(name, values as Values[]) : env.create(name, [values as Values])[0],
  ),
  write: records('vals', (env, name, ids, { vals }) => {
    env.write(name, ids, vals as Values);
    return true;
  }),
  unlink: records('', (env, name, ids) => {
    env.unlink(name, ids);
    return true;
  }),
  load: model('fields data', (env, name, _, { fields, data }) =>
    load(env, name, fields as string[], data as string[][]),
  ),
  fields_get: model('allfields? attributes?', (env, name, _, { allfields, attributes }) =>
    fieldsOf(env, name, (allfields ?? []) as string[], (attributes ?? null) as string[] | null),
  ),
  check_access_rights: model('operation raise_exception?', (env, name, _, args) => {
    const operation = args.operation as Operation;
    const may = mayAccess(env, name, operation);
    if (args.raise_exception === false) return may;
    checkAccess(env, name, operation);
    return env.version === 17 ? true : null;
  }),
  get_metadata: records('', (env, name, ids) => metadataOf(env, name, ids)),
  read_group: model('domain fields groupby offset? limit? orderby? lazy?', (env, name, _, args) => {
    const [by = ''] = [args.groupby].flat() as string[];
    const sums = (args.fields as string[]).map((field) => field.split(':')[0] ?? '').filter((field) => field !== by);
    return grouped(env, name, args.domain ?? [], by).map(({ key, rows }) => ({
      ...{ [by]: key, [args.lazy === false ? '__count' : `${by}_count`]: rows.length },
      ...Object.fromEntries(sums.map((field) => [field, new Float(sumOf(env, name, rows, field))])),
      __domain: ['&', [by, '=', Array.isArray(key) ? key[0] : key], ...((args.domain ?? []) as Json[])],
    }));
  }),
};

const laterModels: Record<string, Method> = {
  has_access: records('operation', (env, name, _, { operation }) => mayAccess(env, name, operation as Operation)),
  check_access: records('operation', (env, name, _, { operation }) => {
    checkAccess(env, name, operation as Operation);
    return null;
  }),
};

const of19: Record<string, Method> = {
  formatted_read_group: model('domain groupby? aggregates? having? offset? limit? order?', (env, name, _, args) => {
    const [by = ''] = (args.groupby ?? []) as string[];
    return grouped(env, name, args.domain ?? [], by).map(({ key, rows }) => ({
      ...{ [by]: key, __extra_domain: [[by, '=', Array.isArray(key) ? key[0] : key]] },
      ...Object.fromEntries(
        ((args.aggregates ?? []) as string[]).map((aggregate) => {
          const [field = ''] = aggregate.split(':');
          return [aggregate, aggregate === '__count' ? rows.length : new Float(sumOf(env, name, rows, field))];
        }),
      ),
    }));
  }),
};

const moveMethods: Record<string, Method> = {
  action_post: records('', (env, _, ids) => post(env, ids)),
  button_draft: records('', (env, _, ids) => backToDraft(env, ids)),
  button_cancel: records('', (env, _, ids) => cancel(env, ids)),
};

const hasGroup: Method['run'] = (env, _, ids, { group_ext_id: group }) =>
  groupsOf(env, ids[0] ?? env.user).has(group as string);

const ofModel: Record<string, Record<string, Method>> = {
  'account.move': moveMethods,
  'account.move.line': {
    reconcile: records('', (env, _, ids) => reconcile(env, ids)),
    remove_move_reconcile: records('', (env, name, ids) => unreconcile(env, env.browse(name, ids, 'write'))),
  },
  'base.language.install': {
    lang_install: records('', (env, name, ids) => {
      const languages = ids.flatMap((id) => (env.store.get(name, id)?.lang_ids ?? []) as number[]);
      for (const id of languages) env.update('res.lang', id, { active: true });
      return null;
    }),
  },
  'res.users': {
    context_get: model('', (env) => ({ lang: env.userLanguage, tz: false, uid: env.user })),
  },
  'ir.model.data': {
    check_object_reference: model('module xml_id raise_on_access_error?', (env, _, __, args) => {
      const externalId = `${args.module}.${args.xml_id}`;
      const row = env.store.rows('ir.model.data').find((one) => `${one.module}.${one.name}` === externalId);
      const id = recordOf(env, externalId);
      if (row === undefined || id === null) throw valueError(`External ID not found in the system: ${externalId}`);
      // Every user finds the external id; only access to the record is checked.
      const name = row.model as string;
      checkAccess(env, name, 'read');
      const record = env.store.get(name, id);
      if (record !== undefined && ruleOf(env, name)(record)) return [name, id];
      if (args.raise_on_access_error) {
        throw accessError(`Not enough access rights on the external ID "${externalId}"`);
      }
      return [name, false];
    }),
  },
};

function methodOf(env: Env, name: string, method: string): Method | undefined {
  if (name === 'res.users' && method === 'has_group') {
    return env.version === 17 ? model('group_ext_id', hasGroup) : records('group_ext_id', hasGroup);
  }
  const own = ofModel[name]?.[method] ?? everyModel[method];
  if (own !== undefined) return own;
  if (env.version === 17) return undefined;
  return laterModels[method] ?? (env.version === 19 ? of19[method] : undefined);
}

/** Calls a method like JSON-RPC: with positional arguments, then named ones. */
export function callByPlace(
  env: Env,
  name: string,
  method: string,
  args: Json[],
  named: Record<string, Json>,
): unknown {
  if (!env.core.schema.has(name)) throw userError(`Object ${name} doesn't exist`);
  if (method.startsWith('_')) {
    const told = env.version === 19 ? `'${name}.${method}'` : method;
    throw accessError(`Private methods (such as ${told}) cannot be called remotely.`);
  }
  const found = methodOf(env, name, method);
  if (found === undefined) {
    const text =
      env.version === 19
        ? `The method '${name}.${method}' does not exist`
        : `The method '${method}' does not exist on the model '${name}'`;
    throw new OdooError('builtins.AttributeError', text);
  }
  const left = [...args];
  const ids = found.ofRecords ? idsOf(left.shift() ?? []) : [];
  const byName: Arguments = { ...named };
  for (const [at, value] of left.entries()) {
    const argument = found.names[at]?.replace('?', '');
    if (argument === undefined) throw typeError(`${name}.${method}() takes ${found.names.length} arguments`);
    byName[argument] = value;
  }
  const problem = argumentProblem(found, byName);
  if (problem !== null) throw typeError(`${name}.${method}() ${problem}`);
  return found.run(env, name, ids, byName);
}

/** Calls a method like `/json/2`: with named arguments only. */
export function callByName(env: Env, name: string, method: string, named: Record<string, Json>): unknown {
  const notFound = (text: string) => new OdooError('werkzeug.exceptions.NotFound', text);
  if (!env.core.schema.has(name)) throw notFound(`the model '${name}' does not exist`);
  if (method.startsWith('_')) {
    throw accessError(`Private methods (such as '${name}.${method}') cannot be called remotely.`);
  }
  const found = methodOf(env, name, method);
  if (found === undefined) throw notFound(`The method '${name}.${method}' does not exist`);
  const { ids = [], ...rest } = named;
  const problem = argumentProblem(found, rest);
  if (problem !== null) throw new OdooError('werkzeug.exceptions.UnprocessableEntity', problem);
  return found.run(env, name, idsOf(ids), rest);
}

function typeError(message: string): OdooError {
  return new OdooError('builtins.TypeError', message);
}

function argumentProblem({ names }: Method, args: Arguments): string | null {
  const known = new Set(names.map((name) => name.replace('?', '')));
  const missing = names.find((name) => !name.endsWith('?') && args[name] === undefined);
  if (missing !== undefined) return `missing a required argument: '${missing}'`;
  const unknown = Object.keys(args).find((name) => !known.has(name));
  return unknown === undefined ? null : `got an unexpected keyword argument '${unknown}'`;
}

function idsOf(value: Json): number[] {
  if (typeof value === 'number') return [value];
  if (Array.isArray(value) && value.every((id) => typeof id === 'number')) return value as number[];
  throw valueError(`Expected singleton or list of ids, not ${python(value)}`);
}

/** Separates the context from the other named arguments. */
export function contextIn(named: Record<string, Json>): { context: Context; rest: Record<string, Json> } {
  const { context = {}, ...rest } = named;
  return { context: (context ?? {}) as Context, rest };
}

function fieldsOf(env: Env, name: string, wanted: readonly string[], attributes: readonly string[] | null) {
  const { fields } = env.modelOf(name);
  const some = [...fields.values()].filter((field) => wanted.length === 0 || wanted.includes(field.name));
  return Object.fromEntries(
    some.map(({ name: field, type, relation, required, readonly, isStored, label }) => {
      const all: Record<string, Json> = {
        ...{ type, required, readonly, store: isStored, string: label, name: field },
        ...(relation === null ? {} : { relation }),
      };
      const told = Object.entries(all).filter(([key]) => attributes === null || attributes.includes(key));
      return [field, Object.fromEntries(told)];
    }),
  );
}

function metadataOf(env: Env, name: string, ids: number[]) {
  return env.browse(name, ids, 'read').map((row) => {
    const data = env.store.rows('ir.model.data').filter((one) => one.model === name && one.res_id === row.id);
    const xmlids = data.map((one) => ({ xmlid: `${one.module}.${one.name}`, noupdate: one.noupdate ?? false }));
    const who = (id: Json | undefined) => (typeof id === 'number' ? [id, env.nameOf('res.users', id)] : false);
    return {
      ...{ id: row.id, create_uid: who(row.create_uid), create_date: row.create_date ?? false },
      ...{ write_uid: who(row.write_uid), write_date: row.write_date ?? false },
      ...{ noupdate: xmlids[0]?.noupdate ?? false, xmlid: xmlids[0]?.xmlid ?? false, xmlids },
    };
  });
}

function grouped(env: Env, name: string, domain: Json, by: string): { key: Json; rows: Row[] }[] {
  const rows = env.search(name, domain).flatMap((id) => env.store.get(name, id) ?? []);
  const field = env.fieldOf(name, by);
  const groups = [...Map.groupBy(rows, (row) => env.value(name, row, by))];
  const told = groups.map(([value, its]) => ({
    key: field.relation !== null && typeof value === 'number' ? [value, env.nameOf(field.relation, value)] : value,
    rows: its,
  }));
  const nameIn = ({ key }: { key: Json }) => String(Array.isArray(key) ? key[1] : key);
  return told.toSorted((a, b) => (nameIn(a) < nameIn(b) ? -1 : 1));
}

function sumOf(env: Env, name: string, rows: readonly Row[], field: string): number {
  return Math.round(rows.reduce((sum, row) => sum + Number(env.value(name, row, field)), 0) * 100) / 100;
}
