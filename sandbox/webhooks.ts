// Webhooks for record changes, as the field notes have them: a POST with the record's id and nothing else, sent again until
// the answer is 200, ten times at most.
import type { ChangedRecord } from './store.ts';

export interface WebhookTarget {
  url: string;
  /** `form` unless given. */
  format?: 'form' | 'json';
}

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

  /** One webhook for each record; returns at once. */
  send(changed: ChangedRecord[]): void {
    if (this.#target === null) return;
    const named = new Map(changed.map((record) => [`${record.kind} ${record.id}`, record]));
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
        // Nobody there, or too slow: as an answer other than 200.
      }
      await new Promise((resolve) => void setTimeout(resolve, pauseMs * attempt).unref());
    }
  }
}
