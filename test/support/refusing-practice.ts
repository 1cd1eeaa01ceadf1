import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let address: Promise<string> | undefined;

/**
 * The URL of a practice API that answers every request with 404. Commands do not repeat such a request, so tests whose
 * source does not matter do not wait. The server ends with the process.
 */
export function refusingPractice(): Promise<string> {
  address ??= new Promise((resolve) => {
    const server = createServer((_request, response) => response.writeHead(404).end()).unref();
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
  return address;
}
