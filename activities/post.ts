import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { InstallationConfig } from '../src/config.ts';
import { postingContext } from '../src/config.ts';
import type { Db } from '../src/db/pool.ts';
import { appendEntries } from '../src/ledger/append.ts';
import { closedThrough } from '../src/ledger/close.ts';
import {
  type ClaimedDocument,
  claimDocuments,
  countWaiting,
  type JudgedDocument,
  saveJudged,
} from '../src/ledger/documents.ts';
import { loadFacts } from '../src/mirror/facts.ts';
import { post } from '../src/posting/index.ts';
import type { DocumentFacts, PostingContext } from '../src/posting/types.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import { noteFact, readFact } from '../src/sync/facts.ts';
import type { OpenWindow } from '../src/sync/window.ts';
import type { CalendarDate } from '../src/terms.ts';
import type { WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive, installationOf } from './context.ts';

/** Documents judged in one transaction: large enough to amortise its round trips, small enough to hold few locks. */
const batchSize = 500;

export interface PostReport {
  /** Entries appended, reversals included. */
  posted: number;
  /** Documents held at the end. */
  held: number;
  /** Documents whose parts are to be fetched again before they are judged for good. */
  refetch: number;
}

/**
 * Judges every waiting document of the installation: loads its facts, asks the pure core, appends the entries and records
 * the state, a batch a transaction. `last` judges even those whose parts could not be fetched again yet.
 */
export function postActivities(deps: ActivityDeps) {
  return {
    async post(input: WindowInput, window: OpenWindow, last: boolean): Promise<PostReport> {
      return alive(deps, input, window, async (liveness) => {
        const installation = installationOf(deps, input.installation);
        const conditions = await postingConditions(deps, installation);
        const judgedBefore = await databaseNow(deps.db);
        let posted = 0;
        let judged = 0;
        for (;;) {
          const batch = await deps.db.transaction((trx) =>
            postBatch(trx, installation, conditions, window.id, { last, judgedBefore }),
          );
          if (batch.documents === 0) break;
          posted += batch.entries;
          judged += batch.documents;
          liveness.beat({ step: 'posting', done: judged, total: null });
        }
        const { held, wanted } = await countWaiting(deps.db, input.installation);
        return { posted, held, refetch: wanted };
      });
    },
  };
}

/** The database's clock: `judged_at` is written by it. */
async function databaseNow(db: Db): Promise<Date> {
  const found = await db.raw<{ rows: { now: Date }[] }>(`select clock_timestamp() as now`);
  return found.rows[0]!.now;
}

async function postBatch(
  trx: Knex.Transaction,
  installation: InstallationConfig,
  conditions: PostingConditions,
  windowId: number,
  options: { last: boolean; judgedBefore: Date },
): Promise<{ documents: number; entries: number }> {
  const claimed = await claimDocuments(trx, installation.id, { limit: batchSize, ...options });
  if (claimed.length === 0) return { documents: 0, entries: 0 };
  const facts = await loadFacts(trx, installation.id, installation.dialect, claimed);
  const context = await conditions.contextFor(facts);
  const byKey = new Map(facts.map((one) => [keyOfFacts(one), one]));
  const judged: JudgedDocument[] = [];
  for (const document of claimed) {
    const found = byKey.get(`${document.kind}/${document.id}`);
    if (!found) throw new Error(`${document.kind} ${document.id} is to be posted but is not in the mirror`);
    judged.push(judge(document, found, context, options.last));
  }
  const drafts = judged.flatMap((one) => one.decision.entries);
  const ids = await appendEntries(trx, installation.id, drafts, { decimals: installation.decimals, windowId });
  let next = 0;
  for (const one of judged) {
    one.entryIds = ids.slice(next, next + one.decision.entries.length);
    next += one.decision.entries.length;
  }
  await saveJudged(trx, installation.id, judged);
  return { documents: claimed.length, entries: drafts.length };
}

function judge(
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
  };
  return { document, decision: undecided, entryIds: [], waits };
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

export interface PostingConditions {
  contextFor(facts: DocumentFacts[]): Promise<PostingContext>;
}

/** The posting context of an installation; the source's lock dates are asked for per department, only where they count. */
async function postingConditions(deps: ActivityDeps, installation: InstallationConfig): Promise<PostingConditions> {
  const through = await closedThrough(deps.db, installation.id);
  const locks = new Map<number, CalendarDate>();
  const asked = new Set<number>();
  const client: PracticeClient = deps.practice(installation.id);
  return {
    async contextFor(facts) {
      if (installation.mapping.policies.follow_source_lock) {
        for (const department of departmentsOf(facts)) {
          if (asked.has(department)) continue;
          asked.add(department);
          const lock = await sourceLock(deps, client, installation.id, department);
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

/** A department's lock date, as the source says now; when it cannot say, the last one known, with a warning (field-notes). */
async function sourceLock(deps: ActivityDeps, client: PracticeClient, installation: number, department: number) {
  const name = `source_lock.${department}`;
  const said = await client.departmentSettings(department);
  if (said !== 'unknown') {
    await noteFact(deps.db, installation, name, said.lockDate);
    return said.lockDate;
  }
  deps.log.warn(
    { installation, department },
    'the source does not tell this department’s lock date; the last known one is used',
  );
  return readFact<CalendarDate>(deps.db, installation, name);
}

/**
 * Marks documents whose cause may be gone: when the mapping, the start date or a lock differs from when they were last
 * judged, everything that has a problem or lies before the start date is judged again (ACCOUNTING "Held").
 */
export async function markAfterChangedConditions(deps: ActivityDeps, installation: InstallationConfig): Promise<void> {
  const locks = await deps.db.raw<{ rows: { name: string; value: string }[] }>(
    `select name, value from installation_fact where installation = ? and name like 'source\\_lock.%' order by name`,
    [installation.id],
  );
  const conditions = createHash('sha256')
    .update(
      JSON.stringify([
        installation.mappingHash,
        installation.startDate,
        installation.timezone,
        await closedThrough(deps.db, installation.id),
        locks.rows,
      ]),
    )
    .digest('hex');
  if ((await readFact<string>(deps.db, installation.id, 'posting_conditions')) === conditions) return;
  await deps.db.transaction(async (trx) => {
    await trx.raw(
      `update document set dirty = true, dirty_mark = dirty_mark + 1
       where installation = ? and (problem_code is not null or state = 'before_start')`,
      [installation.id],
    );
    await noteFact(trx, installation.id, 'posting_conditions', conditions);
  });
}
