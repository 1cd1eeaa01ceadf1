import { instant, integer, nullable, type RowOf, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { pruneBatch, pruneInBatches } from '../db/prune.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';

const usageShape = {
  action: text,
  limit: integer,
  /** The limit in force. It is lower than `limit` after a 429. */
  limitNow: integer,
  used: integer,
  /** The weight that can be taken at present; 0 while the budget is blocked. */
  free: integer,
  /** Number of waiting processes. */
  waiting: integer,
  blockedUntil: nullable(instant),
};

/** The state of one budget, for `status`. */
export type BudgetUsage = RowOf<typeof usageShape>;

/** A process's request for slots. All requests in it have the same weight and priority. */
export interface SlotRequest {
  weight: number;
  /** The priority of the requests. The lowest number goes first. */
  priority: number;
  /** How long each request has waited, the oldest first. Among equal priorities, the oldest goes first. */
  agesSeconds: number[];
  /** The budget's full limit, from the dialect. */
  limit: number;
  windowSeconds: number;
  /** The slot expires after this time unless it is finished earlier. */
  holdSeconds: number;
  /** The id of the process's claim, and how long the claim is valid if no slot is free. */
  claimant: string;
  claimSeconds: number;
  /**
   * For a background request: the weight that it leaves free, and the share of the limit that it may take while others
   * wait. Null for an ordinary request.
   */
  background: { keptFree: number; share: number } | null;
}

/** A slot that was granted. */
export interface Grant {
  slotId: number;
  /** The database's clock at the grant, before the request is sent. It increases with each grant of a budget. */
  askedAt: Date;
}

/** Slots of finished requests, and for how many more seconds each counts. */
export interface FinishedSlots {
  slotIds: number[];
  keepSeconds: number[];
}

/** The budgets of one installation in PostgreSQL. It calls the functions `budget_…` (src/db/schema.sql). */
export class BudgetStore {
  readonly #db: Connection;
  readonly #installation: number;

  constructor(db: Connection, installation: number) {
    this.#db = db;
    this.#installation = installation;
  }

  /**
   * Takes a slot for each of the first requests that fit at present. If none fits, it leaves a claim and returns when
   * to try again. The same statement reports finished slots.
   */
  async take(
    action: string,
    request: SlotRequest,
    finished: FinishedSlots,
  ): Promise<Grant[] | { waitMs: number | null }> {
    const answer = await rows(
      this.#db,
      { slot_id: nullable(integer), wait_ms: nullable(integer), asked_at: nullable(instant) },
      'select slot_id, wait_ms, asked_at from budget_take(?, ?, ?, ?, ?, ?, ?, ?, ?::uuid, ?, ?, ?, ?, ?)',
      [
        ...[this.#installation, action, request.weight, request.priority, request.agesSeconds],
        ...[request.limit, request.windowSeconds, request.holdSeconds, request.claimant, request.claimSeconds],
        ...[finished.slotIds, finished.keepSeconds],
        ...[request.background?.keptFree ?? null, request.background?.share ?? null],
      ],
    );
    const grants = answer.flatMap(({ slot_id: slotId, asked_at: askedAt }) =>
      slotId === null || askedAt === null ? [] : [{ slotId, askedAt }],
    );
    return grants.length > 0 ? grants : { waitMs: answer[0]?.wait_ms ?? null };
  }

  /** Milliseconds until this weight can be taken, if no other process takes any. 0 if it can be taken at once. */
  async roomInMs(action: string, weight: number, limit: number, windowSeconds: number): Promise<number> {
    const found = await maybeRow(
      this.#db,
      { ms: integer },
      `select greatest(0, ceil(extract(epoch from greatest(b.blocked_until, freed.at) - clock_timestamp()) * 1000))::bigint as ms
       from budget b
       cross join lateral (select budget_limit(?, b.share, b.regains_from, ?) as allowed) now_allowed
       cross join lateral (
         select min(s.at) filter (where s.left_over + least(?, allowed) <= allowed) as at from (
           select at, coalesce(sum(weight) over (order by at desc rows between unbounded preceding and 1 preceding), 0) as left_over
           from (
             select expires_at as at, weight from budget_slot
             where installation = b.installation and action = b.action and expires_at > clock_timestamp()
             union all select clock_timestamp(), 0) each) s) freed
       where b.installation = ? and b.action = ?`,
      [limit, windowSeconds, weight, this.#installation, action],
    );
    return found?.ms ?? 0;
  }

  /**
   * Reports finished slots of several actions in one statement. Each action locks its budget, so the order is always
   * the same.
   */
  async finish(finished: readonly (FinishedSlots & { action: string })[]): Promise<void> {
    const ordered = finished.toSorted((a, b) => (a.action < b.action ? -1 : 1));
    await execute(
      this.#db,
      `select ${ordered.map(() => 'budget_finish(?, ?, ?, ?)').join(', ')}`,
      ordered.flatMap(({ action, slotIds, keepSeconds }) => [this.#installation, action, slotIds, keepSeconds]),
    );
  }

  /** Removes the process's claim. */
  async withdraw(action: string, claimant: string): Promise<void> {
    await execute(this.#db, 'select budget_withdraw(?, ?, ?::uuid)', [this.#installation, action, claimant]);
  }

  /**
   * Blocks the budget for `retryAfterSeconds` and halves its limit. After a pause of 15 minutes or more, a single
   * request is allowed first.
   */
  async throttled(action: string, slotId: number, retryAfterSeconds: number): Promise<void> {
    const bindings = [this.#installation, action, slotId, retryAfterSeconds];
    await execute(this.#db, 'select budget_throttled(?, ?, ?, ?)', bindings);
  }

  /** Removes the block and the lowered limit of one budget. */
  async forget(action: string): Promise<void> {
    await execute(this.#db, 'select budget_forget(?, ?)', [this.#installation, action]);
  }

  /** The state of every budget of the installation that was ever used. */
  usage(): Promise<BudgetUsage[]> {
    return rows(this.#db, usageShape, `select ${columns} from (${usageSql}) as usage order by action`, [
      [this.#installation],
    ]);
  }
}

/** The state of every budget of these installations that was ever used. */
export function budgetUsages(
  db: Connection,
  installations: readonly number[],
): Promise<(BudgetUsage & { installation: number })[]> {
  return rows(
    db,
    { installation: integer, ...usageShape },
    `select installation, ${columns} from (${usageSql}) as usage order by installation, action`,
    [installations],
  );
}

const columns = `action, "limit", "limitNow", used, waiting, "blockedUntil",
  case when "blockedUntil" is null then greatest(0, "limitNow" - used) else 0 end as free`;

const usageSql = `
  select b.installation, b.action, b.full_limit as "limit",
    budget_limit(b.full_limit, b.share, b.regains_from, b.window_seconds) as "limitNow",
    (select coalesce(sum(s.weight), 0)::int from budget_slot s
     where s.installation = b.installation and s.action = b.action and s.expires_at > clock_timestamp()) as used,
    (select count(*)::int from budget_claim c
     where c.installation = b.installation and c.action = b.action and c.expires_at > clock_timestamp()) as waiting,
    case when b.blocked_until > clock_timestamp() then b.blocked_until end as "blockedUntil"
  from budget b where b.installation = any(?)`;

/** A slot reserves budget for some minutes. Slots that expired so many hours ago belong to budgets out of use. */
const slotHours = 24;

/** Removes slots that expired long ago. Returns the number of removed slots. */
export function pruneSlots(db: Db, signal: AbortSignal): Promise<number> {
  return pruneInBatches(
    db,
    `delete from budget_slot where id in (select id from budget_slot
       where expires_at < clock_timestamp() - make_interval(hours => ?) limit ${pruneBatch})`,
    slotHours,
    signal,
  );
}
