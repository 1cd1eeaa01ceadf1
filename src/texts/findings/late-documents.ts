import { catalogue } from '../catalogue.ts';

/** How a document differs from what was shown before a decision. */
export const decisionChange = catalogue('findings/late-documents.decisionChange', {
  added: ({ document }: { document: string }): string => `${document} is selected now, too`,
  removed: ({ document }: { document: string }): string => `${document} is not selected any more`,
  day: ({ document, from, to }: { document: string; from: string | null; to: string | null }): string =>
    `${document} would be posted ${to === null ? 'not yet' : `on ${to}`}, before ${from === null ? 'not yet' : `on ${from}`}`,
  amount: ({ document, from, to }: { document: string; from: string | null; to: string | null }): string =>
    `the amount of ${document} is ${to ?? 'not known'}, before ${from ?? 'not known'}`,
  content: ({ document }: { document: string }): string => `${document} would have another entry`,
});
