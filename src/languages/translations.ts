import { readdirSync, readFileSync } from 'node:fs';
import type { Language, Translator } from '../texts/catalogue.ts';
import { type Message, parseMessage } from './messages.ts';

export type ForeignLanguage = Exclude<Language, 'en'>;

/** The texts of a translation by key; `problems.problemCatalogue.overpaid.todo` is in problems.json. */
export type Translations = ReadonlyMap<string, string>;

const folder = new URL('../texts/translations/', import.meta.url);
const read = new Map<ForeignLanguage, Translations>();
const parsed = new Map<ForeignLanguage, Map<string, Message>>();

/** All translations into a language. Its files are read once. */
export function translationsInto(language: ForeignLanguage): Translations {
  let found = read.get(language);
  if (found === undefined) {
    const texts = new Map<string, string>();
    const ours = new URL(`${language}/`, folder);
    for (const path of readdirSync(ours, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!path.endsWith('.json')) continue;
      const content: unknown = JSON.parse(readFileSync(new URL(path, ours), 'utf8'));
      collect(path.slice(0, -'.json'.length), content, texts);
    }
    found = texts;
    read.set(language, found);
  }
  return found;
}

function collect(key: string, value: unknown, texts: Map<string, string>): void {
  if (typeof value === 'string') texts.set(key, value);
  else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value)) collect(`${key}.${name}`, each, texts);
  else throw new TypeError(`the translation of ${key} is neither a text nor an object`);
}

/** The translated text of a key with its parameters. Undefined if it has no translation. */
export function translated(language: ForeignLanguage, key: string, params: object): string | undefined {
  const messages = parsed.get(language) ?? new Map<string, Message>();
  parsed.set(language, messages);
  let message = messages.get(key);
  if (message === undefined) {
    const text = translationsInto(language).get(key);
    if (text === undefined) return undefined;
    message = parseMessage(text, language);
    messages.set(key, message);
  }
  return message.format(params);
}

/** The translator of a language for the catalogues. A text without a translation stays English. */
export function translatorInto(language: ForeignLanguage): Translator {
  return (key, english, params = {}) => {
    if (typeof english === 'string') return translated(language, key, params) ?? english;
    if (typeof english !== 'object' || english === null) return english;
    return Object.fromEntries(
      Object.entries(english).map(([name, text]) => [name, translated(language, `${key}.${name}`, params) ?? text]),
    );
  };
}
