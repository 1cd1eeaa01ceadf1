// Delivers events to wholesalers (practice-api: Events; Authentication 6). Choices of the sandbox: each delivery
// has the headers `X-Webhook-Timestamp`, seconds since 1970, and `X-Webhook-Signature`, `v1=` and the HMAC-SHA256 in
// hex of timestamp, '.' and body. Its key is the verification_salt as UTF-8. Every 2xx answer within ten seconds counts
// as delivered. There are ten attempts, with pauses of 1, 2, 4 ... 256 seconds. The events of one credential set arrive
// in order, so an event waits for the earlier ones.
import { createHmac } from 'node:crypto';
import type { Clinic } from '../clinic.ts';
import type { OutgoingWebhook, World } from '../outgoing.ts';
import type { WholesalerEvent } from '../state/supply.ts';
import type { ChangedRecord } from '../store.ts';

const maxAttempts = 10;
const firstPauseMs = 1000;

/** The value of the header `X-Webhook-Signature`. `timestamp` is the value of `X-Webhook-Timestamp`. */
export const signatureOf = (salt: string, timestamp: string, body: string): string =>
  `v1=${createHmac('sha256', Buffer.from(salt, 'utf8')).update(`${timestamp}.${body}`).digest('hex')}`;

/** The webhook of an event, with the registration's current address and salt. Null if the registration was deleted. */
export const signedWebhook = (
  clinic: Clinic,
  { available_wholesaler, event, body }: Pick<WholesalerEvent, 'available_wholesaler' | 'event' | 'body'>,
  attempt: number,
): OutgoingWebhook | null => {
  const receiver = clinic.supply.available.get(available_wholesaler);
  if (!receiver) return null;
  const timestamp = String(Math.floor(clinic.clock() / 1000));
  const headers = {
    'content-type': 'application/json',
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': signatureOf(receiver.verification_salt, timestamp, body),
  };
  const about = { kind: 'wholesaler', event, available_wholesaler, attempt } as const;
  return { url: receiver.webhook_callback_url, headers, body, about };
};

export class Courier {
  readonly #clinic: Clinic;
  readonly #world: World;
  readonly #stopped = new AbortController();
  /** Undelivered events by credential set. The first one is being delivered. */
  readonly #queues = new Map<number, WholesalerEvent[]>();
  readonly #timers = new Set<() => void>();
  #lastSeen = 0;

  /** Queues the undelivered events of a loaded clinic. */
  constructor(clinic: Clinic, world: World) {
    this.#clinic = clinic;
    this.#world = world;
    this.#enqueue(clinic.supply.events.all());
  }

  /** Queues the new events of a transaction. */
  changed(changed: readonly ChangedRecord[]): void {
    if (!changed.some(({ kind, id }) => kind === 'wholesaler_event' && id > this.#lastSeen)) return;
    this.#enqueue(this.#clinic.supply.events.select({ idGreaterThan: this.#lastSeen }));
  }

  stop(): void {
    this.#stopped.abort();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #enqueue(events: readonly WholesalerEvent[]): void {
    for (const event of events) {
      this.#lastSeen = Math.max(this.#lastSeen, event.id);
      if (event.state !== 'waiting') continue;
      const queue = this.#queues.get(event.wholesaler);
      if (queue) {
        queue.push(event);
      } else {
        this.#queues.set(event.wholesaler, [event]);
        void this.#attempt(event);
      }
    }
  }

  async #attempt(event: WholesalerEvent): Promise<void> {
    const webhook = signedWebhook(this.#clinic, event, event.attempts + 1);
    if (webhook === null) {
      this.#note(event, 'given up');
      return;
    }
    const status = await this.#world.send(webhook, this.#stopped.signal).catch(() => 0);
    if (this.#stopped.signal.aborted) return;
    if (status >= 200 && status < 300) this.#note(event, 'delivered');
    else this.#note(event, event.attempts + 1 >= maxAttempts ? 'given up' : 'waiting');
  }

  /** Records an attempt, and plans the next attempt or the next event of the credential set. */
  #note(event: WholesalerEvent, state: WholesalerEvent['state']): void {
    const attempts = event.attempts + 1;
    const clinic = this.#clinic;
    clinic.commit(() => clinic.update(clinic.supply.events, event, { attempts, state }), 'request');
    if (state === 'waiting') {
      const cancel = this.#world.after(firstPauseMs * 2 ** (attempts - 1), () => {
        this.#timers.delete(cancel);
        void this.#attempt(event);
      });
      this.#timers.add(cancel);
      return;
    }
    const queue = this.#queues.get(event.wholesaler);
    queue?.shift();
    const next = queue?.[0];
    if (next) void this.#attempt(next);
    else this.#queues.delete(event.wholesaler);
  }
}
