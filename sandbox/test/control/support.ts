// Starts a sandbox over HTTP and calls its control endpoints.
import { afterEach } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/index.ts';
import { callApi, type Reply, type TestApi } from '../contract/harness.ts';

export interface Controlled extends TestApi {
  /** Calls `/sandbox/…`; a path with a leading slash is used as it is. */
  control: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
}

const started: Sandbox[] = [];

/** Starts a small sandbox that stops at the end of the test. */
export const start = async (options: SandboxOptions = {}): Promise<Controlled> => {
  const sandbox = await startSandbox({ invoices: 30, rateWindowSeconds: 0, checkAnswers: true, ...options });
  started.push(sandbox);
  return {
    ...callApi(sandbox),
    control: async (method, path, body, headers = {}) => {
      const answer = await fetch(`${sandbox.url}${path.startsWith('/') ? path : `/sandbox/${path}`}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, text, json: text === '' ? null : JSON.parse(text) };
    },
  };
};

afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
});
