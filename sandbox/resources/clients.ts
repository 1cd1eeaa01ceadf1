// practice-api: Client; Endpoints: Clients, phone numbers, custom fields.
import { z } from 'zod';
import { answer, id, time, url } from '../http/fields.ts';
import { idFilter, listRoute, modifiedFilter } from '../http/listing.ts';
import type { RouteSpec } from '../http/route.ts';
import type { Client } from '../records.ts';

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
  customer_type: z.literal([0, 1, 2, 3, 4]),
  no_sms: z.boolean(),
  no_email: z.boolean(),
  archived: z.boolean(),
  modified: time(),
  fields_rel: z.array(z.unknown()),
});

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
      archived: { kind: 'boolean', operators: ['is'], value: (client) => client.archived },
    },
    wire: ({ wire }, client) => wire.client(client),
    orFields: ['firstname', 'lastname', 'organization_name'],
  }),
];
