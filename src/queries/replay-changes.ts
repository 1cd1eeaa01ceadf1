import { integer, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { documentKinds, type InstallationId } from '../terms.ts';

/** The changes of a replay to the books, for `replay --json`. */
export interface ReplayChanges {
  /** New or changed versions of records. */
  versions: number;
  /** Documents posted for the first time. */
  posted: number;
  /** Documents whose entry was reversed. If the document still has something to post, it also has a new entry. */
  corrected: number;
  /** The first corrected documents. */
  documents: string[];
}

/** Between two entries of a replay, at most this many other entries are read. */
const entriesBeside = 10_000;
const documentsAtMost = 50;

/** The documents that a replay posted or corrected. `entries` is the number of entries that it appended. */
export async function replayChanges(
  db: Connection,
  {
    installation,
    window,
    versions,
    entries,
  }: { installation: InstallationId; window: number | null; versions: number; entries: number },
): Promise<ReplayChanges> {
  if (entries === 0 || window === null) return { versions, posted: 0, corrected: 0, documents: [] };
  const changed = await rows(
    db,
    { kind: oneOf(documentKinds), id: integer, how: text },
    `select kind, document_id as id, case when min(n) = 1 then 'posted' else 'corrected' end as how from (
       select * from entry where installation = ? order by seq desc limit ?) newest
     where window_id = ? group by kind, document_id order by kind, document_id`,
    [installation, entries + entriesBeside, window],
  );
  const posted = changed.filter(({ how }) => how === 'posted').length;
  return {
    ...{ versions, posted, corrected: changed.length - posted },
    documents: changed.slice(0, documentsAtMost).map(({ kind, id, how }) => `${kind} ${id} ${how}`),
  };
}
