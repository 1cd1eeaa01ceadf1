// Webhooks for record changes, as in the field notes: a POST with the record's id only, repeated until the answer is 200, at most
// ten times.
import type { ChangedRecord } from './store.ts';

export interface WebhookTarget {
  url: string;
  /** Default `form`. */
  format?: 'form' | 'json';
}

/** The kinds of records whose changes are sent. */
const sent = new Set(['invoice', 'invoicepayment', 'unallocatedpayment']);
const maxAttempts = 10;
const pauseMs = 1_000;
const timeoutMs = 5_000;

export class WebhookSender {
  #target: WebhookTarget | null;
  readonly #stopped = new AbortController();

  constructor(target: WebhookTarget | null) {
    this.#target = target;
  }

  setTarget(target: WebhookTarget | null): void {
    this.#target = target;
  }

  /** Sends one webhook per record, without waiting for the answers. */
  send(changed: ChangedRecord[]): void {
    if (this.#target === null) return;
    const named = new Map(
      changed.filter(({ kind }) => sent.has(kind)).map((record) => [`${record.kind} ${record.id}`, record]),
    );
    for (const { kind, id } of named.values()) void this.#deliver(this.#target, `${kind}_id`, id);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #deliver({ url, format }: WebhookTarget, name: string, id: number): Promise<void> {
    const type = format === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
    const body = format === 'json' ? JSON.stringify({ [name]: id }) : `${name}=${id}`;
    for (let attempt = 1; attempt <= maxAttempts && !this.#stopped.signal.aborted; attempt++) {
      try {
        const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(timeoutMs)]);
        const answer = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body, signal });
        await answer.body?.cancel();
        if (answer.status === 200) return;
      } catch {
        // No connection or no answer in time: treated like an answer other than 200.
      }
      await new Promise((resolve) => void setTimeout(resolve, pauseMs * attempt).unref());
    }
  }
}
