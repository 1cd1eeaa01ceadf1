import { catalogue } from '../catalogue.ts';

/** Findings of the scrub about a document, or about a row of it. */
export const scrubTexts = catalogue('findings/scrub.scrubTexts', {
  document: {
    changed: 'it has another content in the source, although its `modified` has not changed',
    appeared: 'it appeared in the source with a `modified` from before the last window',
    vanished: 'it is no longer in the source',
  },
  row: {
    changed: 'one of its rows has another content in the source, although the `modified` of the row has not changed',
    appeared: 'one of its rows appeared in the source with a `modified` from before the last window',
    vanished: 'one of its rows is no longer in the source',
  },
} as const);
