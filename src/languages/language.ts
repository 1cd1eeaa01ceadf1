import { type Language, languages, showing } from '../texts/catalogue.ts';
import type { recognised } from './recognise.ts';
import type { translationsInto, translatorInto } from './translations.ts';

/** The result of rendering, which must not be a promise. */
export type Rendered<T> = T extends PromiseLike<unknown> ? never : T;

let current: Language = 'en';
let foreign:
  | { recognised: typeof recognised; translatorInto: typeof translatorInto; translationsInto: typeof translationsInto }
  | undefined;

/**
 * Loads all catalogues and the library for messages, which only languages other than English need. Call it before
 * `inLanguage` and `shown` in such a language.
 */
export async function loadLanguage(language: Language): Promise<void> {
  if (language === 'en' || foreign !== undefined) return;
  const [recogniser, translations] = await Promise.all([import('./recognise.ts'), import('./translations.ts')]);
  const { translatorInto, translationsInto } = translations;
  foreign = { recognised: recogniser.recognised, translatorInto, translationsInto };
}

function loaded(): NonNullable<typeof foreign> {
  if (foreign === undefined) throw new Error('`loadLanguage` was not called');
  return foreign;
}

/**
 * Runs `render`, in which the catalogues give their texts in this language. `render` cannot wait: other work would then
 * run in this language too, and the books, logs and histories store its texts in English.
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
 * Translates a text that was made in English, such as a stored message or an error. Parts that are no texts of the
 * catalogues stay as they are.
 */
export function shown(text: string, language: Language = current): string {
  return language === 'en' ? text : loaded().recognised(text, language);
}

/**
 * A text of `--help` in `language`. Its translation is stored by the English text, so a changed text needs a new
 * translation. Undefined if there is none.
 */
export function helpText(text: string, language: Language): string | undefined {
  return language === 'en' ? text : loaded().translationsInto(language).get(`help.${text}`);
}

/** The language with this name. Undefined if there is none. */
export function languageOf(name: string): Language | undefined {
  return languages.find((each) => each === name);
}
