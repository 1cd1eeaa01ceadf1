import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The most connections that one address may hold. A proxy needs fewer, because webhooks are answered at once. */
const mostOfAddress = 50;
const mostOfAll = 250;
/** Milliseconds within which the headers of a request must arrive. A sender of webhooks sends them in one piece. */
export const headersTimeoutMs = 3_000;

/**
 * Accepts every new connection and closes the oldest one if there are too many. If the new connection's address has too
 * many, the oldest of this address is closed. Otherwise the oldest of the address with the most is closed. A client
 * that holds idle connections open therefore does not block other clients, even behind the same proxy. `closed` is
 * called for each closed connection.
 */
export function limitConnections(server: Server, closed: () => void = () => undefined): void {
  const byAddress = new Map<string, Set<Socket>>();
  let all = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const own = byAddress.get(address) ?? new Set<Socket>();
    byAddress.set(address, own);
    own.add(socket);
    all += 1;
    const leave = (each: Socket, of: Set<Socket>, from: string) => {
      if (!of.delete(each)) return;
      all -= 1;
      if (of.size === 0 && byAddress.get(from) === of) byAddress.delete(from);
    };
    socket.once('close', () => leave(socket, own, address));
    if (own.size <= mostOfAddress && all <= mostOfAll) return;
    const [from, crowd] = own.size > mostOfAddress ? ([address, own] as const) : largest(byAddress);
    const [oldest] = crowd;
    if (oldest === undefined) return;
    leave(oldest, crowd, from);
    oldest.destroy();
    closed();
  });
}

/** The address with the most connections. */
function largest(byAddress: ReadonlyMap<string, Set<Socket>>): [string, Set<Socket>] {
  let found: [string, Set<Socket>] = ['', new Set()];
  for (const each of byAddress) if (each[1].size > found[1].size) found = each;
  return found;
}
