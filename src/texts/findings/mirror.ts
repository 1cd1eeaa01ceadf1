import { catalogue } from '../catalogue.ts';

/** Messages of problems with records of the source, and with judging documents. */
export const mirrorTexts = catalogue('findings/mirror.mirrorTexts', {
  failedUnexpectedly: ({ kind, id, step, reason }: { kind: string; id: number; step: string; reason: string }) =>
    `${kind} ${id}: ${step} failed unexpectedly (${reason})`,
  storing: 'storing it',
  firstPage: 'the first page',
  page: ({ query }: { query: string }): string => `the page ?${query}`,
  recordOfPage: ({ position, page, list, reason }: { position: number; page: string; list: string; reason: string }) =>
    `record ${position} of ${page} of the ${list} list: ${reason}`,
  foreignInvoice: ({ id, field, message }: { id: number; field: string; message: string }): string =>
    `row ${id}: ${field} ${message}`,
  contradiction: ({ kind, id, versions }: { kind: string; id: number; versions: number }): string =>
    `${kind} ${id}: one answer contains it in ${versions} different versions`,
});
