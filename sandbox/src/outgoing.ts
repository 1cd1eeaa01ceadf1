// Outgoing requests of the clinic and the timers between them. Tests replace both.

const timeoutMs = 10_000;

export interface OutgoingWebhook {
  url: string;
  headers: Record<string, string>;
  body: string;
  about: WebhookAbout;
}

/** The subject of a webhook, and the number of the attempt, from 1. */
export type WebhookAbout = { attempt: number } & (
  | { kind: 'record_change'; trigger: number }
  | { kind: 'wholesaler'; event: string; available_wholesaler: number }
);

/** The outgoing requests and timers that senders of webhooks use. */
export interface World {
  /** Sends a webhook and resolves to the HTTP status; rejects if there is no answer. */
  send: (webhook: OutgoingWebhook, signal: AbortSignal) => Promise<number>;
  /** Calls `act` after `ms`. Returns a function that cancels the call. */
  after: (ms: number, act: () => void) => () => void;
}

export const realWorld: World = {
  send: async ({ url, headers, body }, signal) => {
    const both = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: both });
    await answer.body?.cancel();
    return answer.status;
  },
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
