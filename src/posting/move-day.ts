import { type DraftEntry, entryId, reversedLines } from '../domain/entry.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { entryDescriptions } from '../texts/entries.ts';
import { reversalOf } from './correct.ts';

type Posted = DraftEntry & { id: string };

/** The history in the books of a document whose entries are moved to another day. */
export interface DocumentToMove {
  installation: InstallationId;
  /** Number of the document's entries, including reversals. */
  entryCount: number;
  inForce: Posted | null;
  /** The entries to move, in the order of their chain. */
  moved: readonly Posted[];
}

/** A moved entry and the entries that replace it, by id. */
export interface EntryMove {
  moved: string;
  /** The entry that reverses `moved` on the day of `moved`. */
  settledBy: string;
  /** The entry that replaces `moved` on the other day. */
  successor: string;
}

/**
 * The entries that reverse `moved` on their own days and post them again on `day`, in order. Afterwards the document
 * has the same entry in force, or none, as before. An entry that is moved together with its reversal stays, since the
 * two cancel each other. An entry without its reversal is posted on `day` and reversed on its own day; for a reversal
 * it is the other way round. Because a document has at most one entry in force, that entry is reversed first and posted
 * again last.
 */
export function movedToDay(
  day: CalendarDate,
  { installation, entryCount, inForce, moved }: DocumentToMove,
): { drafts: DraftEntry[]; moves: EntryMove[] } {
  const left = withoutPairs(moved);
  const drafts: DraftEntry[] = [];
  const moves: EntryMove[] = [];
  if (left.length === 0) return { drafts, moves };
  const add = (draft: DraftEntry): Posted => {
    drafts.push(draft);
    return { ...draft, id: entryId(installation, draft.document, entryCount + drafts.length) };
  };
  const isMoved = left.some(({ id }) => id === inForce?.id);
  const takenOut = inForce && add(reversalOf(inForce, isMoved ? inForce.date : day, 'redated'));
  for (const entry of left) {
    if (entry.id === inForce?.id) continue;
    const { date, reverses, lines, description } = entry;
    if (reverses === null) {
      const successor = add(anew(entry, day));
      const settledBy = add(reversalOf(successor, date, 'redated'));
      moves.push({ moved: entry.id, settledBy: settledBy.id, successor: successor.id });
    } else {
      const takenBack = {
        ...entry,
        lines: reversedLines(lines),
        description: entryDescriptions.takenBack({ description }),
      };
      const settledBy = add(anew(takenBack, date));
      const successor = add(reversalOf(settledBy, day, 'redated'));
      moves.push({ moved: entry.id, settledBy: settledBy.id, successor: successor.id });
    }
  }
  if (inForce !== null && takenOut !== null) {
    const successor = add(anew(inForce, day));
    if (isMoved) moves.push({ moved: inForce.id, settledBy: takenOut.id, successor: successor.id });
  }
  return { drafts, moves };
}

function withoutPairs(moved: readonly Posted[]): Posted[] {
  const ids = new Set(moved.map(({ id }) => id));
  const reversed = new Set(moved.flatMap(({ reverses }) => reverses ?? []));
  return moved.filter(({ id, reverses }) => !reversed.has(id) && (reverses === null || !ids.has(reverses)));
}

function anew(entry: DraftEntry, date: CalendarDate): DraftEntry {
  return { ...entry, date, reason: 'redated', reverses: null };
}
