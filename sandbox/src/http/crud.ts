// The endpoints of a register: list and retrieve, and optionally create, update and delete.
import type { z } from 'zod';
import type { Permission } from '../auth.ts';
import { NotFound, type RecordBase } from '../records.ts';
import type { Table } from '../table.ts';
import type { WireRecord } from '../wire.ts';
import type { FilterFields } from './filters.ts';
import { idFilter, listRoute } from './listing.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from './route.ts';

type Fields<T> = Omit<T, keyof RecordBase>;

export interface Register<T extends RecordBase, B extends z.ZodObject> {
  /** The path of the resource, and the first part of its actions. */
  name: string;
  /** The name of one record in the OpenAPI description. */
  noun: string;
  section: string;
  permission: Permission;
  table: (request: ApiRequest) => Table<T>;
  filters?: FilterFields<T>;
  record: z.ZodType;
  wire: (request: ApiRequest, record: T) => WireRecord;
  /** The body of create and PUT; PATCH makes all its fields optional. Without it, the register is read-only. */
  body?: B;
  /** The values of fields that a create or PUT request leaves out. */
  defaults?: Partial<Fields<T>>;
  /** Finds an existing record that a create request returns instead of adding another. */
  existing?: (request: ApiRequest, fields: Fields<T>) => T | undefined;
  canDelete?: boolean;
}

const recordOf = <T extends RecordBase>(request: ApiRequest, table: Table<T>): T => {
  const record = table.get(pathId(request));
  if (!record) throw new NotFound();
  return record;
};

export const crudRoutes = <T extends RecordBase, B extends z.ZodObject>(register: Register<T, B>): RouteSpec[] => {
  const { name, noun, section, permission, table, record, wire, body, existing } = register;
  const one = `${name}/:id/`;
  const filters = register.filters ?? (idFilter as FilterFields<T>);
  const base = { section, permission };
  const routes: RouteSpec[] = [
    listRoute<T>({
      path: `${name}/`,
      action: `${name}.list`,
      summary: `All ${noun}s`,
      ...base,
      table,
      filters,
      record,
      wire,
    }),
    route({
      ...{ method: 'GET', path: one, action: `${name}.retrieve`, summary: `One ${noun}`, ...base },
      answers: { 200: record },
      handle: (request) => ({ status: 200, body: wire(request, recordOf(request, table(request))) }),
    }),
  ];
  if (body) {
    /** The fields of a request; `rest` gives those that it leaves out. */
    const fieldsOf = (request: ApiRequest, rest: Partial<Fields<T>>): Fields<T> => {
      const sent = Object.entries(request.body as object).filter(([, value]) => value !== undefined);
      return { ...rest, ...Object.fromEntries(sent) } as Fields<T>;
    };
    const update = (request: ApiRequest, isPartial: boolean) => {
      const current = recordOf(request, table(request));
      const fields = fieldsOf(request, isPartial ? {} : (register.defaults ?? {}));
      request.clinic.update(table(request), current, fields as unknown as Partial<T>);
      return { status: 200, body: wire(request, current) };
    };
    routes.push(
      route({
        ...{ method: 'POST', path: `${name}/`, action: `${name}.create`, summary: `Create one ${noun}`, ...base },
        ...{ body, form: true, answers: { 201: record } },
        handle: (request) => {
          const fields = fieldsOf(request, register.defaults ?? {});
          const created = existing?.(request, fields) ?? request.clinic.insert<T>(table(request), fields);
          return { status: 201, body: wire(request, created) };
        },
      }),
      route({
        ...{ method: 'PUT', path: one, action: `${name}.update`, summary: `Replace one ${noun}`, ...base },
        ...{ body, form: true, answers: { 200: record } },
        handle: (request) => update(request, false),
      }),
      route({
        ...{ method: 'PATCH', path: one, action: `${name}.partial_update`, summary: `Change one ${noun}`, ...base },
        ...{ body: body.partial(), form: true, answers: { 200: record } },
        handle: (request) => update(request, true),
      }),
    );
  }
  if (register.canDelete) {
    routes.push(
      route({
        ...{ method: 'DELETE', path: one, action: `${name}.destroy`, summary: `Delete one ${noun}`, ...base },
        answers: { 204: null },
        handle: (request) => {
          table(request).delete(recordOf(request, table(request)).id);
          return { status: 204 };
        },
      }),
    );
  }
  return routes;
};
