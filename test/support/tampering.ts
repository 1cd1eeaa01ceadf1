import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SourceAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Sent in place of `body`: what is no text. */
  bytes?: Buffer;
  /** So many bytes of the body arrive, although its whole length was announced; then the connection breaks off. */
  cutAfter?: number;
}

export interface SourceRequest {
  method: string;
  /** With the query. */
  path: string;
  body: string;
}

/** Changes an answer of the source, or gives it back as it is; null: the connection breaks off, the request having been done. */
export type Tamper = (
  answer: SourceAnswer,
  request: SourceRequest,
) => SourceAnswer | null | Promise<SourceAnswer | null>;

export interface TamperingProxy {
  url: string;
  /** The server that really answers; null until it is set. */
  target: string | null;
  tamper: Tamper;
  /** Answers a request in the source's place, which does not get it; undefined: it does. */
  instead?: (request: SourceRequest) => SourceAnswer | undefined;
  /** Every request so far. */
  requests: SourceRequest[];
  stop(): Promise<void>;
}

/** A server in front of a source that changes its answers on the way: what the source holds stays right, what is told is not. */
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
  // What fetch has unpacked and joined has another length.
  const dropped = ['content-encoding', 'content-length', 'transfer-encoding', 'connection'];
  const kept = [...answered.headers].filter(([name]) => !dropped.includes(name));
  const received = { status: answered.status, headers: Object.fromEntries(kept), body: await answered.text() };
  const answer = await proxy.tamper(received, request);
  if (answer === null) {
    response.destroy();
    return;
  }
  // A source without a clock in its answers is one of the cases.
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

/** A tampering that changes the JSON text of single records of one list, whichever question brings them. */
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
