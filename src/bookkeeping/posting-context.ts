import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { businessDate, type ClosedDays } from '../domain/dates.ts';
import { closedThrough } from '../ledger/close.ts';
import type { DocumentFacts, PostingContext } from '../posting/types.ts';
import type { CalendarDate } from '../terms.ts';
import { closedInErp } from './erp-locks.ts';
import type { LockDateOf } from './lock-dates.ts';

/** Returns the context for judging these facts. `db` is the posting transaction if they are posted. */
export type ContextFor = (db: Connection, facts: readonly DocumentFacts[]) => Promise<PostingContext>;

/**
 * The posting context of an installation. Lock dates of departments are requested only if the mapping follows them, and
 * once each. The closed period is read each time, since it may change between two batches. `clock` decides which dates
 * are in the future; without it none is.
 */
export function postingContexts(
  installation: InstallationConfig,
  lockDateOf: LockDateOf,
  clock: (() => Date) | null = null,
): ContextFor {
  const lockDates = new Map<number, CalendarDate>();
  const asked = new Set<number>();
  return async (db, facts) => {
    if (installation.mapping.policies.follow_source_lock) {
      for (const department of departmentsOf(facts)) {
        if (asked.has(department)) continue;
        asked.add(department);
        const lockDate = await lockDateOf(department);
        if (lockDate !== null) lockDates.set(department, lockDate);
      }
    }
    return postingContext(installation, {
      closed: await closedThrough(db, installation.id),
      closedInErp: await closedInErp(db, installation),
      lockDates,
      today: clock && businessDate(clock().toISOString(), installation.timezone),
    });
  };
}

function postingContext(
  installation: InstallationConfig,
  locks: {
    closed: CalendarDate | null;
    closedInErp: readonly ClosedDays[];
    lockDates: ReadonlyMap<number, CalendarDate>;
    today: CalendarDate | null;
  },
): PostingContext {
  const { id, timezone, currency, decimals, startDate, mapping } = installation;
  return {
    installation: id,
    ...{ timezone, currency, decimals, startDate, mapping },
    closedThrough: locks.closed,
    closedInErp: locks.closedInErp,
    sourceLockDates: locks.lockDates,
    today: locks.today,
  };
}

function departmentsOf(facts: readonly DocumentFacts[]): Set<number> {
  const departments = new Set<number>();
  for (const one of facts) {
    const id = departmentOf(one);
    if (id != null) departments.add(id);
  }
  return departments;
}

function departmentOf(facts: DocumentFacts): number | null | undefined {
  switch (facts.kind) {
    case 'invoice':
      return facts.invoice.departmentId;
    case 'payment':
      return facts.invoice?.departmentId;
    case 'prepayment':
      return facts.prepayment.departmentId;
  }
}
