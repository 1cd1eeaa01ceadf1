import { visible } from '../../domain/text.ts';
import type { ChainReport } from '../../queries/ledger.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';

/** Whether a journal's hash chain is whole, and what to do if not. */
export function chainText({ installation, entries, summaries, broken }: ChainReport): string {
  if (broken === null) {
    const ofSummaries = summaries > 0 ? `, and that of ${summaries} daily summaries,` : '';
    return `Installation ${installation}: the chain of ${entries} entries${ofSummaries} is whole.`;
  }
  return [
    `Installation ${installation}: the chain is BROKEN at ${visible(broken.entryId)}: ${visible(broken.message)}.`,
    'what to do: restore the database from a backup made before it was changed, and find out who changed it.',
  ].join('\n');
}

export function closedText(closed: { installation: InstallationId; closed_through: CalendarDate }): string {
  return `Installation ${closed.installation}: closed through ${closed.closed_through}.`;
}
