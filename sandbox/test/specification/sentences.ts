// Reads the sentences outside the specification's tables and compares them.
import { type Context, type Outcome, read, unread } from './context.ts';
import { emptyField } from './field.ts';
import { readNotes } from './grammar.ts';
import { integrationForms } from './integration-forms.ts';
import { fieldSentences, valueSentences } from './places.ts';
import { forms, here, listedFields } from './sentence-forms.ts';
import { type Sentence, splitOutside } from './text.ts';

/**
 * Compares a sentence by its form or by its first words. A sentence that only mentions known names needs no comparison.
 * All others are unread.
 */
export const readSentence = (context: Context, { section, text }: Sentence): Outcome[] => {
  for (const [pattern, check] of [...forms, ...integrationForms]) {
    const match = pattern.exec(text);
    const problems = match ? check(context, match) : null;
    if (problems) return [read(text, problems)];
  }
  const begins = <T extends readonly [string, string, ...unknown[]]>(places: readonly T[]): T | undefined =>
    places.find(([where, words]) => where === section && text.startsWith(words));
  const values = begins(valueSentences);
  if (values) {
    const [, words, name, where] = values;
    const field = emptyField(name);
    const notes = text.slice(words.length).replace(/\.$/, '');
    const left = readNotes(field, notes);
    for (const status of splitOutside(notes, /, /)) context.statuses.add(status.replace(/ \(.*\)$/, ''));
    return left.length > 0 ? [unread(text)] : [read(text, here(context, [field], where))];
  }
  const fields = begins(fieldSentences);
  if (fields) {
    const [, words, where] = fields;
    const found = listedFields(text.slice(words.length).replace(/\.$/, ''));
    const required = /required/.test(words) ? true : words === 'Optional: ' ? false : undefined;
    if (!found) return [unread(text)];
    return [
      read(text, here(context, required === undefined ? found : found.map((one) => ({ ...one, required })), where)),
    ];
  }
  return [context.mentions(text) ? read(text) : unread(text)];
};
