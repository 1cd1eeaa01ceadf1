// A request and its answer in the journal.
import { z } from 'zod';
import type { Logged } from './newest.ts';
import { headersWithoutSecrets, withoutSecrets } from './secrets.ts';

/** The maximum size of a recorded body in bytes; the rest is cut off. */
export const maxBodyBytes = 10_000;

/** Collects the beginning of a body. */
export class KeptBody {
  #bytes = Buffer.alloc(0);
  isCut = false;

  /** Adds the next chunk of the body. Returns the number of its bytes that are kept. */
  add(chunk: Buffer | string): number {
    if (this.isCut) return 0;
    const room = maxBodyBytes - this.#bytes.length;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk.slice(0, room + 1)) : chunk;
    if (bytes.length > room) this.isCut = true;
    const kept = bytes.subarray(0, room);
    // This makes a copy: a slice would keep the memory of the whole chunk.
    this.#bytes = Buffer.concat([this.#bytes, kept]);
    return kept.length;
  }

  /** The text without secrets; null if the body is empty. */
  get text(): string | null {
    return this.#bytes.length === 0 ? null : withoutSecrets(this.#bytes.toString('utf8'));
  }
}

export interface Exchange extends Logged {
  /** The clinic's time when the request arrived, in epoch milliseconds. */
  atMs: number;
  method: string;
  path: string;
  query: string;
  headers: NodeJS.Dict<string | string[]>;
  action: string | null;
  application: string | null;
  request: KeptBody;
  status: number | null;
  response: KeptBody;
  durationMs: number | null;
  /** The names of the faults that affected this exchange. */
  faults: readonly string[];
  nearest: string | null;
}

export const exchangeSchema = z.object({
  id: z.int(),
  at: z.string().meta({ description: "The clinic's clock when the request came, in UTC." }),
  method: z.string(),
  path: z.string(),
  query: z.string(),
  headers: z.record(z.string(), z.string()),
  action: z.string().nullable().meta({ description: 'The endpoint, such as `invoice.list`; null where none matched.' }),
  application: z.string().nullable().meta({ description: 'The name of the application that asked.' }),
  request_body: z.string().nullable(),
  request_body_cut: z.boolean().meta({ description: `Whether only the first ${maxBodyBytes} bytes are kept.` }),
  status: z.int().nullable().meta({ description: 'Null where nothing was answered, or not yet.' }),
  response_body: z.string().nullable(),
  response_body_cut: z.boolean(),
  duration_ms: z.number().nullable(),
  faults: z.array(z.string()).meta({ description: 'The faults that struck.' }),
  nearest: z.string().nullable().meta({ description: 'The known endpoint that an unmatched request is most like.' }),
});

export type ShownExchange = z.output<typeof exchangeSchema>;

/** An exchange without its secrets. */
export const shownExchange = ({ atMs, headers, request, response, ...rest }: Exchange): ShownExchange => ({
  id: rest.id,
  at: new Date(atMs).toISOString(),
  method: rest.method,
  path: rest.path,
  query: withoutSecrets(rest.query),
  headers: headersWithoutSecrets(headers),
  action: rest.action,
  application: rest.application,
  request_body: request.text,
  request_body_cut: request.isCut,
  status: rest.status,
  response_body: response.text,
  response_body_cut: response.isCut,
  duration_ms: rest.durationMs,
  faults: [...rest.faults],
  nearest: rest.nearest,
});
