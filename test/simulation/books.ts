// The ledger in memory. It appends entries without checks, so that the oracle sees every mistake.
import type { DraftEntry } from '../../src/domain/entry.ts';
import type { Decision, LateDecision, LateStanding, Outside, PostedBefore } from '../../src/posting/types.ts';
import type { DocumentRef, DocumentState } from '../../src/terms.ts';

export type BookedEntry = DraftEntry & { id: string };

export interface DocumentBook extends DocumentRef {
  state: DocumentState | null;
  problem: string | null;
  documentDate: string | null;
  /** True if the document must be judged. `wanted` is true if its parts must be fetched first. */
  dirty: boolean;
  wanted: boolean;
  entries: BookedEntry[];
  /** The position of the document's first posting among all documents; null if the document was never posted. */
  place: number | null;
  /** The codes of the remarks of its last judgement, without duplicates. */
  remarks: string[];
  /** The amounts that the document's problem keeps out of the books. */
  outside: Outside | null;
  late: LateStanding | null;
  /** A closed period holds its correction after a change of the mapping. */
  remapHeld: boolean;
  /** The newest decision is first. */
  decisions: LateDecision[];
}

export const keyOf = ({ kind, id }: DocumentRef): string => `${kind}/${id}`;

export class Books {
  readonly documents = new Map<string, DocumentBook>();
  #placed = 0;

  of(document: DocumentRef): DocumentBook {
    const key = keyOf(document);
    let book = this.documents.get(key);
    if (!book) {
      const { kind, id } = document;
      book = {
        ...{ kind, id, state: null, problem: null, documentDate: null, dirty: false, wanted: false },
        ...{ entries: [], place: null, remarks: [], outside: null, late: null, remapHeld: false, decisions: [] },
      };
      this.documents.set(key, book);
    }
    return book;
  }

  /** Records a decision and appends its entries. Returns the appended entries. */
  save(book: DocumentBook, decision: Decision): BookedEntry[] {
    const added = decision.entries.map((entry, index) => ({
      ...entry,
      id: `4711/${keyOf(book)}/${book.entries.length + index + 1}`,
    }));
    if (added.length > 0) book.place ??= ++this.#placed;
    book.entries.push(...added);
    book.state = decision.state;
    book.problem = decision.problem?.code ?? null;
    book.documentDate = decision.documentDate ?? book.documentDate;
    book.remarks = [...new Set(decision.reports.map(({ code }) => code))].sort();
    book.outside = decision.outside ?? null;
    book.late = decision.late ?? null;
    book.remapHeld = decision.remapHeld ?? false;
    book.dirty = false;
    book.wanted = false;
    return added;
  }
}

/** The entries that no entry has reversed. More than one is a mistake, which the oracle must find. */
export function inForce(book: DocumentBook): BookedEntry[] {
  const reversed = new Set(book.entries.map((entry) => entry.reverses));
  return book.entries.filter((entry) => entry.reverses === null && !reversed.has(entry.id));
}

export function postedBefore(book: DocumentBook): PostedBefore {
  return {
    inForce: inForce(book).at(-1) ?? null,
    everPosted: book.entries.length > 0,
    reversedFor: inForce(book).length > 0 ? null : (book.entries.at(-1)?.reason ?? null),
    state: book.state,
    documentDate: book.documentDate,
    late: book.late,
    remapHeld: book.remapHeld,
    decisions: book.decisions,
  };
}
