import { type DraftEntry, entryId, reversedLines } from '../domain/entry.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { reversalOf } from './correct.ts';

type Posted = DraftEntry & { id: string };

/** What the books hold of a document whose entries are moved to another day. */
export interface DocumentToMove {
  installation: InstallationId;
  /** Entries that the document has, reversals included; the next one gets the next number. */
  entryCount: number;
  inForce: Posted | null;
  /** Its entries that are moved, in the order of their chain. */
  moved: readonly Posted[];
}

/** What becomes of an entry that is moved, by ids. */
export interface EntryMove {
  moved: string;
  /** Takes it out of the books on its own day. */
  settledBy: string;
  /** Stands on the other day in its place. */
  successor: string;
}

/**
 * The entries that take `moved` out of the books on their own days and put them in on `day`, in order. Afterwards the document has
 * the same entry in force, or none, as before. An entry that is moved with its reversal stays where it is, since the two come to
 * nothing. One whose reversal is not moved is brought in on `day` and taken out on its own; for a reversal it is the other way
 * round. As a document has one entry in force at most, the one in force is taken out first and put back last.
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
      const takenBack = { ...entry, lines: reversedLines(lines), description: `${description}, taken back` };
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
