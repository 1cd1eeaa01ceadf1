import { integer, nullable } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type DocumentIds, markTogether } from '../documents/mark.ts';
import type { ReadSpan } from '../domain/read-at.ts';
import { inSlices, mapped, type Sliced } from '../domain/slices.ts';
import { type FieldMap, fieldMapOf, keptText } from '../records/field-map.ts';
import { readVerbatim } from '../records/json.ts';
import { longestChain } from '../records/source-codes.ts';
import type { RecordKind } from '../terms.ts';
import { fieldMaps, storeFieldMap } from './field-maps.ts';
import { contentHash, incomingRecord, isLater } from './incoming.ts';
import { putUnusableAside } from './put-unusable-aside.ts';
import { invalidateRowSets } from './row-sets.ts';
import {
  confirmUnchanged,
  keepByMap,
  keepReplaced,
  lockStored,
  markShown,
  rawRecords,
  replaceByEchoes,
  type StoredRecord,
  upsert,
} from './stored-records.ts';
import type { FindOwnEchoes, IncomingPage, IncomingRecord, MirrorScope, NewVersion, SaveResult } from './types.ts';

/**
 * Saves one page into the mirror, in the caller's transaction. A new version replaces the stored one only if its answer
 * is later (`isLater`); the replaced version is kept. Every document that a change affects is marked to be judged
 * again. The number of statements does not depend on the size of the page.
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
  const incoming = await inSlices(incomingOf(scope, kind, storing));
  const ids = [...new Set(page.results.map(({ id }) => id))];
  const { unusable = [] } = page;
  const received = {
    received: page.results.length + unusable.length,
    ids,
    unusable: unusable.map(({ key }) => key),
  };
  await putUnusableAside(trx, installation, kind, unusable, page.answeredAt);
  if (incoming.size === 0) return { ...received, pulled: 0, changedIds: [], changedParents: [] };

  const map = fieldMapOf(scope.dialect, kind, scope.keepRaw);
  const { added, replaced, unchanged, rekept, shown } = await compare(trx, scope, kind, map, incoming, page);
  const echoes =
    kind !== 'row' && replaced.length > 0
      ? await findOwnEchoes(
          replaced.map(({ version }) => version),
          kind,
        )
      : new Set<number>();
  const newer = replaced.map(({ next }) => next);
  if (added.length + newer.length + rekept.length > 0) await storeFieldMap(trx, map);
  await keepByMap(trx, installation, kind, map.version, rekept);
  await keepReplaced(trx, installation, kind, idsOf(newer));
  const changed = [...added, ...newer].filter((next) => !echoes.has(next.id));
  await upsert(trx, installation, kind, map.version, changed, page);
  await replaceByEchoes(
    trx,
    installation,
    kind,
    newer.filter((next) => echoes.has(next.id)),
    page,
  );
  await confirmUnchanged(trx, installation, kind, idsOf(unchanged), page);

  await markShown(trx, installation, kind, idsOf(shown));
  const back = [
    ...(await removeFromAside(trx, installation, kind, [...incoming.keys()])),
    ...shown,
    ...rekept.filter(({ hasGained }) => hasGained),
  ];

  const parents = new Set<number>();
  // A record that has moved to another invoice changes both invoices.
  for (const { stored, next } of replaced) {
    if (stored.parentId !== null && !echoes.has(next.id)) parents.add(stored.parentId);
  }
  for (const next of changed) if (next.parentId !== null) parents.add(next.parentId);
  const result = { ...received, pulled: changed.length, changedIds: idsOf(changed), changedParents: [...parents] };
  if (kind === 'row') await invalidateRowSets(trx, installation, result.changedParents);
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
  rekept: Rekept[];
  /** Records that were missing, and that this answer to a later request shows. */
  shown: Touched[];
}

/** A stored record whose text has to be stored again, because the configuration keeps other fields of it now. */
interface Rekept extends Touched, Pick<IncomingRecord, 'raw' | 'hash' | 'numberKey' | 'idNeedsLook'> {
  /** Whether the received record has a mapped field that was not kept before. */
  hasGained: boolean;
}

/**
 * Sorts received records into new ones, later versions and unchanged ones. Records that are older than the stored ones
 * are left out. If a record was stored with another list of kept fields, it is compared by that list. A changed list
 * therefore creates no versions.
 */
async function compare(
  trx: Connection,
  { installation, dialect }: MirrorScope,
  kind: RecordKind,
  map: FieldMap,
  incoming: ReadonlyMap<number, IncomingRecord>,
  read: ReadSpan,
): Promise<Compared> {
  const sorted = [...incoming.values()].toSorted((a, b) => a.id - b.id);
  const storedById = await lockStored(trx, installation, kind, idsOf(sorted));
  const versions = new Set([...storedById.values()].map(({ fieldMap }) => fieldMap));
  versions.delete(map.version);
  const maps = await fieldMaps(trx, [...versions]);
  const added: IncomingRecord[] = [];
  const differing: Differing[] = [];
  const unchanged: IncomingRecord[] = [];
  const sort = mapped(sorted, costOf, (next) => {
    const stored = storedById.get(next.id);
    if (!stored) {
      added.push(next);
      return;
    }
    const other = maps.get(stored.fieldMap);
    const known = other ? keptText(next.value, other) : next.raw;
    const isSame = stored.goneAt === null && stored.contentHash === (other ? contentHash(known) : next.hash);
    if (isSame) unchanged.push(next);
    if (isSame ? other !== undefined : isLater(read, next, stored)) differing.push({ next, stored, known, isSame });
  });
  await inSlices(sort);
  const raws = await rawRecords(
    trx,
    installation,
    kind,
    differing.map(({ next }) => next.id),
  );
  const facts = fieldMapOf(dialect, kind);
  const replaced: Replacement[] = [];
  const rekept: Rekept[] = [];
  const compareStored = mapped(differing, comparisonCostOf, ({ next, stored, known, isSame }) => {
    const { id, numberKey, idNeedsLook } = next;
    const raw = raws.get(id);
    if (raw === undefined) throw new Error(`${kind} ${id} has left the mirror while it was locked`);
    if (stored.fieldMap === map.version) {
      replaced.push({ next, stored, version: { id, previousRaw: raw, raw: next.raw } });
      return;
    }
    // The stored version and the received record, each reduced to the fields that both lists of kept fields contain.
    const previous = readVerbatim(raw);
    const version = { id, previousRaw: keptText(previous, map), raw: keptText(readVerbatim(known), map) };
    if (isSame || (stored.goneAt === null && version.previousRaw === version.raw)) {
      if (!isSame) unchanged.push(next);
      // If something was erased from the stored text, it must not be added again, although the source may still have
      // it.
      const mayGain = contentHash(raw) === stored.contentHash;
      const hasGained = mayGain && keptText(previous, facts) !== keptText(next.value, facts);
      const text = mayGain ? next.raw : version.previousRaw;
      rekept.push({ ...stored, raw: text, hash: next.hash, numberKey, idNeedsLook, hasGained });
    } else {
      const hash = stored.contentHash;
      rekept.push({ ...stored, raw: version.previousRaw, hash, numberKey, idNeedsLook, hasGained: false });
      replaced.push({ next, stored, version });
    }
  });
  await inSlices(compareStored);
  const shown = [...storedById.values()].filter(({ missingAt }) => missingAt !== null && missingAt <= read.askedAt);
  return { added, replaced, unchanged, rekept, shown };
}

/** A received record that differs from the stored one, or that was stored with another list of kept fields. */
interface Differing {
  next: IncomingRecord;
  stored: StoredRecord;
  /** The text of the received record, reduced to the stored record's list of kept fields. */
  known: string;
  isSame: boolean;
}

/** Received records by id, each with its text and hash. If a record was received twice, the last one counts. */
function* incomingOf(
  scope: MirrorScope,
  kind: RecordKind,
  items: IncomingPage['results'],
): Sliced<Map<number, IncomingRecord>> {
  const incoming = new Map<number, IncomingRecord>();
  for (const item of items) {
    const record = incomingRecord(scope, kind, item);
    incoming.set(record.id, record);
    yield costOf(record);
  }
  return incoming;
}

/**
 * The work of writing a record's text and hashing it, in the units of src/domain/slices.ts. `comparisonCostOf` adds the
 * work of reading two versions.
 */
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
 * Marks the documents that a change affects:
 * - a changed invoice affects itself, its payments (which take their party from it) and the credit notes of its chain
 *   (which take their date from the first original);
 * - a changed row affects its invoice;
 * - a changed payment affects itself and its invoice (proof P3).
 *
 * Documents of records that were put aside or missing until now are marked, too.
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
      payment: await ofInvoices(trx, installation, 'payment', changedIds),
      invoice: await creditNotesOf(trx, installation, [...changedIds, ...idsOf(back)]),
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

/** The credit notes of invoices, the credit notes of those, and so on. */
async function creditNotesOf(trx: Connection, installation: number, invoices: readonly number[]): Promise<number[]> {
  const found = new Set<number>();
  let originals = invoices;
  // A longer chain is treated as a circle.
  for (let links = 0; links < longestChain && originals.length > 0; links++) {
    const notes = await ofInvoices(trx, installation, 'invoice', originals);
    originals = notes.filter((id) => !found.has(id));
    for (const id of originals) found.add(id);
  }
  return [...found];
}

/** The payments of invoices, or their credit notes. */
async function ofInvoices(
  trx: Connection,
  installation: number,
  kind: 'payment' | 'invoice',
  invoices: readonly number[],
): Promise<number[]> {
  if (invoices.length === 0) return [];
  // A separate statement: in a join, a new database without statistics makes a plan that exceeds the time-out.
  const found = await rows(
    trx,
    { id: integer },
    'select id from mirror_record where installation = ? and kind = ? and parent_id = any(?)',
    [installation, kind, invoices],
  );
  return idsOf(found);
}

interface Touched {
  id: number;
  parentId: number | null;
}

/** Deletes the put-aside rows of records that are now stored (put-aside.ts), and returns them. */
function removeFromAside(
  trx: Connection,
  installation: number,
  kind: RecordKind,
  ids: readonly number[],
): Promise<Touched[]> {
  return rows(
    trx,
    { id: integer, parentId: nullable(integer) },
    `delete from put_aside where installation = ? and kind = ? and record = any(?)
     returning record::bigint as id, parent_id as "parentId"`,
    [installation, kind, ids.map(String)],
  );
}
