import { IntlMessageFormat } from 'intl-messageformat';

/** A translation in ICU MessageFormat, ready to be formatted. */
export interface Message {
  /** The names of the parameters in the translation. */
  parameters: ReadonlySet<string>;
  format(params: object): string;
}

type Elements = ReturnType<IntlMessageFormat['getAst']>;
const [argument, select, plural] = [1, 5, 6];
const switched = (name: string) => `${name}:select`;

/**
 * Parses a translation. Its parameters are plain (`{name}`), plurals and selects. In a select, `none` stands for a value that is
 * absent, empty, zero or false. Throws SyntaxError if the text is not such a message.
 */
export function parseMessage(text: string, language: string): Message {
  const elements = new IntlMessageFormat(text, language, undefined, { ignoreTag: true }).getAst();
  const parameters = new Set<string>();
  prepare(elements, parameters);
  const compiled = new IntlMessageFormat(elements, language);
  return { parameters, format: (params) => String(compiled.format(valuesOf(parameters, params))) };
}

/** Collects the names of the parameters. Gives each select a separate value, so that `valuesOf` can set it. */
function prepare(elements: Elements, parameters: Set<string>): void {
  for (const element of elements) {
    const { type } = element;
    if (type === 0) continue;
    if (!('value' in element) || (type !== argument && type !== select && type !== plural))
      throw new SyntaxError('only {name}, select and plural without # are allowed');
    parameters.add(element.value);
    if (!('options' in element)) continue;
    for (const option of Object.values(element.options)) prepare(option.value, parameters);
    if (type !== select) continue;
    element.value = switched(element.value);
    element.options = Object.assign(Object.create(null), element.options);
  }
}

function valuesOf(parameters: ReadonlySet<string>, params: object): Record<string, string | number> {
  const given = new Map<string, unknown>(Object.entries(params));
  return Object.fromEntries(
    [...parameters].flatMap((name): [string, string | number][] => {
      const value = given.get(name) ?? '';
      return [
        [name, typeof value === 'number' ? value : String(value)],
        [switched(name), value === '' || value === 0 || value === false ? 'none' : String(value)],
      ];
    }),
  );
}
