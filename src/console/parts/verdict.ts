import { currentLanguage } from '../../languages/language.ts';
import type { Verdict } from '../../queries/verdict.ts';
import { clinicsTexts as texts } from '../../texts/console/clinics.ts';
import { checksInWords } from '../../wording/words.ts';
import { type Content, html } from '../html.ts';
import { ago } from './times.ts';

/** The result of the last reconciliation and its age. */
export function verdictText({ reconciled }: Pick<Verdict, 'reconciled'>, now: Date): Content {
  if (reconciled === null) return html`<span class="dim">${texts.notChecked}</span>`;
  const at = ago(reconciled.checked_at, now, currentLanguage());
  if (reconciled.ok) return texts.agrees({ at });
  return html`<span class="needed">${texts.differs({ equations: checksInWords(reconciled.failing), at })}</span>`;
}
