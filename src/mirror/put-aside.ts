import { integer, nullable, oneOf, text } from '../db/columns.ts';
import { isOfTheData, kindOfError, retryingTransaction } from '../db/errors.ts';
import type { Transact } from '../db/lease.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { markDirty, markKnown } from '../documents/mark.ts';
import { divideFailed } from '../domain/divide.ts';
import type { Problem } from '../domain/problems.ts';
import { type DocumentKind, type DocumentRef, type RecordKind, recordKinds } from '../terms.ts';
import { incomingRecord } from './incoming.ts';
import { savePage } from './save-page.ts';
import type { FindOwnEchoes, IncomingPage, MirrorScope, SaveResult } from './types.ts';

/**
 * Records that could not be stored (table `put_aside`). Each holds its document, whatever the mirror has of it, until an answer
 * brings the record in a form that can be stored; the census asks for them again.
 */

/**
 * Saves a page in a transaction together with what `inTransaction` does. Where that fails for what is in the page, the records
 * are saved part by part, those that fail alone are put aside, and the page is saved without them.
 */
export async function savePageOrAside<T>(
  transact: Transact,
  scope: MirrorScope,
  kind: RecordKind,
  page: IncomingPage,
  findOwnEchoes: FindOwnEchoes,
  inTransaction: (trx: Connection, saved: SaveResult) => Promise<T>,
): Promise<T> {
  let pulled = 0;
  const save = (saving: IncomingPage) =>
    retryingTransaction(transact, async (trx) => {
      const saved = await savePage(trx, scope, kind, saving, findOwnEchoes);
      return inTransaction(trx, { ...saved, pulled: saved.pulled + pulled });
    });
  try {
    return await save(page);
  } catch (error) {
    const aside = new Set<number>();
    await divideFailed(page.results, error, {
      work: async (results) => {
        const part = { ...page, results: [...results] };
        const saved = await retryingTransaction(transact, (trx) => savePage(trx, scope, kind, part, findOwnEchoes));
        pulled += saved.pulled;
      },
      isTheirs: isOfTheData,
      culprit: async (item, failure) => {
        aside.add(item.id);
        await transact((trx) => putAside(trx, scope, kind, item, failure));
      },
    });
    return await save({ ...page, aside });
  }
}

async function putAside(
  trx: Connection,
  scope: MirrorScope,
  kind: RecordKind,
  item: IncomingPage['results'][number],
  error: unknown,
): Promise<void> {
  const { installation } = scope;
  const parentId = parentOf(scope, kind, item);
  const message = `${kind} ${item.id}: storing it failed unexpectedly (${kindOfError(error)})`;
  await execute(
    trx,
    `insert into put_aside (installation, kind, record, parent_id, code, message) values (?, ?, ?, ?, 'internal_error', ?)
     on conflict (installation, kind, record) do update set parent_id = excluded.parent_id, code = excluded.code,
       message = excluded.message, seen_at = clock_timestamp()`,
    [installation, kind, String(item.id), parentId, message],
  );
  if (kind !== 'row') await markDirty(trx, installation, kind, [item.id]);
  else if (parentId !== null) await markKnown(trx, installation, 'invoice', [parentId]);
}

function parentOf(scope: MirrorScope, kind: RecordKind, item: IncomingPage['results'][number]): number | null {
  try {
    return incomingRecord(scope, kind, item).parentId;
  } catch {
    return null;
  }
}

/** Why documents are held that were put aside, or of which a row was; by `<kind>/<id>`. */
export async function asideProblems(
  db: Connection,
  installation: number,
  documents: readonly DocumentRef[],
): Promise<Map<string, Problem>> {
  const found = await rows(
    db,
    { kind: oneOf(recordKinds), record: text, parentId: nullable(integer), message: text },
    `select kind, record, parent_id as "parentId", message from put_aside
     where installation = ? and (record = any(?) or kind = 'row' and parent_id = any(?))`,
    [installation, documents.map(({ id }) => String(id)), documents.map(({ id }) => id)],
  );
  const problems = new Map<string, Problem>();
  for (const { kind, record, parentId, message } of found) {
    const document: DocumentRef =
      kind === 'row' ? { kind: 'invoice', id: parentId ?? 0 } : { kind, id: Number(record) };
    problems.set(`${document.kind}/${document.id}`, { code: 'internal_error', document, message });
  }
  return problems;
}

/** The ids of the records put aside, to be asked for again. */
export async function asideIds(
  db: Connection,
  installation: number,
  kind: RecordKind,
  limit: number,
): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select record::bigint as id from put_aside where installation = ? and kind = ? order by seen_at, record limit ?`,
    [installation, kind, limit],
  );
  return found.map(({ id }) => id);
}

/** How many records of a kind were put aside that the mirror has no version of. */
export async function countAside(db: Connection, installation: number, kind: DocumentKind): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from put_aside a where installation = ? and kind = ? and not exists (
       select from mirror_record m where m.installation = a.installation and m.kind = a.kind and m.id = a.record::bigint)`,
    [installation, kind],
  );
  return n;
}
