import { catalogue } from '../catalogue.ts';

/** The names of the changed facts of a document. */
export const changeTexts = catalogue('reports/changes.changeTexts', {
  none: 'none',
  change: ({ field, old, now }: Record<'field' | 'old' | 'now', string>): string => `${field} ${old} → ${now}`,
  changed: ({ changes }: { changes: string }): string => `changed: ${changes}`,
});
