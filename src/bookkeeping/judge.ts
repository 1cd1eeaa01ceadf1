import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { type InstallationConfig, postingContext } from '../config/load.ts';
import { type Db, query } from '../db/pool.ts';
import type { ClaimedDocument, JudgedDocument } from '../documents/documents.ts';
import type { PlainError } from '../domain/errors.ts';
import { closedThrough } from '../ledger/close.ts';
import { appendEntries } from '../ledger/journal/append.ts';
import { departmentLocks } from '../mirror/department-locks.ts';
import { readStartDate } from '../mirror/installation-state.ts';
import { decideRemap, judge, post, type Remap } from '../posting/index.ts';
import type { DocumentFacts, PostingContext } from '../posting/types.ts';
import type { CalendarDate } from '../terms.ts';
import { loadFacts } from './facts.ts';

/** Documents judged at a time: enough to amortise the round trips, few enough to hold few locks and little memory. */
export const judgingBatch = 300;

export interface PostingConditions {
  contextFor(facts: DocumentFacts[]): Promise<PostingContext>;
}

/** A department's lock date in the source, or null. */
export type LockOf = (department: number) => Promise<CalendarDate | null>;

/** The posting context of an installation; the source's lock dates are asked for per department, only where they count. */
export async function postingConditions(
  db: Db,
  installation: InstallationConfig,
  lockOf: LockOf,
): Promise<PostingConditions> {
  const through = await closedThrough(db, installation.id);
  const locks = new Map<number, CalendarDate>();
  const asked = new Set<number>();
  return {
    async contextFor(facts) {
      if (installation.mapping.policies.follow_source_lock) {
        for (const department of departmentsOf(facts)) {
          if (asked.has(department)) continue;
          asked.add(department);
          const lock = await lockOf(department);
          if (lock !== null) locks.set(department, lock);
        }
      }
      return postingContext(installation, through, locks);
    },
  };
}

function departmentsOf(facts: DocumentFacts[]): Set<number> {
  const departments = new Set<number>();
  for (const one of facts) {
    const id =
      one.kind === 'invoice'
        ? one.invoice.departmentId
        : one.kind === 'payment'
          ? one.invoice?.departmentId
          : one.prepayment.departmentId;
    if (id != null) departments.add(id);
  }
  return departments;
}

/**
 * Judges claimed documents by what the mirror holds, through the pure core; writes nothing. `last` judges even those whose
 * parts could not be fetched again yet: a preview always does, a window in its last round.
 */
export async function judgeDocuments(
  db: Db | Knex.Transaction,
  installation: InstallationConfig,
  conditions: PostingConditions,
  claimed: ClaimedDocument[],
  last: boolean,
): Promise<JudgedDocument[]> {
  const { facts, context } = await factsOf(db, installation, conditions, claimed);
  return claimed.map((document, index) => judgeOne(document, facts[index]!, context, last));
}

function judgeOne(
  document: ClaimedDocument,
  facts: DocumentFacts,
  context: PostingContext,
  last: boolean,
): JudgedDocument {
  const decision = post(facts, document.before, context);
  const waits = decision.refetch && document.refetch !== 'done';
  if (!waits || last) return { document, decision, entryIds: [], waits };
  // Nothing is decided on parts that may be stale.
  const undecided = {
    ...decision,
    state: document.before.state ?? 'pending',
    entries: [],
    problem: null,
    reports: [],
    documentDate: document.before.documentDate,
    remapHeld: document.before.remapHeld ?? false,
  };
  return { document, decision: undecided, entryIds: [], waits };
}

/** What the installation's mapping makes of documents in the books, by what the mirror holds; writes nothing. */
export async function remapDocuments(
  db: Db | Knex.Transaction,
  installation: InstallationConfig,
  conditions: PostingConditions,
  claimed: ClaimedDocument[],
): Promise<{ document: ClaimedDocument; remap: Remap }[]> {
  const { facts, context } = await factsOf(db, installation, conditions, claimed);
  return claimed.map((document, index) => {
    const { before } = document;
    return { document, remap: decideRemap(judge(facts[index]!, context, before.documentDate), before, context) };
  });
}

/** The facts of documents in their order, and the context to judge them in. */
async function factsOf(
  db: Db | Knex.Transaction,
  installation: InstallationConfig,
  conditions: PostingConditions,
  claimed: ClaimedDocument[],
): Promise<{ facts: DocumentFacts[]; context: PostingContext }> {
  const facts = await loadFacts(db, installation.id, installation.dialect, claimed);
  const byKey = new Map(facts.map((one) => [keyOfFacts(one), one]));
  const ordered = claimed.map(({ kind, id }) => {
    const found = byKey.get(`${kind}/${id}`);
    if (!found) throw new Error(`${kind} ${id} is to be posted but is not in the mirror`);
    return found;
  });
  return { facts: ordered, context: await conditions.contextFor(ordered) };
}

function keyOfFacts(facts: DocumentFacts): string {
  switch (facts.kind) {
    case 'invoice':
      return `invoice/${facts.invoice.id}`;
    case 'payment':
      return `payment/${facts.payment.id}`;
    case 'prepayment':
      return `prepayment/${facts.prepayment.id}`;
  }
}

/** Appends what was decided, gives each document the ids of its entries, and returns how many there are. */
export async function appendDecided(
  trx: Knex.Transaction,
  installation: InstallationConfig,
  judged: JudgedDocument[],
  windowId: number | null,
): Promise<number> {
  const drafts = judged.flatMap((one) => one.decision.entries);
  const { id, decimals, postingMode } = installation;
  const ids = await appendEntries(trx, id, drafts, { decimals, windowId, postingMode });
  let next = 0;
  for (const one of judged) {
    one.entryIds = ids.slice(next, next + one.decision.entries.length);
    next += one.decision.entries.length;
  }
  return drafts.length;
}

/** A hash of what held documents hang on besides their facts: when it differs from the last window's, they are judged again. */
export async function conditionsHash(db: Db, installation: InstallationConfig): Promise<string> {
  const locks = await departmentLocks(db, installation.id);
  return createHash('sha256')
    .update(
      JSON.stringify([
        installation.mappingHash,
        installation.startDate,
        installation.timezone,
        await closedThrough(db, installation.id),
        [...locks],
      ]),
    )
    .digest('hex');
}

/**
 * What is wrong with a start date that was moved once something is posted: what lies between the old day and the new one would
 * be posted twice over in the old books, or silently taken out of these (ACCOUNTING Dates: `start_date` is the cut-over). Null
 * when it stands.
 */
export async function movedStart(db: Db, installation: InstallationConfig): Promise<PlainError | null> {
  const before = await readStartDate(db, installation.id);
  if (before === undefined || before === installation.startDate) return null;
  const [posted] = await query<{ any: boolean }>(
    db,
    `select exists (select from entry where installation = ?) as any`,
    [installation.id],
  );
  if (!posted!.any) return null;
  return {
    code: 'start_date_moved',
    message:
      `start_date of installation ${installation.id} is ${installation.startDate ?? 'absent'}, ` +
      `but its books were begun with ${before ?? 'none'}`,
    todo: `set start_date back to ${before ?? 'nothing'}; another cut-over needs a database of its own`,
  };
}
