import { catalogue } from '../catalogue.ts';

/** The rest of a first load. */
export const loadTexts = catalogue('reports/load.loadTexts', {
  received: ({ received, all, list }: { received: number; all: number; list: string }): string =>
    `${received} of ${all} ${list}s read`,
});
