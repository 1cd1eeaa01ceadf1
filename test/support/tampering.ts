import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SourceAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Bytes that replace `body`, for an answer that is not text. */
  bytes?: Buffer;
  /** The number of bytes of the body to send. The header announces the whole length, and then the connection breaks. */
  cutAfter?: number;
}

export interface SourceRequest {
  method: string;
  /** The path with its query. */
  path: string;
  body: string;
}

/**
 * Changes an answer of the source, or returns it unchanged. Null breaks the connection after the request took effect.
 */
export type Tamper = (
  answer: SourceAnswer,
  request: SourceRequest,
) => SourceAnswer | null | Promise<SourceAnswer | null>;

export interface TamperingProxy {
  url: string;
  /** The address of the real server; null until it is set. */
  target: string | null;
  tamper: Tamper;
  /** Answers a request instead of the source, which does not get it. Undefined passes the request on. */
  instead?: (request: SourceRequest) => SourceAnswer | undefined;
  /** All requests so far. */
  requests: SourceRequest[];
  stop(): Promise<void>;
}

/** A proxy in front of a source that changes its answers. The source's data stays correct. */
export async function startTamperingProxy(): Promise<TamperingProxy> {
  const server = createServer((request, response) => {
    pass(proxy, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: TamperingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: null,
    tamper: (answer) => answer,
    requests: [],
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return proxy;
}

async function pass(proxy: TamperingProxy, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const request = {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    body: Buffer.concat(chunks).toString(),
  };
  proxy.requests.push(request);
  if (proxy.target === null) throw new Error('the proxy has no target yet');
  const instead = proxy.instead?.(request);
  if (instead !== undefined) {
    response.writeHead(instead.status, instead.headers);
    response.end(instead.body);
    return;
  }
  const { authorization = '', accept = '', 'content-type': type = 'application/json' } = incoming.headers;
  const answered = await fetch(`${proxy.target}${request.path}`, {
    method: request.method,
    headers: { authorization, accept, 'content-type': type },
    redirect: 'manual',
    ...(request.body === '' ? {} : { body: request.body }),
  });
  // These headers no longer fit, because fetch has decompressed the body.
  const dropped = ['content-encoding', 'content-length', 'transfer-encoding', 'connection'];
  const kept = [...answered.headers].filter(([name]) => !dropped.includes(name));
  const received = { status: answered.status, headers: Object.fromEntries(kept), body: await answered.text() };
  const answer = await proxy.tamper(received, request);
  if (answer === null) {
    response.destroy();
    return;
  }
  // Some sources send no Date header, so the proxy adds none.
  response.sendDate = false;
  const bytes = answer.bytes ?? Buffer.from(answer.body);
  if (answer.cutAfter === undefined) {
    response.writeHead(answer.status, answer.headers);
    response.end(bytes);
    return;
  }
  response.writeHead(answer.status, { ...answer.headers, 'content-length': String(bytes.length) });
  response.write(bytes.subarray(0, answer.cutAfter), () => response.destroy());
}

/** Changes the JSON text of single records of one list in all answers. */
export function changeRecords(list: string, change: (raw: string, record: Record<string, unknown>) => string): Tamper {
  return (answer, { path, method }) => {
    if (method !== 'GET' || !path.split('?')[0]?.endsWith(`/${list}/`) || answer.status !== 200) return answer;
    const page = JSON.parse(answer.body) as { results: Record<string, unknown>[] };
    const { results, ...rest } = page;
    const texts = results.map((record) => change(JSON.stringify(record), record));
    const body = `${JSON.stringify(rest).slice(0, -1)},"results":[${texts.join(',')}]}`;
    return { ...answer, body };
  };
}
