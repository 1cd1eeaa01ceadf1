// The ERP of a life, and the way to it, on which requests and answers are lost.

import { Rng } from '../../sandbox/src/rng.ts';
import { companyOf } from '../../src/erp/company.ts';
import { type FakeRecord, records } from '../erp/fake/records.ts';
import { FakeServer } from '../erp/fake/server.ts';
import { type Circumstances, calm, FakeTarget, type Fault, type Life, type UnderWay } from '../erp/fake/target.ts';
import type { World } from './world.ts';

const timeoutMs = 20_000;

export class ErpWay {
  readonly server: FakeServer;
  /** The number of requests that failed. */
  faults = 0;
  readonly #world: World;
  readonly #underWay: UnderWay = new Set();

  constructor(world: World, recordName: string) {
    this.#world = world;
    const record = records[recordName];
    if (!record) throw new Error(`no record ${recordName}`);
    const random = new Rng(world.seed, 'erp');
    this.server = new FakeServer({ record: withoutLimits(record), time: world.time, random: () => random.next() });
  }

  /** A process's target. */
  open(life: Life): FakeTarget {
    const { erp } = this.#world.installation;
    if (erp.kind !== 'tryton') throw new Error('this life has no ERP');
    return new FakeTarget({
      ...{ server: this.server, life, timeoutMs, underWay: this.#underWay, company: companyOf(erp) },
      network: () => this.#circumstances(),
    });
  }

  #circumstances(): Circumstances {
    const { network: rng, isCalm, traits } = this.#world;
    if (isCalm) return calm;
    const way = { outMs: rng.int(1, 50), workMs: rng.int(1, rng.pick([200, 200, 100_000])), backMs: rng.int(1, 50) };
    const isFaulty = rng.chance(traits.erpFaults);
    const faults = [
      'unreachable',
      'request_lost',
      'answer_lost',
      'page',
      'page_though_done',
      'busy',
      'server_dies',
    ] as const;
    const fault: Fault = isFaulty ? rng.pick<Fault>([...faults, 'answer_lost']) : 'none';
    if (isFaulty) this.faults += 1;
    return { ...way, fault };
  }
}

/** Removes limits per minute or day, except in lives of delivery. */
function withoutLimits(record: FakeRecord): FakeRecord {
  const { pace } = record.capabilities;
  return { ...record, capabilities: { ...record.capabilities, pace: { ...pace, limits: [], errors_allowed: null } } };
}
