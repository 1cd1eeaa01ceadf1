// The wholesaler in the contract tests: calls with its token, and a receiver of its webhooks.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import type { Reply, TestApi } from './harness.ts';

export const salt = 'a-salt-of-the-wholesaler';

/** Calls with the token of an application. */
export const callAs = (api: TestApi, token = 'wholesaler-token') => ({
  get: (path: string) => api.send('GET', path, undefined, { authorization: `Bearer ${token}` }),
  send: (method: string, path: string, body?: unknown): Promise<Reply> =>
    api.send(method, path, body, { authorization: `Bearer ${token}` }),
});

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a contract test reads whatever the wire brings.
  json: any;
}

/**
 * A server on this machine that receives webhooks. `answers` has the statuses of the first deliveries; later ones get
 * 204.
 */
export class Receiver {
  readonly received: Received[] = [];
  answers: number[] = [];
  readonly #server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    this.received.push({ path: request.url ?? '', headers: request.headers, text, json: JSON.parse(text) });
    response.writeHead(this.answers.shift() ?? 204).end();
    this.#wake();
  });
  #wake: () => void = () => {};

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits for the first matching event, among received and later ones. */
  async event(fits: (one: Received) => boolean): Promise<Received> {
    for (;;) {
      const found = this.received.find(fits);
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export const useReceiver = (): Receiver => {
  const receiver = new Receiver();
  beforeAll(() => receiver.start());
  afterAll(() => receiver.stop());
  return receiver;
};

/** The signature that a receiver computes from the timestamp header, a dot, and the unchanged body. */
export const expectedSignature = (secret: string, { headers, text }: Received): string =>
  `v1=${createHmac('sha256', secret).update(`${headers['x-webhook-timestamp']}.${text}`).digest('hex')}`;

/** Registers a wholesaler whose webhooks go to the receiver. */
export const register = async (api: TestApi, receiver: Receiver, fields: object = {}): Promise<number> => {
  const created = await callAs(api).send('POST', 'available_wholesaler/', {
    ...{ name: 'Tukku', email: 'api@tukku.example', register_number: '1234567-8' },
    ...{ webhook_callback_url: `${receiver.url}/hooks`, verification_salt: salt, ...fields },
  });
  return created.json.id;
};
