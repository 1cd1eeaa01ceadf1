// The traits of a life of deliveries, which depend on its seed.

import { Rng } from '../../../sandbox/src/rng.ts';
import { assumedErps, type Behaviour, behavioursOf } from '../../erp/fake/assumptions.ts';
import { playedRecords } from '../../erp/fake/records.ts';
import type { Troubles } from '../mortal.ts';
import { cloudErps } from './cloud.ts';
import { odooFlavours } from './odoo/erp.ts';

/**
 * `delivery`: a fake ERP with the abilities of any capability record. `odoo`: our target of Odoo and a fake of its
 * servers. `cloud`: the target of a cloud ERP and a fake of its server. `matrix`: a fake ERP that behaves otherwise than its record, in what is not measured.
 */
export type DeliveryWorld = 'delivery' | 'odoo' | 'cloud' | 'matrix';

/** The names of the ERPs of each world. */
export const erpsOf: Readonly<Record<DeliveryWorld, readonly string[]>> = {
  delivery: playedRecords,
  odoo: odooFlavours,
  cloud: cloudErps,
  matrix: Object.keys(assumedErps),
};

/**
 * The traits of a life with deliveries only. A plan appends the entries, and people and the ERP disturb their delivery.
 */
export interface DeliveryTraits {
  /** The name of a capability record, or of a version of Odoo. */
  erp: string;
  /** The behaviour of an ERP of the matrix; null in the other worlds. */
  acts: Partial<Behaviour> | null;
  documents: number;
  installations: number;
  processes: number;
  /** Share of requests that fail. */
  faults: number;
  /** Share of requests on which the server works for longer than the client waits. */
  slow: number;
  /**
   * Share of creations that take effect after the time in which the ERP may work on a request. It is zero if delivery
   * cannot handle such creations.
   */
  late: number;
  troubles: Troubles;
  flawShare: number;
  locks: number;
  outages: number;
  /** Accidents that only this kind of ERP has. */
  mishaps: number;
  timeoutMs: number;
  /** Duration of the disturbances. */
  troubleMs: number;
  /** Limit of requests per day; null for the limit of the record. */
  dayLimit: number | null;
  maxEntries: number | null;
  /**
   * Share of the documents that another database has delivered before. Our database sends nothing until these are
   * adopted.
   */
  rival: number;
}

/** The traits of a seed. */
export function deliveryTraitsOf(seed: number, world: DeliveryWorld, erp: string | null = null): DeliveryTraits {
  if (world === 'matrix') return matrixTraitsOf(seed, erp);
  // The fakes of cloud ERPs have none of the flaws.
  const own = { flawShare: 0, late: 0, dayLimit: null, maxEntries: null };
  return { ...drawn(seed, world, erp), ...(world === 'cloud' ? own : {}) };
}

/** Consecutive seeds take the ERPs in turns, and then the next behaviour of each. Requests fail in every life. */
function matrixTraitsOf(seed: number, given: string | null): DeliveryTraits {
  const erps = given === null ? erpsOf.matrix : [given];
  const erp = erps[seed % erps.length] as string;
  const behaviours = assumedErps[erp] ? behavioursOf(assumedErps[erp]) : [];
  const acts = behaviours[Math.floor(seed / erps.length) % behaviours.length] ?? {};
  const rng = new Rng(seed, 'matrix');
  const often = { faults: rng.pick([0.2, 0.4]), slow: rng.pick([0.05, 0.2]), locks: rng.pick([0, 1, 2]) };
  const traits = { ...drawn(seed, 'delivery', erp), ...often, acts };
  return { ...traits, documents: rng.int(2, 8), late: 0, rival: 0, dayLimit: null, maxEntries: null };
}

function drawn(seed: number, world: Exclude<DeliveryWorld, 'matrix'>, given: string | null): DeliveryTraits {
  const rng = new Rng(seed, 'traits');
  const picked = rng.pick(erpsOf[world]);
  return {
    erp: given ?? picked,
    acts: null,
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
    // This trait has a separate generator, so that the other traits of a seed stay the same.
    rival: new Rng(seed, 'rival').pick([0, 0, 0, 0.5]),
  };
}

/** The world that has an ERP. */
export function worldOfErp(erp: string): DeliveryWorld {
  if (erpsOf.odoo.includes(erp)) return 'odoo';
  if (erpsOf.cloud.includes(erp)) return 'cloud';
  return erpsOf.delivery.includes(erp) ? 'delivery' : 'matrix';
}
