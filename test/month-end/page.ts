// The command blocks of docs/accountants/month-end.md, and the output of the commands.

/** Command lines and their output on stdout, by name. */
export type Transcript = Map<string, { line: string; printed: string }>;

/** The texts that differ between runs, with their replacements on the page. The last section of the page says so. */
const patterns: readonly [RegExp, string | ((text: string) => string)][] = [
  // Times of the clinic show their day, which is in 2025. Times of the books are those of the machine, and show no day.
  [/\b(2025-\d\d-\d\d)[ T]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)/g, '$1 hh:mm:ss UTC'],
  [/\b20(?!25)\d\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)/g, 'yyyy-mm-dd hh:mm:ss UTC'],
  // Local times. The offset of the machine's day depends on the season.
  [/\b(2025-\d\d-\d\d) \d\d:\d\d:\d\d ([+-]\d\d:\d\d)/g, '$1 hh:mm:ss $2'],
  [/\b20(?!25)\d\d-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d/g, 'yyyy-mm-dd hh:mm:ss +hh:mm'],
  [/\b\d+ days old\b/g, 'n days old'],
  [/\b[0-9a-f]{64}\b/g, (hash) => (/^0+$/.test(hash) ? hash : '(hash)')],
  [/\b(mapping[ :]|hash )[0-9a-f]{12}\b/g, '$1(hash)'],
];

/** A marker and its block, which may be empty. */
const blocks = /<!-- output: (\S+?)( \S.*?)? -->\n```console\n(?:[\s\S]*?\n)??```/g;

/**
 * Returns the page with the commands' output. A block is a comment `<!-- output: NAME [first N] [until TEXT] [only
 * WORD|WORD] -->` before a fence of the kind `console`. `first` keeps this number of lines, `until` keeps the lines
 * before the first one that begins with the text, `only` keeps lines with one of the words; `…` replaces omitted lines.
 * Throws if transcript and page do not have the same outputs.
 */
export function filled(page: string, transcript: Transcript): string {
  const named = new Set<string>();
  const text = page.replaceAll(blocks, (_, name: string, options = '') => {
    const ran = transcript.get(name);
    if (!ran)
      throw new Error(`docs/accountants/month-end.md has the output ${name}, which no command of the month-end prints`);
    named.add(name);
    const lines = cut(normalised(ran.printed).trimEnd().split('\n'), options.trim());
    return `<!-- output: ${name}${options} -->\n\`\`\`console\n$ npx vetledger ${ran.line}\n${lines.join('\n')}\n\`\`\``;
  });
  const missing = [...transcript.keys()].filter((name) => !named.has(name));
  if (missing.length > 0) throw new Error(`docs/accountants/month-end.md has no output ${missing.join(', ')}`);
  return text;
}

/** The output of a command, with the texts that differ between runs replaced. */
export function normalised(printed: string): string {
  return patterns.reduce(
    (text, [pattern, replacement]) =>
      typeof replacement === 'string' ? text.replaceAll(pattern, replacement) : text.replaceAll(pattern, replacement),
    printed,
  );
}

function cut(lines: string[], options: string): string[] {
  const [, kind, value = ''] = /^(first|until|only) (.+)$/.exec(options) ?? [];
  if (kind === undefined) return lines;
  if (kind === 'only') return withGaps(lines, (line) => new RegExp(value).test(line));
  const end = kind === 'first' ? Number(value) : lines.findIndex((line) => line.startsWith(value));
  if (end < 0) throw new Error(`no line begins with ${value}`);
  return withGaps(lines, (_, at) => at < end);
}

/** The kept lines, with `…` in place of omitted ones. */
function withGaps(lines: string[], isKept: (line: string, at: number) => boolean): string[] {
  return lines.flatMap((line, at) => {
    if (isKept(line, at)) return [line];
    const previous = lines[at - 1];
    return previous !== undefined && !isKept(previous, at - 1) ? [] : ['…'];
  });
}
