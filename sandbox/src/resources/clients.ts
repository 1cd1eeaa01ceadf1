// practice-api: Client; Endpoints: Clients, phone numbers, custom fields.
// Choices of the sandbox: the names of the filters organization_name__icontains, email__is, phone_number__icontains,
// archived__is and has_living_patient__is. Create answers 201. A client needs one of its three names. The default
// country is FI. One client is read at /client/{id}/. `no_sms` and `no_email` are the communication preferences: a
// request that writes one of them makes them valid.
import { z } from 'zod';
import { code, codeInput, customerTypes } from '../http/codes.ts';
import { answer, boolean, id, optionalText, says, time, url } from '../http/fields.ts';
import { idFilter, listRoute, modifiedFilter } from '../http/listing.ts';
import { fieldEntries, fieldValueAnswer } from '../http/people-fields.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { addClient, type ClientInput, changeClient, countryCodes } from '../people.ts';
import { type Client, NotFound } from '../records.ts';
import { clientRecord } from '../wire/people.ts';

const section = 'Clients, phone numbers, custom fields';
const permission = 'General: Patients and clients';

const record = answer({
  id: id(),
  url: url(),
  firstname: z.string(),
  lastname: z.string(),
  organization_name: z.string(),
  email: z.string(),
  country: z.string(),
  customer_type: code(customerTypes),
  no_sms: z.boolean(),
  no_email: z.boolean(),
  archived: z.boolean(),
  modified: time(),
  fields_rel: z.array(fieldValueAnswer),
});

const body = z.object({
  firstname: optionalText(255).optional(),
  lastname: optionalText(255).optional(),
  organization_name: optionalText(255).optional(),
  email: z
    .string({ error: says('Enter a valid email address.') })
    .max(254)
    .regex(/^(?:[\x21-\x3f\x41-\x7e]{1,64}@[A-Za-z0-9.-]+\.[A-Za-z]{2,63})?$/, 'Enter a valid email address.')
    .optional(),
  country: z.enum(countryCodes, { error: says('Send a country code of ISO 3166-1 alpha-2, such as FI.') }).optional(),
  customer_type: codeInput(customerTypes).optional(),
  no_sms: boolean().optional(),
  no_email: boolean().optional(),
  archived: boolean().optional(),
  fields_rel: fieldEntries(),
});

const clientOf = (request: ApiRequest): Client => {
  const client = request.clinic.clients.get(pathId(request));
  if (!client) throw new NotFound();
  return client;
};

/** The fields that the request contains. */
const sent = (fields: z.output<typeof body>): ClientInput =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const one = 'client/:id/';

export const clientRoutes: RouteSpec[] = [
  listRoute<Client>({
    path: 'client/',
    action: 'client.list',
    summary: 'Clients; filter_type=or combines the name filters with OR',
    ...{ section, permission, record },
    table: ({ clinic }) => clinic.clients,
    filters: {
      ...idFilter,
      ...modifiedFilter,
      firstname: { kind: 'text', operators: ['icontains'], value: (client) => client.firstname },
      lastname: { kind: 'text', operators: ['icontains'], value: (client) => client.lastname },
      organization_name: { kind: 'text', operators: ['icontains'], value: (client) => client.organization_name },
      email: { kind: 'text', operators: ['is'], value: (client) => client.email },
      phone_number: {
        kind: 'text',
        operators: ['icontains'],
        value: ({ id }, { people }) => people.phoneNumbers.of(id).map((number) => number.phone_number),
      },
      archived: { kind: 'boolean', operators: ['is'], value: (client) => client.archived },
      has_living_patient: {
        kind: 'boolean',
        operators: ['is'],
        value: ({ id }, { registers }) =>
          registers.patients.of(id).some(({ archived, deceased }) => !archived && deceased === null),
      },
    },
    wire: clientRecord,
    orFields: ['firstname', 'lastname', 'organization_name'],
  }),
  route({
    ...{ method: 'GET', path: one, action: 'client.retrieve', summary: 'One client', section, permission },
    answers: { 200: record },
    handle: (request) => ({ status: 200, body: clientRecord(request, clientOf(request)) }),
  }),
  route({
    ...{ method: 'POST', path: 'client/', action: 'client.create', summary: 'Create a client', section, permission },
    body,
    answers: { 201: record },
    handle: (request) => ({ status: 201, body: clientRecord(request, addClient(request.clinic, sent(request.body))) }),
  }),
  route({
    ...{ method: 'PATCH', path: one, action: 'client.partial_update', section, permission },
    summary: 'Change a client; archived=true removes it from active use',
    body,
    answers: { 200: record },
    handle: (request) => {
      const changed = changeClient(request.clinic, clientOf(request), sent(request.body));
      return { status: 200, body: clientRecord(request, changed) };
    },
  }),
];
