import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Connections of one address at a time: more than a proxy needs for webhooks, which are answered at once. */
const mostOfAddress = 50;
const mostOfAll = 250;
/** Milliseconds for the headers of a request; a sender of webhooks sends them in one piece. */
export const headersTimeoutMs = 3_000;

/**
 * Accepts every new connection. Where there are too many, it closes the oldest one: of the same address where that has too many, else of
 * the address with the most. So a client that holds connections open and sends nothing keeps no other client out, also behind the same
 * proxy: a request is answered before another fifty connections have come. `closed` is called for each that is closed.
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
