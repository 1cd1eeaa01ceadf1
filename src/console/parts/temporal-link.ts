import { windowActionTexts } from '../../texts/console/operating.ts';
import type { ConsoleContext } from '../context.ts';
import { type Content, html } from '../html.ts';

/** A run of a workflow, as Temporal names it. */
export interface TemporalRun {
  workflow: string;
  run: string | null;
}

/** A link to a run in the Temporal UI. Null without its address. The link leads only to the host of this setting. */
export function temporalLink({ temporalUi, config }: ConsoleContext, { workflow, run }: TemporalRun): Content {
  if (temporalUi === null) return null;
  const path = [
    'namespaces',
    config.temporal.namespace,
    'workflows',
    workflow,
    ...(run === null ? [] : [run, 'history']),
  ];
  const address = `${temporalUi}/${path.map(encodeURIComponent).join('/')}`;
  return html`<a href=${address} rel="noreferrer">${windowActionTexts.inTemporal}</a>`;
}
