import { brokenAction } from '../actions/verify.ts';
import { date, integer, oneOf, text } from '../db/columns.ts';
import { type Connection, maybeRow } from '../db/rows.ts';
import { entryId } from '../domain/entry.ts';
import type { InstallationId } from '../terms.ts';
import { chainFindings } from '../texts/findings/chain.ts';
import { wrongAccountDay } from './account-days.ts';
import { type ChainHead, type Close, closeHash, closeKinds, closesBySeq } from './journal/chain.ts';
import { chainStart, entryHash } from './journal/entry-hash.ts';
import { entriesBySeq } from './journal/read-entries.ts';
import { summariesBySeq } from './summaries/read-summaries.ts';
import { summaryHash } from './summaries/summary-hash.ts';
import { changedReturn } from './vat-returns.ts';

/** The first entry, close, summary or action that differs from what was recorded. */
export interface BrokenLink {
  /** Position in the chain of entries, of daily summaries or of actions; null when the chain's end is missing. */
  seq: number | null;
  /**
   * Id of the entry or of the daily summary. A close or an action has no id, so this is its name, such as `close
   * through 2026-01-31`.
   */
  entryId: string;
  message: string;
}

/** The result of checking an installation's chains. */
export interface VerifiedChain {
  broken: BrokenLink | null;
  /** The head of the journal's chain: its latest entry or close. */
  head: ChainHead;
  /** Entries up to the head. */
  entries: number;
  summaryHead: ChainHead;
}

/** Called with each intact link of the journal's chain and of the chain of daily summaries. */
export type OnLink = (chain: 'journal' | 'summaries', link: ChainHead) => void;

/**
 * Checks an installation's hash chains up to the first broken link. The journal's chain contains entries and closes. A chain
 * that lost its last entries is still intact, so every entry that another table names must exist. The chain of daily summaries
 * covers their lines and their entries' hashes; each close contains its head. Last come the chains of actions: those of the
 * installation and of the database, and the lines of filed VAT returns, whose hash is in an action.
 */
export async function walkChains(
  db: Connection,
  installation: InstallationId,
  onLink: OnLink = () => undefined,
): Promise<VerifiedChain> {
  const closes = await closesBySeq(db, installation);
  const journal = await walkJournal(db, installation, closes, onLink);
  const summaries =
    journal.broken === null
      ? await walkSummaries(db, installation, closes, onLink)
      : { broken: null, head: { seq: 0, hash: chainStart } };
  const broken =
    journal.broken ??
    (await missingEnd(db, installation)) ??
    (await unmetSeal(db, installation)) ??
    (await outboxBeyondEnd(db, installation)) ??
    summaries.broken ??
    (await brokenAction(db, installation)) ??
    (await brokenAction(db, null)) ??
    (await otherAction(db, installation)) ??
    (await wrongReturn(db, installation)) ??
    (await wrongDay(db, installation)) ??
    (await wrongMapping(db, installation)) ??
    (await wrongSettled(db, installation));
  return { broken, head: journal.head, entries: journal.entries, summaryHead: summaries.head };
}

/** The first broken link of an installation's chains, or null if the books were not changed. */
export async function verifyChain(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  return (await walkChains(db, installation)).broken;
}

async function walkJournal(db: Connection, installation: InstallationId, closes: readonly Close[], onLink: OnLink) {
  const head: ChainHead = { seq: 0, hash: chainStart };
  let entries = 0;
  let nextClose = 0;
  const follow = (link: { seq: number; previousHash: string; hash: string }, id: string, hash: string) => {
    const broken = (message: string): BrokenLink => ({ seq: link.seq, entryId: id, message });
    const seq = head.seq + 1;
    if (link.seq !== seq) return broken(chainFindings.missing({ expected: seq, found: link.seq }));
    if (link.previousHash !== head.hash) return broken(chainFindings.wrongPrevious);
    if (link.hash !== hash) return broken(chainFindings.wrongContent);
    Object.assign(head, { seq, hash });
    onLink('journal', { seq, hash });
    return null;
  };
  const followCloses = (before: number): BrokenLink | null => {
    for (let close = closes[nextClose]; close !== undefined && close.seq < before; close = closes[nextClose]) {
      const name = chainFindings.close(close);
      const broken = follow(close, name, closeHash(head.hash, close));
      if (broken !== null) return broken;
      if (close.entries !== entries) {
        return { seq: close.seq, entryId: name, message: chainFindings.wrongCount };
      }
      nextClose += 1;
    }
    return null;
  };
  for await (const entry of entriesBySeq(db, installation)) {
    const broken =
      followCloses(entry.seq) ??
      (entry.id === entryId(installation, entry.document, entry.n)
        ? null
        : { seq: entry.seq, entryId: entry.id, message: chainFindings.wrongId }) ??
      follow(entry, entry.id, entryHash(head.hash, entry));
    if (broken !== null) return { broken, head, entries };
    entries += 1;
  }
  return { broken: followCloses(Number.POSITIVE_INFINITY), head, entries };
}

/** SQL: tables that name entries and daily summaries, each as a text, and the named unit. */
const namedUnits = `
  select d.kind || ' ' || d.id as by, d.entry_id as unit from document d where d.installation = ? and d.entry_id is not null
  union all select 'voucher ' || journal || ' ' || fiscal_year || '/' || number, entry_id from voucher where installation = ?
  union all select 'the write-back of ' || kind || ' ' || document_id, unit_id from write_back where installation = ?
  union all select 'the outbox', coalesce(undo_of, unit_id) from erp_unit where installation = ?`;

async function missingEnd(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await maybeRow(
    db,
    { by: text, unit: text },
    // The undo of a delivery is listed under the unit that it undoes.
    `select by, unit from (select by, regexp_replace(unit, '/undo/[0-9]+$', '') as unit from (${namedUnits}) n) named
     where not exists (select from entry e where e.id = named.unit)
       and not exists (select from summary_entry s where s.id = named.unit)
     order by by, unit limit 1`,
    Array.from({ length: 4 }, () => installation),
  );
  if (found === null) return null;
  return { seq: null, entryId: found.unit, message: chainFindings.missingEnd(found) };
}

/** The first seal whose head is not in the chain: the end of the chain was deleted, or the chain was written again. */
async function unmetSeal(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await maybeRow(
    db,
    { n: integer, seq: integer },
    `select s.n, s.seq from seal s where s.installation = ? and s.seq > 0
       and not exists (select from entry e where e.installation = s.installation and e.seq = s.seq and e.hash = s.head)
       and not exists (select from ledger_close c where c.installation = s.installation and c.seq = s.seq and c.hash = s.head)
     order by s.n limit 1`,
    [installation],
  );
  if (found === null) return null;
  return { seq: null, entryId: chainFindings.seal(found), message: chainFindings.wrongSealed(found) };
}

/**
 * Finds an outbox that contains units after the end of a chain, which means that the end of the chain was deleted. New
 * entries would get the numbers of those units and never be delivered.
 */
async function outboxBeyondEnd(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await maybeRow(
    db,
    { chain: oneOf(['entry', 'summary'] as const), seq: integer },
    `select f.chain, f.seq from erp_cursor c cross join lateral (values
         ('entry', c.entry_seq, (select max(e.seq) from entry e where e.installation = c.installation)),
         ('summary', c.summary_seq, (select max(s.seq) from summary_entry s where s.installation = c.installation)))
       f (chain, seq, last)
     where c.installation = ? and f.seq > coalesce(f.last, 0) order by f.chain limit 1`,
    [installation],
  );
  if (found === null) return null;
  const unit = found.chain === 'entry' ? chainFindings.entry : chainFindings.dailySummary;
  return { seq: null, entryId: chainFindings.outbox, message: chainFindings.beyondEnd({ unit, seq: found.seq }) };
}

/**
 * A close names its action, and the close's link of the chain contains the action's hash. Finds a close whose recorded
 * action has another hash.
 */
async function otherAction(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await maybeRow(
    db,
    { seq: integer, kind: oneOf(closeKinds), through: date },
    `select c.seq, c.kind, c.through from ledger_close c left join action a on a.id = c.action_id
     where c.installation = ? and (c.details::json ->> 'action') is distinct from a.hash order by c.seq limit 1`,
    [installation],
  );
  if (found === null) return null;
  return { seq: found.seq, entryId: chainFindings.close(found), message: chainFindings.wrongAction };
}

/** A filed VAT return must have the lines whose hash its action recorded. */
async function wrongReturn(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await changedReturn(db, installation);
  return found && { seq: null, entryId: chainFindings.vatReturn(found), message: chainFindings.wrongReturn };
}

/** Checks the stored sums of days against their lines, because reports read these sums. */
async function wrongDay(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await wrongAccountDay(db, installation);
  if (found === null) return null;
  return { seq: null, entryId: chainFindings.sumsOfDay(found), message: chainFindings.wrongSums };
}

/** Checks the stored number of entries under each mapping against the entries. */
async function wrongMapping(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await maybeRow(
    db,
    { hash: text },
    `select hash from (
       select mapping_hash as hash, entries, first_seq, last_seq from entry_mapping where installation = ?
       except
       select coalesce(mapping_hash, ''), count(*), min(seq), max(seq) from entry where installation = ? group by 1
     ) wrong order by hash limit 1`,
    [installation, installation],
  );
  if (found === null) return null;
  return { seq: null, entryId: chainFindings.entriesOfMapping(found), message: chainFindings.wrongEntries };
}

/** Checks the stored numbers of settled units, because lists show them. */
async function wrongSettled(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await maybeRow(
    db,
    { day: text, state: text },
    `select to_char(unit_date, 'YYYY-MM-DD') as day, state from (
       select unit_date, state, n from erp_settled_day where installation = ?
       union all
       select unit_date, state, -1 from erp_unit
       where installation = ? and state in ('delivered', 'handed_over', 'acknowledged', 'cancelled_out', 'excluded')
     ) units group by unit_date, state having sum(n) <> 0 order by unit_date, state limit 1`,
    [installation, installation],
  );
  if (found === null) return null;
  return { seq: null, entryId: chainFindings.settledOnDay(found), message: chainFindings.wrongNumber };
}

async function walkSummaries(db: Connection, installation: InstallationId, closes: readonly Close[], onLink: OnLink) {
  const head: ChainHead = { seq: 0, hash: chainStart };
  const closedAt = new Map(closes.map((close) => [close.summaries, close]));
  for await (const summary of summariesBySeq(db, installation)) {
    const broken = (message: string) => ({ broken: { seq: summary.seq, entryId: summary.id, message }, head });
    const seq = head.seq + 1;
    if (summary.seq !== seq) return broken(chainFindings.missingSummary({ expected: seq, found: summary.seq }));
    if (summary.previousHash !== head.hash) return broken(chainFindings.wrongPreviousSummary);
    const hash = summaryHash(head.hash, summary);
    if (summary.hash !== hash) return broken(chainFindings.wrongSummary);
    Object.assign(head, { seq, hash });
    onLink('summaries', { seq, hash });
    const close = closedAt.get(seq);
    if (close !== undefined && close.summaryHash !== hash) {
      return broken(chainFindings.changedSinceClose(close));
    }
  }
  const beyond = closes.find((close) => close.summaries > head.seq);
  if (beyond === undefined) return { broken: null, head };
  const message = chainFindings.missingSummaries({ first: head.seq + 1, last: beyond.summaries });
  return { broken: { seq: null, entryId: chainFindings.close(beyond), message }, head };
}
