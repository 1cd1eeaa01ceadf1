import type { CommandContext } from '../context.ts';

/** One element of a long list, both ways. */
export interface Item {
  json: unknown;
  text: string;
}

const flushAt = 65_536;

/**
 * A long result, written while it is made: JSON with --json, otherwise text. What is written is kept back until it is worth
 * a write, so that an error early on is still the only thing on stdout.
 */
export class Pieces {
  readonly #context: CommandContext;
  #kept = '';

  constructor(context: CommandContext) {
    this.#context = context;
  }

  /** A piece of the one JSON document. */
  json(text: string): void {
    if (this.#context.json) this.#kept += text;
  }

  /** A paragraph for people. */
  text(text: string): void {
    if (!this.#context.json && text !== '') this.#kept += `${text}\n\n`;
  }

  /** A JSON array, or a paragraph for each element. */
  async list(batches: AsyncIterable<Item[]>): Promise<void> {
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

  /** Writes the rest. */
  async end(): Promise<void> {
    this.#kept = `${this.#kept.replace(/\n+$/, '')}\n`;
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
