import type { FastifyInstance } from 'fastify';
import { codeOf, UserError } from '../domain/errors.ts';

const reasons: Record<string, string> = {
  EADDRINUSE: 'is taken by another process',
  EACCES: 'needs more rights',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not an address of this machine',
};

/**
 * Listens, and returns the server's address as the beginning of a URL. Throws UserError with this code where it cannot; `what` is
 * what cannot be done then, and `key` names the address in the configuration. Only missing rights are a wrong configuration (exit code 2):
 * the process that has the address ends, and a network that is not up yet comes.
 */
export async function listenAt(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  { code, what, key }: { code: string; what: string; key: string },
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const reason = reasons[codeOf(error) ?? ''];
    if (!reason) throw error;
    throw new UserError(
      {
        code,
        message: `${what}: ${host}:${port} ${reason}.`,
        todo: `Name another address in ${key}; another \`vetledger run\` with this configuration may be there already.`,
      },
      codeOf(error) === 'EACCES' ? 2 : 3,
    );
  }
  const address = app.server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
}
