import type { FastifyInstance } from 'fastify';
import { codeOf, UserError } from '../domain/errors.ts';
import { listenReasons } from '../texts/errors/listening.ts';
import type { PlainError } from '../texts/plain-error.ts';

/**
 * Starts to listen, and returns the server's address without a path. Throws UserError if the address cannot be used:
 * with exit code 2 if rights are missing, since the configuration must change. Otherwise the exit code is 3, since the
 * address may become usable later.
 */
export async function listenAt(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  fail: (failure: { address: string; reason: string }) => PlainError,
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const reason = listenReasons[codeOf(error) ?? ''];
    if (!reason) throw error;
    throw new UserError(fail({ address: `${host}:${port}`, reason }), codeOf(error) === 'EACCES' ? 2 : 3);
  }
  const address = app.server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
}
