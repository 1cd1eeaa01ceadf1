import { visibleIn } from '../../domain/text.ts';
import type { ReconcileNote } from '../../queries/reconcile.ts';
import type { InstallationId } from '../../terms.ts';
import { instant } from './text.ts';

/** A note of `reconcile` as a line for stderr. */
export function noteText(installation: InstallationId, note: ReconcileNote): string {
  return `${installation}: ${sentence(visibleIn(note))}`;
}

function sentence(note: ReconcileNote): string {
  switch (note.reason) {
    case 'lists_twice':
      return `the source lists some ${note.list}s twice, so its count cannot be compared; E6 goes without.`;
    case 'new_ones_kept_coming':
      return `the source's ${note.list}s could not be counted apart from newer ones; E6 goes without.`;
    case 'source_unreachable': {
      const instead =
        note.countedAt === null
          ? 'no counts of it are as new as the mirror; E6 goes without them.'
          : `its counts of ${instant(note.countedAt)} are used.`;
      return `the source cannot be asked (${note.message}); ${instead}`;
    }
    case 'clock_put_back':
      return `the source's clock was put back before the window of ${instant(note.at)}. What changed since both clocks last agreed was asked for again; if the clock was moved more than once in between, a change of a record that is here already can be missing, and E6, which counts, does not show it. \`vetledger backfill\` reads everything.`;
    case 'waiting_for_window':
      return 'waiting for the window under way';
    case 'window_under_way':
      return 'a window is still under way; documents that it has not posted yet are reported as pending';
    case 'waiting_for_reading':
      return 'waiting for another `vetledger reconcile --erp` that reads the same books';
    case 'mirror_not_refreshed':
      return `${note.documents} documents in dispute were not fetched again, since a window holds the mirror; run reconcile again when it has ended.`;
    case 'disputed_not_fetched':
      return `documents in dispute could not be fetched again (${note.message})`;
  }
}
