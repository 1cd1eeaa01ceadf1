import { equationTitles } from '../texts/commands/reconcile.ts';
import { erpProblemCatalogue } from '../texts/erp-problems.ts';
import { mailTexts } from '../texts/mail.ts';
import { problemCatalogue } from '../texts/problems.ts';

const catalogue: Partial<Record<string, { sentence: string; todo: string }>> = {
  ...problemCatalogue,
  ...erpProblemCatalogue,
};

/** The sentence for a stored problem's code. Empty for a code of another release. */
export function sentenceOf(code: string): string {
  return (Object.hasOwn(catalogue, code) ? catalogue[code]?.sentence : undefined) ?? '';
}

/** The next step for a stored problem's code. Codes of another release are not in the catalogue. */
export function todoOf(code: string): string {
  return (
    (Object.hasOwn(catalogue, code) ? catalogue[code]?.todo : undefined) ??
    'Run `vetledger problems retry` with its id: it is then judged by this release.'
  );
}

/** What holds if a check of the books finds no fault, in the language in force. Empty for a check of another release. */
export function meaningOfCheck(name: string): string {
  const meanings: Partial<Record<string, string>> = { ...equationTitles, ...mailTexts.checks.names };
  return (Object.hasOwn(meanings, name) ? meanings[name] : undefined) ?? '';
}
