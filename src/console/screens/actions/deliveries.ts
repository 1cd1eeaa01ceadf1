import { z } from 'zod';
import { hashOfEffect } from '../../../actions/record.ts';
import { localTimeOf } from '../../../domain/dates.ts';
import { formatExact, Money } from '../../../domain/money.ts';
import {
  ackRequest,
  approvalEffect,
  approveRequest,
  batchEffect,
  retryEffect,
  retryRequest,
  undoEffect,
  undoRequest,
  unitsPerRequest,
} from '../../../queries/asked-delivery.ts';
import { unitIds } from '../../../queries/delivered-units.ts';
import { pausesNow } from '../../../queries/pauses.ts';
import { deliveryScreen } from '../../../texts/console/delivery.ts';
import { deliveryActionTexts as texts } from '../../../texts/console/operating.ts';
import { type Content, html, type Node } from '../../html.ts';
import { facts } from '../../parts/facts.ts';
import { field } from '../../parts/fields.ts';
import type { InstallationRequest } from '../../route.ts';
import { readFilter } from '../delivery/filter.ts';
import { type EffectForm, effectForm, type Fields, type ShownEffect } from './effect-form.ts';

type DeliveryKind = keyof typeof texts.titles;

const titleOf = (kind: DeliveryKind) => () => texts.titles[kind];
const day = (name: string, label: string, fields: Fields): Node =>
  field({ name, label, type: 'date', value: fields[name] ?? '', isRequired: true });
const date = (fields: Fields, name: string) => fields[name] ?? '';

/** An effect with its explanation. Without entries there is nothing to ask for. */
function effectOf(
  kind: DeliveryKind,
  effect: object,
  entries: number,
  rows: () => readonly (readonly [string, Content])[],
): ShownEffect {
  if (entries === 0) return { hash: null, view: () => html`<p class="empty">${texts.none}</p>` };
  return {
    hash: hashOfEffect(effect),
    view: () => html`<p>${texts.effects[kind]}</p>${facts(rows())}`,
  };
}

function amount({ installation: { decimals, currency } }: InstallationRequest, debit: string | null): string | null {
  return debit === null ? null : `${formatExact(new Money(debit), decimals)} ${currency}`;
}

const approve = effectForm({
  ...{ kind: 'approve_delivery', name: 'approve', title: titleOf('approve_delivery'), request: approveRequest },
  choose: async (fields) => () => day('through', texts.through, fields),
  /** Without a date, the date of the last entry that waits. */
  async read(fields, { db, installation }) {
    const through = fields.through ?? (await approvalEffect(db, installation.id, null)).through;
    return through === null ? null : { through };
  },
  fieldsOf: ({ through }) => ({ through }),
  async effect(request, { through }) {
    const effect = await approvalEffect(request.db, request.installation.id, through);
    return effectOf('approve_delivery', effect, effect.entries, () => [
      [texts.through, through],
      [texts.entries, effect.entries],
      [texts.dates, `${effect.from} – ${effect.through}`],
      [texts.debit, amount(request, effect.debit)],
    ]);
  },
  view: ({ through }) => html`<dt>${texts.through}</dt><dd>${through}</dd>`,
});

/** Entries that a page shows by id. */
const unitsAtMost = 20;

function unitList(units: readonly string[]): string {
  const rest = units.length - unitsAtMost;
  return [...units.slice(0, unitsAtMost), ...(rest > 0 ? [texts.more({ count: rest })] : [])].join(', ');
}

const resend = effectForm({
  ...{ kind: 'retry_delivery', name: 'resend', title: titleOf('retry_delivery'), request: retryRequest },
  choose: async (fields) => () => field({ name: 'units', label: texts.units, value: fields.units ?? '' }),
  /** The named entries, those of the filter of the screen Delivery, or all refused ones. */
  async read(fields, { db, installation: { id } }) {
    const named = (fields.units ?? '')
      .split(',')
      .map((unit) => unit.trim())
      .filter((unit) => unit !== '');
    if (named.length > 0) return { units: named[0] === 'all' ? 'all' : [...new Set(named)].sort() };
    const given = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, value ?? '']));
    const { from, through, search, batch } = readFilter(given);
    if ([from, through, search, batch].every((each) => each == null)) return { units: 'all' };
    const filter = { ...readFilter(given), state: 'refused' } as const;
    const found = await unitIds(db, id, filter, unitsPerRequest + 1);
    return { units: found };
  },
  malformed: () => texts.tooMany({ most: unitsPerRequest }),
  fieldsOf: ({ units }) => ({ units: units === 'all' ? 'all' : units.join(',') }),
  async effect(request, input) {
    const effect = await retryEffect(request.db, request.installation.id, input);
    return effectOf('retry_delivery', effect, effect.units.length, () => [
      [texts.entries, effect.units.length],
      [texts.debit, amount(request, effect.debit)],
      ['', unitList(effect.units)],
    ]);
  },
  view: ({ units }) => html`<dt>${texts.entries}</dt><dd>${units === 'all' ? texts.allRefused : unitList(units)}</dd>`,
});

const undo = effectForm({
  ...{ kind: 'undo_delivery', name: 'undo', title: titleOf('undo_delivery'), request: undoRequest },
  choose: async (fields) => () => [day('from', texts.from, fields), day('to', texts.to, fields)],
  async read(fields) {
    return fields.from === undefined && fields.to === undefined
      ? null
      : { from: date(fields, 'from'), to: date(fields, 'to') };
  },
  fieldsOf: ({ from, to }) => ({ from, to }),
  async effect(request, range) {
    const effect = await undoEffect(request.db, request.installation.id, range);
    return effectOf('undo_delivery', effect, effect.reversed + effect.withheld, () => [
      [texts.dates, `${effect.from} – ${effect.to}`],
      [texts.reversed, effect.reversed],
      [texts.debit, amount(request, effect.debit)],
      [texts.withheld, effect.withheld],
    ]);
  },
  view: ({ from, to }) => html`<dt>${texts.dates}</dt><dd>${from} – ${to}</dd>`,
});

const acknowledge = effectForm({
  ...{ kind: 'acknowledge_batch', name: 'acknowledge', title: titleOf('acknowledge_batch'), request: ackRequest },
  choose: async (fields) => () =>
    field({ name: 'batch', label: texts.batch, value: fields.batch ?? '', isRequired: true }),
  async read({ batch }) {
    return batch === undefined ? null : { batch: /^\d{1,12}$/.test(batch) ? Number(batch) : 0 };
  },
  fieldsOf: ({ batch }) => ({ batch }),
  async effect({ db, installation: { id, timezone } }, { batch }) {
    const effect = await batchEffect(db, id, batch);
    if (effect === null) return { hash: null, view: () => html`<p class="empty">${texts.noBatch}</p>` };
    const { file, units, acknowledgedAt: at } = effect;
    if (at !== null) {
      return { hash: null, view: () => html`<p>${texts.wasAcknowledged({ at: localTimeOf(at, timezone) })}</p>` };
    }
    return effectOf('acknowledge_batch', effect, units, () => [
      [texts.batch, batch],
      [texts.file, file],
      [texts.entries, units],
    ]);
  },
  view: ({ batch }) => html`<dt>${texts.batch}</dt><dd>${batch}</dd>`,
});

/** A delivery before its time, or the end of the running one. */
function runForm(kind: 'nudge_delivery' | 'cancel_delivery', name: string): EffectForm {
  return effectForm({
    ...{ kind, name, title: titleOf(kind), request: z.object({}) },
    choose: null,
    read: async () => ({}),
    fieldsOf: () => ({}),
    async effect({ db, installation }): Promise<ShownEffect> {
      const { delivery } = await pausesNow(db, installation);
      const refusal = () => (delivery === undefined ? deliveryScreen.none : delivery === null ? null : texts.paused);
      if (delivery === undefined || (delivery !== null && kind === 'nudge_delivery'))
        return { hash: null, view: () => html`<p class="empty">${refusal()}</p>` };
      return { hash: hashOfEffect({}), view: () => html`<p>${texts.effects[kind]}</p>` };
    },
    view: () => html``,
  });
}

export const deliveryForms = {
  approve_delivery: approve,
  retry_delivery: resend,
  undo_delivery: undo,
  acknowledge_batch: acknowledge,
  nudge_delivery: runForm('nudge_delivery', 'deliver-now'),
  cancel_delivery: runForm('cancel_delivery', 'cancel-delivery'),
} satisfies Record<DeliveryKind, EffectForm>;
