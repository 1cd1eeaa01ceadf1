import type { Logger } from 'pino';
import { isDelivered, isFileTarget } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Db } from '../db/pool.ts';
import type { Clock } from '../domain/clock.ts';
import type { SecretKey } from '../domain/secret-key.ts';
import type { Capabilities } from './capabilities.ts';
import { type ForeignSearch, foreignEntries } from './claims/foreign.ts';
import { companyKeyOf } from './company.ts';
import type { Searches } from './deliver/check-claim.ts';
import { type DeliverPorts, deliverSlice, type SliceReport } from './deliver/slice.ts';
import { matchOpenItems } from './open-items/match-open-items.ts';
import { enqueueUnits } from './outbox/enqueue.ts';
import { excludeReversalsOfUndone } from './outbox/undo.ts';
import type { ErpTarget } from './port.ts';
import { fileCapabilities } from './targets/files/capabilities.ts';
import { handOverSlice } from './targets/files/hand-over.ts';
import { openTarget } from './targets/open.ts';

/** The arguments that an activity passes to a slice of a delivery. */
export type SlicePorts = Pick<DeliverPorts, 'installation' | 'holder' | 'signal' | 'pause' | 'onProgress'>;

/** Delivers to the ERPs of the installations of this process. */
export interface Delivery {
  /** Puts new units of the general ledger into the outbox; returns their number. */
  enqueue(installation: InstallationConfig): Promise<number>;
  /**
   * The target of an installation with an ERP. It is opened at the first call, and closed by `close`. Not for file
   * formats.
   */
  target(installation: InstallationConfig): ErpTarget;
  /** The capability record of the installation's ERP or file format. */
  capabilities(installation: InstallationConfig): Capabilities;
  /** Sends the units that are due, for at most a minute. */
  slice(ports: SlicePorts): Promise<SliceReport>;
  /** Searches the company of the installation for entries of other databases. */
  foreign(installation: InstallationConfig, signal: AbortSignal): Promise<ForeignSearch>;
  /** Matches the open items that deliveries have changed. Failed items are tried again later. */
  matchItems(
    ports: Pick<SlicePorts, 'installation' | 'holder' | 'signal'>,
    options: { longestMs: number },
  ): Promise<MatchOutcome>;
  close(): Promise<void>;
}

export interface MatchOutcome {
  /** Number of groups that were matched or unmatched. */
  matched: number;
  /** Milliseconds until the remaining items should be tried again: 0 for at once, null if none remain. */
  nextDueMs: number | null;
}

export interface DeliveryOptions {
  db: Db;
  databaseId: string;
  clock: Clock;
  log: Logger;
  /** The keys of stored logins. */
  secretKeys?: readonly SecretKey[];
  /** Opens the target of an installation. Default: the target that the configuration names. */
  open?: (installation: InstallationConfig) => ErpTarget;
}

/** Maximum duration of a slice. The progress in the workflow's details is never older than this. */
const sliceMs = 60_000;

/** Open items that the ERP refused to match are tried again after this time. */
const matchAgainMs = 60_000;

/** Creates the delivery of a process. It opens the target of each installation when it is first needed. */
export function openDelivery({ db, databaseId, clock, log, secretKeys: keys = [], open }: DeliveryOptions): Delivery {
  const targets = new Map<number, ErpTarget>();
  const searches: Searches = new Map();
  const openOwn = open ?? ((installation) => openTarget(installation, { clock, log, logins: { db, keys } }));
  const targetOf = (installation: InstallationConfig) => {
    const target = targets.get(installation.id) ?? openOwn(installation);
    targets.set(installation.id, target);
    return target;
  };
  return {
    async enqueue(installation) {
      const company = companyKeyOf(installation.erp);
      if (company === null || !isDelivered(installation.erp)) return 0;
      const { from, auto } = installation.erp;
      const { id } = installation;
      return db.transaction(async (trx) => {
        const units = await enqueueUnits(trx, { installation: id, databaseId, company, from, auto });
        if (units > 0) await excludeReversalsOfUndone(trx, id);
        return units;
      });
    },
    target: targetOf,
    capabilities(installation) {
      const { erp } = installation;
      return isFileTarget(erp) ? fileCapabilities[erp.kind] : targetOf(installation).capabilities;
    },
    slice(slice) {
      const ports = { ...slice, db, databaseId, clock, log };
      const options = { longestMs: sliceMs };
      if (isFileTarget(slice.installation.erp)) return handOverSlice(ports, options);
      return deliverSlice({ ...ports, target: targetOf(slice.installation), searches }, options);
    },
    foreign: (installation, signal) =>
      foreignEntries({ db, databaseId, clock, signal, target: targetOf }, installation),
    async matchItems(ports, { longestMs }) {
      if (isFileTarget(ports.installation.erp)) return { matched: 0, nextDueMs: null };
      const target = targetOf(ports.installation);
      const until = clock.elapsed() + longestMs;
      let matched = 0;
      for (let before = Number.POSITIVE_INFINITY; ; ) {
        const options = { longestMs: until - clock.elapsed() };
        const report = await matchOpenItems({ ...ports, db, clock, log, target }, options);
        matched += report.matched + report.unmatched;
        if (report.left === 0) return { matched, nextDueMs: null };
        if (report.left >= before) return { matched, nextDueMs: matchAgainMs };
        if (clock.elapsed() >= until) return { matched, nextDueMs: 0 };
        before = report.left;
      }
    },
    async close() {
      for (const target of targets.values()) await target.close();
      targets.clear();
    },
  };
}
