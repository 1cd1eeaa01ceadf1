import { catalogue } from './catalogue.ts';

/** Errors that keep work from continuing, as `vetledger status` and windows show them. */
export const troubleTexts = catalogue('trouble.troubleTexts', {
  once: ({ message, at }: Record<'message' | 'at', string>): string => `${message} (at ${at})`,
  repeated: ({ message, times, since }: Record<'message' | 'since', string> & { times: number }): string =>
    `${message} (${times} times since ${since})`,
  givenUp: ({ cause, limit }: Record<'cause' | 'limit', string>): string =>
    `${cause}; the window was given up${limit && ` after ${limit}`}`,
  endedAfter: ({ end, cause }: Record<'end' | 'cause', string>): string => `${end}; the error before that: ${cause}`,
});
