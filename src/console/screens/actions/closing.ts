import { z } from 'zod';
import { requestMonth } from '../../../actions/asking.ts';
import { loadVatForm, vatFormOfCountry } from '../../../config/vat-forms.ts';
import { monthBounds } from '../../../domain/dates.ts';
import { closeRequest, reopenRequest } from '../../../queries/close-books.ts';
import { vatReport } from '../../../queries/vat-report.ts';
import { filingRequest, isFiled } from '../../../queries/vat-returns.ts';
import type { InstallationId } from '../../../terms.ts';
import { closingTexts as texts } from '../../../texts/console/closing.ts';
import { monthTexts } from '../../../texts/console/month.ts';
import { html, local, type Node } from '../../html.ts';
import { field } from '../../parts/fields.ts';
import type { InstallationRequest } from '../../route.ts';
import { readChoice } from '../reports/choice.ts';
import { readPage } from '../reports/narrow.ts';
import { reportHead, sectionView } from '../reports/view.ts';
import { obstacleView, type PresentEffect, shownClose, shownReopening } from './closing-effect.ts';
import { type EffectForm, effectForm, type Fields, type ShownEffect } from './effect-form.ts';

const twoPersons = { two_persons: z.literal(true).optional() };

const close = effectForm({
  ...{ kind: 'close_books', name: 'close', request: closeRequest.extend(twoPersons) },
  title: () => texts.closeTitle,
  submit: () => texts.close,
  choose: monthField,
  async read({ month: chosen }, request) {
    if (chosen === undefined) return null;
    const { success, data } = requestMonth.safeParse(chosen);
    return success ? { through: monthBounds(data).through, ...persons(request) } : {};
  },
  fieldsOf: ({ through }) => ({ month: through.slice(0, 7) }),
  effect: async (request, { through }) => asked(request, await shownClose(request, through)),
  view: ({ through }, id) => html`<dt>${texts.through}</dt><dd>${monthLink(id, through)}</dd>`,
});

const reopen = effectForm({
  ...{ kind: 'reopen_books', name: 'reopen', request: reopenRequest.extend(twoPersons) },
  title: () => texts.reopenTitle,
  submit: () => texts.reopen,
  choose:
    async ({ from = '' }) =>
    () =>
      field({ name: 'from', type: 'date', label: texts.openFrom, value: from }),
  read: async ({ from }, request) => (from === undefined ? null : { from, ...persons(request) }),
  fieldsOf: ({ from }) => ({ from }),
  effect: async (request, { from }) => asked(request, await shownReopening(request, from)),
  view: ({ from }, id) => html`<dt>${texts.openFrom}</dt><dd>${monthLink(id, from)}</dd>`,
});

const file = effectForm({
  ...{ kind: 'file_vat_return', name: 'file-vat', request: filingRequest },
  title: () => texts.fileTitle,
  submit: () => texts.file,
  choose: monthField,
  async read({ month: chosen }, { db, installation }) {
    if (chosen === undefined) return null;
    if (!requestMonth.safeParse(chosen).success) return {};
    return { month: chosen, correction: await isFiled(db, installation, chosen) };
  },
  fieldsOf: ({ month: chosen }) => ({ month: chosen }),
  async effect(request, { month: chosen, correction }): Promise<ShownEffect> {
    const { db, installation } = request;
    const country = vatFormOfCountry(installation.mapping.country);
    const { report, prepared } = await vatReport(db, installation, {
      ...{ month: chosen, form: country && loadVatForm(country), isPreview: true },
      choice: { isCorrection: correction, take: null },
    });
    const sections = await readPage(report.sections, readChoice({}));
    return {
      hash: prepared.obstacle === null ? prepared.shown : null,
      view: () => html`${obstacleView(request, prepared.obstacle)} ${reportHead(report)}
        ${sections.map((section) => sectionView(section, { installation, path: null, kept: {} }))}`,
    };
  },
  view: ({ month: chosen }, id) => html`<dt>${monthTexts.month}</dt><dd>${monthLink(id, chosen)}</dd>`,
});

/** The forms of the month end. */
export const closingForms = {
  close_books: close,
  reopen_books: reopen,
  file_vat_return: file,
} satisfies Record<string, EffectForm>;

/** A day or month, with a link to the page of the month. */
function monthLink(installation: InstallationId, day: string): Node {
  return html`<a href=${local(`/${installation}/month`, { month: day.slice(0, 7) })}>${day}</a>`;
}

async function monthField({ month: chosen = '' }: Fields) {
  return () => field({ name: 'month', type: 'month', label: monthTexts.month, value: chosen });
}

/** Whether a second person must approve a close or reopening. */
function persons({ context }: InstallationRequest): { two_persons?: true } {
  return context.config.twoPersons ? { two_persons: true } : {};
}

function asked(request: InstallationRequest, { hash, obstacle, view }: PresentEffect): ShownEffect {
  return {
    hash: obstacle === null ? hash : null,
    view: () => html`${obstacleView(request, obstacle)} ${view()}
      ${request.context.config.twoPersons ? html`<p>${texts.needsSecond}</p>` : null}`,
  };
}
