import { visibleIn } from '../../domain/text.ts';
import type { ReconcileNote } from '../../queries/reconcile.ts';
import type { InstallationId } from '../../terms.ts';
import { reconcileNotes as texts } from '../../texts/commands/reconcile.ts';
import type { TimeText } from '../../wording/words.ts';
import type { LocalTimes } from '../books.ts';

/** A note of `reconcile` as a line for stderr. */
export function noteText(installation: InstallationId, note: ReconcileNote, at: LocalTimes): string {
  return `${installation}: ${sentence(visibleIn(note), (time) => at(installation, time))}`;
}

function sentence(note: ReconcileNote, at: TimeText): string {
  switch (note.reason) {
    case 'lists_twice':
      return texts.listsTwice(note);
    case 'new_ones_kept_coming':
      return texts.newRecords(note);
    case 'source_unreachable': {
      const counts = note.countedAt === null ? texts.countsTooOld : texts.countsOf({ at: at(note.countedAt) });
      return texts.sourceUnreachable({ message: note.message, counts });
    }
    case 'clock_put_back':
      return texts.clockPutBack({ at: at(note.at) });
    case 'waiting_for_window':
      return texts.waitingForWindow;
    case 'window_under_way':
      return texts.windowRunning;
    case 'waiting_for_reading':
      return texts.waitingForReader;
    case 'mirror_not_refreshed':
      return texts.notRefreshed(note);
    case 'disputed_not_fetched':
      return texts.notFetched(note);
  }
}
