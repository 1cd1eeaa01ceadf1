// Serves a fake Odoo on the loopback interface, for code that needs an address.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FakeOdoo } from './index.ts';

const mostBytes = 64 * 1024 * 1024;

export async function listen(odoo: FakeOdoo): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > mostBytes) request.destroy();
      else parts.push(part);
    });
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
      );
      const answer = odoo.handle({ path: request.url ?? '/', headers, body: Buffer.concat(parts).toString() });
      response.writeHead(answer.status, { ...answer.headers, connection: 'close' }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve, reject) => server.close((error) => (error === undefined ? resolve() : reject(error)))),
  };
}
