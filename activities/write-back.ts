import { givesNumbers } from '../src/config/erp.ts';
import { refreshStatistics, refreshStatisticsFromRows } from '../src/db/statistics.ts';
import { isBarred, sourceBar } from '../src/ledger/copies.ts';
import { pullByIds } from '../src/sync/by-id.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import { writeBackAll } from '../src/writeback/write-back.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
import { withLease } from './heartbeat.ts';
import { sourceAccess } from './source-access.ts';

export interface WriteBackReport {
  /** Prepayments whose entry id a read after its write has shown. */
  written: number;
  /** Prepayments whose entry id was accepted, and that no later read has shown. */
  unconfirmed: number;
  api: ApiUse;
}

export function writeBackActivities(deps: ActivityDeps) {
  return {
    /**
     * Tells the source the entry ids of posted prepayments. What the source refuses never fails the window. Where the ERP gives
     * numbers the window writes nothing: the delivery run writes the number once the ERP has the entry. Nor does a copy of the books.
     */
    async writeBack(input: WindowInput, window: OpenWindow): Promise<WriteBackReport> {
      return withLease(deps, input, window, async (heartbeat, { lease, transact, record }) => {
        const { installation } = input;
        const { context, client } = sourceAccess(deps, input, heartbeat, transact);
        if (!(await writesBack(deps, installation))) return { written: 0, unconfirmed: 0, api: heartbeat.use() };
        const { confirmed: written, unconfirmed } = await writeBackAll(installation, context.dialect, {
          transact,
          record,
          lease,
          refresh: (ids) => pullByIds(context, 'prepayment', ids),
          read: (id) => client.readExternalId({ kind: 'prepayment', id }, context.priority),
          send: (prepayment, entryId) => client.writeExternalId(prepayment, entryId, context.priority),
          signal: heartbeat.signal,
          pause: heartbeat.pause,
          onProgress: (done) => heartbeat.beat({ step: 'writing back', done, total: null }),
          onRefused: (prepayment, { code, message }) => deps.log.warn({ installation, prepayment, code }, message),
        });
        if (written >= refreshStatisticsFromRows) await refreshStatistics(deps.db, 'writeBack');
        return { written, unconfirmed, api: heartbeat.use() };
      });
    },
  };
}

/** Whether windows tell the source entry ids at all. */
export async function writesBack(deps: ActivityDeps, installation: number): Promise<boolean> {
  const { erp, baseUrl } = installationOf(deps, installation);
  return !givesNumbers(erp) && !(await isBarred(deps.db, sourceBar(baseUrl)));
}
