/** The form of an English text: fixed parts, and gaps for parameters. */
export interface Template {
  /** The key of the translation. */
  key: string;
  /** The fixed parts around the parameters, one more than `holes`. Each may be empty. */
  literals: readonly string[];
  /** The names of the parameters in the text, in their order. */
  holes: readonly string[];
  /** Values of the parameters that the text does not contain, but that select this form. */
  fixed: Readonly<Record<string, unknown>>;
}

const [opening, closing] = ['\ue000', '\ue001'];
const marker = (name: string) => `${opening}${name}${closing}`;
const ourNumbers = 987_654_000;

/** Values that may select another form of a text. If an empty text selects one, no other absent value is tried. */
const absent = [0, null, false];
const kinds = [1, 'window', 'backfill', 'replay', 'document', 'base'];
const mostForms = 512;

/**
 * The templates of a catalogue. They are found by calling each function with marked parameters, once for each combination of the
 * values that change its text.
 */
export function templatesOf(key: string, value: unknown): Template[] {
  if (typeof value === 'string') return [{ key, literals: [value], holes: [], fixed: {} }];
  if (typeof value === 'function') return templatesOfFunction(key, (params) => value(params));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => templatesOf(`${key}.${name}`, each));
}

type Params = Record<string, unknown>;

function templatesOfFunction(key: string, call: (params: Params) => unknown): Template[] {
  const names: string[] = [];
  const noted = (name: string) => {
    names.push(name);
    return marker(name);
  };
  const probe = new Proxy<Params>({}, { get: (_, name) => noted(String(name)) });
  const plain = leavesOf(key, call(probe));
  const parameters = [...new Set(names)];
  const marked = Object.fromEntries(parameters.map((name) => [name, marker(name)]));
  const counts = new Set<string>();
  let forms: Params[] = [marked];
  for (const [index, name] of parameters.entries()) {
    const decides = (value: unknown) => {
      const leaves = leavesOf(key, call({ ...marked, [name]: value }));
      return (
        leaves.size !== plain.size ||
        [...plain].some(([at, text]) => leaves.get(at) !== text.replaceAll(marker(name), String(value)))
      );
    };
    if (decides(ourNumbers + index)) counts.add(name);
    const values = [...(decides('') ? [''] : absent), ...kinds, ourNumbers + index].filter(decides);
    forms = forms.flatMap((form) => [form, ...values.map((value) => ({ ...form, [name]: value }))]);
    if (forms.length > mostForms) throw new Error(`${key} has more than ${mostForms} forms`);
  }
  const found = new Map<string, Template>();
  for (const form of forms) {
    for (const [at, text] of leavesOf(key, call(form))) {
      const { literals, holes } = piecesOf(text, parameters);
      // The function expects one of the kinds here, so this form does not exist.
      if (literals.some((literal) => literal.includes('undefined'))) continue;
      const tested = parameters.filter((name) => !holes.includes(name));
      const fixed = Object.fromEntries(
        // A marker selects the form for several. A parameter that is compared with zero gets 0, any other gets 2.
        tested.map((name) => [name, form[name] === marker(name) ? (counts.has(name) ? 0 : 2) : form[name]]),
      );
      const id = JSON.stringify([at, literals, holes]);
      if (!found.has(id)) found.set(id, { key: at, literals, holes, fixed });
    }
  }
  return [...found.values()];
}

/** The texts in a function's result, by key. A `code` is not a text. */
function leavesOf(key: string, result: unknown): Map<string, string> {
  if (typeof result === 'string') return new Map([[key, result]]);
  if (typeof result !== 'object' || result === null) return new Map();
  return new Map(
    Object.entries(result).flatMap(([name, text]) =>
      typeof text === 'string' && name !== 'code' ? [[`${key}.${name}`, text]] : [],
    ),
  );
}

function piecesOf(text: string, parameters: readonly string[]): Pick<Template, 'literals' | 'holes'> {
  const [literals, holes]: [string[], string[]] = [[''], []];
  const numbered = text.replaceAll(/987654(\d{3})/g, (_, index) => marker(parameters[Number(index)] ?? ''));
  for (const piece of numbered.split(/(\ue000[^\ue001]*\ue001)/)) {
    if (piece.startsWith(opening)) {
      holes.push(piece.slice(1, -1));
      literals.push('');
    } else literals[literals.length - 1] += piece;
  }
  return { literals, holes };
}
