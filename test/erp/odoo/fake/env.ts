// The environment of one request: its user, company and language, with the operations that every model has.

import type { FakeCore } from './core.ts';
import { testOf } from './domain.ts';
import { keyError, missingError, valueError } from './errors.ts';
import { checkAccess, checkRows, ruleOf } from './rights.ts';
import type { Field, Model, OdooVersion } from './schema.ts';
import type { Json, Row, Store } from './store.ts';
import { speak } from './words.ts';

export type Values = Record<string, Json>;
export type Context = Record<string, Json>;

const hidden = new Set(['password']);
const monetary = new Set(['monetary', 'float']);

/** A number that Odoo writes with a decimal point. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export interface SearchOptions {
  order?: string | null;
  limit?: number | null;
  offset?: number;
}

export class Env {
  readonly core: FakeCore;
  readonly user: number;
  readonly context: Context;
  /** True if rights and companies are not checked, as in Odoo's internal code. */
  readonly isSuper: boolean;

  constructor(core: FakeCore, user: number, context: Context = {}, isSuper = false) {
    Object.assign(this, { core, user, context, isSuper });
    this.core = core;
    this.user = user;
    this.context = context;
    this.isSuper = isSuper;
  }

  get store(): Store {
    return this.core.store;
  }

  get version(): OdooVersion {
    return this.core.version;
  }

  sudo(context: Context = this.context): Env {
    return new Env(this.core, this.user, context, true);
  }

  with(context: Context): Env {
    return new Env(this.core, this.user, { ...this.context, ...context }, this.isSuper);
  }

  get #userRow(): Row {
    return this.store.get('res.users', this.user) as Row;
  }

  /** The companies whose records are visible: those in the context, or else all of the user's. */
  get companies(): number[] {
    const allowed = this.context.allowed_company_ids;
    return Array.isArray(allowed) && allowed.length > 0
      ? (allowed as number[])
      : (this.#userRow.company_ids as number[]);
  }

  /** The company of new records. */
  get company(): number {
    const allowed = this.context.allowed_company_ids;
    return Array.isArray(allowed) && allowed.length > 0 ? (allowed[0] as number) : (this.#userRow.company_id as number);
  }

  /** Translates a text into the language of the context, or else of the user. */
  say(text: string, ...values: (string | number)[]): string {
    return speak(this, text, values);
  }

  get userLanguage(): string {
    const partner = this.store.get('res.partner', this.#userRow.partner_id as number);
    return typeof partner?.lang === 'string' ? partner.lang : 'en_US';
  }

  modelOf(name: string): Model {
    const model = this.core.schema.get(name);
    if (model === undefined) throw new Error(`no model ${name}`);
    return model;
  }

  fieldOf(model: string, name: string): Field {
    const field = this.modelOf(model).fields.get(name);
    if (field === undefined) {
      const place = this.version === 19 ? `on '${model}'` : `on model '${model}'`;
      throw valueError(`Invalid field '${name}' ${place}`);
    }
    return field;
  }

  /** The value of a row's field: `false` if it is empty, ids for relations. */
  value(model: string, row: Row, name: string): Json {
    if (name === 'id') return row.id;
    const field = this.fieldOf(model, name);
    if (field.related !== null) return this.#follow(model, row, field.related);
    const computed = this.core.computed(model, name);
    if (computed !== null) return computed(this, row);
    if (field.type === 'one2many') {
      const { relation, inverse } = field;
      const rows = this.store.rows(relation ?? '').filter((other) => other[inverse ?? ''] === row.id);
      return rows.filter(this.core.inverseFilter(model, name)).map(({ id }) => id);
    }
    const value = row[name];
    if (value !== undefined) return value;
    return field.type === 'many2many' ? [] : monetary.has(field.type) || field.type === 'integer' ? 0 : false;
  }

  #follow(model: string, row: Row, path: string): Json {
    const [name = '', ...rest] = path.split('.');
    const value = this.value(model, row, name);
    if (rest.length === 0) return value;
    const { relation } = this.fieldOf(model, name);
    const other = typeof value === 'number' ? this.store.get(relation ?? '', value) : undefined;
    return other === undefined ? false : this.#follow(relation ?? '', other, rest.join('.'));
  }

  /** The rows that a relation of a row refers to. */
  related(model: string, row: Row, field: Field): Row[] {
    const value = this.value(model, row, field.name);
    const ids = Array.isArray(value) ? (value as number[]) : typeof value === 'number' ? [value] : [];
    return ids.flatMap((id) => this.store.get(field.relation ?? '', id) ?? []);
  }

  nameOf(model: string, id: number): string {
    const row = this.store.get(model, id);
    return row === undefined ? '' : this.core.displayName(this, model, row);
  }

  search(model: string, domain: Json, { order, limit, offset = 0 }: SearchOptions = {}): number[] {
    checkAccess(this, model, 'read');
    const test = testOf(this, model, domain);
    const rule = ruleOf(this, model);
    const isActive = this.#activeTest(model, domain);
    const rows = this.store.rows(model).filter((row) => isActive(row) && rule(row) && test(row));
    const sorted = this.#sorted(model, rows, order);
    return sorted.slice(offset, limit ? offset + limit : undefined).map(({ id }) => id);
  }

  #activeTest(model: string, domain: Json): (row: Row) => boolean {
    const names = JSON.stringify(domain).includes('"active"');
    if (!this.modelOf(model).fields.has('active') || names || this.context.active_test === false) return () => true;
    return ({ active }) => active !== false;
  }

  #sorted(model: string, rows: Row[], order: string | null | undefined): Row[] {
    const parts = (order || this.modelOf(model).order).split(',').map((part) => {
      const [name = '', direction = 'asc'] = part.trim().split(/\s+/);
      if (!this.modelOf(model).fields.has(name)) throw valueError(`Invalid field '${name}' on model '${model}'`);
      return { name, isDown: direction.toLowerCase() === 'desc' };
    });
    return rows.toSorted((a, b) => {
      for (const { name, isDown } of parts) {
        const [one, other] = [this.value(model, a, name), this.value(model, b, name)] as [never, never];
        if (one === other) continue;
        // PostgreSQL sorts empty values last, and first in descending order.
        const isBefore = one === false ? false : other === false ? true : one < other;
        return isBefore !== isDown ? -1 : 1;
      }
      return a.id - b.id;
    });
  }

  /** The rows that exist and that the user may read. Deleted rows are left out. */
  browse(model: string, ids: readonly number[], operation: 'read' | 'write' | 'unlink'): Row[] {
    checkAccess(this, model, operation);
    const rows = ids.flatMap((id) => {
      const row = this.store.get(model, id);
      if (row === undefined && operation !== 'read') throw this.gone(model, id);
      return row ?? [];
    });
    checkRows(this, model, rows, operation);
    return rows;
  }

  gone(model: string, id: number): Error {
    const text = this.say('Record does not exist or has been deleted.');
    return missingError(`${text}\n(Record: ${model}(${id},), User: ${this.user})`);
  }

  read(
    model: string,
    ids: readonly number[],
    fields: readonly string[] | null,
    isPlain = false,
  ): Record<string, unknown>[] {
    const names = fields?.length ? fields : [...this.modelOf(model).fields.keys()];
    const specs = names.map((name) => this.fieldOf(model, name));
    return this.browse(model, ids, 'read').map((row) => {
      const record: Record<string, unknown> = { id: row.id };
      for (const field of specs) record[field.name] = this.#onWire(model, row, field, isPlain);
      return record;
    });
  }

  #onWire(model: string, row: Row, field: Field, isPlain: boolean): unknown {
    if (hidden.has(field.name)) return '';
    const value = this.value(model, row, field.name);
    if (monetary.has(field.type)) return new Float(value as number);
    if (field.type !== 'many2one' || isPlain || typeof value !== 'number') return value;
    return [value, this.nameOf(field.relation ?? '', value)];
  }

  create(model: string, list: readonly Values[]): number[] {
    checkAccess(this, model, 'create');
    for (const values of list) {
      for (const name of Object.keys(values)) {
        if (!this.modelOf(model).fields.has(name)) {
          const place = this.version === 19 ? `in '${model}'` : `on model '${model}'`;
          throw valueError(`Invalid field '${name}' ${place}`);
        }
      }
    }
    const make = (values: readonly Values[]) => values.map((one) => this.#insert(model, one));
    const rules = this.core.rulesOf(model);
    const ids = rules?.create ? rules.create(this, list, make) : make(list);
    checkRows(
      this,
      model,
      ids.flatMap((id) => this.store.get(model, id) ?? []),
      'create',
    );
    return ids;
  }

  #insert(model: string, values: Values): number {
    const id = this.store.nextId(model);
    const at = this.core.nowText();
    const { fields } = this.modelOf(model);
    const log = fields.has('write_date') ? { write_date: at, write_uid: this.user } : {};
    const full = { ...this.core.defaultsOf(this, model), ...values };
    for (const field of fields.values()) {
      const value = full[field.name];
      const isMissing = value === undefined || value === false || value === null || value === '';
      if (
        field.required &&
        isMissing &&
        !monetary.has(field.type) &&
        field.type !== 'integer' &&
        field.type !== 'boolean'
      ) {
        throw this.core.missingRequired(this, model, field);
      }
    }
    const empty: Values = {};
    for (const { name, type, isStored } of fields.values()) {
      if (isStored && type === 'many2many') empty[name] = [];
      else if (isStored && (monetary.has(type) || type === 'integer')) empty[name] = 0;
    }
    const own = { id, create_date: at, create_uid: this.user, ...log };
    this.store.put(model, { ...empty, ...own, ...this.#plain(model, full, null) });
    this.#applyCommands(model, id, full);
    return id;
  }

  write(model: string, ids: readonly number[], values: Values): void {
    const rows = this.browse(model, ids, 'write');
    for (const name of Object.keys(values)) {
      if (!this.modelOf(model).fields.has(name)) throw keyError(name);
    }
    const next = (some: readonly number[], vals: Values) => {
      for (const id of some) this.update(model, id, vals);
    };
    const rules = this.core.rulesOf(model);
    const mine = rows.map(({ id }) => id);
    if (rules?.write) rules.write(this, mine, values, next);
    else next(mine, values);
    checkRows(
      this,
      model,
      mine.flatMap((id) => this.store.get(model, id) ?? []),
      'write',
    );
  }

  /** Changes a row without the rules of its model. */
  update(model: string, id: number, values: Values): void {
    const row = this.store.get(model, id);
    if (row === undefined) throw this.gone(model, id);
    this.store.put(model, { ...row, ...this.#plain(model, values, row) });
    this.touch(model, id);
    this.#applyCommands(model, id, values);
  }

  touch(model: string, id: number): void {
    const row = this.store.get(model, id);
    if (row === undefined || !this.modelOf(model).fields.has('write_date')) return;
    this.store.put(model, { ...row, write_date: this.core.nowText(), write_uid: this.user });
  }

  /** Converts values to the form of a row. Lines of a one2many become separate rows. */
  #plain(model: string, values: Values, row: Row | null): Values {
    const plain: Values = {};
    for (const [name, value] of Object.entries(values)) {
      const field = this.fieldOf(model, name);
      if (field.type === 'one2many') continue;
      if (field.type === 'many2many') plain[name] = linked((row?.[name] ?? []) as number[], value);
      else if (field.type === 'monetary') plain[name] = cents(value);
      else if (field.type === 'float') plain[name] = Number(value);
      else if (field.type !== 'boolean' && (value === null || value === '')) plain[name] = false;
      else plain[name] = value;
    }
    return plain;
  }

  #applyCommands(model: string, id: number, values: Values): void {
    for (const [name, value] of Object.entries(values)) {
      const field = this.fieldOf(model, name);
      if (field.type !== 'one2many' || !Array.isArray(value)) continue;
      const { relation, inverse } = field as { relation: string; inverse: string };
      const extra = this.core.inverseValues(model, name);
      for (const command of value as [number, number, Values][]) {
        if (command[0] === 0) this.create(relation, [{ ...command[2], ...extra, [inverse]: id }]);
        else if (command[0] === 1) this.write(relation, [command[1]], command[2]);
        else if (command[0] === 2 || command[0] === 3) this.unlink(relation, [command[1]]);
        else if (command[0] === 5) {
          const rows = this.store.rows(relation).filter((row) => row[inverse] === id);
          this.unlink(
            relation,
            rows.map((row) => row.id),
          );
        }
      }
    }
  }

  unlink(model: string, ids: readonly number[]): void {
    const rows = this.browse(model, ids, 'unlink');
    const next = (some: readonly number[]) => {
      for (const id of some) this.remove(model, id);
    };
    const rules = this.core.rulesOf(model);
    const mine = rows.map(({ id }) => id);
    if (rules?.unlink) rules.unlink(this, mine, next);
    else next(mine);
  }

  /** Removes a row and its external ids. */
  remove(model: string, id: number): void {
    this.store.remove(model, id);
    for (const data of this.store.rows('ir.model.data')) {
      if (data.model === model && data.res_id === id) this.store.remove('ir.model.data', data.id);
    }
  }
}

/** The linked ids after Odoo’s link, unlink and replace commands for a many2many field. */
function linked(before: readonly number[], value: Json): number[] {
  const ids = new Set(before);
  for (const command of (Array.isArray(value) ? value : []) as [number, number, number[]][]) {
    if (typeof command === 'number') ids.add(command);
    else if (command[0] === 4) ids.add(command[1]);
    else if (command[0] === 3 || command[0] === 2) ids.delete(command[1]);
    else if (command[0] === 5) ids.clear();
    else if (command[0] === 6) {
      ids.clear();
      for (const id of command[2]) ids.add(id);
    }
  }
  return [...ids];
}

export function cents(value: Json): number {
  return Math.round(Number(value) * 100 + (Number(value) < 0 ? -1e-6 : 1e-6)) / 100 || 0;
}
