// Splits the Markdown of the specification into facts: one for each row of a table, and one for each sentence with
// names, numbers or methods. The split depends on the text alone.

interface Place {
  /** The headings above, for example `Endpoints: Patients`. */
  section: string;
  text: string;
}

/** A row of a table. */
export interface Row extends Place {
  kind: 'row';
  /** The headers of its table, for example `Field | Type | Notes`. */
  table: string;
  /** The sentence above the table, if it ends in a colon. */
  caption: string;
  cells: Record<string, string>;
}

/** A sentence outside the tables. */
export interface Sentence extends Place {
  kind: 'sentence';
}

export type Fact = Row | Sentence;

const cellsOf = (line: string): string[] =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/** Splits a text at a separator outside of brackets and code. */
export const splitOutside = (text: string, separator: RegExp): string[] => {
  const parts: string[] = [];
  let from = 0;
  let depth = 0;
  let isCode = false;
  const at = new RegExp(separator.source, 'y');
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (character === '`') isCode = !isCode;
    if ('([{'.includes(character)) depth++;
    if (')]}'.includes(character)) depth--;
    at.lastIndex = index;
    const found = depth === 0 && !isCode ? at.exec(text) : null;
    if (!found) continue;
    parts.push(text.slice(from, index));
    from = index + found[0].length;
    index = from - 1;
  }
  return [...parts, text.slice(from)].map((part) => part.trim()).filter((part) => part !== '');
};

/** True if a text has names, numbers or methods, so that it describes fields. */
export const describesFields = (text: string): boolean =>
  /`|\d|[a-z]_[a-z]|'[A-Z]|\b(?:GET|POST|PUT|PATCH|DELETE)\b/.test(text) ||
  (/ fields?\b.*: /.test(text) && !/: not shown\.$/.test(text));

/** True if a note in a field's row describes the field. */
export const describesField = (text: string): boolean =>
  describesFields(text) ||
  /\b(?:required|optional|mandatory|must|never|always|read-only|write-only|writable|cannot be|null\w*|default|only|at most|at least|maximum|minimum|filter)\b/i.test(
    text,
  );

const sentencesOf = (line: string): string[] => splitOutside(line.replace(/^(?:\d+\.|-) /, ''), /(?<=\.) (?=[A-Z`])/);

/** The facts of a specification in Markdown, in order. */
export const factsOf = (markdown: string): Fact[] => {
  const facts: Fact[] = [];
  let [chapter, section, caption, headers] = ['', '', '', [] as string[]];
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('|')) headers = [];
    if (line.startsWith('#')) {
      const [, marks = '', title = ''] = /^(#+) (.*)$/.exec(line) ?? [];
      if (marks === '##') chapter = title;
      section = marks === '###' ? `${chapter}: ${title}` : title;
      caption = '';
    } else if (line.startsWith('|')) {
      const cells = cellsOf(line);
      if (headers.length === 0) headers = cells;
      else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) {
        const named = Object.fromEntries(headers.map((header, index) => [header, cells[index] ?? '']));
        facts.push({ kind: 'row', section, text: line, table: headers.join(' | '), caption, cells: named });
      }
    } else if (line.trim() !== '') {
      const sentences = sentencesOf(line);
      for (const text of sentences) if (describesFields(text)) facts.push({ kind: 'sentence', section, text });
      const last = sentences.at(-1) ?? '';
      caption = last.endsWith(':') ? last : '';
    }
  }
  return facts;
};

/** The code spans of a text. A span in braces may contain others. */
export const spansOf = (text: string): string[] =>
  [...text.matchAll(/`(\{(?:[^{}]|\{[^{}]*\})*\})`|`([^`]+)`/g)].map(([, braced, plain]) => braced ?? plain ?? '');
