import { hashOf } from '../../../actions/record.ts';
import { localTimeOf } from '../../../domain/dates.ts';
import { type Pause, type Pauses, pausesNow, shownPause } from '../../../queries/pauses.ts';
import { pauseTexts as texts } from '../../../texts/console/actions.ts';
import { html, type Node } from '../../html.ts';
import { form } from '../../layout.ts';
import { problem } from '../../parts/fields.ts';
import type { Answer, InstallationRequest } from '../../route.ts';
import type { AskedKind } from '../../users/permitted-actions.ts';
import { askByForm, askFields } from './ask.ts';
import { pausesPath } from './pauses-link.ts';

const pauseKinds: readonly AskedKind[] = ['pause_windows', 'resume_windows', 'pause_delivery', 'resume_delivery'];

/** The paused work, with a form for each change. `fault` is the fault of the form that was sent. */
export async function showPauses(request: InstallationRequest, fault: (() => string) | null = null): Promise<Answer> {
  const { db, installation } = request;
  const pauses = await pausesNow(db, installation);
  return {
    status: fault === null ? 200 : 400,
    page: {
      title: () => texts.title,
      body: () => html`${problem(fault?.() ?? null)} ${pauseView(request, 'windows', pauses)}
        ${pauses.delivery === undefined ? null : pauseView(request, 'delivery', pauses)}`,
    },
  };
}

export function askPause(request: InstallationRequest): Promise<Answer> {
  const kind = pauseKinds.find((each) => each === request.form.kind);
  const asked = kind === undefined ? null : { kind, input: {} };
  return askByForm(request, asked, (fault) => showPauses(request, fault));
}

function pauseView({ session, installation }: InstallationRequest, what: keyof Pauses, pauses: Pauses): Node {
  const { id, timezone } = installation;
  const pause = pauses[what] ?? null;
  return html`<section class="narrow">
    <h2>${texts[what]}: ${stateText(pause, timezone)}</h2>
    <p>${effectTexts[what][pause === null ? 'pause' : 'resume']()}</p>
    ${form(
      session,
      pausesPath(id),
      askFields(hashOf(shownPause(pause)), pause === null ? texts.pause : texts.resume, { kind: kindOf(what, pause) }),
    )}
  </section>`;
}

function kindOf(what: keyof Pauses, pause: Pause | null): AskedKind {
  return `${pause === null ? 'pause' : 'resume'}_${what}`;
}

function stateText(pause: Pause | null, timezone: string): string {
  return pause === null ? texts.running : texts.paused({ by: pause.by, at: localTimeOf(pause.since, timezone) });
}

const effectTexts = {
  windows: { pause: () => texts.pauseWindows, resume: () => texts.resumeWindows },
  delivery: { pause: () => texts.pauseDelivery, resume: () => texts.resumeDelivery },
} as const;
