import { hashOf } from '../../../actions/record.ts';
import { daysFrom } from '../../../domain/dates.ts';
import type { UserError } from '../../../domain/errors.ts';
import { shown as inLanguage } from '../../../languages/language.ts';
import { type CloseEffect, closeEffect, reopenEffect } from '../../../queries/close-books.ts';
import { firstOpenDay, monthState } from '../../../queries/month.ts';
import { closeTexts } from '../../../texts/commands/closing.ts';
import { labels } from '../../../texts/commands/labels.ts';
import { closingTexts as texts } from '../../../texts/console/closing.ts';
import { reportNames } from '../../../texts/console/reports.ts';
import { html, local, type Node } from '../../html.ts';
import { nextStep } from '../../parts/next-step.ts';
import type { InstallationRequest } from '../../route.ts';
import { checklistView } from '../month/checklist.ts';
import { reportPart } from '../month/report-part.ts';

/** The effect of a close or reopening as a form shows it. */
export interface PresentEffect {
  /** The hash that the daemon compares. */
  hash: string;
  /** The reason why the action is not possible; null if it is. */
  obstacle: UserError | null;
  view(): Node;
}

/** Months whose VAT the form of a close shows. Older ones are links. */
const monthsAtMost = 12;

/** What a close through a day locks: figures, checklist with the last close, and the VAT of each month. */
export async function shownClose(request: InstallationRequest, through: string): Promise<PresentEffect> {
  const { db, installation, now } = request;
  const month = through.slice(0, 7);
  const effect = await closeEffect(db, installation, through, now);
  const state = await monthState(db, installation, month, now, through);
  const first = (await firstOpenDay(db, installation)) ?? through;
  const months = monthsFrom(first.slice(0, 7), month);
  const shown: { month: string; view(): Node }[] = [];
  for (const each of months.slice(-monthsAtMost))
    shown.push({ month: each, view: await reportPart(request, each, 'vat') });
  return {
    ...{ hash: hashOf(effect.shown), obstacle: effect.obstacle },
    view: () => html`${figuresView(effect, installation.currency)} ${checklistView(state, request)}
      ${months.slice(0, -monthsAtMost).map((each) => html`<p><a href=${local(`/${installation.id}/reports/vat`, { month: each })}>${reportNames.vat} ${each}</a></p>`)}
      ${shown.map((each) => html`<h2>${reportNames.vat} ${each.month}</h2>${each.view()}`)}`,
  };
}

/** The months from one to another, both included. */
function monthsFrom(first: string, last: string): string[] {
  const months: string[] = [];
  for (let month = first; month < last; month = daysFrom(`${month}-01`, 31).slice(0, 7)) months.push(month);
  return [...months, last];
}

function figuresView({ through, closedThrough, entries, debit, vat }: CloseEffect, currency: string): Node {
  return html`<dl>
    <dt>${texts.until}</dt><dd>${closedThrough ?? labels.none}</dd>
    <dt>${texts.through}</dt><dd>${through}</dd>
    <dt>${texts.entries}</dt><dd>${entries}</dd>
    <dt>${texts.debit({ currency })}</dt><dd>${debit}</dd>
    <dt>${texts.tax({ period: vat.period, currency })}</dt><dd>${vat.tax}</dd>
  </dl>`;
}

/** What a reopening from a day on opens. */
export async function shownReopening({ db, installation }: InstallationRequest, from: string): Promise<PresentEffect> {
  const effect = await reopenEffect(db, installation, from);
  const { closedThrough, filed } = effect;
  return {
    ...{ hash: hashOf(effect.shown), obstacle: effect.obstacle },
    view: () => html`<dl>
        <dt>${texts.until}</dt><dd>${closedThrough ?? labels.none}</dd>
        <dt>${texts.openFrom}</dt><dd>${from}</dd>
      </dl>
      <p>${texts.lateStay}</p>
      ${filed.length === 0 ? null : html`<p class="needed">${closeTexts.filedOpen({ periods: filed.join(', ') })}</p>`}`,
  };
}

/** The reason why an action is not possible. Null without one. */
export function obstacleView({ rights, installation }: InstallationRequest, obstacle: UserError | null): Node | null {
  if (obstacle === null) return null;
  const { message, todo } = obstacle;
  return html`<div class="problem" role="alert"><p>${inLanguage(message)}</p><p>${nextStep(rights, installation.id, todo)}</p></div>`;
}
