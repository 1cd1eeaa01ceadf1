// practice-api: Phone number; Endpoints: Clients, phone numbers, custom fields.
// Choices of the sandbox: create answers 201. The default of `type_code` is 1 Mobile. Spaces and hyphens of a number are
// removed. One number is read at /phonenumber/{id}/.
import { z } from 'zod';
import { code, codeInput, phoneTypes } from '../http/codes.ts';
import { answer, id, says, url } from '../http/fields.ts';
import { idFilter, listRoute } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { pathId, type RouteSpec, route } from '../http/route.ts';
import { NotFound } from '../records.ts';
import type { PhoneNumber } from '../state/people.ts';
import { phoneNumberRecord } from '../wire/people.ts';

const section = 'Clients, phone numbers, custom fields';
const permission = 'General: Patients and clients';
const path = 'phonenumber/';
const wrong = 'Enter a phone number in the international format, for example +358401234567.';

const record = answer({
  ...{ id: id(), url: url(), client: url(), phone_number: z.string(), type_code: code(phoneTypes) },
});

const body = z.object({
  client: reference('client'),
  phone_number: z.string({ error: says(wrong) }).regex(/^\+[1-9](?:[ -]?\d){6,14}$/, wrong),
  type_code: codeInput(phoneTypes).optional(),
});

export const phoneNumberRoutes: RouteSpec[] = [
  listRoute<PhoneNumber>({
    ...{ path, action: 'phonenumber.list', summary: 'Phone numbers of clients', section, permission, record },
    table: ({ clinic }) => clinic.people.phoneNumbers,
    filters: {
      ...idFilter,
      client: { kind: { record: 'client' }, operators: ['is'], value: ({ client }) => client },
    },
    wire: phoneNumberRecord,
    group: 'client',
  }),
  route({
    ...{ method: 'GET', path: `${path}:id/`, action: 'phonenumber.retrieve', section, permission },
    summary: 'One phone number',
    answers: { 200: record },
    handle: (request) => {
      const number = request.clinic.people.phoneNumbers.get(pathId(request));
      if (!number) throw new NotFound();
      return { status: 200, body: phoneNumberRecord(request, number) };
    },
  }),
  route({
    ...{ method: 'POST', path, action: 'phonenumber.create', summary: 'Add a phone number', section, permission },
    body,
    answers: { 201: record },
    handle: (request) => {
      const { clinic, body } = request;
      const number = clinic.insert(clinic.people.phoneNumbers, {
        client: body.client,
        phone_number: body.phone_number.replace(/[ -]/g, ''),
        type_code: body.type_code ?? 1,
      });
      return { status: 201, body: phoneNumberRecord(request, number) };
    },
  }),
];
