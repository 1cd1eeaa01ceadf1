import { integer, nullable } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type DocumentIds, heldBy, markTogether } from '../documents/mark.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import { inSlices, mapped } from '../domain/slices.ts';
import type { RecordKind } from '../terms.ts';
import { comparable, incomingRecord, isLater, isOfOtherKeeping, isSameContent } from './incoming.ts';
import { putUnusableAside } from './put-unusable-aside.ts';
import { doubtRowSets } from './row-sets.ts';
import {
  confirmUnchanged,
  cutStored,
  keepReplaced,
  lockStored,
  noteShown,
  rawRecords,
  replaceByEchoes,
  type StoredRecord,
  upsert,
} from './stored-records.ts';
import type { FindOwnEchoes, IncomingPage, IncomingRecord, MirrorScope, NewVersion, SaveResult } from './types.ts';

/**
 * Saves one page into the mirror, in the caller's transaction. A new version replaces the stored one only when its answer is
 * later (`isLater`), and the replaced version is kept. Every document that a change touches
 * is marked to be judged again. A constant number of statements for a page of any size.
 */
export async function savePage(
  trx: Connection,
  scope: MirrorScope,
  kind: RecordKind,
  page: IncomingPage,
  findOwnEchoes: FindOwnEchoes = async () => new Set(),
): Promise<SaveResult> {
  const { installation } = scope;
  const storing = page.results.filter(({ id }) => !page.aside?.has(id));
  const read = mapped(storing, costOf, (item) => incomingRecord(scope, kind, item));
  const incoming = new Map((await inSlices(read)).map((record) => [record.id, record]));
  const ids = [...new Set(page.results.map(({ id }) => id))];
  const { unusable = [] } = page;
  const received = {
    received: page.results.length + unusable.length,
    ids,
    unusable: unusable.map(({ key }) => key),
  };
  await putUnusableAside(trx, installation, kind, unusable, page.answeredAt);
  if (incoming.size === 0) return { ...received, pulled: 0, changedIds: [], changedParents: [] };

  const { added, replaced, unchanged, cut, shown } = await compare(trx, scope, kind, [...incoming.values()], page);
  const echoes =
    kind !== 'row' && replaced.length > 0
      ? await findOwnEchoes(
          replaced.map(({ version }) => version),
          kind,
        )
      : new Set<number>();
  const newer = replaced.map(({ next }) => next);
  await cutStored(trx, installation, kind, cut);
  await keepReplaced(trx, installation, kind, idsOf(newer));
  const changed = [...added, ...newer].filter((next) => !echoes.has(next.id));
  await upsert(trx, installation, kind, changed, page);
  await replaceByEchoes(
    trx,
    installation,
    kind,
    newer.filter((next) => echoes.has(next.id)),
    page,
  );
  await confirmUnchanged(trx, installation, kind, unchanged, page);

  await noteShown(trx, installation, kind, idsOf(shown));
  const back = [...(await takeBack(trx, installation, kind, [...incoming.keys()])), ...shown];

  const parents = new Set<number>();
  // A record that has moved to another invoice changes both.
  for (const { stored, next } of replaced) {
    if (stored.parentId !== null && !echoes.has(next.id)) parents.add(stored.parentId);
  }
  for (const next of changed) if (next.parentId !== null) parents.add(next.parentId);
  const result = { ...received, pulled: changed.length, changedIds: idsOf(changed), changedParents: [...parents] };
  if (kind === 'row') await doubtRowSets(trx, installation, result.changedParents);
  await markTouched(trx, installation, kind, result, back);
  return result;
}

/** A received record whose content differs from the stored one. */
interface Replacement {
  next: IncomingRecord;
  stored: StoredRecord;
  version: NewVersion;
}

interface Compared {
  added: IncomingRecord[];
  replaced: Replacement[];
  unchanged: IncomingRecord[];
  /** Stored texts that hold more than is to be kept, cut to that: of records stored before `keep_raw` was `mapped`. */
  cut: { id: number; raw: string }[];
  /** Those that were missing, and that this answer to a later request shows. */
  shown: Touched[];
}

/** Sorts received records into new ones, later versions, and unchanged ones. Those older than what is stored are left out. */
async function compare(
  trx: Connection,
  scope: MirrorScope,
  kind: RecordKind,
  incoming: IncomingRecord[],
  read: ReadSpan,
): Promise<Compared> {
  const { installation } = scope;
  const sorted = incoming.toSorted((a, b) => a.id - b.id);
  const storedById = await lockStored(trx, installation, kind, idsOf(sorted));
  const added: IncomingRecord[] = [];
  const unchanged: IncomingRecord[] = [];
  const differing: { next: IncomingRecord; stored: StoredRecord; isUnchanged: boolean }[] = [];
  for (const next of sorted) {
    const stored = storedById.get(next.id);
    if (!stored) added.push(next);
    else if (stored.contentHash === next.hash && stored.goneAt === null) unchanged.push(next);
    else {
      const isUnchanged = stored.goneAt === null && isOfOtherKeeping(scope, kind, stored.contentHash, next);
      if (isUnchanged || isLater(read, next, stored)) differing.push({ next, stored, isUnchanged });
    }
  }
  const raws = await rawRecords(
    trx,
    installation,
    kind,
    differing.map(({ next }) => next.id),
  );
  const replaced: Replacement[] = [];
  const cut: Compared['cut'] = [];
  const sort = mapped(differing, comparisonCostOf, ({ next, stored, isUnchanged }) => {
    const storedRaw = raws.get(next.id);
    if (storedRaw === undefined) throw new Error(`${kind} ${next.id} has left the mirror while it was locked`);
    const texts = comparable(scope, kind, storedRaw, next);
    if (texts.kept !== storedRaw) cut.push({ id: next.id, raw: texts.kept });
    if (isUnchanged || (stored.goneAt === null && isSameContent(texts.stored, texts.received))) unchanged.push(next);
    else replaced.push({ next, stored, version: { id: next.id, previousRaw: texts.stored, raw: texts.received } });
  });
  await inSlices(sort);
  const shown = [...storedById.values()].filter(({ missingAt }) => missingAt !== null && missingAt <= read.askedAt);
  return { added, replaced, unchanged, cut, shown };
}

/** Units of src/domain/slices.ts: hashing a record, and reading two versions of it. */
function costOf({ raw }: { raw: string }): number {
  return 2_000 + raw.length;
}

function comparisonCostOf({ next }: { next: IncomingRecord }): number {
  return 2_000 + 10 * next.raw.length;
}

function idsOf(records: readonly { id: number }[]): number[] {
  return records.map(({ id }) => id);
}

/**
 * Marks the documents that a change touches: a changed invoice also its payments (they take their party from it) and the credit
 * notes that are held for a circle, which it may have ended, a changed row its invoice, a changed payment also its invoice (proof P3); and the documents of records that were put aside or missing until now.
 */
async function markTouched(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  { changedIds, changedParents }: SaveResult,
  back: readonly Touched[],
): Promise<void> {
  if (kind === 'row') {
    const invoice = [...changedParents, ...back.flatMap(({ parentId }) => parentId ?? [])];
    await markTogether(trx, installation, { changed: {}, known: { invoice } });
    return;
  }
  const others = {
    invoice: async () => ({
      payment: await paymentsOf(trx, installation, changedIds),
      invoice: changedIds.length > 0 ? await heldBy(trx, installation, 'invoice', 'credit_cycle') : [],
    }),
    payment: async () => ({ invoice: changedParents }),
    prepayment: async () => ({}),
  };
  const changed = { [kind]: changedIds };
  const known: DocumentIds = await others[kind]();
  await markTogether(trx, installation, {
    changed,
    known: { ...known, [kind]: [...(known[kind] ?? []), ...idsOf(back)] },
  });
}

async function paymentsOf(trx: Connection, installation: number, invoices: readonly number[]): Promise<number[]> {
  if (invoices.length === 0) return [];
  // A statement of its own: joined, a fresh database without statistics plans this badly enough to run into its time-out.
  const payments = await rows(
    trx,
    { id: integer },
    `select id from mirror_record where installation = ? and kind = 'payment' and parent_id = any(?)`,
    [installation, invoices],
  );
  return idsOf(payments);
}

interface Touched {
  id: number;
  parentId: number | null;
}

/** Records that were put aside and are stored now are no longer held for it (put-aside.ts); returns them. */
function takeBack(trx: Connection, installation: number, kind: RecordKind, ids: readonly number[]): Promise<Touched[]> {
  return rows(
    trx,
    { id: integer, parentId: nullable(integer) },
    `delete from put_aside where installation = ? and kind = ? and record = any(?)
     returning record::bigint as id, parent_id as "parentId"`,
    [installation, kind, ids.map(String)],
  );
}
