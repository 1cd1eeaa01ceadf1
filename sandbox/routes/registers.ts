// practice-api: Accounting report, account number, alternative payer, alternative pricing; Client (list).
import type { FilterFields } from '../filters.ts';
import { type ApiRequest, booleanField, decimalField, pathId, type Route, refField, textField } from '../http.ts';
import { idFilter, list, modifiedFilter } from '../listing.ts';
import {
  type AccountNumber,
  type AlternativePayer,
  type AlternativePricing,
  type Client,
  NotFound,
  type RecordBase,
  ValidationProblem,
} from '../records.ts';
import type { Table } from '../table.ts';
import type { WireRecord } from '../wire.ts';

type Fields<T> = Omit<T, keyof RecordBase>;

interface Register<T extends RecordBase> {
  name: string;
  table: (request: ApiRequest) => Table<T>;
  wire: (request: ApiRequest, record: T) => WireRecord;
  /** The record's fields from a body; fields not sent come from `current`. */
  read?: (request: ApiRequest, current: Fields<T> | null) => Fields<T>;
  /** An existing record that a create request returns instead of adding another. */
  existing?: (request: ApiRequest, fields: Fields<T>) => T | undefined;
  canDelete?: boolean;
}

const recordOf = <T extends RecordBase>(request: ApiRequest, table: Table<T>): T => {
  const record = table.get(pathId(request));
  if (!record) throw new NotFound();
  return record;
};

/** Routes for list and retrieve, and for create, update and delete if the register has them. */
const routesOf = <T extends RecordBase>(register: Register<T>): Route[] => {
  const { name, table, wire, read, existing } = register;
  const one = `${name}/:id/`;
  const routes: Route[] = [
    {
      method: 'GET',
      path: `${name}/`,
      action: `${name}.list`,
      handle: (request) =>
        list(request, table(request), {
          filters: idFilter as FilterFields<T>,
          wire: (record) => wire(request, record),
        }),
    },
    {
      method: 'GET',
      path: one,
      action: `${name}.retrieve`,
      handle: (request) => ({ status: 200, body: wire(request, recordOf(request, table(request))) }),
    },
  ];
  if (!read) return routes;
  const update = (isPartial: boolean) => (request: ApiRequest) => {
    const record = recordOf(request, table(request));
    const fields = read(request, isPartial ? record : null);
    request.clinic.update(table(request), record, fields as unknown as Partial<T>);
    return { status: 200, body: wire(request, record) };
  };
  routes.push(
    {
      method: 'POST',
      path: `${name}/`,
      action: `${name}.create`,
      handle: (request) => {
        const fields = read(request, null);
        const record = existing?.(request, fields) ?? request.clinic.insert<T>(table(request), fields);
        return { status: 201, body: wire(request, record) };
      },
    },
    { method: 'PUT', path: one, action: `${name}.update`, handle: update(false) },
    { method: 'PATCH', path: one, action: `${name}.partial_update`, handle: update(true) },
  );
  if (!register.canDelete) return routes;
  routes.push({
    method: 'DELETE',
    path: one,
    action: `${name}.destroy`,
    handle: (request) => {
      table(request).delete(recordOf(request, table(request)).id);
      return { status: 204 };
    },
  });
  return routes;
};

const accountNumbers: Register<AccountNumber> = {
  name: 'accountnumber',
  table: (request) => request.clinic.accountNumbers,
  wire: (request, account) => request.wire.accountNumber(account),
  read: ({ body, clinic }, current) => {
    let department = current?.department ?? null;
    if (body.department !== undefined) department = body.department ? refField(body, 'department') : null;
    if (department !== null && !clinic.departments.has(department)) {
      throw new ValidationProblem('department', 'Invalid hyperlink - Object does not exist.');
    }
    return {
      number: textField(body, 'number', current?.number),
      description: textField(body, 'description', current?.description ?? ''),
      department,
      archived: booleanField(body, 'archived', current?.archived ?? false),
    };
  },
  // The same number, description and department: that record is returned, and unarchived.
  existing: ({ clinic }, fields) => {
    const same = clinic.accountNumbers
      .all()
      .find(
        (account) =>
          account.number === fields.number &&
          account.description === fields.description &&
          account.department === fields.department,
      );
    return same?.archived ? clinic.update(clinic.accountNumbers, same, { archived: false }) : same;
  },
};

const alternativePayers: Register<AlternativePayer> = {
  name: 'alternative_payer',
  table: (request) => request.clinic.alternativePayers,
  wire: (request, payer) => request.wire.alternativePayer(payer),
  read: ({ body }, current) => ({
    name: textField(body, 'name', current?.name),
    organization_name: textField(body, 'organization_name', current?.organization_name ?? ''),
    vat_number: textField(body, 'vat_number', current?.vat_number ?? ''),
    street_address: textField(body, 'street_address', current?.street_address ?? ''),
    zip_code: textField(body, 'zip_code', current?.zip_code ?? ''),
    city: textField(body, 'city', current?.city ?? ''),
    country: textField(body, 'country', current?.country ?? ''),
    archived: booleanField(body, 'archived', current?.archived ?? false),
  }),
  canDelete: true,
};

const alternativePricings: Register<AlternativePricing> = {
  name: 'alternativepricing',
  table: (request) => request.clinic.alternativePricings,
  wire: (request, pricing) => request.wire.alternativePricing(pricing),
  read: ({ body }, current) => ({
    name: textField(body, 'name', current?.name),
    percentage: body.percentage === undefined ? (current?.percentage ?? '0.00') : decimalField(body, 'percentage', 2),
    archived: booleanField(body, 'archived', current?.archived ?? false),
  }),
  canDelete: true,
};

const clientFilters: FilterFields<Client> = {
  ...idFilter,
  ...modifiedFilter,
  firstname: { kind: 'text', operators: ['icontains'], value: (client) => client.firstname },
  lastname: { kind: 'text', operators: ['icontains'], value: (client) => client.lastname },
  organization_name: { kind: 'text', operators: ['icontains'], value: (client) => client.organization_name },
  email: { kind: 'text', operators: ['is'], value: (client) => client.email },
  archived: { kind: 'boolean', operators: ['is'], value: (client) => client.archived },
};

export const registerRoutes: Route[] = [
  ...routesOf({
    name: 'accountingreport',
    table: (request) => request.clinic.accountingReports,
    wire: (request, report) => request.wire.accountingReport(report),
  }),
  ...routesOf(accountNumbers),
  ...routesOf(alternativePayers),
  ...routesOf(alternativePricings),
  {
    method: 'GET',
    path: 'client/',
    action: 'client.list',
    handle: (request) =>
      list(request, request.clinic.clients, {
        filters: clientFilters,
        wire: (client) => request.wire.client(client),
        orFields: ['firstname', 'lastname', 'organization_name'],
      }),
  },
];
