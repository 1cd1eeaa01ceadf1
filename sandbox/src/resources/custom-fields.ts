// practice-api: Custom fields; Endpoints: Clients, phone numbers, custom fields.
// Choices of the sandbox: a definition has the keys id, label, data_type, model and options; a value has id, field_id,
// name and value. Writing the first value of a field on a record answers 201; replacing a value answers 200. An option
// is identified by its id; its name comes from the definition. An empty value is stored as an empty value. Both lists
// have pages.
import type { z } from 'zod';
import { fieldValues, setFieldValue } from '../custom-fields.ts';
import { envelope, idFilter, list, listQuery, listRoute } from '../http/listing.ts';
import { customFieldAnswer, fieldEntry, fieldValueAnswer } from '../http/people-fields.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { NotFound } from '../records.ts';
import type { CustomField, CustomFieldValue } from '../state/people.ts';
import { customFieldRecord, fieldValueRecord } from '../wire/people.ts';

const section = 'Clients, phone numbers, custom fields';
const permission = 'General: Patients and clients';

/** The id of the client or patient in the path. Throws NotFound. */
const ownerOf = (request: ApiRequest, model: CustomField['model']): number => {
  const { clinic } = request;
  const owner = (model === 'client' ? clinic.clients : clinic.registers.patients).get(pathId(request));
  if (!owner) throw new NotFound();
  return owner.id;
};

const valueRoutes = (model: CustomField['model']): RouteSpec[] => {
  const base = { path: `${model}/:id/custom_field_values/`, section, permission } as const;
  return [
    route({
      ...{ method: 'GET', ...base, action: `${model}_custom_field_values.list` },
      summary: `Values of one ${model}'s custom fields`,
      query: listQuery(idFilter),
      answers: { 200: envelope(fieldValueAnswer) },
      handle: (request) => {
        const owner = ownerOf(request, model);
        return list<CustomFieldValue>(request, fieldValues(request.clinic, model), {
          filters: idFilter,
          about: (value) => value.owner === owner,
          wire: (value) => fieldValueRecord(request.clinic, value),
        });
      },
    }),
    route({
      ...{ method: 'POST', ...base, action: `${model}_custom_field_values.create` },
      summary: `Write one value: the first of the field on this ${model}, or in place of the one it has`,
      body: fieldEntry,
      answers: { 200: fieldValueAnswer, 201: fieldValueAnswer },
      handle: (request) => {
        const { clinic } = request;
        const { stored, isNew } = setFieldValue(clinic, model, ownerOf(request, model), request.body);
        return { status: isNew ? 201 : 200, body: fieldValueRecord(clinic, stored) };
      },
    }),
  ];
};

export const customFieldRoutes: RouteSpec[] = [
  listRoute<CustomField>({
    ...{ path: 'custom_fields/', action: 'custom_fields.list', section, permission },
    summary: 'Definitions of custom fields',
    record: customFieldAnswer as z.ZodType,
    table: ({ clinic }) => clinic.people.customFields,
    filters: idFilter,
    wire: (_request, field) => customFieldRecord(field),
  }),
  ...valueRoutes('client'),
  ...valueRoutes('patient'),
];
