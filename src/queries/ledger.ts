import { integer } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, row } from '../db/rows.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import type { BooksHead } from '../ledger/head.ts';
import type { ChainHead } from '../ledger/journal/chain.ts';
import { chainStart } from '../ledger/journal/entry-hash.ts';
import { type Seal, sealDefect, sealsOf } from '../ledger/seals.ts';
import { type BrokenLink, walkChains } from '../ledger/verify.ts';
import type { InstallationId } from '../terms.ts';
import { sealTexts } from '../texts/findings/chain.ts';

/** The hash chain of an installation's journal, as `ledger verify --json` prints it. */
export interface ChainReport {
  installation: InstallationId;
  ok: boolean;
  entries: number;
  summaries: number;
  broken: BrokenLink | null;
  /** The latest link of the journal's chain; if the chain is broken, the last valid one. */
  head: ChainHead;
  /** The latest link of the chain of daily summaries; if the chain is broken, the last valid one. */
  summary_head: ChainHead;
  /** The place of the requested hash (`--head`) in the chains. Null if neither chain contains the hash. */
  found?: { chain: 'journal' | 'summaries'; seq: number } | null;
  /** The result of checking the seals with the given key (`--public-key`). */
  seals?: SealReport;
  /** For each requested head, whether the chains contain it. */
  heads?: { head: BooksHead; met: boolean }[];
}

export interface SealReport {
  ok: boolean;
  count: number;
  /** The last seal, if all are valid. */
  last: { n: number; seq: number; entries: number; hash: string; sealed_at: Date } | null;
  /** The first defect, in words. */
  defect: string | null;
}

export interface ChainQuestions {
  /** A hash that must be in a chain. */
  hash?: string | undefined;
  /** Checks all seals with this key. */
  key?: Ed25519Key | undefined;
  /** Heads that the chains must contain. */
  heads?: readonly BooksHead[];
  /** Aborts the check. */
  signal?: AbortSignal;
}

/**
 * Checks the hash chain of an installation's journal, and counts its entries. It uses one snapshot of the database:
 * otherwise a close during the check would look like a missing entry.
 */
export async function chainReport(
  db: Db,
  installation: InstallationId,
  questions: ChainQuestions = {},
): Promise<ChainReport> {
  return db.transaction((trx) => report(trx, installation, questions), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
}

async function report(
  trx: Connection,
  installation: InstallationId,
  { hash, key, heads = [], signal }: ChainQuestions,
): Promise<ChainReport> {
  const seals = key === undefined ? [] : await sealsOf(trx, installation);
  const met = new HeadSearch([...heads, ...seals.map(({ head }) => head)]);
  let found: ChainReport['found'] = null;
  const { broken, head, summaryHead } = await walkChains(trx, installation, (chain, link) => {
    signal?.throwIfAborted();
    met.pass(chain, link);
    if (link.hash === hash) found = { chain, seq: link.seq };
  });
  const counts = await row(
    trx,
    { entries: integer, summaries: integer },
    `select (select count(*) from entry where installation = ?) as entries,
       (select count(*) from summary_entry where installation = ?) as summaries`,
    [installation, installation],
  );
  const sealed = key === undefined ? undefined : sealReport(seals, key, met, head.seq);
  const askedFor = heads.map((each) => ({ head: each, met: met.has(each) }));
  return {
    installation,
    ok: broken === null && sealed?.ok !== false && askedFor.every((each) => each.met),
    ...counts,
    broken,
    head,
    summary_head: summaryHead,
    ...(hash === undefined ? {} : { found }),
    ...(sealed === undefined ? {} : { seals: sealed }),
    ...(heads.length === 0 ? {} : { heads: askedFor }),
  };
}

/** Finds out which of the given heads the chains contain. */
class HeadSearch {
  readonly #asked: { journal: Set<number>; summaries: Set<number> };
  readonly #hashes = { journal: new Map([[0, chainStart]]), summaries: new Map([[0, chainStart]]) };

  constructor(heads: readonly BooksHead[]) {
    this.#asked = {
      journal: new Set(heads.map(({ seq }) => seq)),
      summaries: new Set(heads.map(({ summaries }) => summaries)),
    };
  }

  pass(chain: 'journal' | 'summaries', { seq, hash }: ChainHead): void {
    if (this.#asked[chain].has(seq)) this.#hashes[chain].set(seq, hash);
  }

  has(head: BooksHead): boolean {
    const { journal, summaries } = this.#hashes;
    return journal.get(head.seq) === head.hash && summaries.get(head.summaries) === head.summaryHash;
  }
}

function sealReport(seals: readonly Seal[], key: Ed25519Key, met: HeadSearch, headSeq: number): SealReport {
  const defects = seals.map((seal, index) => {
    const defect = sealDefect(seal, index + 1, key);
    if (defect !== null || met.has(seal.head)) return defect;
    return sealTexts.notContained({ n: seal.n, at: seal.sealedAt.toISOString(), seq: seal.head.seq });
  });
  const none = seals.length === 0 && headSeq > 0 ? sealTexts.none : null;
  const defect = none ?? defects.find((each) => each !== null) ?? null;
  const last = defect === null ? seals.at(-1) : undefined;
  return {
    ok: defect === null,
    count: seals.length,
    last: last
      ? { n: last.n, seq: last.head.seq, entries: last.head.entries, hash: last.head.hash, sealed_at: last.sealedAt }
      : null,
    defect,
  };
}
