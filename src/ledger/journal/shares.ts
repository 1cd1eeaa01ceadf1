import { insertRows } from '../../db/bulk.ts';
import { bool, integer, numeric, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, rows } from '../../db/rows.ts';
import type { EntryShare, LedgerEntry } from '../../domain/entry.ts';
import { Money } from '../../domain/money.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../../terms.ts';

/** The amounts that entries took from prepayments that were received with VAT (table `entry_share`; ACCOUNTING R5). */

const types = {
  ...{ entry_id: 'text', installation: 'bigint', prepayment_id: 'bigint', used_before: 'numeric' },
  ...{ amount: 'numeric', vat: 'numeric', has_vat: 'boolean' },
} as const;

export async function insertShares(trx: Connection, entries: readonly LedgerEntry[]): Promise<void> {
  const shares = entries.flatMap(({ id, installation, shares: own = [] }) =>
    own.map((share) => ({
      entry_id: id,
      installation,
      prepayment_id: share.prepaymentId,
      used_before: share.usedBefore.toFixed(),
      amount: share.amount.toFixed(),
      vat: share.vat.toFixed(),
      has_vat: share.hasVat,
    })),
  );
  if (shares.length > 0) await insertRows(trx, 'entry_share', types, shares);
}

/** The shares of entries, by entry; entries without any are left out. */
export async function sharesOf(db: Connection, entries: readonly string[]): Promise<Map<string, EntryShare[]>> {
  if (entries.length === 0) return new Map();
  const found = await rows(
    db,
    { entry: text, prepaymentId: integer, used_before: numeric, amount: numeric, vat: numeric, hasVat: bool },
    `select entry_id as entry, prepayment_id as "prepaymentId", used_before, amount, vat, has_vat as "hasVat"
     from entry_share where entry_id = any(?::text[]) order by entry_id, prepayment_id`,
    [entries],
  );
  const shares = found.map(({ entry, used_before, amount, vat, ...share }) => ({
    entry,
    share: { ...share, usedBefore: new Money(used_before), amount: new Money(amount), vat: new Money(vat) },
  }));
  const byEntry = Map.groupBy(shares, ({ entry }) => entry);
  return new Map([...byEntry].map(([entry, its]) => [entry, its.map(({ share }) => share)]));
}

/**
 * Locks the shares of these prepayments until the transaction ends, because each new share begins where the previous
 * share ended.
 */
export async function holdShares(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger shares ' || ?::bigint, 0))`, [
    installation,
  ]);
}

/** A share that is in force, with the document whose entry has it. */
export interface ShareInForce {
  document: DocumentRef;
  prepaymentId: number;
  amount: Money;
  vat: Money;
  hasVat: boolean;
}

/** The shares of entries in force that were taken from these prepayments. */
export async function sharesInForce(
  db: Connection,
  installation: InstallationId,
  prepayments: readonly number[],
): Promise<ShareInForce[]> {
  if (prepayments.length === 0) return [];
  const found = await rows(
    db,
    {
      ...{ kind: oneOf(documentKinds), id: integer, prepaymentId: integer },
      ...{ amount: numeric, vat: numeric, hasVat: bool },
    },
    `select e.kind, e.document_id as id, s.prepayment_id as "prepaymentId", s.amount, s.vat, s.has_vat as "hasVat"
     from entry_share s join entry e on e.id = s.entry_id
     where s.installation = ? and s.prepayment_id = any(?::bigint[])
       and not exists (select from entry r where r.reverses = e.id)
     order by e.seq`,
    [installation, prepayments],
  );
  return found.map(({ kind, id, amount, vat, ...share }) => ({
    ...share,
    document: { kind, id },
    amount: new Money(amount),
    vat: new Money(vat),
  }));
}
