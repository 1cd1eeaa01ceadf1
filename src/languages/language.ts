import { type Language, languages, showing } from '../texts/catalogue.ts';
import type { recognised } from './recognise.ts';
import type { translatorInto } from './translations.ts';

/** What rendering gives: never a promise. */
export type Rendered<T> = T extends PromiseLike<unknown> ? never : T;

let current: Language = 'en';
let foreign: { recognised: typeof recognised; translatorInto: typeof translatorInto } | undefined;

/**
 * Loads what other languages than English need: all catalogues, and the library for messages. English, the usual
 * language, starts without them. Call it before `inLanguage` and `shown` with such a language.
 */
export async function loadLanguage(language: Language): Promise<void> {
  if (language === 'en' || foreign !== undefined) return;
  const [recogniser, translations] = await Promise.all([import('./recognise.ts'), import('./translations.ts')]);
  foreign = { recognised: recogniser.recognised, translatorInto: translations.translatorInto };
}

function loaded(): NonNullable<typeof foreign> {
  if (foreign === undefined) throw new Error('`loadLanguage` was not called');
  return foreign;
}

/**
 * Shows something in a language: in `render`, the catalogues give their texts in it. Work stays English, because the books, logs and
 * histories store its texts. Therefore `render` cannot wait.
 */
export function inLanguage<T>(language: Language, render: () => Rendered<T>): T {
  const before = current;
  current = language;
  try {
    return showing(language === 'en' ? undefined : loaded().translatorInto(language), render);
  } finally {
    current = before;
  }
}

/** The language of the innermost `inLanguage`; English without one. */
export function currentLanguage(): Language {
  return current;
}

/**
 * A text that was made in English, such as a stored message or an error, in `language`. What vetledger does not recognise as a text
 * of its catalogues stays as it is.
 */
export function shown(text: string, language: Language = current): string {
  return language === 'en' ? text : loaded().recognised(text, language);
}

/** The language of that name. Undefined if there is no such language. */
export function languageOf(name: string): Language | undefined {
  return languages.find((each) => each === name);
}
