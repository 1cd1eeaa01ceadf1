import { englishCatalogues } from './catalogues.ts';
import { type Template, templatesOf } from './templates.ts';
import { type ForeignLanguage, translated, translationsInto } from './translations.ts';

/** Longer texts, deeper nesting and more comparisons than this leave a text, or a part of it, in English. */
const [longestText, deepest, mostParts] = [5000, 8, 3000];

/** How code joins texts without the catalogue. */
const joints: Template[] = [
  ['', '; ', ''],
  ['', ': ', ''],
  ['', '. ', ''],
  ['', ', ', ''],
  ['', ' (', ')'],
].map((literals) => ({ key: '', literals, holes: ['0', '1'], fixed: {} }));

/** Texts of which only a parameter remains, or only signs, say nothing. */
const hasLetter = (template: Template) => template.literals.some((literal) => /\p{L}/u.test(literal));

let known: Template[] | undefined;

/** All templates, the longest first. */
function allTemplates(): readonly Template[] {
  known ??= [...[...englishCatalogues].flatMap(([name, texts]) => templatesOf(name, texts)).filter(isUsable), ...joints]
    .map((template) => ({ template, size: sizeOf(template) }))
    .sort((a, b) => b.size - a.size)
    .map(({ template }) => template);
  return known;
}

const isUsable = (template: Template) => hasLetter(template) || template.holes.length > 1;
const sizeOf = ({ literals }: Template) => literals.reduce((sum, literal) => sum + literal.length, 0);

/** A text in the language, and how many of its characters are texts of the catalogue. */
interface Found {
  text: string;
  score: number;
  /** The length of what stands before the first known text: of equal readings, that with the least is right. */
  before: number;
}

/** An English text in another language, as far as it consists of texts of the catalogues. */
export function recognised(text: string, language: ForeignLanguage): string {
  return text.length > longestText ? text : new Search(language).best(text, 0).text;
}

class Search {
  readonly #language: ForeignLanguage;
  readonly #templates: readonly Template[];
  readonly #found = new Map<string, Found>();
  #left = mostParts;

  constructor(language: ForeignLanguage) {
    this.#language = language;
    const texts = translationsInto(language);
    this.#templates = allTemplates().filter(({ key }) => key === '' || texts.has(key));
  }

  /** The reading of a text in which most of its characters are texts of the catalogue. */
  best(text: string, depth: number): Found {
    const before = this.#found.get(text);
    if (before !== undefined) return before;
    let best: Found = { text, score: 0, before: 0 };
    if (depth > deepest || !/\p{L}/u.test(text) || this.#left-- <= 0) return best;
    for (const template of this.#templates) {
      for (const values of splits(text, template.literals)) {
        const next = this.#read(template, values, depth);
        if (next.score > best.score || (next.score === best.score && next.score > 0 && next.before < best.before))
          best = next;
      }
    }
    this.#found.set(text, best);
    return best;
  }

  #read(template: Template, values: readonly string[], depth: number): Found {
    const parts = values.map((value) => this.best(value, depth + 1));
    const inside = parts.reduce((sum, { score }) => sum + score, 0);
    const isKnown = hasLetter(template) || inside > 0;
    const params = {
      ...template.fixed,
      ...Object.fromEntries(parts.map(({ text }, at) => [template.holes[at], text])),
    };
    const [first = '', ...others] = template.literals;
    const text =
      template.key === ''
        ? parts.reduce((whole, part, at) => `${whole}${part.text}${others[at] ?? ''}`, first)
        : translated(this.#language, template.key, params);
    return {
      text: text ?? '',
      score: isKnown && text !== undefined ? sizeOf(template) + inside : 0,
      before: first === '' ? (values[0]?.length ?? 0) : 0,
    };
  }
}

/** The values between the literals, if the text has this form: a few choices where a literal occurs several times. */
function* splits(text: string, literals: readonly string[]): Generator<string[]> {
  const [first = '', ...others] = literals;
  const last = others.at(-1);
  if (last === undefined) {
    if (text === first) yield [];
    return;
  }
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return;
  yield* between(text.slice(first.length, text.length - last.length), others.slice(0, -1));
}

function* between(text: string, literals: readonly string[]): Generator<string[]> {
  const [literal, ...others] = literals;
  if (literal === undefined) {
    yield [text];
    return;
  }
  for (const at of placesOf(literal, text))
    for (const rest of between(text.slice(at + literal.length), others)) yield [text.slice(0, at), ...rest];
}

/** The first three places of a literal and the last three. An empty literal is at the end, or before a further clause. */
function placesOf(literal: string, text: string): number[] {
  if (literal === '') return [text.length, ...placesOf('; ', text)];
  const places: number[] = [];
  let at = text.indexOf(literal);
  while (at >= 0 && places.length < 3) {
    places.push(at);
    at = text.indexOf(literal, at + 1);
  }
  at = text.lastIndexOf(literal);
  const lasts: number[] = [];
  while (at > (places.at(-1) ?? -1) && lasts.length < 3) {
    lasts.push(at);
    at = text.lastIndexOf(literal, at - 1);
  }
  return [...places, ...lasts.reverse()];
}
