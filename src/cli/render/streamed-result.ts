import { withoutEnd } from '../../domain/text.ts';
import type { CommandContext } from '../context.ts';

/** One element of a long list, as JSON and as text. */
export interface ListItem {
  json: unknown;
  text: string;
}

const flushAt = 65_536;

/**
 * A long result that is written to stdout while it is computed: JSON with --json, otherwise text. The first 64 KB are buffered, so that
 * after an early error stdout contains only the error.
 */
export class StreamedResult {
  readonly #context: CommandContext;
  #kept = '';

  constructor(context: CommandContext) {
    this.#context = context;
  }

  /** Appends to the JSON document; ignored without --json. */
  json(text: string): void {
    if (this.#context.json) this.#kept += text;
  }

  /** Appends a paragraph to the text; ignored with --json. */
  text(text: string): void {
    if (!this.#context.json && text !== '') this.#kept += `${text}\n\n`;
  }

  /** Appends a JSON array, or a paragraph for each item. */
  async list(batches: AsyncIterable<ListItem[]>): Promise<void> {
    this.json('[');
    let isFirst = true;
    for await (const batch of batches) {
      for (const { json, text } of batch) {
        this.json(`${isFirst ? '' : ','}${JSON.stringify(json)}`);
        this.text(text);
        isFirst = false;
      }
      if (this.#kept.length > flushAt) await this.#flush();
    }
    this.json(']');
  }

  /** Writes the rest of the buffer. */
  async end(): Promise<void> {
    this.#kept = `${withoutEnd(this.#kept, '\n')}\n`;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const text = this.#kept;
    this.#kept = '';
    await this.#context.write(text);
  }
}

/** The members of an object's JSON, without its braces. */
export function membersOf(document: object): string {
  return JSON.stringify(document).slice(1, -1);
}
