import type { z } from 'zod';
import { shown } from '../../../languages/language.ts';
import type { InstallationId } from '../../../terms.ts';
import { effectTexts as texts } from '../../../texts/console/operating.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { form } from '../../layout.ts';
import { problem } from '../../parts/fields.ts';
import { nextStep } from '../../parts/next-step.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { type AskedKind, permittedActions } from '../../users/permitted-actions.ts';
import type { Rights } from '../../users/rights.ts';
import { askByForm, askFields } from './ask.ts';
import { orRefused, type Refused } from './refused.ts';
import type { ShownRequest } from './shown-request.ts';

export type Fields = Readonly<Partial<Record<string, string>>>;

/** The effect of an action before it is asked for. `hash` is null if there is nothing to ask for. */
export interface ShownEffect {
  hash: string | null;
  view(): Content;
  /** The reason, if the person need not enter one. */
  fixedReason?: string;
}

interface Definition<Input extends object> {
  kind: AskedKind;
  /** The last part of the address. */
  name: string;
  title(): string;
  /** The label of the button. Default: the title. */
  submit?(): string;
  request: z.ZodType<Input>;
  /** What the page says first. */
  about?(fields: Fields, request: InstallationRequest): Promise<() => Content>;
  /** The fields with which a person chooses. Null if there is nothing to choose. */
  choose: ((fields: Fields, request: InstallationRequest) => Promise<() => Content>) | null;
  /** Reads the fields. The schema checks the result. Null before a person has chosen. */
  read(fields: Fields, request: InstallationRequest): Promise<unknown>;
  /** Why a choice is refused. Default: that it is not valid. */
  malformed?(): string;
  /** The fields of the form that made a request. */
  fieldsOf(input: Input): Record<string, string | number | undefined>;
  /** The effect. Throws UserError if the action is not possible. */
  effect(request: InstallationRequest, input: Input): Promise<ShownEffect>;
  /** The request, for the page of the action. */
  view(input: Input, installation: InstallationId): Node;
}

/** A form for one kind of action: a choice, its effect, and a reason. */
export interface EffectForm {
  kind: AskedKind;
  routes: readonly Route[];
  /** A link to the form. Null for users who may not use it. */
  link(rights: Rights, installation: InstallationId, fields?: Fields, text?: string): Node | null;
  shownRequest(installation: InstallationId, input: unknown): ShownRequest | null;
}

export function effectForm<Input extends object>(definition: Definition<Input>): EffectForm {
  const { kind, name, title, request: schema } = definition;
  const path = `/:installation/actions/${name}`;
  const access = { who: permittedActions[kind], in: 'installation' } as const;
  const addressOf = (id: InstallationId, fields: Fields = {}) => local(`/${id}/actions/${name}`, fields);
  const inputOf = async (fields: Fields, request: InstallationRequest): Promise<Input | 'malformed' | null> => {
    const given = await definition.read(fields, request);
    if (given === null) return null;
    const { success, data } = schema.safeParse(given);
    return success ? data : 'malformed';
  };
  const show = async (
    request: InstallationRequest,
    fields: Fields,
    fault: (() => string) | null,
    status: number = fault === null ? 200 : 400,
  ): Promise<Answer> => {
    const input = await inputOf(fields, request);
    const effect =
      input === null || input === 'malformed' ? null : await orRefused(() => definition.effect(request, input));
    const about = await definition.about?.(fields, request);
    const choice = (await definition.choose?.(fields, request)) ?? null;
    const address = addressOf(request.installation.id);
    return {
      status,
      page: {
        title,
        body: () => html`${problem(fault?.() ?? (input === 'malformed' ? (definition.malformed?.() ?? texts.malformed) : null))}
          ${about?.()}
          ${choice === null ? null : html`<form method="get" action=${address} class="filters">${choice()}<button>${texts.choose}</button></form>`}
          ${effect === null || typeof input !== 'object' || input === null ? null : effectView(definition, request, input, effect)}`,
      },
    };
  };
  const ask = async (request: InstallationRequest): Promise<Answer> => {
    const input = await inputOf(request.form, request);
    const again = (fault: () => string, status?: 409) => show(request, request.form, fault, status);
    if (input === null || input === 'malformed') return askByForm(request, null, again);
    const present = async () => {
      const effect = await orRefused(() => definition.effect(request, input));
      return 'refused' in effect ? null : effect.hash;
    };
    return askByForm(request, { kind, input, present }, again);
  };
  return {
    kind,
    routes: [
      {
        ...{ method: 'GET', path, access, audit: 'nothing' },
        answer: (request: InstallationRequest) => show(request, request.query, null),
      },
      { method: 'POST', path, access, audit: 'action', answer: ask },
    ],
    link(rights, installation, fields = {}, text = title()) {
      if (!rights.may(permittedActions[kind], installation)) return null;
      return html`<a href=${addressOf(installation, fields)}>${text}</a>`;
    },
    shownRequest(installation, input) {
      const { success, data } = schema.safeParse(input);
      if (!success) return null;
      return {
        form: addressOf(installation, given(definition.fieldsOf(data))),
        view: () => definition.view(data, installation),
      };
    },
  };
}

function effectView<Input extends object>(
  { name, title, submit = title, fieldsOf }: Definition<Input>,
  { session, installation, rights }: InstallationRequest,
  input: Input,
  effect: ShownEffect | Refused,
): Node {
  if ('refused' in effect) {
    const { message, todo } = effect.refused;
    return html`<div class="problem" role="alert"><p>${shown(message)}</p><p>${nextStep(rights, installation.id, todo)}</p></div>`;
  }
  if (effect.hash === null) return html`${effect.view()}`;
  const fields = askFields(effect.hash, submit(), given(fieldsOf(input)), effect.fixedReason);
  return html`${effect.view()}
    <section class="narrow">${form(session, `/${installation.id}/actions/${name}`, fields)}</section>`;
}

function given(fields: Record<string, string | number | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]])),
  );
}
