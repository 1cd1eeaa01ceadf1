import { bool, instant, integer, nullable, text } from '../../db/columns.ts';
import { type Connection, maybeRow, row } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';

/** How many units of an installation's outbox are in which state; none is counted twice. */
export interface OutboxCounts {
  /** The ERP has them, or the files that hold them are written. */
  delivered: number;
  /** They are sent by themselves. */
  left: number;
  /** Left, and in doubt: they are looked up before anything else. */
  uncertain: number;
  unapproved: number;
  refused: number;
  /** Kept from the ERP: dated before `erp.from`, undone, or settled against their own reversal. */
  excluded: number;
  lastDeliveredAt: Date | null;
}

/** The units that are sent by themselves, now or later. */
const isLeft = `state in ('pending', 'sending', 'uncertain') and not (state = 'pending' and needs_consent)`;

export async function outboxCounts(db: Connection, installation: InstallationId): Promise<OutboxCounts> {
  const found = await row(
    db,
    {
      delivered: integer,
      left: integer,
      uncertain: integer,
      unapproved: integer,
      refused: integer,
      excluded: integer,
      last_delivered_at: nullable(instant),
    },
    `select count(*) filter (where state in ('delivered', 'handed_over', 'acknowledged')) as delivered,
       count(*) filter (where ${isLeft}) as left,
       count(*) filter (where state in ('sending', 'uncertain')) as uncertain,
       count(*) filter (where state = 'pending' and needs_consent) as unapproved,
       count(*) filter (where state = 'refused') as refused,
       count(*) filter (where state in ('excluded', 'cancelled_out')) as excluded,
       max(settled_at) filter (where state in ('delivered', 'handed_over', 'acknowledged')) as last_delivered_at
     from erp_unit where installation = ?`,
    [installation],
  );
  const { last_delivered_at: lastDeliveredAt, ...counts } = found;
  return { ...counts, lastDeliveredAt };
}

/** How many units of an installation are sent by themselves, now or later. */
export async function countLeft(db: Connection, installation: InstallationId): Promise<number> {
  const sql = `select count(*) as n from erp_unit where installation = ? and ${isLeft}`;
  const { n } = await row(db, { n: integer }, sql, [installation]);
  return n;
}

/** Whether something of the installation is to be sent, now or later, without anybody doing something. */
export async function hasDueUnits(db: Connection, installation: InstallationId): Promise<boolean> {
  const { due } = await row(
    db,
    { due: bool },
    `select exists (select from erp_unit where installation = ? and ${isLeft}) as due`,
    [installation],
  );
  return due;
}

/** Units that the ERP confirmed, or whose files were written, at this time or later. */
export async function deliveredSince(db: Connection, installation: InstallationId, since: Date): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from erp_unit
     where installation = ? and settled_at >= ? and state in ('delivered', 'handed_over', 'acknowledged')`,
    [installation, since],
  );
  return n;
}

/** Who has paused the delivery of an installation, and why; null where nobody has. */
export async function deliveryPause(
  db: Connection,
  installation: InstallationId,
): Promise<{ by: string; reason: string; at: Date } | null> {
  return maybeRow(
    db,
    { by: text, reason: text, at: instant },
    'select paused_by as by, reason, paused_at as at from erp_pause where installation = ?',
    [installation],
  );
}
