/** The languages of texts. English is the source, in this folder; `translations/` has the others. */
export const languages = ['en', 'fi', 'de', 'sv'] as const;
export type Language = (typeof languages)[number];

/**
 * Gives the translation of a text or of a function's result. `key` is the path of the entry in its catalogue, such as
 * `problems.problemCatalogue.overpaid.todo`; `english` is the English text.
 */
export type Translator = (key: string, english: unknown, params?: object) => unknown;

/** The English catalogues by name, as their files define them. The checks of translations read them. */
export const englishCatalogues = new Map<string, object>();

/** The translator of the chosen language. Undefined for English. */
let translator: Translator | undefined;

/**
 * A catalogue of texts whose entries are read in the language of `showing`. Its name is the path of the file in this folder and the
 * name of the export, such as `findings/posting.postingFindings`.
 */
export function catalogue<T extends object>(name: string, texts: T): T {
  englishCatalogues.set(name, texts);
  return translatable(name, texts);
}

/**
 * Runs `render`, in which the catalogues show the texts of `next`. `render` cannot wait, because other code must not
 * run in this language.
 */
export function showing<T>(next: Translator | undefined, render: () => T): T {
  const before = translator;
  translator = next;
  try {
    return render();
  } finally {
    translator = before;
  }
}

function translatable<T extends object>(key: string, texts: T): T {
  const shown = Array.isArray(texts) ? [] : {};
  for (const [name, value] of Object.entries(texts)) Object.defineProperty(shown, name, entry(`${key}.${name}`, value));
  return shown as T;
}

function entry(key: string, value: unknown): PropertyDescriptor {
  if (typeof value === 'string')
    return { enumerable: true, get: () => (translator === undefined ? value : translator(key, value)) };
  if (typeof value === 'function')
    return {
      enumerable: true,
      value: (params?: object) => {
        const english: unknown = value(params);
        return translator === undefined ? english : translator(key, english, params);
      },
    };
  return { enumerable: true, value: typeof value === 'object' && value !== null ? translatable(key, value) : value };
}
