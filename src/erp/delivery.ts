import type { Logger } from 'pino';
import { isDelivered, isFileTarget } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Db } from '../db/pool.ts';
import type { Clock } from '../domain/clock.ts';
import type { PlainError } from '../texts/plain-error.ts';
import type { Capabilities } from './capabilities.ts';
import { foreignEntries } from './claims/foreign.ts';
import { companyKeyOf } from './company.ts';
import type { Looks } from './deliver/check-claim.ts';
import { type DeliverPorts, deliverSlice, type SliceReport } from './deliver/slice.ts';
import { matchOpenItems } from './open-items/match-open-items.ts';
import { enqueueUnits } from './outbox/enqueue.ts';
import { excludeReversalsOfUndone } from './outbox/undo.ts';
import type { ErpTarget } from './port.ts';
import { fileCapabilities } from './targets/files/capabilities.ts';
import { handOverSlice } from './targets/files/hand-over.ts';
import { openTarget } from './targets/open.ts';

/** What a slice of delivery is given by the activity that runs it. */
export type SlicePorts = Pick<DeliverPorts, 'installation' | 'holder' | 'signal' | 'pause' | 'onProgress'>;

/** Delivery to the ERPs of this process's installations. */
export interface Delivery {
  /** Puts what has come into the general ledger into the outbox; returns how many units. */
  enqueue(installation: InstallationConfig): Promise<number>;
  /** The installation's ERP, opened when it is first asked for and closed with the delivery. Only for kinds that are no files. */
  target(installation: InstallationConfig): ErpTarget;
  /** What the installation's ERP, or file format, can do. */
  capabilities(installation: InstallationConfig): Capabilities;
  /** Sends what is due, for some minutes at most. */
  slice(ports: SlicePorts): Promise<SliceReport>;
  /** What another database has in the installation's company, and what to do; null where nothing is known of one. */
  foreign(installation: InstallationConfig, signal: AbortSignal): Promise<PlainError | null>;
  /** Matches the open items that deliveries have touched; what fails is left for later. */
  matchItems(
    ports: Pick<SlicePorts, 'installation' | 'holder' | 'signal'>,
    options: { longestMs: number },
  ): Promise<MatchOutcome>;
  close(): Promise<void>;
}

export interface MatchOutcome {
  /** Groups that were matched or undone. */
  matched: number;
  /** Milliseconds until the rest is worth another look; 0: now; null: there is none. */
  nextDueMs: number | null;
}

export interface DeliveryOptions {
  db: Db;
  databaseId: string;
  clock: Clock;
  log: Logger;
  /** Default: what the installation's configuration names. */
  open?: (installation: InstallationConfig) => ErpTarget;
}

/** A workflow's details are as old as its slice is long; a slice that was cancelled leaves nothing undone. */
const sliceMs = 60_000;

/** Open items that the ERP would not match are looked at again after so long. */
const matchAgainMs = 60_000;

/** The delivery of a process: it opens the target of an installation when it is first needed, and keeps it until the end. */
export function openDelivery({ db, databaseId, clock, log, open }: DeliveryOptions): Delivery {
  const targets = new Map<number, ErpTarget>();
  const looks: Looks = new Map();
  const openOwn = open ?? ((installation) => openTarget(installation, { clock, log }));
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
      return deliverSlice({ ...ports, target: targetOf(slice.installation), looks }, options);
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
