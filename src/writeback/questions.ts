import { bool, instant, integer, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { type DocumentKind, type DocumentRef, documentKinds, type InstallationId } from '../terms.ts';
import { isUnshown } from './outbox.ts';
import { type WriteBackState, writeBackStates } from './plan.ts';

/** Documents whose number the practice software does not carry, and why. */
export async function numberProblems(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<
  { installation: InstallationId; kind: DocumentKind; id: number; code: string; message: string; since: Date | null }[]
> {
  return rows(
    db,
    {
      ...{ installation: integer, kind: oneOf(documentKinds), id: integer, code: text, message: text },
      since: nullable(instant),
    },
    `select installation, kind, document_id as id, error_code as code, coalesce(error, '') as message, error_since as since
     from write_back where installation = any(?::bigint[]) and error_code is not null order by installation, kind, document_id`,
    [installations],
  );
}

export interface WriteBackCounts {
  /** Prepayments whose id, or whose ERP number, a later read has shown. */
  confirmed: number;
  /** Prepayments whose id or number was accepted, and that no later read has shown yet. */
  unconfirmed: number;
}

/** How many prepayments of these installations were written back; none of those without any. */
export async function writeBackCounts(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, WriteBackCounts>> {
  const counts = await rows(
    db,
    { installation: integer, confirmed: integer, unconfirmed: integer },
    `select installation, count(*) filter (where state = 'done' and read_back = 'shown') as confirmed,
       count(*) filter (where ${isUnshown} or state in ('pending', 'failed') and read_back = 'unseen') as unconfirmed
     from write_back b where installation = any(?) and kind = 'prepayment' and value_is <> 'former' group by installation`,
    [installations],
  );
  return new Map(counts.map(({ installation, ...each }) => [installation, each]));
}

/** Prepayments whose entry id was accepted and never shown, as often as it is tried. */
export const givenUp = `select installation, document_id, read_back_at from write_back
  where installation = any(?) and read_back = 'given_up'`;

/** Those that were given up, by id, and when that was found last. */
export async function givenUpWriteBacks(
  db: Connection,
  installation: InstallationId,
): Promise<Map<number, Date | null>> {
  const found = await rows(
    db,
    { id: integer, at: nullable(instant) },
    `select document_id as id, read_back_at as at from (${givenUp}) g`,
    [[installation]],
  );
  return new Map(found.map(({ id, at }) => [id, at]));
}

/** Has the entry ids of prepayments written again, also one that was given up; not where somebody else's value stands. */
export async function writeAgain(
  db: Connection,
  installation: InstallationId,
  prepaymentIds: readonly number[],
): Promise<void> {
  await execute(
    db,
    `update write_back set state = 'failed', read_back = null, read_back_at = null, unseen = 0,
       sent_at = coalesce(sent_at, clock_timestamp())
     where installation = ? and kind = 'prepayment' and value_is = 'entry_id' and document_id = any(?)`,
    [installation, prepaymentIds],
  );
}

/** What was written back to the source of a document: the ERP's number, or the entry id of a prepayment. */
export interface WrittenBack {
  /** The entry, or the summary, that it is of. */
  entryId: string;
  /** What is to stand in the source; null: nothing any more. */
  value: string | null;
  state: WriteBackState;
  /** Whether a read after the write has shown it, and the newest one still does. */
  confirmed: boolean;
  previousValue: string | null;
  error: string | null;
  writtenAt: Date | null;
}

/** Null where nothing was to be written back. */
export function writtenBack(
  db: Connection,
  installation: InstallationId,
  { kind, id }: DocumentRef,
): Promise<WrittenBack | null> {
  return maybeRow(
    db,
    {
      ...{ entryId: text, value: nullable(text), state: oneOf(writeBackStates), confirmed: bool },
      ...{ previousValue: nullable(text), error: nullable(text), writtenAt: nullable(instant) },
    },
    `select unit_id as "entryId", value, state, state = 'done' and coalesce(read_back = 'shown', false) as confirmed,
       previous_value as "previousValue", error, written_at as "writtenAt"
     from write_back where installation = ? and kind = ? and document_id = ?`,
    [installation, kind, id],
  );
}
