import { visible } from '../domain/text.ts';
import { labels } from '../texts/commands/labels.ts';

/** The responsible person and, if there is one, the second person. */
export function personsText({ by, second }: { by: string; second: string | null }): string {
  return visible(second === null ? by : labels.and({ one: by, other: second }));
}
