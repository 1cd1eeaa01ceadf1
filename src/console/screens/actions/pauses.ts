import { z } from 'zod';
import { hashOf } from '../../../actions/record.ts';
import { localTimeOf } from '../../../domain/dates.ts';
import { type Pauses, pausesNow, shownPause } from '../../../queries/pauses.ts';
import { pauseTexts as texts } from '../../../texts/console/actions.ts';
import { deliveryScreen } from '../../../texts/console/delivery.ts';
import { html, type Node } from '../../html.ts';
import type { InstallationRequest } from '../../route.ts';
import { type EffectForm, effectForm, type ShownEffect } from './effect-form.ts';

type PauseKind = keyof typeof texts.titles;

/** The form that pauses or resumes windows or delivery. */
function pauseForm(kind: PauseKind, name: string, what: keyof Pauses): EffectForm {
  return effectForm({
    ...{ kind, name, title: () => texts.titles[kind], request: z.object({}) },
    choose: null,
    read: async () => ({}),
    fieldsOf: () => ({}),
    async effect({ db, installation }): Promise<ShownEffect> {
      const { [what]: pause } = await pausesNow(db, installation);
      if (pause === undefined) return { hash: null, view: () => html`<p class="empty">${deliveryScreen.none}</p>` };
      const fits = (pause === null) === (kind === 'pause_windows' || kind === 'pause_delivery');
      const state = () =>
        pause === null
          ? texts.running
          : texts.paused({ by: pause.by, at: localTimeOf(pause.since, installation.timezone) });
      return {
        hash: fits ? hashOf(shownPause(pause)) : null,
        view: () => html`<p>${state()}</p>${fits ? html`<p>${texts.effects[kind]}</p>` : null}`,
      };
    },
    view: () => html``,
  });
}

export const pauseForms = {
  pause_windows: pauseForm('pause_windows', 'pause-windows', 'windows'),
  resume_windows: pauseForm('resume_windows', 'resume-windows', 'windows'),
  pause_delivery: pauseForm('pause_delivery', 'pause-delivery', 'delivery'),
  resume_delivery: pauseForm('resume_delivery', 'resume-delivery', 'delivery'),
} satisfies Record<PauseKind, EffectForm>;

/** A link to the form that pauses or resumes, for users who may. */
export async function pauseLink(
  { db, rights, installation }: InstallationRequest,
  what: keyof Pauses,
): Promise<() => Node | null> {
  const { [what]: pause } = await pausesNow(db, installation);
  return () => pauseForms[`${pause == null ? 'pause' : 'resume'}_${what}`].link(rights, installation.id);
}
