import { currentLanguage } from '../../languages/language.ts';
import type { Language } from '../../texts/catalogue.ts';
import { type Content, html } from '../html.ts';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** How long ago a time was, such as `5 minutes ago`, in the largest unit that fits. */
export function ago(time: Date, now: Date, language: Language): string {
  const seconds = Math.max(0, (now.getTime() - time.getTime()) / 1000);
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ['second', 1];
  return new Intl.RelativeTimeFormat(language, { numeric: 'always' }).format(-Math.floor(seconds / size), unit);
}

/** What a daemon stored longer ago may no longer be true. */
export const staleSeconds = 60;

/** How long ago a daemon saw something. It is grey if the sight is old. */
export function seen(time: Date, now: Date): Content {
  const text = ago(time, now, currentLanguage());
  return now.getTime() - time.getTime() > staleSeconds * 1000 ? html`<span class="stale">${text}</span>` : text;
}
