// Requests that the clinic sends, and the timers between them: what tests replace.

const timeoutMs = 10_000;

export interface OutgoingWebhook {
  url: string;
  headers: Record<string, string>;
  body: string;
  about: WebhookAbout;
}

/** What a webhook tells, and which attempt it is (from 1). */
export type WebhookAbout = { attempt: number } & (
  | { kind: 'record_change'; trigger: number }
  | { kind: 'wholesaler'; event: string; available_wholesaler: number }
);

/** What senders of webhooks need of the world. */
export interface World {
  /** Sends and resolves to the HTTP status; rejects where there is no answer. */
  send: (webhook: OutgoingWebhook, signal: AbortSignal) => Promise<number>;
  /** Calls `act` after `ms`. Returns how to call that off. */
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
