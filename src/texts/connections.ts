import { catalogue } from './catalogue.ts';

/** Failed connections to the practice API or to the ERP. */
export const connectionTexts = catalogue('connections.connectionTexts', {
  noAnswerInTime: ({ event }: { event: string }): string => `no complete answer in time (${event} time-out)`,
  noConnectionInTime: ({ event }: { event: string }): string => `no connection in time (${event} time-out)`,
  interrupted: ({ code }: { code: string }): string => `the connection was interrupted (${code})`,
  noConnection: ({ reason }: { reason: string }): string => `no connection (${reason})`,
});
