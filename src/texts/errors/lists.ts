import { catalogue } from '../catalogue.ts';

/** The reason why a list of the source could not be read completely. */
export const listTexts = catalogue('errors/lists.listTexts', {
  unprovable: ({ list, reason }: { list: string; reason: string }): string => `the list of ${list}s: ${reason}`,
  recordsMissing: ({ received, count }: { received: number; count: number }): string =>
    `the invoices known so far have ${received} of its ${count} records`,
  notProven: ({ records, tried }: { records: number; tried: string }): string =>
    `${records} records cannot be proven complete; these ways were tried: ids in order, ${tried}`,
  offsets: 'pages by offset, whose sum never equalled the count',
  offsetsEnd: ({ most }: { most: number }): string => `pages by offset, which end at ${most}`,
  ranges: ({ field, filters }: { field: string; filters: string }): string => `ranges of ${field} (${filters})`,
});
