import { z } from 'zod';
import { hashOfEffect } from '../../../actions/record.ts';
import { verdicts } from '../../../queries/verdict.ts';
import { windowPaces } from '../../../sync/schedule-state.ts';
import { clinicsTexts } from '../../../texts/console/clinics.ts';
import { reconcileTexts as texts } from '../../../texts/console/operating.ts';
import { html } from '../../html.ts';
import { facts } from '../../parts/facts.ts';
import { verdictText } from '../../parts/verdict.ts';
import { effectForm, type ShownEffect } from './effect-form.ts';

/** A reconciliation before its time. It changes nothing, so it needs no reason of the person. */
const reconcile = effectForm({
  ...{ kind: 'reconcile_books', name: 'reconcile', title: () => texts.title, request: z.object({}) },
  choose: null,
  read: async () => ({}),
  fieldsOf: () => ({}),
  async effect({ db, installation, now }): Promise<ShownEffect> {
    const { id } = installation;
    const [pace] = await windowPaces(db, [id], 0);
    if (pace?.syncedTo == null) return { hash: null, view: () => html`<p class="empty">${texts.notLoaded}</p>` };
    const verdict = (await verdicts(db, [installation])).get(id) ?? { reconciled: null };
    return {
      hash: hashOfEffect({}),
      fixedReason: texts.reason,
      view: () => html`<p>${texts.effect}</p>${facts([[clinicsTexts.verdict, verdictText(verdict, now)]])}`,
    };
  },
  view: () => html``,
});

export const reconcileForms = { reconcile_books: reconcile } as const;
