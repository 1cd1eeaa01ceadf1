// The journal of webhook attempts, for record changes and for events of wholesalers. All webhooks are sent through it.
import { z } from 'zod';
import type { Clinic } from '../clinic.ts';
import type { OutgoingWebhook, World } from '../outgoing.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import { signedWebhook } from '../supply/delivery.ts';
import { maxBodyBytes } from './exchange.ts';
import { type Logged, Newest } from './newest.ts';
import { withoutSecrets } from './secrets.ts';

interface Attempt extends Logged {
  /** The clinic's time, in epoch milliseconds. */
  atMs: number;
  webhook: OutgoingWebhook;
  status: number | null;
  error: string | null;
  durationMs: number;
  redeliveryOf: number | null;
}

export const attemptSchema = z.object({
  id: z.int(),
  at: z.string().meta({ description: "The clinic's clock when it was sent, in UTC." }),
  kind: z.enum(['record_change', 'wholesaler']),
  trigger: z.int().nullable().meta({ description: 'The trigger type of a record change.' }),
  event: z.string().nullable().meta({ description: 'The event for a wholesaler.' }),
  attempt: z.int().meta({ description: 'Which attempt to deliver the webhook it was, from 1.' }),
  redelivery_of: z.int().nullable().meta({ description: 'The attempt that a redelivery repeats.' }),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().meta({ description: 'What was sent; passwords are replaced.' }),
  body_cut: z.boolean().meta({ description: `Whether only the first ${maxBodyBytes} characters are shown.` }),
  status: z.int().nullable().meta({ description: 'What the receiver answered; null without an answer.' }),
  error: z.string().nullable().meta({ description: 'Why there was no answer.' }),
  duration_ms: z.number(),
});
export type ShownAttempt = z.output<typeof attemptSchema>;

/** The assumed size of an attempt without its body. */
const ownBytes = 1000;

export class WebhookAttempts implements World {
  readonly #clinic: Clinic;
  /** The machine's clock, in epoch milliseconds. */
  readonly #machine: () => number;
  readonly #world: World;
  readonly #log = new Newest<Attempt>(1000, 4_000_000);
  readonly #stopped = new AbortController();
  readonly after: World['after'];

  constructor(clinic: Clinic, machine: () => number, world: World) {
    this.#clinic = clinic;
    this.#machine = machine;
    this.#world = world;
    this.after = world.after;
  }

  /** Sends a webhook and records the attempt, unless it was cancelled. */
  async send(webhook: OutgoingWebhook, signal: AbortSignal): Promise<number> {
    const { status, error } = await this.#attempt(webhook, signal, null);
    if (status === null) throw new Error(error ?? '');
    return status;
  }

  /**
   * Sends the body of an attempt again, with the receiver's current address and a new signature. The state of the
   * webhook's delivery does not change. Throws NotFound, or ValidationProblem if the receiver no longer exists.
   */
  async redeliver(id: number): Promise<ShownAttempt> {
    const repeated = this.#log.get(id);
    if (!repeated) throw new NotFound();
    return shownAttempt(await this.#attempt(this.#again(repeated.webhook), this.#stopped.signal, id));
  }

  /** The attempts with a higher id, oldest first. */
  list(after: number): ShownAttempt[] {
    return this.#log.after(after).map(shownAttempt);
  }

  /** The newest attempts, newest first. */
  newest(count: number): ShownAttempt[] {
    return this.#log.newest(count).map(shownAttempt);
  }

  clear(): void {
    this.#log.clear();
  }

  stop(): void {
    this.#stopped.abort();
  }

  #again({ about, ...webhook }: OutgoingWebhook): OutgoingWebhook {
    if (about.kind === 'record_change') return { ...webhook, about: { ...about, attempt: 1 } };
    const signed = signedWebhook(this.#clinic, { ...about, body: webhook.body }, 1);
    if (!signed)
      throw new ValidationProblem('id', 'The registration of the wholesaler is deleted: nothing can be sent.');
    return signed;
  }

  async #attempt(webhook: OutgoingWebhook, signal: AbortSignal, redeliveryOf: number | null): Promise<Attempt> {
    const [atMs, startMs] = [this.#clinic.clock(), this.#machine()];
    const outcome = await this.#world.send(webhook, signal).then(
      (status) => ({ status, error: null }),
      (error: unknown) => ({ status: null, error: reasonOf(error) }),
    );
    const fields = { atMs, webhook, ...outcome, durationMs: this.#machine() - startMs, redeliveryOf };
    if (signal.aborted) return { id: 0, ...fields };
    return this.#log.add(fields, ownBytes + webhook.body.length);
  }
}

/** The reason why there was no answer: the system's error code, or else the error's message. */
const reasonOf = (error: unknown): string => {
  const { cause, message, code } = error as {
    cause?: { code?: string; message?: string };
    message?: string;
    code?: string;
  };
  return String(cause?.code ?? cause?.message ?? (typeof code === 'string' ? code : message)).slice(0, 200);
};

const shownAttempt = ({ id, atMs, webhook, status, error, durationMs, redeliveryOf }: Attempt): ShownAttempt => {
  const { about, url, headers, body } = webhook;
  return {
    ...{ id, at: new Date(atMs).toISOString(), kind: about.kind },
    trigger: about.kind === 'record_change' ? about.trigger : null,
    event: about.kind === 'wholesaler' ? about.event : null,
    ...{ attempt: about.attempt, redelivery_of: redeliveryOf, url, headers },
    ...{ body: withoutSecrets(body.slice(0, maxBodyBytes)), body_cut: body.length > maxBodyBytes },
    ...{ status, error, duration_ms: durationMs },
  };
};
