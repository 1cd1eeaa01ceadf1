import { randomUUID } from 'node:crypto';
import { hashOf } from '../../../actions/record.ts';
import { formatMoney, type Money } from '../../../domain/money.ts';
import { shown } from '../../../languages/language.ts';
import { type Proposal, proposeMatches } from '../../../prepayments/propose-matches.ts';
import {
  type MatchRequest,
  matchRequest,
  shownMatch,
  type WeighedMatch,
  weighMatch,
} from '../../../prepayments/weigh-match.ts';
import type { InstallationId } from '../../../terms.ts';
import { labels } from '../../../texts/commands/labels.ts';
import { actionTexts, matchFormTexts as texts } from '../../../texts/console/actions.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { form } from '../../layout.ts';
import { documentLink } from '../../parts/document-link.ts';
import { choice, field, problem } from '../../parts/fields.ts';
import { table } from '../../parts/table.ts';
import type { Answer, InstallationRequest } from '../../route.ts';
import { askByForm } from './ask.ts';
import type { Fields } from './chosen-documents.ts';
import { orRefused, type Refused } from './refused.ts';
import type { ShownRequest } from './shown-request.ts';

function matchPath(id: number): string {
  return `/${id}/actions/match`;
}

/** Values of the field `choice` that name no prepayments. */
const [unknown, others] = ['none', 'others'] as const;

/** Reads a payment and prepayments such as `7,9`. Null if a field is not valid, or if nothing is chosen. */
function readMatch({ payment = '', choice: chosen = '', prepayments = '' }: Fields): MatchRequest | null {
  if (!/^[1-9]\d{0,14}$/.test(payment) || chosen === '') return null;
  const listed = chosen === others ? prepayments : chosen;
  const ids = chosen === unknown ? [] : listed.split(/[ ,]+/).filter((text) => text !== '');
  if (chosen !== unknown && (ids.length === 0 || ids.some((id) => !/^[1-9]\d{0,14}$/.test(id)))) return null;
  const { success, data } = matchRequest.safeParse({ payment: Number(payment), prepayments: ids.map(Number) });
  return success ? data : null;
}

/** The payment with its proposals, and below it the figures of the chosen match. `fault` is the fault of the form that was sent. */
export async function showMatch(
  request: InstallationRequest,
  fields: Fields,
  fault: (() => string) | null,
): Promise<Answer> {
  const { db, installation, session } = request;
  const { payment = '' } = fields;
  const proposals = await proposeMatches(db, installation);
  const proposal = proposals.find(({ paymentId }) => String(paymentId) === payment) ?? null;
  const chosen = readMatch(fields);
  const found = chosen === null ? null : await orRefused(() => weighMatch(db, installation, chosen));
  const isMalformed = chosen === null && fields.choice !== undefined;
  return {
    status: fault === null ? 200 : 400,
    page: {
      title: () => texts.title,
      body: () => html`${problem(fault?.() ?? (isMalformed ? texts.malformed : null))}
        <p>${texts.about}</p>
        ${choiceForm(request, fields, proposal, proposals)}
        ${found === null || chosen === null ? null : matchView(request, chosen, found, session)}`,
    },
  };
}

function choiceForm(
  { installation: { id, decimals } }: InstallationRequest,
  fields: Fields,
  proposal: Proposal | null,
  proposals: readonly Proposal[],
): Node {
  const amount = (of: Money) => formatMoney(of, decimals);
  const options = (
    proposal === null ? [] : [...(proposal.own.length > 0 ? [proposal.own] : proposal.others.map((one) => [one]))]
  ).map((candidates) => ({
    value: candidates.map(({ prepaymentId }) => prepaymentId).join(','),
    text: candidates
      .map(({ prepaymentId, clientId, left, receivedOn }) =>
        texts.candidate({
          ...{ prepayment: prepaymentId, client: clientText(clientId) },
          ...{ left: amount(left), day: receivedOn ?? labels.noDate },
        }),
      )
      .join('; '),
  }));
  return html`<form method="get" action=${matchPath(id)} class="filters">
      ${field({ name: 'payment', label: texts.payment, value: fields.payment ?? '', isRequired: true })}
      ${choice({
        ...{ name: 'choice', label: texts.used, value: fields.choice ?? options[0]?.value ?? others },
        options: [...options, { value: others, text: texts.others }, { value: unknown, text: texts.unknown }],
      })}
      ${field({ name: 'prepayments', label: texts.otherIds, value: fields.prepayments ?? '' })}
      <button>${texts.choose}</button>
    </form>
    ${(fields.payment ?? '') === '' ? openUses(id, proposals, amount) : null}`;
}

/** The payments without a match, each with a link to its form. */
function openUses(id: InstallationId, proposals: readonly Proposal[], amount: (of: Money) => string): Node {
  return table({
    caption: texts.unmatched,
    columns: [
      { title: texts.payment },
      { title: texts.usedOn, isWhole: true },
      { title: texts.client },
      { title: texts.amount, isNumber: true },
    ],
    rows: proposals.map(({ paymentId, usedOn, clientId, amount: of }) => [
      html`<a href=${local(matchPath(id), { payment: paymentId })}>${paymentId}</a>`,
      ...[usedOn ?? '', clientText(clientId), amount(of)],
    ]),
    empty: texts.allMatched,
  });
}

function matchView(
  { installation: { id, decimals } }: InstallationRequest,
  chosen: MatchRequest,
  found: WeighedMatch | Refused,
  session: InstallationRequest['session'],
): Node {
  if ('refused' in found) {
    const { message, todo } = found.refused;
    return html`<div class="problem" role="alert"><p>${shown(message)}</p><p>${shown(todo)}</p></div>`;
  }
  const amount = (of: Money) => formatMoney(of, decimals);
  const link = (prepayment: number | null): Content =>
    prepayment === null ? texts.unknown : documentLink(id, `prepayment ${prepayment}`);
  return html`<dl>
      <dt>${texts.payment}</dt><dd>${documentLink(id, `payment ${chosen.payment}`)}: ${amount(found.amount)}</dd>
      <dt>${texts.present}</dt>
      <dd>${found.present.map(({ prepaymentId, amount: of }) => html`<div>${link(prepaymentId)}: ${amount(of)}</div>`)}</dd>
    </dl>
    ${table({
      caption: texts.used,
      columns: [{ title: texts.prepayment }, { title: texts.client }, { title: texts.left, isNumber: true }],
      rows: found.chosen.map(({ prepayment, client, left }) => [link(prepayment), clientText(client), amount(left)]),
      empty: texts.unknown,
    })}
    <section class="narrow">
      ${form(
        session,
        matchPath(id),
        html`<input type="hidden" name="payment" value=${chosen.payment} />
          <input type="hidden" name="choice" value=${chosen.prepayments.join(',') || unknown} />
          <input type="hidden" name="shown" value=${hashOf(shownMatch(chosen, found))} />
          <input type="hidden" name="form" value=${randomUUID()} />
          ${field({ name: 'reason', label: actionTexts.reason, hint: texts.reasonHint, isRequired: true })}
          <button>${texts.submit}</button>`,
      )}
    </section>`;
}

function clientText(client: number | null): string {
  return client === null ? labels.noClient : labels.client({ client });
}

export function askMatch(request: InstallationRequest): Promise<Answer> {
  const chosen = readMatch(request.form);
  const asked = chosen === null ? null : { kind: 'match_prepayment' as const, input: chosen };
  return askByForm(request, asked, (fault) => showMatch(request, request.form, fault));
}

/** The payment and the prepayments of a request, and the address of its form. */
export function matchAsked(installation: InstallationId, input: unknown): ShownRequest | null {
  const { success, data } = matchRequest.safeParse(input);
  if (!success) return null;
  const { payment, prepayments } = data;
  const chosen = prepayments.join(',') || unknown;
  return {
    view: () => html`<dt>${texts.payment}</dt><dd>${documentLink(installation, `payment ${payment}`)}</dd>
      <dt>${texts.used}</dt>
      <dd>${prepayments.length === 0 ? texts.unknown : prepayments.map((each, at) => [at === 0 ? '' : ', ', documentLink(installation, `prepayment ${each}`)])}</dd>`,
    form: local(matchPath(installation), {
      payment,
      choice: prepayments.length > 0 ? others : chosen,
      prepayments: prepayments.join(','),
    }),
  };
}
