// Reads the specification's words about a field: its type and its notes. Unreadable parts are returned as unread.
import { emptyField, type Field, type Kind, type Type, typeWords } from './field.ts';
import { describesField, spansOf, splitOutside } from './text.ts';

const words: [RegExp, Kind][] = [
  [/^(?:integers?(?: codes?| ids?)?|1-based line number)$/, 'integer'],
  [/^(?:number|whole number)$/, 'number'],
  [/^UUID strings?$/, 'uuid'],
  [/^(?:string display name|strings?|<string>|column)$/, 'string'],
  [/^booleans?$/, 'boolean'],
  [/^timestamps?$/, 'timestamp'],
  [/^dates?(?: string)?$/, 'date'],
  [/^decimals?(?: string)?$/, 'decimal'],
  [/^url-references?(?: \(\w+\)| to the generic `\/\w+\/<id>\/`)?$/, 'reference'],
  [/^arrays?$/, 'array'],
  [/^objects?$/, 'object'],
];

/** Reads a type; null if the text is not a type. */
export const typeOf = (text: string): Type | null => {
  const type: Type = { kinds: [], nullable: false };
  for (const word of splitOutside(text, / or |\/(?=timestamp)/)) {
    const [, element] = /^arrays? of (.+)$/.exec(word) ?? [];
    const [, shape] = /^(?:object )?`?(\{.+\})`?$/.exec(word) ?? [];
    const [, named] = /^object(?:: | of )(.+)$/.exec(word) ?? [];
    const [, literal] = /^'(\w+)'$/.exec(word) ?? [];
    const kind = words.find(([pattern]) => pattern.test(word))?.[1];
    if (word === 'null') type.nullable = true;
    else if (kind) type.kinds.push(kind);
    else if (literal !== undefined) Object.assign(type, { literal, kinds: ['string'] });
    else if (shape !== undefined) {
      const { fields, unread } = namesOf(shape.slice(1, -1));
      if (unread.length > 0) return null;
      Object.assign(type, { fields, kinds: ['object'] });
    } else if (element !== undefined) {
      const inner = typeOf(element);
      if (!inner) return null;
      Object.assign(type, { element: inner, kinds: [...type.kinds, 'array'] });
    } else if (named === 'form fields') type.kinds.push('object');
    else if (named !== undefined) {
      const { fields, unread } = namesOf(named);
      if (unread.length > 0) return null;
      Object.assign(type, { fields, kinds: ['object'] });
    } else if (/^\[\{.+\}\]$/.test(word)) {
      const inner = typeOf(word.slice(1, -1));
      if (!inner) return null;
      Object.assign(type, { element: inner, kinds: ['array'] });
    } else return null;
  }
  return type.kinds.length === 0 && !type.nullable ? null : type;
};

/** The types of a row: `write: ...; read: ...` has two. */
export const typesOf = (text: string): Pick<Field, 'written' | 'answered'> | null => {
  const [, write = text, read = text] = /^write: (.+); read: (.+)$/.exec(text) ?? [];
  const [written, answered] = [typeOf(write), typeOf(read)];
  return written && answered ? { written, answered } : null;
};

const allSpans = /^(?:`[^`]+`)(?:, `[^`]+`)*(?: (?:or|and) `[^`]+`)?$/;

/** The forms of notes and their meanings. A note that matches a form counts as read. */
const notes: [RegExp, (field: Field, match: RegExpExecArray) => void][] = [
  [
    /^read-only(?: in shown responses| response fields| code of the species| on create)?$/,
    (field) => (field.role = 'read-only'),
  ],
  [/^cannot be set$/, (field) => (field.role = 'read-only')],
  [/^write-only(?: input)?(?: \(never returned\))?$/, (field) => (field.role = 'write-only')],
  [/^writable(?: on drafts| by PATCH unless automatic locking is on)?$/, (field) => (field.role = 'writable')],
  [/^(?:required(?: on create)?|must be sent)$/, (field) => (field.required = true)],
  [
    /^never auto-filled$/,
    (field) => {
      field.hasNoDefault = true;
    },
  ],
  [
    /^not a type-specific URL$/,
    (field) => {
      field.rejected = ['https://practice.example/4711/api/0.1/medicine/7/'];
    },
  ],
  [
    /^codelist `id`, or a `\/(\w+)\/<id>\/` url-reference for a clinic-created \w+$/,
    (field, [, name]) =>
      Object.assign(field, {
        accepted: [7, `https://practice.example/4711/api/0.1/${name}/7/`],
        rejected: ['https://practice.example/4711/api/0.1/client/7/'],
      }),
  ],
  [/^optional(?: redirect after payment)?$/, (field) => (field.required = false)],
  [
    /^defaults? to [a-z' ]+$/,
    (field) => {
      field.required ??= false;
    },
  ],
  [/^default (\d+)$/, (field, [, value]) => (field.default = Number(value))],
  [/^default `([^`]+)`$/, (field, [, value]) => (field.default = value as string)],
  [
    /^(\d+) ([A-Z][^(),]*)( \(default(?: on create)?\))?$/,
    (field, [, value, name, isDefault]) => {
      field.values = [...(field.values ?? []), Number(value)];
      field.valueNames = [...(field.valueNames ?? []), (name as string).trim()];
      if (isDefault) field.default = Number(value);
    },
  ],
  [/^Value (\d+) \([^)]*\) is not accepted$/, (field, [, value]) => (field.refused = [Number(value)])],
  [/^must be (\d+)(?: for payment-link payments)?$/, (field, [, value]) => (field.values = [Number(value)])],
  [/^must be (`[^`]+`(?: or `[^`]+`)*)$/, (field, [, values]) => (field.values = spansOf(values as string))],
  [allSpans, (field, [spans]) => (field.values = spansOf(spans))],
  [/^same value set as ([a-z ]+)$/, (field, [, other]) => (field.likeField = other as string)],
  [/^at most (\d+) characters$/, (field, [, max]) => (field.maxLength = Number(max))],
  [
    /^(\d+) to (\d+) characters$/,
    (field, [, min, max]) => Object.assign(field, { minLength: Number(min), maxLength: Number(max) }),
  ],
  [/^(?:filterable with|filter) (`.+`)$/, (field, [, spans]) => field.filters.push(...spansOf(spans as string))],
  [/^exact-match (?:lookup )?filter$/, (field) => field.filters.push(`${field.name}__is`)],
  [/^(?:case-insensitive )?partial(?:-match)? filter$/, (field) => field.filters.push(`${field.name}__icontains`)],
  [/^`(\w+)` may be null$/, (field, [, name]) => name === field.name && markNullable(field)],
  [/^set `null` to reactivate$/, (field) => markNullable(field)],
  [/^always present$/, (field) => (field.sometimes = false)],
  [
    /^only with `(\w+)`$/,
    (field, [, flag]) => {
      field.sometimes = true;
      field.flags.push(flag as string);
    },
  ],
  [
    /^country as ISO 3166-1 alpha-2$|^ISO 3166-1 alpha-2 code$/,
    (field) => Object.assign(field, { accepted: ['FI', 'GB'], rejected: ['FIN', 'Finland', 'fi'] }),
  ],
  [/^value `(\w+)` appears$/, (field, [, value]) => (field.appears = value as string)],
  [
    /^response `gender` is the name$/,
    (field) => {
      field.answered = { kinds: ['string'], nullable: false };
    },
  ],
  [/^[a-z ]+, or null when [a-z ]+$|^null for whole-file problems$/, (field) => markNullable(field)],
  [
    /^present only when \w+$/,
    (field) => {
      field.sometimes = true;
    },
  ],
  [/^calendar date `YYYY-MM-DD`$/, (field) => Object.assign(field, { accepted: ['2026-05-20'] })],
  [
    /^at most (\d+) whole digits and (\d+) decimals$/,
    (field, [, whole, places]) => {
      const [digits, decimals] = ['9'.repeat(Number(whole)), '9'.repeat(Number(places))];
      field.accepted = [...(field.accepted ?? []), `${digits}.${decimals}`];
      field.rejected = [...(field.rejected ?? []), `${digits}9`, `1.${decimals}9`];
    },
  ],
  [/^zero valid$/, (field) => (field.accepted = [...(field.accepted ?? []), '0'])],
  [/^negative invalid$/, (field) => (field.rejected = [...(field.rejected ?? []), '-1'])],
  [/^maximum (\d+)$/, (field, [, maximum]) => (field.maximum = Number(maximum))],
  [
    /^request accepts a name such as `(\w+)`\/`(\w+)` or an integer code$/,
    (field, [, one, other]) => (field.accepted = [one!, other!]),
  ],
  [/^`(?:true|false)` for [a-z ]+$|^boolean$/, (field) => typed(field, 'boolean')],
];

const markNullable = (field: Field): void => {
  if (field.written) field.written = { ...field.written, nullable: true };
  if (field.answered) field.answered = { ...field.answered, nullable: true };
};

const typed = (field: Field, kind: Kind): void => {
  field.written ??= { kinds: [kind], nullable: false };
  field.answered ??= { kinds: [kind], nullable: false };
};

/** Reads the notes of a field into it. Returns the notes that it cannot read completely. */
export const readNotes = (field: Field, text: string): string[] =>
  splitOutside(text.replace(/, below$/, ''), /; |\. /).flatMap((whole) => {
    if (readNote(field, whole)) return [];
    const [, intro = '', rest = whole] = /^([a-z-]+(?: [a-z]+){0,4}): (.+)$/.exec(whole) ?? [];
    const isObject = field.answered?.kinds.includes('object') || field.answered?.element?.kinds.includes('object');
    if (isObject && rest.startsWith('`')) {
      const { fields, unread } = namesOf(rest.replace(/ and an arbitrary key-value store$/, ''));
      if (unread.length === 0) {
        for (const type of [field.written, field.answered]) if (type) type.fields = fields;
        return intro === '' ? [] : readNotes(field, intro);
      }
    }
    const [first = '', ...others] = splitOutside(whole, /, /);
    const [, before = '', enumerated = ''] = /^(.*: )?(\d+ [A-Z].*)$/.exec(first) ?? [];
    const parts = enumerated === '' ? [first, ...others] : [enumerated, ...others];
    const left = [...parts, before].filter((part) => !readNote(field, part) && describesField(part));
    return left.length > 0 ? [whole] : [];
  });

const readNote = (field: Field, text: string): boolean => {
  const found = notes.find(([pattern]) => pattern.test(text));
  if (!found) return false;
  found[1](field, found[0].exec(text) as RegExpExecArray);
  return true;
};

/**
 * Reads names with their types in brackets or after a colon: `a, b (strings); c: integer; optional d (url-reference)
 * and e (array)`. A plural type also applies to the names before it.
 */
export const namesOf = (text: string): { fields: Field[]; unread: string[] } => {
  const fields: Field[] = [];
  const unread: string[] = [];
  for (const group of splitOutside(text.replace(/\.$/, ''), /; /)) {
    let waiting: Field[] = [];
    let required: boolean | undefined;
    for (const piece of splitOutside(group, /, | and /)) {
      const [, optional, name, colon, brackets] =
        /^(optional |Optional: )?`?([a-z]\w*)`?(?:: ([^`]+?))?((?: \(.*\))*)$/.exec(piece) ?? [];
      if (name === undefined) {
        unread.push(piece);
        continue;
      }
      const field = emptyField(name);
      if (optional !== undefined) required = false;
      if (required !== undefined) field.required = required;
      const [, bare, isOptional] = /^(.+?)( optional)?$/.exec(colon ?? '') ?? [];
      if (isOptional !== undefined) field.required = false;
      const insides = splitOutside(brackets ?? '', / (?=\()/).map((inside) => inside.slice(1, -1));
      for (const inside of bare === undefined ? insides : [bare, ...insides]) unread.push(...readInside(field, inside));
      fields.push(field);
      waiting.push(field);
      if (/\((?:\w+-)?\w+s\)$/.test(piece) && field.answered) {
        for (const one of waiting) if (!one.answered) Object.assign(one, singular(field));
        waiting = [];
      }
    }
  }
  return { fields, unread };
};

const singular = ({ written, answered }: Field): Pick<Field, 'written' | 'answered'> =>
  ({ written, answered }) as Pick<Field, 'written' | 'answered'>;

/** Reads the brackets after a name: its type, alternatives, or notes. */
const readInside = (field: Field, text: string): string[] => {
  if (/^\w+(?:\|\w+)+$/.test(text)) {
    typed(field, 'string');
    field.values = text.split('|');
    return [];
  }
  if (/^only on \w+$/.test(text)) {
    field.sometimes = true;
    return [];
  }
  // The type ends at the first comma, semicolon or colon.
  const [, head = text, rest = ''] = /^([^,;:]+)[,;:] (.+)$/.exec(text) ?? [];
  const types = typesOf(text) ?? typesOf(head);
  if (!types) return typeWords.test(text) ? [text] : readNotes(field, text);
  Object.assign(field, types);
  return typesOf(text) ? [] : readNotes(field, rest);
};
