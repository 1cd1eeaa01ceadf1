// A second vetledger database that has delivered some of the practice's entries to the company before the round. The round
// simulates it: it delivers with another database id, and then deletes the records of this delivery.

import type { InstallationConfig } from '../../../src/config/load-config.ts';
import type { Db } from '../../../src/db/pool.ts';
import { adoptForeign } from '../../../src/erp/claims/claim-store.ts';
import { companyKeyOf } from '../../../src/erp/company.ts';
import { openDelivery } from '../../../src/erp/delivery.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { SimulatedTime } from '../../erp/fake/time.ts';
import { query } from '../../support/sql.ts';

export const rivalId = 'rival';

/** The tables in which a database records its deliveries. */
const remembered = [
  ...['erp_unit', 'erp_cursor', 'erp_claim', 'erp_keyed_entry', 'erp_sweep', 'erp_open_item', 'erp_open_line'],
  ...['erp_delivered', 'erp_settled_day', 'erp_number_due'],
];

export interface RivalPorts {
  db: Db;
  time: SimulatedTime;
  installations: readonly InstallationConfig[];
  open(): ErpTarget;
}

/** Delivers the journal's entries as the second database. */
export async function deliverAsRival({ db, time, installations, open }: RivalPorts): Promise<void> {
  const clock = time.clock();
  const { signal } = new AbortController();
  const delivery = openDelivery({ db, databaseId: rivalId, clock, log: silent as never, open });
  for (const installation of installations) {
    await delivery.enqueue(installation);
    for (let left = 200; left > 0; left--) {
      const pause = (ms: number) => clock.sleep(ms, signal);
      const ports = { installation, holder: rivalId, signal, pause, onProgress: () => undefined };
      const { nextDueMs } = await delivery.slice(ports);
      if (nextDueMs === null) break;
      await clock.sleep(Math.max(1_000, nextDueMs));
    }
  }
  await delivery.close();
}

/** Deletes all records of deliveries, so that this database has never delivered anything. */
export async function forgetDeliveries(db: Db, installations: readonly InstallationConfig[]): Promise<void> {
  const ids = installations.map(({ id }) => id);
  for (const table of remembered) await query(db, `delete from ${table} where installation = any(?::bigint[])`, [ids]);
  await query(db, `update erp_company set not_before = null, look_up_from = null`);
  await query(
    db,
    `update lease set holder = '', is_in_order = true, expires_at = clock_timestamp() where lane = 'delivery'`,
  );
}

/**
 * Adopts the known entries of the second database, as `vetledger adopt` does. Returns the number of adopted entries so
 * far.
 */
export async function adoptRival(
  { db, time, open }: Omit<RivalPorts, 'installations'>,
  databaseId: string,
  installation: InstallationConfig,
): Promise<number> {
  const claim = { company: companyKeyOf(installation.erp) ?? '', installation: installation.id };
  const delivery = openDelivery({ db, databaseId, clock: time.clock(), log: silent as never, open });
  await delivery.foreign(installation, new AbortController().signal);
  await delivery.close();
  await db.transaction((trx) => adoptForeign(trx, claim));
  const adopted = `select from erp_keyed_entry where installation = ? and adopted_at is not null`;
  return (await query(db, adopted, [installation.id])).length;
}

const nothing = () => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
