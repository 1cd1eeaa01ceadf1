import type { RecordKind } from '../terms.ts';
import type { Dialect } from './dialect.ts';
import { isEscaped } from './json.ts';
import { tooLargeKey } from './shrink.ts';

/** What is kept of a value: of an object, the members named, each with what is kept of it; `whole`: everything. */
type Kept = Map<string, Kept> | 'whole';

const keptOfDialect = new WeakMap<Dialect, Map<RecordKind, Kept>>();

/**
 * The text of a record with only those members that are read: the fields that the dialect maps, external_info, which is sent back
 * whole, and the mark of a record that was too large. What stays keeps its order and its digits. The same text, where
 * everything stays. `raw` is the text of a JSON object.
 */
export function keepMapped(kind: RecordKind, raw: string, dialect: Dialect): string {
  return new Cutter(raw).cut(keptOf(kind, dialect));
}

function keptOf(kind: RecordKind, dialect: Dialect): Kept {
  const kinds = keptOfDialect.get(dialect) ?? new Map<RecordKind, Kept>();
  keptOfDialect.set(dialect, kinds);
  const known = kinds.get(kind);
  if (known) return known;
  const record = new Map<string, Kept>([[tooLargeKey, 'whole']]);
  for (const field of Object.values(dialect.fields[kind])) {
    let members = record;
    for (const key of field.split('.')) members = membersAt(members, key);
    // A reference may be an object, which may also hold the name of whom it refers to (values.ts `reference`).
    for (const key of ['id', 'url']) if (!members.has(key)) members.set(key, reference());
  }
  const { kinds: carriers, field } = dialect.external_info;
  if (kind === 'prepayment' || carriers.some((carrier) => carrier === kind)) record.set(field, 'whole');
  kinds.set(kind, record);
  return record;
}

function membersAt(members: Map<string, Kept>, key: string): Map<string, Kept> {
  const found = members.get(key);
  if (found !== undefined && found !== 'whole') return found;
  const made = new Map<string, Kept>();
  members.set(key, made);
  return made;
}

/** References may nest. */
function reference(): Map<string, Kept> {
  const members = new Map<string, Kept>();
  return members.set('id', members).set('url', members);
}

const [quote, comma, backslash] = [34, 44, '\\'];
const [openBrace, closeBrace, openBracket, closeBracket] = [123, 125, 91, 93];

/** Goes through a JSON text once. A text that is no JSON is left to the parser to refuse. */
class Cutter {
  readonly #text: string;
  #at = 0;
  #copied = 0;
  #out = '';

  constructor(text: string) {
    this.#text = text;
  }

  cut(kept: Kept): string {
    this.#value(kept);
    return this.#copied === 0 ? this.#text : this.#out + this.#text.slice(this.#copied);
  }

  /** Ends at the comma or bracket behind the value. */
  #value(kept: Kept): void {
    this.#space();
    const code = this.#text.charCodeAt(this.#at);
    if (kept === 'whole' || (code !== openBrace && code !== openBracket)) {
      this.#skip();
    } else {
      if (code === openBrace) this.#members(kept);
      else this.#elements(kept);
      this.#space();
    }
  }

  #elements(kept: Kept): void {
    do {
      this.#at += 1;
      this.#value(kept);
    } while (this.#text.charCodeAt(this.#at) === comma);
    this.#at += 1;
  }

  #members(kept: Map<string, Kept>): void {
    const text = this.#text;
    let keptOne = false;
    let hasMore = true;
    while (hasMore) {
      // Behind the brace or comma that stands before the member.
      const from = ++this.#at;
      this.#space();
      if (text.charCodeAt(this.#at) !== quote) break;
      const keptOfMember = kept.get(this.#key());
      if (keptOfMember) this.#value(keptOfMember);
      else this.#skip();
      hasMore = text.charCodeAt(this.#at) === comma;
      if (keptOfMember) keptOne = true;
      // With the comma before it where a member stays before it, else with the one behind it.
      else if (keptOne) this.#remove(from - 1, this.#at);
      else this.#remove(from, hasMore ? this.#at + 1 : this.#at);
    }
    this.#at += 1;
  }

  #remove(from: number, to: number): void {
    this.#out += this.#text.slice(this.#copied, from);
    this.#copied = to;
  }

  /** The key that begins here; ends behind its colon. */
  #key(): string {
    const from = this.#at;
    this.#at = this.#stringEnd() + 1;
    const key = this.#text.slice(from + 1, this.#at - 1);
    this.#space();
    this.#at += 1;
    return key.includes(backslash) ? JSON.parse(`"${key}"`) : key;
  }

  #skip(): void {
    const text = this.#text;
    let depth = 0;
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (code === quote) this.#at = this.#stringEnd();
      else if (code === openBrace || code === openBracket) depth++;
      else if (code === comma && depth === 0) return;
      else if (code === closeBrace || code === closeBracket) {
        if (depth === 0) return;
        depth--;
      }
    }
  }

  /** Index of the closing quote of the string that begins here. */
  #stringEnd(): number {
    const text = this.#text;
    for (let end = text.indexOf('"', this.#at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
      if (!isEscaped(text, end)) return end;
    }
    return text.length;
  }

  /** JSON's white space only. */
  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at += 1;
    }
  }
}
