import { englishCatalogues } from './catalogues.ts';
import { type Template, templatesOf } from './templates.ts';
import { type ForeignLanguage, translated, translationsInto } from './translations.ts';

/**
 * Limits of the search: length of a text, depth of nesting, and number of parts. A text or part beyond them stays in
 * English.
 */
const [longestText, deepest, mostParts] = [5000, 8, 500];

/**
 * The signs with which code joins texts. Texts of the catalogue without words are used in the same way, without a
 * translation.
 */
const joints: Template[] = [
  ['', '; ', ''],
  ['', ': ', ''],
  ['', '. ', ''],
  ['', ', ', ''],
  ['', ' (', ')'],
].map((literals) => ({ key: '', literals, holes: ['0', '1'], fixed: {} }));

/** Whether a template joins texts with signs. A blank alone does not count, because nearly every text contains one. */
const joinsTexts = (template: Template) =>
  !hasLetter(template) && template.literals.slice(1, -1).some((literal) => literal.trim() !== '');

/** Whether a template contains a word. A template of parameters and signs alone shows nothing about a text. */
const hasLetter = (template: Template) => template.literals.some((literal) => /\p{L}/u.test(literal));

/** Templates, grouped so that a search finds those that a text may match. */
interface Index {
  /** Templates of texts without parameters, by the text. */
  exact: ReadonlyMap<string, readonly Template[]>;
  /** Templates that begin with words, by their first letters. */
  begun: ReadonlyMap<string, readonly Sized[]>;
  /** Templates that begin with a parameter. */
  open: readonly Sized[];
  /** Templates without words. */
  wordless: readonly Sized[];
}

interface Sized {
  template: Template;
  /** The longest literal of the template. Only a text that contains it can match. */
  longest: string;
}

const firstLetters = (text: string) => text.slice(0, 2);
const sized = (template: Template): Sized => ({
  template,
  longest: template.literals.reduce((longest, each) => (each.length > longest.length ? each : longest), ''),
});

const indexes = new Map<ForeignLanguage, Index>();
let known: Template[] | undefined;

/**
 * Whether texts of a catalogue are recognised. Labels are only read while a text is rendered, and are too short to be
 * recognised: `late` may be anything.
 */
export function isRecognised(catalogue: string): boolean {
  return !/^(?:commands\/labels|reports\/columns)\./.test(catalogue);
}

/** The templates with a translation. */
function indexOf(language: ForeignLanguage): Index {
  const before = indexes.get(language);
  if (before !== undefined) return before;
  // Among equal readings the first one is used, so the templates with the longest texts come first.
  known ??= [...englishCatalogues]
    .filter(([name]) => isRecognised(name))
    .flatMap(([name, texts]) => templatesOf(name, texts))
    .sort((a, b) => sizeOf(b) - sizeOf(a));
  const texts = translationsInto(language);
  const worded = known.filter((template) => hasLetter(template) && texts.has(template.key));
  const withHoles = worded.filter(({ holes }) => holes.length > 0);
  const begins = ({ literals: [first = ''] }: Template) => first.length >= 2;
  const index: Index = {
    exact: Map.groupBy(
      worded.filter(({ holes }) => holes.length === 0),
      ({ literals: [text = ''] }) => text,
    ),
    begun: Map.groupBy(withHoles.filter(begins).map(sized), ({ template }) => firstLetters(template.literals[0] ?? '')),
    open: withHoles.filter((template) => !begins(template)).map(sized),
    wordless: [...known.filter(joinsTexts), ...joints].map(sized),
  };
  indexes.set(language, index);
  return index;
}

const sizeOf = ({ literals }: Template) => literals.reduce((length, literal) => length + literal.length, 0);

/** A reading of a text: its translation, and the number of characters that are texts of the catalogue. */
interface Found {
  text: string;
  score: number;
  /** The number of characters before the first known text. If two readings have the same score, the smaller number wins. */
  before: number;
}

/** Translates the parts of an English text that are texts of the catalogues. Other parts stay in English. */
export function recognised(text: string, language: ForeignLanguage): string {
  return text.length > longestText ? text : new Search(language).best(text, 0).text;
}

class Search {
  readonly #language: ForeignLanguage;
  readonly #index: Index;
  readonly #found = new Map<string, Found>();
  #left = mostParts;

  constructor(language: ForeignLanguage) {
    this.#language = language;
    this.#index = indexOf(language);
  }

  /** The reading that recognises the most characters of a text. */
  best(text: string, depth: number): Found {
    const before = this.#found.get(text);
    if (before !== undefined) return before;
    const unknown: Found = { text, score: 0, before: 0 };
    if (depth > deepest || !/\p{L}/u.test(text) || this.#left-- <= 0) return unknown;
    const { exact, begun, open, wordless } = this.#index;
    const [same] = exact.get(text) ?? [];
    let best = same === undefined ? unknown : this.#read(same, [], depth);
    if (same === undefined) {
      best = this.#better(best, text, begun.get(firstLetters(text)) ?? [], depth);
      // If a reading begins with known words and recognises at least half of the text, no other reading is tried.
      const isClear = () => best.before === 0 && best.score * 2 >= text.length;
      if (!isClear()) best = this.#better(best, text, open, depth);
      if (!isClear()) best = this.#better(best, text, wordless, depth);
      if (best.score === 0) best = this.#afterField(text, depth);
    }
    this.#found.set(text, best);
    return best;
  }

  /** Reads a message after the name of a field, such as `sum is not a decimal number`. */
  #afterField(text: string, depth: number): Found {
    const at = text.indexOf(' ') + 1;
    const message = this.best(text.slice(at), depth + 1);
    const isMessage = at > 0 && message.score > 0 && text.includes(' ', at);
    return isMessage
      ? { ...message, text: text.slice(0, at) + message.text, before: at }
      : { text, score: 0, before: 0 };
  }

  #better(best: Found, text: string, templates: readonly Sized[], depth: number): Found {
    let found = best;
    for (const { template, longest } of templates) {
      if (!text.includes(longest)) continue;
      for (const values of splits(text, template.literals)) {
        const next = this.#read(template, values, depth);
        if (next.score > found.score || (next.score === found.score && next.score > 0 && next.before < found.before))
          found = next;
      }
    }
    return found;
  }

  #read(template: Template, values: readonly string[], depth: number): Found {
    const isJoint = !hasLetter(template);
    // A single word between signs may be anything, such as the name of a field, so it stays as it is.
    const parts = values.map((value, at) => {
      // Written sentences count half as known. Otherwise a reading that translates them could win.
      if (isWritten(template, at)) return { text: value, score: template.holes[at] === 'by' ? 0 : value.length / 2 };
      return (isJoint && !value.includes(' ')) ||
        isInCode(template, at) ||
        (template.holes[at] === 'name' && !this.#isText(value))
        ? { text: value, score: 0 }
        : this.best(value, depth + 1);
    });
    const inside = parts.reduce((recognised, { score }) => recognised + score, 0);
    const texts = parts.map(({ text }) => text);
    const text = isJoint ? joined(template, texts) : this.#translated(template, texts);
    const score = isJoint && inside === 0 ? 0 : sizeOf(template) + inside;
    return { text, score, before: template.literals[0] === '' ? (values[0]?.length ?? 0) : 0 };
  }

  /** Whether the value of a parameter `name` is a text, such as `without a name`. Other names are those of users. */
  #isText(value: string): boolean {
    return value.includes(' ') && this.#index.exact.has(value);
  }

  #translated({ key, holes, fixed }: Template, texts: readonly string[]): string {
    const params = { ...fixed, ...Object.fromEntries(holes.map((name, at) => [name, texts[at]])) };
    return translated(this.#language, key, params) ?? '';
  }
}

/** Whether a person wrote the value of a parameter: a name or note, or the reason of the person that the text names. */
function isWritten({ holes }: Template, at: number): boolean {
  const hole = holes[at] ?? '';
  return ['by', 'note', 'form'].includes(hole) || (hole === 'reason' && holes.includes('by'));
}

/** Whether a parameter is part of code in backticks, which stays as it is. */
function isInCode({ literals }: Template, at: number): boolean {
  return (
    literals
      .slice(0, at + 1)
      .join('')
      .split('`').length %
      2 ===
    0
  );
}

function joined({ literals }: Template, texts: readonly string[]): string {
  return literals.map((literal, at) => `${literal}${texts[at] ?? ''}`).join('');
}

/**
 * The values between the literals, if the text matches the template. Yields several results if a literal occurs several
 * times.
 */
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
  for (const at of literal === ''
    ? ends(
        text,
        others.find((each) => each !== ''),
      )
    : placesOf(literal, text))
    for (const rest of between(text.slice(at + literal.length), others)) yield [text.slice(0, at), ...rest];
}

/**
 * The possible ends of a value that no literal follows: before the next literal, at the end of the text, or before a
 * further clause.
 */
function ends(text: string, next: string | undefined): number[] {
  return [...(next === undefined ? [text.length] : placesOf(next, text)), ...placesOf('; ', text)];
}

/** The first three and the last three positions of a literal in a text. */
function placesOf(literal: string, text: string): number[] {
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
