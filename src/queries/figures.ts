import { bool, float, instant, integer, nullable, oneOf, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { hasOpenProblem } from '../documents/document.ts';
import { isMailFailing } from '../mail/outbox.ts';
import { budgetUsages } from '../practice/budget-store.ts';
import type { InstallationId } from '../terms.ts';

/** Time limit of each statement for the metrics. */
const statementTimeoutMs = 5_000;
/** Limit of the count of failed windows in a row. */
const streakAtMost = 1_000;

/** The database's figures for the metrics of all installations (src/runtime/metrics). */
export type Figures = Awaited<ReturnType<typeof readAll>>;

/**
 * Reads the figures of these installations in one short transaction. The number of statements does not depend on the
 * number of installations. `backup`: whether to read the time of the last backup.
 */
export async function readFigures(
  db: Db,
  installations: readonly InstallationId[],
  { backup }: { backup: boolean },
): Promise<Figures> {
  const trx = await db.transaction({ readOnly: true });
  try {
    await execute(trx, `set local statement_timeout = ${statementTimeoutMs}`);
    return await readAll(trx, installations, backup);
  } finally {
    await trx.rollback();
  }
}

async function readAll(db: Connection, installations: readonly InstallationId[], backup: boolean) {
  return {
    windows: await windowFigures(db, installations),
    held: await heldByCode(db, installations),
    budgets: await budgetUsages(db, installations),
    deliveries: await openDeliveries(db, installations),
    erps: await erpAnswers(db, installations),
    scrubs: await scrubProgress(db, installations),
    verdicts: await verdicts(db, installations),
    mailFailing: await isMailFailing(db),
    backup: backup ? await latestBackup(db) : null,
  };
}

/** The state of each installation's windows. */
function windowFigures(db: Connection, installations: readonly InstallationId[]) {
  return rows(
    db,
    { installation: integer, synced_to: nullable(instant), failed_in_a_row: integer, open_since: nullable(instant) },
    `select i.installation, closed.to_time as synced_to,
       (select count(*)::int from (
          select from sync_window w where w.installation = i.installation and w.kind = 'window'
            and w.outcome not in ('open', 'closed') and w.id > coalesce(closed.id, 0) limit ${streakAtMost}
        ) as failed) as failed_in_a_row,
       (select min(w.opened_at) from sync_window w
        where w.installation = i.installation and w.kind = 'window' and w.outcome = 'open') as open_since
     from unnest(?::bigint[]) as i(installation)
     left join lateral (
       select id, to_time from sync_window w
       where w.installation = i.installation and w.kind = 'window' and w.outcome = 'closed' order by w.id desc limit 1
     ) as closed on true`,
    [installations],
  );
}

/** Documents with a problem, by the codes of docs/reference/PROBLEMS.md. */
function heldByCode(db: Connection, installations: readonly InstallationId[]) {
  return rows(
    db,
    { installation: integer, code: text, n: integer },
    `select installation, problem_code as code, count(*)::int as n from document
     where installation = any(?) and ${hasOpenProblem} group by installation, problem_code`,
    [installations],
  );
}

const openStates = [
  'pending',
  'waiting_for_approval',
  'sending',
  'uncertain',
  'drafted',
  'refused',
  'handed_over',
] as const;

/**
 * Units of the general ledger that are not settled. A separate index counts each state, since there may be millions of
 * delivered units.
 */
function openDeliveries(db: Connection, installations: readonly InstallationId[]) {
  const conditions = {
    pending: `state = 'pending' and not needs_approval`,
    waiting_for_approval: `state = 'pending' and needs_approval`,
    sending: `state = 'sending'`,
    uncertain: `state = 'uncertain'`,
    drafted: `state = 'drafted'`,
    refused: `state = 'refused'`,
    handed_over: `state = 'handed_over'`,
  } satisfies Record<(typeof openStates)[number], string>;
  return rows(
    db,
    { installation: integer, state: oneOf(openStates), n: integer },
    openStates
      .map(
        (state) => `select installation, '${state}'::text as state, count(*)::int as n from erp_unit
          where installation = any(?) and ${conditions[state]} group by installation`,
      )
      .join(' union all '),
    openStates.map(() => installations),
  );
}

/** Whether the last answer of each installation's ERP was an error. */
function erpAnswers(db: Connection, installations: readonly InstallationId[]) {
  return rows(
    db,
    { installation: integer, failing: bool },
    `select c.installation,
       e.last_error_at is not null and (e.last_answer_at is null or e.last_error_at > e.last_answer_at) as failing
     from erp_cursor c join erp_company e on e.company = c.company where c.installation = any(?)`,
    [installations],
  );
}

/** The share of the newest scrub pass that is read, from 0 to 1. */
function scrubProgress(db: Connection, installations: readonly InstallationId[]) {
  return rows(
    db,
    { installation: integer, progress: float },
    `select p.installation,
       case when bool_and(p.finished_at is not null) or sum(p.expected) = 0 then 1
         else least(1, sum(p.records)::float8 / sum(p.expected)::float8) end as progress
     from scrub_pass p
     where p.installation = any(?) and p.pass = (select max(pass) from scrub_pass n where n.installation = p.installation)
     group by p.installation`,
    [installations],
  );
}

/** The result of the last reconciliation, null before the first, and whether a daemon's last attempt failed. */
function verdicts(db: Connection, installations: readonly InstallationId[]) {
  return rows(
    db,
    { installation: integer, ok: nullable(bool), checked_at: nullable(instant), failing: bool },
    `select installation, v.ok, v.checked_at, t.error is not null as failing from unnest(?::bigint[]) as i(installation)
     left join reconcile_verdict v using (installation) left join reconcile_turn t using (installation)`,
    [installations],
  );
}

/**
 * When backup.sh last succeeded. Before its first success, the creation of the tables, so that a backup that never runs
 * also shows an increasing age.
 */
async function latestBackup(db: Connection): Promise<Date> {
  const { at } = await row(
    db,
    { at: instant },
    'select coalesce((select finished_at from backup), (select min(applied_at) from migration)) as at',
  );
  return at;
}
