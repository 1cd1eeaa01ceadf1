// practice-api: Consultation items; Endpoints: Consultations. Choices of the sandbox: `usage_type` and `usage_size` are
// optional; their default is null. A quantity is above 0; the answer has the multiplied quantity. The item must be of
// the path's kind, and its patients must be in the consultation. A finalized consultation refuses further items. The
// lists of one kind have pages.
import { z } from 'zod';
import { addItem, consultationOf } from '../care.ts';
import { code, codeInput, inWords, itemTypeCodes, usageSizes, usageTypes } from '../http/codes.ts';
import { amount, answer, blankable, boolean, decimal, id, optionalText, time, url } from '../http/fields.ts';
import type { FilterFields } from '../http/filters.ts';
import { envelope, idFilter, list, listQuery, listRoute, modifiedFilter } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { ValidationProblem } from '../records.ts';
import type { ConsultationItem } from '../state/care.ts';
import { itemTypes } from '../state/registers.ts';
import { wireConsultationItem } from '../wire/care.ts';

const section = 'Consultations';
const permission = 'General: Consultations';

const record = answer({
  id: id(),
  url: url(),
  created: time(),
  modified: time(),
  consultation: url(),
  type_code: code(itemTypeCodes),
  patients: z.array(url()),
  item: url(),
  quantity: amount(),
  vat_percentage: amount(),
  usage_type: code(usageTypes).nullable(),
  usage_size: code(usageSizes).nullable(),
  instructions: z.string(),
});

const common = {
  consultation: reference('consultation'),
  patients: z
    .array(reference('patient'), { error: 'This field is required: a list of patients.' })
    .min(1, 'This list may not be empty.')
    .max(200),
  item: reference('item'),
  quantity: decimal(4, 'aboveZero'),
  vat_percentage: decimal(2),
};
const usage = { usage_type: codeInput(usageTypes).nullish(), usage_size: codeInput(usageSizes).nullish() };

/** The four kinds of items: their paths, and the fields of their requests besides the common ones. */
const kinds = [
  ['medicines', 'medicine', itemTypes.medicine, { ...usage, instructions: optionalText().optional() }],
  ['procedures', 'procedure', itemTypes.procedure, {}],
  ['supplies', 'supply', itemTypes.supply, usage],
  ['foods', 'food', itemTypes.food, {}],
] as const;

const createQuery = z.object({
  no_multiplier: boolean().optional().describe('true: the quantity is not multiplied by the number of patients'),
});
const itemBody = z.object({ ...common, ...usage, instructions: optionalText().optional() });
type Create = ApiRequest<z.output<typeof createQuery>, z.output<typeof itemBody>>;

const create = (request: Create, typeCode: number) => {
  const { body, clinic, query, wire } = request;
  const consultation = consultationOf(clinic, pathId(request));
  const { instructions, usage_type = null, usage_size = null, ...rest } = body;
  if (body.consultation !== consultation.id) throw new ValidationProblem('consultation', 'It differs from the path.');
  const input = { ...rest, patients: [...new Set(body.patients)], usage_type, usage_size };
  const options = { typeCode, noMultiplier: query.no_multiplier ?? false };
  return {
    status: 201,
    body: wireConsultationItem(
      wire,
      addItem(clinic, consultation, { ...input, instructions: instructions ?? '' }, options),
    ),
  };
};

const flatFilters: FilterFields<ConsultationItem> = {
  ...idFilter,
  ...modifiedFilter,
  consultation: { kind: { record: 'consultation' }, operators: ['is', 'in'], value: (item) => item.consultation },
};

export const consultationItemRoutes: RouteSpec[] = [
  route({
    method: 'GET',
    path: 'consultationitem/',
    action: 'consultationitem.list',
    summary: 'Items of all consultations and kinds',
    ...{ section, permission },
    query: listQuery(flatFilters).extend({
      type_code: blankable(codeInput(itemTypeCodes)).optional().describe(inWords(itemTypeCodes)),
    }),
    answers: { 200: envelope(record) },
    handle: (request) => {
      const { clinic, query, wire } = request;
      const wanted = query.type_code ?? null;
      return list(request, clinic.care.items, {
        filters: flatFilters,
        group: 'consultation',
        about: (item) => wanted === null || item.type_code === wanted,
        wire: (item) => wireConsultationItem(wire, item),
      });
    },
  }),
  ...kinds.flatMap(([path, noun, typeCode, own]) => [
    listRoute<ConsultationItem>({
      path: `consultation/:id/${path}/`,
      action: `consultation_${path}.list`,
      summary: `Items of one consultation: ${path}`,
      ...{ section, permission, record },
      table: (request) => {
        consultationOf(request.clinic, pathId(request));
        return request.clinic.care.items;
      },
      filters: idFilter,
      about: (request, item) => item.consultation === pathId(request) && item.type_code === typeCode,
      wire: ({ wire }, item) => wireConsultationItem(wire, item),
    }),
    route({
      method: 'POST',
      path: `consultation/:id/${path}/`,
      action: `consultation_${path}.create`,
      summary: `Add a ${noun} to a consultation`,
      ...{ section, permission },
      query: createQuery,
      body: z.object({ ...common, ...own }),
      answers: { 201: record },
      handle: (request) => create(request as Create, typeCode),
    }),
  ]),
];
