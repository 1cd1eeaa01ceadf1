// practice-api: Unallocated payment. Writing external_info is a PATCH of the record, or (a quirk) its own sub-resource.
import type { FilterFields } from '../filters.ts';
import {
  type Answer,
  type ApiRequest,
  decimalField,
  objectField,
  pathId,
  type Route,
  refField,
  textField,
} from '../http.ts';
import { idFilter, list, modifiedFilter } from '../listing.ts';
import { dec, negated } from '../money.ts';
import { NotFound, type Prepayment, ValidationProblem } from '../records.ts';
import { paymentTypeField } from './payments.ts';

const filters: FilterFields<Prepayment> = {
  ...idFilter,
  ...modifiedFilter,
  client: { kind: 'integer', operators: ['is'], value: (prepayment) => prepayment.client },
};

export const prepaymentRoutes: Route[] = [
  {
    method: 'GET',
    path: 'unallocatedpayment/',
    action: 'unallocatedpayment.list',
    handle: (request) =>
      list(request, request.clinic.prepayments, { filters, wire: (prepayment) => request.wire.prepayment(prepayment) }),
  },
  {
    method: 'POST',
    path: 'unallocatedpayment/',
    action: 'unallocatedpayment.create',
    handle: (request) => ({ status: 201, body: request.wire.prepayment(create(request)) }),
  },
  {
    method: 'GET',
    path: 'unallocatedpayment/:id/',
    action: 'unallocatedpayment.retrieve',
    handle: (request) => ({ status: 200, body: request.wire.prepayment(shown(request)) }),
  },
  {
    method: 'PATCH',
    path: 'unallocatedpayment/:id/',
    action: 'unallocatedpayment.partial_update',
    handle: (request) => {
      if (request.quirks.externalInfo !== 'patch') return methodNotAllowed('PATCH');
      const prepayment = request.clinic.prepayment(pathId(request));
      if (request.body.external_info !== undefined) merge(request, objectField(request.body, 'external_info'));
      return { status: 200, body: request.wire.prepayment(prepayment) };
    },
  },
  {
    method: 'GET',
    path: 'unallocatedpayment/:id/external_info/',
    action: 'external_info.list',
    handle: (request) => {
      const info = subResource(request, shown(request));
      const results = info ? [info] : [];
      return { status: 200, body: { count: results.length, num_pages: 1, next: null, previous: null, results } };
    },
  },
  {
    method: 'POST',
    path: 'unallocatedpayment/:id/external_info/',
    action: 'external_info.create',
    handle: (request) => {
      const prepayment = request.clinic.prepayment(pathId(request));
      if (subResource(request, prepayment)) throw new ValidationProblem('non_field_errors', 'It exists already.');
      merge(request, objectField({ body: request.body }, 'body'));
      return { status: 201, body: subResource(request, prepayment) };
    },
  },
  {
    method: 'PATCH',
    path: 'unallocatedpayment/:id/external_info/:id/',
    action: 'external_info.partial_update',
    handle: (request) => {
      const prepayment = request.clinic.prepayment(pathId(request));
      const info = subResource(request, prepayment);
      if (!info || info.id !== request.ids[1]) throw new NotFound();
      merge(request, objectField({ body: request.body }, 'body'));
      return { status: 200, body: subResource(request, prepayment) };
    },
  },
];

export const methodNotAllowed = (method: string): Answer => ({
  status: 405,
  body: { detail: `Method "${method}" not allowed.` },
});

const create = (request: ApiRequest): Prepayment => {
  const { body, clinic } = request;
  const paid = decimalField(body, 'paid', clinic.decimals);
  const input = {
    department: refField(body, 'department'),
    client: refField(body, 'client'),
    payment_type: paymentTypeField(body),
    ...(body.description === undefined ? {} : { description: textField(body, 'description', '') }),
  };
  if (!clinic.departments.has(input.department)) {
    throw new ValidationProblem('department', 'Invalid hyperlink - Object does not exist.');
  }
  if (dec(paid).isZero()) throw new ValidationProblem('paid', 'The amount may not be zero.');
  if (dec(paid).isPositive()) return clinic.takePrepayment({ ...input, paid });
  const original = refField(body, 'refunds');
  if (!clinic.prepayments.get(original))
    throw new ValidationProblem('refunds', 'Invalid hyperlink - Object does not exist.');
  return clinic.refundPrepayment(original, negated(paid), input);
};

const shown = (request: ApiRequest): Prepayment => {
  const { clinic } = request;
  const visible = clinic.prepayments.visible(clinic.prepayment(pathId(request)), clinic.clock());
  if (!visible) throw new NotFound();
  return visible;
};

const merge = (request: ApiRequest, changes: Record<string, unknown>): void => {
  const { external_id } = changes;
  if (external_id !== undefined && external_id !== null && typeof external_id !== 'string') {
    throw new ValidationProblem('external_id', 'Not a valid string.');
  }
  request.clinic.mergeExternalInfo(pathId(request), changes);
};

/** external_info as a resource of its own, one per prepayment that has any. Only with the `subresource` quirk. */
const subResource = (request: ApiRequest, prepayment: Prepayment): Record<string, unknown> | null => {
  if (request.quirks.externalInfo !== 'subresource') throw new NotFound();
  const isEmpty = Object.values(prepayment.external_info).every((value) => value === null);
  return isEmpty ? null : { ...prepayment.external_info, id: 5_000_000 + prepayment.id };
};
