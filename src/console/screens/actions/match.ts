import { hashOf } from '../../../actions/record.ts';
import { formatMoney, type Money } from '../../../domain/money.ts';
import { type Proposal, proposeMatches } from '../../../prepayments/propose-matches.ts';
import {
  type MatchRequest,
  matchRequest,
  shownMatch,
  type WeighedMatch,
  weighMatch,
} from '../../../prepayments/weigh-match.ts';
import { labels } from '../../../texts/commands/labels.ts';
import { matchFormTexts as texts } from '../../../texts/console/actions.ts';
import { type Content, html, type Node } from '../../html.ts';
import { documentLink } from '../../parts/document-link.ts';
import { choice, field } from '../../parts/fields.ts';
import { table } from '../../parts/table.ts';
import type { InstallationRequest } from '../../route.ts';
import { type EffectForm, effectForm, type Fields } from './effect-form.ts';

/** Values of the field `choice` that name no prepayments. */
const [unknown, others] = ['none', 'others'] as const;

/** The match of a payment with prepayments. Without a payment, the page lists the payments without a match. */
export const matchPrepayment: EffectForm = effectForm({
  ...{ kind: 'match_prepayment', name: 'match', title: () => texts.title, request: matchRequest },
  submit: () => texts.submit,
  malformed: () => texts.malformed,
  async about({ payment = '' }, request) {
    const proposals = payment === '' ? await proposeMatches(request.db, request.installation) : null;
    return () => html`<p>${texts.about}</p>${proposals === null ? null : openUses(request, proposals)}`;
  },
  async choose(fields, { db, installation }) {
    const { payment = '' } = fields;
    const proposals = payment === '' ? [] : await proposeMatches(db, installation);
    const proposal = proposals.find(({ paymentId }) => String(paymentId) === payment) ?? null;
    return () => choiceView(fields, proposal, installation.decimals);
  },
  read: async (fields) => (isChosen(fields) ? readMatch(fields) : null),
  fieldsOf: ({ payment, prepayments }) =>
    prepayments.length === 0
      ? { payment, choice: unknown }
      : { payment, choice: others, prepayments: prepayments.join(',') },
  async effect({ db, installation }, chosen) {
    const found = await weighMatch(db, installation, chosen);
    return { hash: hashOf(shownMatch(chosen, found)), view: () => matchView(installation, chosen, found) };
  },
  view: (
    { payment, prepayments },
    installation,
  ) => html`<dt>${texts.payment}</dt><dd>${documentLink(installation, `payment ${payment}`)}</dd>
    <dt>${texts.used}</dt>
    <dd>${prepayments.length === 0 ? texts.unknown : prepayments.map((each, at) => [at === 0 ? '' : ', ', documentLink(installation, `prepayment ${each}`)])}</dd>`,
});

/** Whether prepayments are chosen, or that there are none. A person may also send the payment alone. */
function isChosen({ choice: chosen = '', prepayments = '' }: Fields): boolean {
  return chosen !== '' && (chosen !== others || prepayments.trim() !== '');
}

/** Reads a payment and prepayments such as `7,9`. */
function readMatch({ payment, choice: chosen = '', prepayments = '' }: Fields): unknown {
  const listed = chosen === others ? prepayments : chosen;
  const ids = chosen === unknown ? [] : listed.trim().split(/[ ,]+/);
  return { payment: idOf(payment), prepayments: ids.map(idOf) };
}

function idOf(text = ''): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

function choiceView(fields: Fields, proposal: Proposal | null, decimals: number): Content {
  const candidates =
    proposal === null ? [] : proposal.own.length > 0 ? [proposal.own] : proposal.others.map((one) => [one]);
  const options = candidates.map((each) => ({
    value: each.map(({ prepaymentId }) => prepaymentId).join(','),
    text: each
      .map(({ prepaymentId, clientId, left, receivedOn }) =>
        texts.candidate({
          ...{ prepayment: prepaymentId, client: clientText(clientId) },
          ...{ left: formatMoney(left, decimals), day: receivedOn ?? labels.noDate },
        }),
      )
      .join('; '),
  }));
  return html`${field({ name: 'payment', label: texts.payment, value: fields.payment ?? '', isRequired: true })}
  ${choice({
    ...{ name: 'choice', label: texts.used, value: fields.choice ?? options[0]?.value ?? others },
    options: [...options, { value: others, text: texts.others }, { value: unknown, text: texts.unknown }],
  })}
  ${field({ name: 'prepayments', label: texts.otherIds, value: fields.prepayments ?? '' })}`;
}

/** The payments without a match, each with a link to its form. */
function openUses(
  { rights, installation: { id, decimals } }: InstallationRequest,
  proposals: readonly Proposal[],
): Node {
  return table({
    caption: texts.unmatched,
    columns: [
      { title: texts.payment },
      { title: texts.usedOn, isWhole: true },
      { title: texts.client },
      { title: texts.amount, isNumber: true },
    ],
    rows: proposals.map(({ paymentId, usedOn, clientId, amount }) => [
      matchPrepayment.link(rights, id, { payment: `${paymentId}` }, `${paymentId}`),
      ...[usedOn ?? '', clientText(clientId), formatMoney(amount, decimals)],
    ]),
    empty: texts.allMatched,
  });
}

function matchView(
  { id, decimals }: InstallationRequest['installation'],
  chosen: MatchRequest,
  found: WeighedMatch,
): Node {
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
    })}`;
}

function clientText(client: number | null): string {
  return client === null ? labels.noClient : labels.client({ client });
}
