// practice-api: Unallocated payment. external_info is written with a PATCH of the record, or (a quirk) as a
// sub-resource.
// Choices of the sandbox: external_info has at most 65,536 bytes of JSON in all, 1,000 values and 10 levels.
import { z } from 'zod';
import { methodNotAllowed } from '../http/answer.ts';
import { problemOf } from '../http/body.ts';
import { code, paymentTypes } from '../http/codes.ts';
import { amount, answer, id, money, optionalText, time, url } from '../http/fields.ts';
import { envelope, idFilter, listQuery, listRoute, modifiedFilter } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { dec, negated } from '../money.ts';
import { requireRefund } from '../money-rules.ts';
import { NotFound, type Prepayment, ValidationProblem } from '../records.ts';
import { paymentType } from './payments.ts';

const section = 'Invoices, payments, prepayments';
const permission = 'Financial: Invoices';

const record = answer({
  id: id(),
  url: url(),
  created: time(),
  modified: time(),
  department: url(),
  client: url(),
  payment_type: code(paymentTypes),
  paid: amount(),
  description: z.string(),
  refunds: url().nullable(),
  unused_amount: amount(),
  fully_used: z.boolean(),
  status: z.enum(['Ready', 'Pending', 'Fully used', 'Failed', 'Aborted']),
  external_info: z.looseObject({ external_id: z.string().nullable() }),
});

/** `external_id` is text; the caller defines all other keys. */
const externalInfo = z
  .looseObject({ external_id: optionalText(255).nullish() }, { error: 'Expected a dictionary of items.' })
  .superRefine((info, { addIssue }) => {
    const problem = problemOf(info, 10, 1000);
    if (problem !== null) addIssue({ code: 'custom', message: `It is ${problem}.`, input: info });
  });
const infoRecord = z.looseObject({ id: id() });

const create = (request: ApiRequest<unknown, z.output<typeof createBody>>): Prepayment => {
  const { body, clinic } = request;
  const { department, client, paid, payment_type, description } = body;
  const input = { department, client, payment_type, ...(description === undefined ? {} : { description }) };
  if (body.refunds != null) requireRefund(clinic.prepayment(body.refunds), { client, department, paid });
  if (dec(paid).isPositive()) return clinic.takePrepayment({ ...input, paid });
  if (body.refunds == null) throw new ValidationProblem('refunds', 'This field is required.');
  return clinic.refundPrepayment(body.refunds, negated(paid), input);
};

const createBody = z.object({
  department: reference('department'),
  client: reference('client'),
  payment_type: paymentType(),
  paid: money('notZero'),
  description: optionalText(1000).optional(),
  refunds: reference('unallocatedpayment').nullish(),
});

const shown = (request: ApiRequest): Prepayment => {
  const { clinic } = request;
  const visible = clinic.prepayments.visible(clinic.prepayment(pathId(request)), clinic.clock());
  if (!visible) throw new NotFound();
  return visible;
};

/** external_info as a sub-resource (quirk `subresource`): each prepayment with external_info has one. */
const subResource = (request: ApiRequest, prepayment: Prepayment): Record<string, unknown> | null => {
  if (request.quirks.externalInfo !== 'subresource') throw new NotFound();
  const isEmpty = Object.values(prepayment.external_info).every((value) => value === null);
  return isEmpty ? null : { ...prepayment.external_info, id: 5_000_000 + prepayment.id };
};

const one = 'unallocatedpayment/:id/';

export const prepaymentRoutes: RouteSpec[] = [
  listRoute<Prepayment>({
    path: 'unallocatedpayment/',
    action: 'unallocatedpayment.list',
    summary: 'Prepayments',
    ...{ section, permission, record },
    table: ({ clinic }) => clinic.prepayments,
    filters: {
      ...idFilter,
      ...modifiedFilter,
      client: { kind: { record: 'client' }, operators: ['is'], value: (prepayment) => prepayment.client },
    },
    wire: ({ wire }, prepayment) => wire.prepayment(prepayment),
  }),
  route({
    method: 'POST',
    path: 'unallocatedpayment/',
    action: 'unallocatedpayment.create',
    summary: 'Record a prepayment, or refund one',
    ...{ section, permission },
    body: createBody,
    answers: { 201: record },
    handle: (request) => ({ status: 201, body: request.wire.prepayment(create(request)) }),
  }),
  route({
    method: 'GET',
    path: one,
    action: 'unallocatedpayment.retrieve',
    summary: 'One prepayment',
    ...{ section, permission },
    answers: { 200: record },
    handle: (request) => ({ status: 200, body: request.wire.prepayment(shown(request)) }),
  }),
  route({
    method: 'PATCH',
    path: one,
    action: 'unallocatedpayment.partial_update',
    summary: "Write back the external document's id",
    ...{ section, permission },
    body: z.object({ external_info: externalInfo.optional() }),
    answers: { 200: record },
    handle: (request) => {
      const { body, clinic, quirks, wire } = request;
      if (quirks.externalInfo !== 'patch') return methodNotAllowed('PATCH');
      const prepayment = clinic.prepayment(pathId(request));
      if (body.external_info !== undefined) clinic.mergeExternalInfo(prepayment.id, body.external_info);
      return { status: 200, body: wire.prepayment(prepayment) };
    },
  }),
  route({
    method: 'GET',
    path: `${one}external_info/`,
    action: 'external_info.list',
    summary: 'external_info as a resource of its own, on installations that have it',
    ...{ section, permission },
    query: listQuery({}),
    answers: { 200: envelope(infoRecord) },
    handle: (request) => {
      if (Number(request.search.get('page') || 1) > 1) throw new NotFound();
      const info = subResource(request, shown(request));
      const results = info ? [info] : [];
      return { status: 200, body: { count: results.length, num_pages: 1, next: null, previous: null, results } };
    },
  }),
  route({
    method: 'POST',
    path: `${one}external_info/`,
    action: 'external_info.create',
    summary: 'Create external_info, on installations that have it as a resource',
    ...{ section, permission },
    body: externalInfo,
    answers: { 201: infoRecord },
    handle: (request) => {
      const prepayment = request.clinic.prepayment(pathId(request));
      if (subResource(request, prepayment)) throw new ValidationProblem('non_field_errors', 'It exists already.');
      request.clinic.mergeExternalInfo(prepayment.id, request.body);
      return { status: 201, body: subResource(request, prepayment) };
    },
  }),
  route({
    method: 'PATCH',
    path: `${one}external_info/:info_id/`,
    action: 'external_info.partial_update',
    summary: 'Change keys of external_info, on installations that have it as a resource',
    ...{ section, permission },
    body: externalInfo,
    answers: { 200: infoRecord },
    handle: (request) => {
      const prepayment = request.clinic.prepayment(pathId(request));
      const info = subResource(request, prepayment);
      if (!info || info.id !== request.ids[1]) throw new NotFound();
      request.clinic.mergeExternalInfo(prepayment.id, request.body);
      return { status: 200, body: subResource(request, prepayment) };
    },
  }),
];
