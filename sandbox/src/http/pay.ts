// The payment pages at `{base_url}/<installation_id>/pay/<string>`, for people who get a link. They are HTML with forms
// and need no token.
// Choices of the sandbox: after an accepted payment, the browser goes to `return_url`, exactly as the request that made
// the link sent it. After a refused or cancelled payment, the page only links to it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clinic } from '../clinic.ts';
import { payPage, unknownPage } from '../online/pay-page.ts';
import { abortLink, byToken, failLink, payLink } from '../online/payment-links.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import { type Postransaction, paymentStatus } from '../state/online.ts';

const url = '/:installation/pay/:token';
const submitted = z.object({
  action: z.enum(['pay', 'fail', 'abort']),
  method: z.enum(['card', 'mobile']).default('card'),
  consent: z.literal('yes').optional(),
});

export const registerPayPages = (app: FastifyInstance): void => {
  const schema = { hide: true } as never;
  app.get(url, { schema, config: { action: 'pay.show' } }, (request, reply) => show(request, reply));
  app.post(url, { schema, config: { action: 'pay.submit' } }, (request, reply) => submit(request, reply));
};

/** The clinic and the transaction of the address; null if the address is unknown. */
const found = (request: FastifyRequest): { clinic: Clinic; transaction: Postransaction } | null => {
  const clinic = request.installation?.clinic;
  if (!clinic) return null;
  try {
    return { clinic, transaction: byToken(clinic, (request.params as { token: string }).token) };
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
};

const show = (request: FastifyRequest, reply: FastifyReply, status = 200, problem?: string): FastifyReply => {
  const at = found(request);
  if (!at) return html(reply.code(404), unknownPage(), null);
  const { clinic, transaction } = at;
  return html(reply.code(status), payPage(clinic, transaction, clinic.clock(), problem), transaction.link.return_url);
};

const submit = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const at = found(request);
  if (!at) return show(request, reply);
  const form = submitted.safeParse(request.body);
  if (!form.success) return show(request, reply, 400, 'Choose what to do.');
  const { action, method, consent } = form.data;
  const { clinic, transaction } = at;
  try {
    if (action === 'pay') payLink(clinic, transaction, method, consent === 'yes');
    else if (action === 'fail') failLink(clinic, transaction);
    else abortLink(clinic, transaction);
  } catch (problem) {
    if (!(problem instanceof ValidationProblem)) throw problem;
    return show(request, reply, 400, Object.values(problem.fields).flat().join(' '));
  }
  const { return_url, status, token } = transaction.link;
  const isBack = status === paymentStatus.accepted && return_url !== null;
  // Status 303 makes the browser load the next page with GET, so that reloading it does not post again.
  return reply
    .code(303)
    .header('cache-control', 'no-store')
    .header('location', isBack ? return_url : token)
    .send();
};

/**
 * The headers forbid the page to load resources and to be framed. They allow its form to post to itself and to follow
 * the redirect to `return_url`.
 */
const html = (reply: FastifyReply, page: string, returnUrl: string | null): FastifyReply => {
  const back = returnUrl === null ? '' : ` ${new URL(returnUrl).origin}`;
  return reply
    .headers({
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action 'self'${back}; frame-ancestors 'none'; base-uri 'none'`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(page);
};
