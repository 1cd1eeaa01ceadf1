import { instant, integer, nullable, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, row, rows } from '../db/rows.ts';
import { type Ed25519Key, isSignedBy, signatureOf } from '../domain/signature.ts';
import type { InstallationId } from '../terms.ts';
import { sealTexts } from '../texts/findings/chain.ts';
import { type BooksHead, booksHead, headLine } from './head.ts';

/** A signature of the head of the books. */
export interface Seal {
  head: BooksHead;
  /** Number of the seal, from 1, without gaps. */
  n: number;
  sealedAt: Date;
  signature: string;
}

/** The text that a seal signs. */
export function sealText({ head, n, sealedAt }: Omit<Seal, 'signature'>): string {
  return `vetledger seal 1 n ${n} ${headLine(head)} at ${sealedAt.toISOString()}`;
}

/**
 * Seals the head of the books, unless the last seal has the same head. Runs in the caller's transaction and covers its
 * entries.
 */
export async function sealBooks(trx: Connection, installation: InstallationId, key: Ed25519Key): Promise<void> {
  await execute(trx, 'select hold_seals(?)', [installation]);
  const head = await booksHead(trx, installation);
  const last = await lastSeal(trx, installation);
  if (head.seq === (last?.seq ?? 0) && head.summaries === (last?.summaries ?? 0)) return;
  const { now } = await row(trx, { now: instant }, `select date_trunc('milliseconds', clock_timestamp()) as now`);
  const seal = { head, n: (last?.n ?? 0) + 1, sealedAt: now };
  await execute(
    trx,
    `insert into seal (installation, n, seq, entries, head, summaries, summary_head, sealed_at, signature)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      installation,
      seal.n,
      head.seq,
      head.entries,
      head.hash,
      head.summaries,
      head.summaryHash,
      seal.sealedAt,
      signatureOf(sealText(seal), key),
    ],
  );
}

/** The latest seal of an installation, or null. */
export function lastSeal(db: Connection, installation: InstallationId) {
  return maybeRow(
    db,
    { n: integer, seq: integer, entries: integer, summaries: integer, sealed_at: instant },
    'select n, seq, entries, summaries, sealed_at from seal where installation = ? order by n desc limit 1',
    [installation],
  );
}

/** For each installation: number and position of the last seal, and the number of links of the chains after it. */
export function sealStates(db: Connection, installations: readonly InstallationId[]) {
  return rows(
    db,
    { installation: integer, n: integer, seq: integer, sealed_at: nullable(instant), unsealed: integer },
    `select i.id as installation, coalesce(last.n, 0) as n, coalesce(last.seq, 0) as seq, last.sealed_at,
       head.seq - coalesce(last.seq, 0) + coalesce(summary.seq, 0) - coalesce(last.summaries, 0) as unsealed
     from unnest(?::bigint[]) i(id)
     cross join lateral chain_head(i.id) head
     left join lateral (select seq from summary_entry where installation = i.id order by seq desc limit 1) summary on true
     left join lateral (
       select n, seq, summaries, sealed_at from seal where installation = i.id order by n desc limit 1) last on true`,
    [installations],
  );
}

/** The seals of an installation in their order. With `seq`, only those of the head with this place in the chain. */
export async function sealsOf(
  db: Connection,
  installation: InstallationId,
  seq: number | null = null,
): Promise<Seal[]> {
  const found = await rows(
    db,
    {
      n: integer,
      seq: integer,
      entries: integer,
      head: text,
      summaries: integer,
      summary_head: text,
      sealed_at: instant,
      signature: text,
    },
    `select n, seq, entries, head, summaries, summary_head, sealed_at, signature from seal
     where installation = ? and seq = coalesce(?::bigint, seq) order by n`,
    [installation, seq],
  );
  return found.map(({ n, head: hash, summary_head: summaryHash, sealed_at: sealedAt, signature, ...counts }) => ({
    head: { installation, ...counts, hash, summaryHash },
    n,
    sealedAt,
    signature,
  }));
}

/** The reason why the seal is not number `n` of the chain, or is not signed by this key. Null if the seal is valid. */
export function sealDefect(seal: Seal, n: number, key: Ed25519Key): string | null {
  if (seal.n !== n) return sealTexts.missing({ n });
  return isSignedBy(sealText(seal), seal.signature, key) ? null : sealTexts.notSigned({ n: seal.n });
}
