import { catalogue } from '../catalogue.ts';

/** What has changed in a document. */
export const changeTexts = catalogue('reports/changes.changeTexts', {
  none: 'none',
  change: ({ field, old, now }: Record<'field' | 'old' | 'now', string>): string => `${field} ${old} → ${now}`,
  changed: ({ changes }: { changes: string }): string => `changed: ${changes}`,
});
