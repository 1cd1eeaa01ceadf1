import { bool, columnList } from '../../db/columns.ts';
import { type Connection, execute, row, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import { deliveryFindings } from '../../texts/findings/delivery.ts';
import { type OutboxUnit, unitShape } from './unit.ts';

/** Selects the units of one installation for the company that it is delivered to now. */
export interface ClaimScope {
  installation: InstallationId;
  company: string;
}

const columns = columnList(unitShape);
/** States in which a unit no longer delays the units that follow it. */
const settledStates = `('delivered', 'drafted', 'handed_over', 'acknowledged', 'cancelled_out', 'excluded')`;

/** With a subquery per row, PostgreSQL reads only as many rows as the batch needs, even if the queue is long. */
export async function claimDue(
  db: Connection,
  { installation, company }: ClaimScope,
  limit: number,
): Promise<OutboxUnit[]> {
  const due = await rows(
    db,
    unitShape,
    // A subquery per row reads only as many rows as the batch needs, even if the queue is long.
    `select ${columns} from erp_unit u
     where installation = ? and state = 'pending' and not needs_approval and company = ?
       and (not_before is null or not_before <= clock_timestamp())
       and (follows is null or coalesce((
         select p.state in ${settledStates} from erp_unit p where p.installation = u.installation and p.unit_id = u.follows), true))
     order by is_backlog, kind, seq limit ?`,
    [installation, company, limit],
  );
  return withinLimits(due);
}

/** The first units, as many as the batch limit of each of them allows. */
export function withinLimits(units: readonly OutboxUnit[]): OutboxUnit[] {
  let most = units.length;
  const taken: OutboxUnit[] = [];
  for (const unit of units) {
    most = Math.min(most, unit.batch_limit ?? most);
    if (taken.length >= most) break;
    taken.push(unit);
  }
  return taken;
}

/** Units in doubt whose look-up is due. */
export function claimDoubtful(
  db: Connection,
  { installation, company }: ClaimScope,
  limit: number,
): Promise<OutboxUnit[]> {
  return rows(
    db,
    unitShape,
    `select ${columns} from erp_unit where installation = ? and state = 'uncertain' and company = ?
       and coalesce(not_before, '-infinity') <= clock_timestamp() order by kind, seq limit ?`,
    [installation, company, limit],
  );
}

/** Drafts of the accountant that are due to be looked up again. */
export function claimDrafted(
  db: Connection,
  { installation, company }: ClaimScope,
  limit: number,
): Promise<OutboxUnit[]> {
  return rows(
    db,
    unitShape,
    `select ${columns} from erp_unit where installation = ? and state = 'drafted' and company = ?
       and coalesce(not_before, '-infinity') <= clock_timestamp() order by not_before nulls first, kind, seq limit ?`,
    [installation, company, limit],
  );
}

/** Whether a former delivery left a unit marked as being sent. */
export async function hasSending(db: Connection, { installation, company }: ClaimScope): Promise<boolean> {
  const { found } = await row(
    db,
    { found: bool },
    `select exists (
       select from erp_unit where installation = ? and state = 'sending' and company = ?) as found`,
    [installation, company],
  );
  return found;
}

/**
 * Puts all units in doubt that a former lease holder was sending, of every installation, and returns them. They are
 * looked up next.
 */
export function takeOverSending(trx: Connection, company: string): Promise<OutboxUnit[]> {
  return rows(
    trx,
    unitShape,
    `update erp_unit set state = 'uncertain', doubt = coalesce(doubt, 'no_answer'), not_before = clock_timestamp()
     where company = ? and state = 'sending' returning ${columns}`,
    [company],
  );
}

/**
 * Puts units of the installation in doubt that an earlier batch left marked as being sent. The batch stopped between
 * two requests, and released the lease. The units are looked up when the server can have finished. The caller holds the
 * company's lease.
 */
export async function doubtLeftSending(
  trx: Connection,
  { installation, company }: ClaimScope,
  { mayWorkMs }: { mayWorkMs: number },
): Promise<void> {
  await execute(
    trx,
    `update erp_unit set state = 'uncertain', doubt = coalesce(doubt, 'no_answer'),
       not_before = greatest(clock_timestamp(), sent_at + make_interval(secs => ?))
     where installation = ? and company = ? and state = 'sending'`,
    [mayWorkMs / 1000, installation, company],
  );
}

/** Makes units pending that a complete look-up did not find. Their own installation sends them. */
export async function noteAbsent(trx: Connection, company: string, keys: readonly string[]): Promise<void> {
  await execute(
    trx,
    `update erp_unit set state = 'pending', doubt = null, sent_at = null, not_before = null
     where company = ? and state = 'uncertain' and doubt = 'no_answer' and erp_key = any(?::text[])`,
    [company, keys],
  );
}

/**
 * Applies a changed configuration. Units that the former mapping could not translate become pending. Units that were
 * never sent go to the new company. Units that the former company may have are refused until a person decides.
 */
export async function followConfiguration(
  trx: Connection,
  { installation, company }: ClaimScope,
  { mappingHash, retriedCodes }: { mappingHash: string; retriedCodes: readonly string[] },
): Promise<void> {
  const changed = await execute(
    trx,
    `update erp_cursor set mapping_hash = ?, company = ?
     where installation = ? and (mapping_hash, company) is distinct from (?::text, ?::text)`,
    [mappingHash, company, installation, mappingHash, company],
  );
  if (changed === 0) return;
  await execute(
    trx,
    `update erp_unit set state = 'pending', not_before = null, problem_code = null, problem_message = null, problem_since = null
     where installation = ? and state = 'refused' and problem_code = any(?::text[])`,
    [installation, retriedCodes],
  );
  await execute(
    trx,
    `update erp_unit set company = ?
     where installation = ? and state = 'pending' and attempts = 0 and company <> ?`,
    [company, installation, company],
  );
  await execute(
    trx,
    `update erp_unit set state = 'refused', problem_code = 'erp_company_changed', doubt = null, sent_at = null,
       problem_message = ?,
       problem_since = clock_timestamp()
     where installation = ? and state in ('pending', 'sending', 'uncertain', 'drafted') and company <> ?`,
    [deliveryFindings.companyChanged, installation, company],
  );
}
