import type { Language } from '../../texts/catalogue.ts';
import { signInTexts } from '../../texts/console/console.ts';
import { html, type Node } from '../html.ts';
import { passwordLength } from '../users/passwords.ts';

/** Each language by its own name, so that everyone finds theirs. */
export const languageNames: Record<Language, string> = { en: 'English', fi: 'Suomi', de: 'Deutsch', sv: 'Svenska' };

interface Field {
  name: string;
  label: string;
  type?: 'text' | 'password' | 'search' | 'date' | 'month';
  value?: string;
  autocomplete?: string;
  isRequired?: boolean;
  hint?: string;
}

/** A labelled input. */
export function field({ name, label, type = 'text', value = '', autocomplete, isRequired, hint }: Field): Node {
  return html`<label class="field">
    <span>${label}</span>
    <input type=${type} name=${name} value=${value} autocomplete=${autocomplete} required=${isRequired} />
    ${hint === undefined ? null : html`<small>${hint}</small>`}
  </label>`;
}

/** A labelled choice. */
export function choice({
  name,
  label,
  options,
  value,
}: {
  name: string;
  label: string;
  options: readonly { value: string; text: string }[];
  value: string;
}): Node {
  return html`<label class="field">
    <span>${label}</span>
    <select name=${name}>
      ${options.map((each) => html`<option value=${each.value} selected=${each.value === value}>${each.text}</option>`)}
    </select>
  </label>`;
}

/** The two fields of a new password. */
export function passwordFields(): Node {
  const hint = signInTexts.passwordRule({ min: passwordLength.min });
  const each = { type: 'password', autocomplete: 'new-password', isRequired: true } as const;
  return html`${field({ name: 'password', label: signInTexts.newPassword, hint, ...each })}
  ${field({ name: 'again', label: signInTexts.newPasswordAgain, ...each })}`;
}

/** The fault of an entry, above its form. Null without a fault. */
export function problem(text: string | null): Node | null {
  return text === null ? null : html`<p class="problem" role="alert">${text}</p>`;
}
