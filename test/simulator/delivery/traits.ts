// What a life of deliveries is like: a seed decides which traits it has.

import { Rng } from '../../../sandbox/src/rng.ts';
import { playedRecords } from '../../erp/fake/records.ts';
import type { Troubles } from '../mortal.ts';
import { odooFlavours } from './odoo/erp.ts';

/** `delivery`: a fake ERP with the abilities of any capability record. `odoo`: our target of Odoo and a fake of its servers. */
export type DeliveryWorld = 'delivery' | 'odoo';

/** The names of the ERPs of each world. */
export const erpsOf: Readonly<Record<DeliveryWorld, readonly string[]>> = {
  delivery: playedRecords,
  odoo: odooFlavours,
};

/** What a life is like in which only deliveries happen: a plan appends the entries, and people and the ERP disturb their delivery. */
export interface DeliveryTraits {
  /** The name of a capability record, or of a version of Odoo. */
  erp: string;
  documents: number;
  installations: number;
  processes: number;
  /** Share of requests that go wrong. */
  faults: number;
  /** Share of requests on which the server works for long, past the client's patience. */
  slow: number;
  /** Share of creations that take effect later than the ERP is said to be at work; none where nothing can be done about those. */
  late: number;
  troubles: Troubles;
  flawShare: number;
  locks: number;
  outages: number;
  /** Things that happen to this kind of ERP only. */
  mishaps: number;
  timeoutMs: number;
  /** For how long there is trouble. */
  troubleMs: number;
  /** Requests within a day; null: as the record says. */
  dayLimit: number | null;
  maxEntries: number | null;
  /** Share of the documents that another database has delivered before; nothing of ours is sent until it is adopted. */
  rival: number;
}

/** The traits of a seed. */
export function deliveryTraitsOf(seed: number, world: DeliveryWorld): DeliveryTraits {
  const rng = new Rng(seed, 'traits');
  return {
    erp: rng.pick(erpsOf[world]),
    documents: rng.int(2, 16),
    installations: rng.chance(0.3) ? 2 : 1,
    processes: rng.chance(0.6) ? 2 : 1,
    faults: rng.pick([0, 0.05, 0.2, 0.4]),
    slow: rng.pick([0, 0.05, 0.2]),
    troubles: {
      dies: rng.pick([0, 0.001, 0.004, 0.008]),
      diesSending: rng.pick([0, 0.02, 0.1]),
      stands: rng.pick([0, 0, 0.003]),
    },
    flawShare: rng.pick([0, 0.05, 0.2]),
    locks: rng.pick([0, 0, 1, 4]),
    outages: rng.pick([0, 0, 1, 3]),
    timeoutMs: rng.pick([5_000, 20_000, 60_000]),
    troubleMs: rng.int(5, 90) * 60_000,
    dayLimit: rng.chance(0.1) ? rng.int(30, 80) : null,
    maxEntries: rng.chance(0.3) ? rng.int(1, 7) : null,
    late: rng.pick([0, 0.05, 0.3]),
    mishaps: world === 'odoo' ? rng.pick([0, 1, 3]) : 0,
    // Of a generator of its own, so that the other traits of a seed stay.
    rival: new Rng(seed, 'rival').pick([0, 0, 0, 0.5]),
  };
}

/** The world that has an ERP. */
export function worldOfErp(erp: string): DeliveryWorld {
  return erpsOf.odoo.includes(erp) ? 'odoo' : 'delivery';
}
