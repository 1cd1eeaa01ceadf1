import { hashOfEffect } from '../../../actions/record.ts';
import { instantOf, localTimeOf } from '../../../domain/dates.ts';
import { shown } from '../../../languages/language.ts';
import {
  cancelRequest,
  nudgeRequest,
  type PlannedReading,
  planReading,
  pricedBy,
  pricedRequest,
  type ReadingRequest,
  readingRequest,
} from '../../../queries/asked-windows.ts';
import { runningWork } from '../../../queries/running-work.ts';
import { windowPause } from '../../../sync/pauses.ts';
import { windowPaces } from '../../../sync/schedule-state.ts';
import { labels } from '../../../texts/commands/labels.ts';
import { windowActionTexts as texts } from '../../../texts/console/operating.ts';
import { costLines, spanText } from '../../../wording/replays.ts';
import { codeWord, timeIn } from '../../../wording/words.ts';
import { html, type Node } from '../../html.ts';
import { facts, lines } from '../../parts/facts.ts';
import { choice, field } from '../../parts/fields.ts';
import { temporalLink } from '../../parts/temporal-link.ts';
import type { InstallationRequest } from '../../route.ts';
import { type EffectForm, effectForm, type Fields, type ShownEffect } from './effect-form.ts';

type WindowKind = keyof typeof texts.titles;

const titleOf = (kind: WindowKind) => () => texts.titles[kind];
const reads = readingRequest.options.map(({ shape }) => shape.read.value);

/** The fields that name what to read again. */
export function readingFields(request: ReadingRequest): Record<string, string> {
  switch (request.read) {
    case 'failed':
      return { read: 'failed' };
    case 'windows':
      return { read: 'windows', windows: request.windows.join(',') };
    case 'times':
      return { read: 'times', from: request.from, to: request.to };
    case 'backfill':
      return { read: 'backfill', from: request.from ?? '' };
  }
}

function readReading({ read, windows = '', from = '', to = '' }: Fields, timezone: string): unknown {
  const time = (text: string) => instantOf(text, timezone)?.toISOString();
  switch (read) {
    case undefined:
      return null;
    case 'windows':
      return { read, windows: windows.split(',').map((each) => (/^\s*\d{1,15}\s*$/.test(each) ? Number(each) : 0)) };
    case 'times':
      return { read, from: time(from), to: time(to) };
    case 'backfill':
      return { read, from: from === '' ? null : from };
    default:
      return { read };
  }
}

/** What a reading reads again. */
function planView(
  { installation: { timezone } }: InstallationRequest,
  request: ReadingRequest,
  plan: PlannedReading,
): Node {
  const at = timeIn(timezone);
  if (request.read === 'backfill') return html`<p>${texts.invoicesFrom(request)}</p>`;
  return facts([
    [texts.intervals, lines(plan.spans.map((span) => spanText(span, at)))],
    [texts.leftOut, plan.leftOut.length === 0 ? null : lines(plan.leftOut.map((text) => shown(text)))],
  ]);
}

const price = effectForm({
  ...{ kind: 'price_windows', name: 'read-again', title: titleOf('price_windows'), request: readingRequest },
  submit: () => texts.findPrice,
  choose: async (fields) => () => [
    choice({
      ...{ name: 'read', label: texts.what, value: fields.read ?? '' },
      options: reads.map((value) => ({ value, text: texts.reads[value] })),
    }),
    field({ name: 'windows', label: texts.windows, value: fields.windows ?? '' }),
    field({ name: 'from', label: texts.from, value: fields.from ?? '' }),
    field({ name: 'to', label: texts.to, value: fields.to ?? '' }),
  ],
  read: async (fields, { installation }) => readReading(fields, installation.timezone),
  fieldsOf: readingFields,
  async effect(request, reading): Promise<ShownEffect> {
    const { db, installation, now } = request;
    const plan = await planReading(db, installation, reading, now);
    const isEmpty = reading.read !== 'backfill' && plan.spans.length === 0;
    return {
      hash: isEmpty ? null : plan.plan,
      fixedReason: texts.priceReason,
      view: () =>
        html`<p>${isEmpty ? texts.allCovered : texts.effects.price_windows}</p>${planView(request, reading, plan)}`,
    };
  },
  view: (reading) =>
    html`<dt>${texts.what}</dt><dd>${texts.reads[reading.read]}${Object.entries(readingFields(reading))
      .filter(([name, value]) => name !== 'read' && value !== '')
      .map(([, value]) => ` ${value}`)}</dd>`,
});

/** The form of a reading whose price is known. */
function readingForm(kind: 'replay_windows' | 'backfill_windows', name: string): EffectForm {
  return effectForm({
    ...{ kind, name, title: titleOf(kind), request: pricedRequest },
    choose: null,
    async read({ price: number }) {
      return number === undefined ? null : { price: /^\d{1,15}$/.test(number) ? Number(number) : 0 };
    },
    fieldsOf: ({ price: number }) => ({ price: number }),
    async effect(request, { price: number }): Promise<ShownEffect> {
      const { db, installation, now, rights } = request;
      const again = () => html`<p>${price.link(rights, installation.id)}</p>`;
      const priced = await pricedBy(db, installation.id, number);
      if (priced === null || (priced.request.read === 'backfill') !== (kind === 'backfill_windows'))
        return { hash: null, view: () => html`<p class="empty">${texts.notPriced}</p>${again()}` };
      const { request: reading, result } = priced;
      const plan = await planReading(db, installation, reading, now);
      if (plan.plan !== result.plan)
        return { hash: null, view: () => html`<p class="problem">${texts.changed}</p>${again()}` };
      return {
        hash: hashOfEffect(result),
        view: () => html`<p>${texts.effects[kind]}</p>${planView(request, reading, plan)}
          ${facts([[texts.price, result.cost === null ? texts.noPrice : lines(costLines(result.cost))]])}`,
      };
    },
    view: ({ price: number }, id) =>
      html`<dt>${texts.price}</dt><dd><a href=${`/${id}/actions/${number}`}>${number}</a></dd>`,
  });
}

const cancel = effectForm({
  ...{ kind: 'cancel_windows', name: 'cancel', title: titleOf('cancel_windows'), request: cancelRequest },
  choose: null,
  read: async (_, { db, installation }) => ({ runs: await runningWork(db, installation.id) }),
  fieldsOf: () => ({}),
  async effect({ context }, { runs }): Promise<ShownEffect> {
    if (runs.length === 0) return { hash: null, view: () => html`<p class="empty">${texts.nothingRuns}</p>` };
    return {
      hash: hashOfEffect(runs),
      view: () => html`<p>${texts.effects.cancel_windows}</p>
        ${facts(
          runs.map(({ kind, workflowId: workflow, runId: run }) => [
            codeWord(kind),
            html`${workflow} ${temporalLink(context, { workflow, run })}`,
          ]),
        )}`,
    };
  },
  view: ({ runs }) =>
    html`${runs.map(({ kind, workflowId }) => html`<dt>${codeWord(kind)}</dt><dd>${workflowId}</dd>`)}`,
});

const nudge = effectForm({
  ...{ kind: 'nudge_windows', name: 'read-now', title: titleOf('nudge_windows'), request: nudgeRequest },
  choose: null,
  read: async () => ({}),
  fieldsOf: () => ({}),
  async effect({ db, installation: { id, timezone } }): Promise<ShownEffect> {
    if ((await windowPause(db, id)) !== null) return { hash: null, view: () => html`<p>${texts.paused}</p>` };
    const [pace] = await windowPaces(db, [id], 0);
    const last = pace?.openedAt ?? null;
    return {
      hash: hashOfEffect({}),
      view: () => html`<p>${texts.effects.nudge_windows}</p>
        ${facts([[texts.lastWindow, last === null ? labels.never : localTimeOf(last, timezone)]])}`,
    };
  },
  view: () => html``,
});

export const windowForms = {
  price_windows: price,
  replay_windows: readingForm('replay_windows', 'replay'),
  backfill_windows: readingForm('backfill_windows', 'backfill'),
  cancel_windows: cancel,
  nudge_windows: nudge,
} satisfies Record<WindowKind, EffectForm>;
