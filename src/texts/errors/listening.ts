import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const otherProcess = 'Another `vetledger run` with this configuration may be using this one already.';

/** Errors of the daemon's HTTP servers. `reason` is one of `listenReasons`. */
export const listenErrors = catalogue('errors/listening.listenErrors', {
  metrics: ({ address, reason }: { address: string; reason: string }): PlainError => ({
    code: 'metrics_cannot_listen',
    message: `Metrics and health cannot be served: ${address} ${reason}.`,
    todo: `Set another address in metrics.listen. ${otherProcess}`,
  }),
  webhooks: ({ address, reason }: { address: string; reason: string }): PlainError => ({
    code: 'webhooks_cannot_listen',
    message: `Webhooks cannot be received: ${address} ${reason}.`,
    todo: `Set another address in webhooks.listen. ${otherProcess}`,
  }),
  console: ({ address, reason }: { address: string; reason: string }): PlainError => ({
    code: 'console_cannot_listen',
    message: `The console cannot be served: ${address} ${reason}.`,
    todo: `Set another address in console.listen, or use --listen. ${otherProcess}`,
  }),
});

/** Reasons why an address cannot be used, by the error code of Node.js. */
export const listenReasons: Record<string, string> = catalogue('errors/listening.listenReasons', {
  EADDRINUSE: 'is used by another process',
  EACCES: 'requires more rights',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not an address of this machine',
});

/** Answers of the daemon's HTTP servers to requests that they refuse. */
export const httpAnswers = catalogue('errors/listening.httpAnswers', {
  notFound: 'Not found.',
  failed: 'The request could not be answered.',
  onlyPost: 'Only POST is accepted here.',
  bodyTooLarge: 'The body is too large.',
  tooManyWrong: 'Too many wrong requests.',
  refused: 'The request was not accepted.',
});
