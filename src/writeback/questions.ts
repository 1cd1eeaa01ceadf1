import { bool, instant, integer, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { type DocumentRef, type InstallationId, type SourceKind, sourceKinds } from '../terms.ts';
import { isUnshown } from './outbox.ts';
import { type WriteBackState, writeBackStates } from './plan.ts';

/** Documents without their number in the practice software, each with the reason. */
export async function numberProblems(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<
  { installation: InstallationId; kind: SourceKind; id: number; code: string; message: string; since: Date | null }[]
> {
  return rows(
    db,
    {
      ...{ installation: integer, kind: oneOf(sourceKinds), id: integer, code: text, message: text },
      since: nullable(instant),
    },
    `select installation, kind, document_id as id, error_code as code, coalesce(error, '') as message, error_since as since
     from write_back where installation = any(?::bigint[]) and error_code is not null order by installation, kind, document_id`,
    [installations],
  );
}

export interface WriteBackCounts {
  /** Prepayments whose id or ERP number a later read has shown. */
  confirmed: number;
  /** Prepayments whose id or number was accepted, and no later read has shown it. */
  unconfirmed: number;
}

/** The number of written-back prepayments by installation. Installations without any are left out. */
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

/** SQL for prepayments whose entry id was given up: it was accepted `unseenAtMost` times and never shown. */
export const givenUp = `select installation, document_id, read_back_at from write_back
  where installation = any(?) and read_back = 'given_up'`;

/** By id, the prepayments whose entry id was given up, with the time of the last read. */
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

/**
 * Plans to write the entry ids of prepayments again, even if they were given up. A value of another program is still
 * not replaced.
 */
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

/** The write-back of a document: the ERP's number, or the entry id of a prepayment. */
export interface WrittenBack {
  /** The entry, or the daily summary, that the value identifies. */
  entryId: string;
  /** The value that the source should have. Null if it should be empty. */
  value: string | null;
  state: WriteBackState;
  /** Whether the newest read after the write has shown it. */
  confirmed: boolean;
  previousValue: string | null;
  error: string | null;
  writtenAt: Date | null;
}

/** Returns the state of a document's write-back. Null if the document has none. */
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
