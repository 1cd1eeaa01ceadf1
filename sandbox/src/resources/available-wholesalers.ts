// practice-api: Available wholesaler; Authentication 4 and 5; Errors. Choices of the sandbox:
// `webhook_callback_url` is required. Every application with the scope reads all registrations and changes only its
// own. Deletion archives the linked credential sets and sends no event, because the receiver is deleted too.
import { z } from 'zod';
import { type Answer, forbidden } from '../http/answer.ts';
import { answer, id, optionalText, says, text, time, url } from '../http/fields.ts';
import { idFilter, listRoute, modifiedFilter } from '../http/listing.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { NotFound } from '../records.ts';
import type { AvailableWholesaler } from '../state/supply.ts';
import { checkCallback } from '../supply/callback.ts';
import { unlinkWholesalers } from '../supply/credentials.ts';
import type { WireRecord } from '../wire.ts';

const section = 'Wholesaler integration';
const scope = 'wholesaler';
const path = 'available_wholesaler/';
const one = 'available_wholesaler/:id/';

const record = answer({
  ...{ id: id(), url: url(), created: time(), modified: time() },
  ...{ name: z.string(), email: z.string().nullable(), register_number: z.string().nullable() },
  webhook_callback_url: z.string(),
});

/**
 * 16 to 128 characters of any kind. A character outside the Basic Multilingual Plane counts as one, as in JSON Schema.
 */
const salt = z
  .string({ error: says('Not a valid string.') })
  .refine((value) => [...value].length >= 16, 'Ensure this field has at least 16 characters.')
  .refine((value) => [...value].length <= 128, 'Ensure this field has no more than 128 characters.')
  .refine((value) => value.isWellFormed(), 'The characters cannot be encoded as UTF-8.')
  .meta({ minLength: 16, maxLength: 128 });

const body = z.object({
  name: text(255),
  email: optionalText(255).nullish(),
  register_number: optionalText(63).nullish(),
  webhook_callback_url: text(2000).regex(/^https?:\/\/[A-Za-z0-9.:[\]-]+([/?#][!-~]*)?$/, 'Enter a valid URL.'),
  verification_salt: salt,
});

const wired = ({ wire }: ApiRequest, available: AvailableWholesaler): WireRecord => {
  const { verification_salt, owner, ...shown } = available;
  const { created, modified } = available;
  const address = wire.ref('available_wholesaler', available.id);
  return { ...shown, url: address, created: wire.time(created), modified: wire.time(modified) };
};

const availableOf = (request: ApiRequest): AvailableWholesaler => {
  const available = request.clinic.supply.available.get(pathId(request));
  if (!available) throw new NotFound();
  return available;
};

export const notYours = (): Answer => forbidden('Token does not match this wholesaler.');

/** Runs `act` on a registration that the caller owns; answers 403 for another one. */
const own = (request: ApiRequest, act: (available: AvailableWholesaler) => Answer): Answer => {
  const available = availableOf(request);
  return available.owner === request.application.clientId ? act(available) : notYours();
};

/** A header that shows that the sandbox accepted a local address because of a setting. */
const settingOf = ({ quirks }: ApiRequest): Pick<Answer, 'headers'> =>
  quirks.loopbackCallbacks ? { headers: { 'x-sandbox-setting': 'loopbackCallbacks' } } : {};

export const availableWholesalerRoutes: RouteSpec[] = [
  listRoute<AvailableWholesaler>({
    ...{ path, action: 'available_wholesaler.list', summary: 'Available wholesalers', section, scope, record },
    table: ({ clinic }) => clinic.supply.available,
    filters: { ...idFilter, ...modifiedFilter },
    wire: wired,
  }),
  route({
    ...{
      method: 'POST',
      path,
      action: 'available_wholesaler.create',
      summary: 'Register a wholesaler',
      section,
      scope,
    },
    body,
    answers: { 201: record },
    handle: (request) => {
      const { email = null, register_number = null, ...fields } = request.body;
      checkCallback(fields.webhook_callback_url, request.quirks);
      const owner = request.application.clientId;
      const created = request.clinic.insert(request.clinic.supply.available, {
        ...fields,
        email,
        register_number,
        owner,
      });
      return { status: 201, body: wired(request, created), ...settingOf(request) };
    },
  }),
  route({
    ...{ method: 'GET', path: one, action: 'available_wholesaler.retrieve', summary: 'One wholesaler', section, scope },
    answers: { 200: record },
    handle: (request) => ({ status: 200, body: wired(request, availableOf(request)) }),
  }),
  route({
    ...{ method: 'PATCH', path: one, action: 'available_wholesaler.partial_update', section, scope },
    summary: 'Change a wholesaler; a new salt or callback URL holds from the next delivery on',
    body: body.partial(),
    answers: { 200: record },
    handle: (request) =>
      own(request, (available) => {
        const { webhook_callback_url } = request.body;
        if (webhook_callback_url !== undefined) checkCallback(webhook_callback_url, request.quirks);
        const changes = Object.entries(request.body).filter(([, value]) => value !== undefined);
        request.clinic.update(request.clinic.supply.available, available, Object.fromEntries(changes));
        return { status: 200, body: wired(request, available), ...settingOf(request) };
      }),
  }),
  route({
    ...{ method: 'DELETE', path: one, action: 'available_wholesaler.destroy', summary: 'Delete a wholesaler' },
    ...{ section, scope },
    answers: { 204: null },
    handle: (request) =>
      own(request, ({ id: available }) => {
        unlinkWholesalers(request.clinic, available);
        request.clinic.supply.available.delete(available);
        return { status: 204 };
      }),
  }),
];
