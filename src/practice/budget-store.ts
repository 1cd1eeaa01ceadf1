import { instant, integer, nullable, type RowOf, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { pruneBatch, pruneInBatches } from '../db/prune.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';

const usageShape = {
  action: text,
  limit: integer,
  /** The limit in force, which 429s have lowered. */
  limitNow: integer,
  used: integer,
  /** What can be taken now; 0 while the budget is blocked. */
  free: integer,
  /** Processes that wait. */
  waiting: integer,
  blockedUntil: nullable(instant),
};

/** One budget's state, for `status`. */
export type BudgetUsage = RowOf<typeof usageShape>;

/** What a process asks for when it wants to send requests of one weight and priority. */
export interface SlotRequest {
  weight: number;
  /** Lower goes first. */
  priority: number;
  /** How long each request has waited, the oldest first: among equal priorities the oldest goes first. */
  agesSeconds: number[];
  /** The budget's full limit, by the dialect. */
  limit: number;
  windowSeconds: number;
  /** The slot expires after this unless it is shortened. */
  holdSeconds: number;
  /** The process, and how long its claim stands when no slot is free. */
  claimant: string;
  claimSeconds: number;
  /** A background request: what it leaves free, and the share of the limit that it takes even while others wait. */
  background: { keptFree: number; share: number } | null;
}

/** A slot that was granted. */
export interface Grant {
  slotId: number;
  /** The database's clock at the grant, before the request is sent; later for each grant of a budget. */
  askedAt: Date;
}

/** Slots whose requests are over, and for how many seconds from now each still counts. */
export interface FinishedSlots {
  slotIds: number[];
  keepSeconds: number[];
}

/** The budgets of one installation in PostgreSQL: the calls of the `budget_…` functions (src/db, schema.sql). */
export class BudgetStore {
  readonly #db: Connection;
  readonly #installation: number;

  constructor(db: Connection, installation: number) {
    this.#db = db;
    this.#installation = installation;
  }

  /**
   * Takes a slot for each of the first requests that fit now. Where none does, it leaves a claim and returns when to ask again. Reports
   * finished slots in the same statement.
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

  /** Milliseconds until so much weight can be taken, if nobody else takes any; 0: now. */
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

  /** Reports finished slots of some actions, in one statement. Each locks its budget: always in the same order. */
  async finish(finished: readonly (FinishedSlots & { action: string })[]): Promise<void> {
    const ordered = finished.toSorted((a, b) => (a.action < b.action ? -1 : 1));
    await execute(
      this.#db,
      `select ${ordered.map(() => 'budget_finish(?, ?, ?, ?)').join(', ')}`,
      ordered.flatMap(({ action, slotIds, keepSeconds }) => [this.#installation, action, slotIds, keepSeconds]),
    );
  }

  /** Gives up the process's claim. */
  async withdraw(action: string, claimant: string): Promise<void> {
    await execute(this.#db, 'select budget_withdraw(?, ?, ?::uuid)', [this.#installation, action, claimant]);
  }

  /** Blocks the budget until `retryAfterSeconds` from now and halves its limit; after 15 minutes or more, one request tries first. */
  async throttled(action: string, slotId: number, retryAfterSeconds: number): Promise<void> {
    const bindings = [this.#installation, action, slotId, retryAfterSeconds];
    await execute(this.#db, 'select budget_throttled(?, ?, ?, ?)', bindings);
  }

  /** Forgets the block and the lowered limit of one budget. */
  async forget(action: string): Promise<void> {
    await execute(this.#db, 'select budget_forget(?, ?)', [this.#installation, action]);
  }

  /** The state of every budget that was ever used. */
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

/** Slots count for minutes; what is left of them later are those of budgets that nobody asks any more. */
const slotHours = 24;

/** Removes slots that expired long ago; returns how many. */
export function pruneSlots(db: Db, signal: AbortSignal): Promise<number> {
  return pruneInBatches(
    db,
    `delete from budget_slot where id in (select id from budget_slot
       where expires_at < clock_timestamp() - make_interval(hours => ?) limit ${pruneBatch})`,
    slotHours,
    signal,
  );
}
