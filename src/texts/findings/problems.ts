import { catalogue } from '../catalogue.ts';

/** Texts of problems that concern several documents, or records that are not documents. */
export const problemTexts = catalogue('findings/problems.problemTexts', {
  shrank: ({ list, count, first }: { list: string; count: number; first: string }) =>
    `the source’s list of ${list} does not show ${count} posted documents; they stay posted. The first: ${first}`,
  withoutId: ({ kind }: { kind: string }) => `${kind} without id`,
  noClient: 'no client',
  client: ({ id }: { id: number }) => `client ${id}`,
});
