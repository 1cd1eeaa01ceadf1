// Starts a sandbox over real HTTP and gives the contract tests their calls.
import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'lossless-json';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/index.ts';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a contract test reads whatever the wire brings.
  json: any;
}

export interface TestApi {
  sandbox: Sandbox;
  get: (path: string, query?: Record<string, string | number>) => Promise<Reply>;
  send: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;
  ref: (path: string, id: number) => string;
}

export const callApi = (sandbox: Sandbox): TestApi => {
  const api = `${sandbox.url}/${sandbox.installation}/api/0.1`;
  const call = async (url: string, init: RequestInit): Promise<Reply> => {
    const response = await fetch(url, { redirect: 'manual', ...init });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null };
  };
  const authorization = `Bearer ${sandbox.token}`;
  return {
    sandbox,
    get: (path, query = {}) => {
      const search = new URLSearchParams(
        Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
      );
      return call(`${api}/${path}${search.size > 0 ? `?${search}` : ''}`, { headers: { authorization } });
    },
    send: (method, path, body, headers = {}) =>
      call(`${api}/${path}`, {
        method,
        headers: { authorization, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    ref: (path, id) => `${api}/${path}/${id}/`,
  };
};

/** A reference to a record of the sandbox with an arbitrary host. */
export const refTo = (resource: string, id: number): string =>
  `https://practice.example/4711/api/0.1/${resource}/${id}/`;

/** The folder in which `sandbox/test/coverage.test.ts` collects the calls of each test. */
const traceFolder = process.env.VETLEDGER_CONTRACT_TRACE;
const onAnswer: NonNullable<SandboxOptions['onAnswer']> = (answered) => {
  const { currentTestName: test, testPath } = expect.getState();
  if (test === undefined) return;
  const file = basename(testPath ?? '');
  appendFileSync(
    join(traceFolder as string, `${process.pid}.jsonl`),
    `${JSON.stringify({ ...answered, test, file })}\n`,
  );
};
const traced: SandboxOptions = traceFolder === undefined ? {} : { onAnswer };

/** Starts one sandbox for a test file, with a small clinic and without limits. */
export const useSandbox = (options: SandboxOptions = {}): (() => TestApi) => {
  let api: TestApi;
  beforeAll(async () => {
    api = callApi(
      await startSandbox({ invoices: 150, rateWindowSeconds: 0, checkAnswers: true, ...traced, ...options }),
    );
  });
  afterAll(() => api.sandbox.stop());
  return () => api;
};

/** Parses JSON and keeps the exact text of each number. */
export const exactly = (text: string): unknown =>
  JSON.parse(JSON.stringify(parse(text), (_key, value) => (value?.isLosslessNumber ? `#${value}` : value)));
