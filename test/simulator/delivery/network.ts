// The way to the ERP in a life of deliveries: requests are slow, late or lost, and the ERP is out of order for a while.

import { Rng } from '../../../sandbox/src/rng.ts';
import { type Circumstances, calm, type Fault, type RequestInfo } from '../../erp/fake/target.ts';
import type { Stage } from '../stage.ts';
import type { LifeErp } from './erp.ts';
import type { DeliveryTraits } from './traits.ts';

const hourMs = 3_600_000;
/** The longest delay of a late draft, in multiples of the ERP's working time. The last search for drafts comes after 60 of them. */
const latestOfWork = 40;

export interface NetworkPorts {
  stage: Stage;
  traits: DeliveryTraits;
  erp: LifeErp;
  /** Decides the outages. */
  rng: Rng;
  /** The number of entries, which bounds that of requests. */
  entries: number;
  giveUp(why: string): void;
}

export class Network {
  requests = 0;
  faults = 0;
  /** Until this time, the server works on requests whose clients no longer wait. */
  lateUntilMs = 0;
  readonly #ports: NetworkPorts;
  readonly #rng: Rng;
  readonly #lateness: Rng;
  readonly #outages: { fromMs: number; throughMs: number; fault: Fault }[];

  constructor(ports: NetworkPorts) {
    this.#ports = ports;
    const { rng, stage, traits } = ports;
    this.#rng = new Rng(stage.seed, 'network');
    this.#lateness = new Rng(stage.seed, 'lateness');
    this.#outages = Array.from({ length: traits.outages }, () => {
      const fromMs = rng.int(stage.time.nowMs, stage.time.nowMs + traits.troubleMs);
      const fault = rng.pick<Fault>(['unreachable', 'page', 'busy', 'auth', 'request_lost', 'answer_lost']);
      return { fromMs, throughMs: fromMs + rng.int(60_000, hourMs), fault };
    });
  }

  /** The course of a request: its delays and its fault. */
  circumstances({ kind, keys }: RequestInfo): Circumstances {
    const { entries, erp, giveUp, stage, traits } = this.#ports;
    const rng = this.#rng;
    this.requests += 1;
    const { requestsPerCall } = erp;
    const most = (150 + 40 * entries) * requestsPerCall;
    if (this.requests > most) giveUp(`${most} requests, and delivery does not come to an end`);
    if (stage.isCalm) return calm;
    const { faults, slow, timeoutMs } = traits;
    const mayWorkMs = erp.judged.record.capabilities.doubt.server_may_work_seconds * 1000;
    const usual = { outMs: rng.int(5, 100), workMs: rng.int(20, 3_000), backMs: rng.int(5, 100) };
    const isWriting = kind === 'create' || kind === 'post';
    const way = rng.chance(isWriting ? slow : slow / 4)
      ? { ...usual, workMs: rng.int(timeoutMs / 2, Math.max(timeoutMs / 2, mayWorkMs)) }
      : usual;
    const outage = this.#outages.find((one) => one.fromMs <= stage.time.nowMs && stage.time.nowMs < one.throughMs);
    const share = isWriting ? faults : faults / requestsPerCall;
    const fault = outage?.fault ?? (rng.chance(share) ? rng.pick(faultsOf(kind)) : 'none');
    if (fault !== 'none') this.faults += 1;
    const lateMs = kind === 'create' ? this.#lateMs(mayWorkMs) : 0;
    const late = lateMs === 0 ? '' : `, ${Math.round(lateMs / 1000)} s late`;
    stage.tell(`  ${kind} of ${keys.length}${fault === 'none' ? '' : `: ${fault}`}, ${way.workMs} ms${late}`);
    return { ...way, lateMs, fault };
  }

  /** The delay of a creation beyond the time in which the ERP may work on a request. */
  #lateMs(mayWorkMs: number): number {
    const { erp, stage, traits } = this.#ports;
    const rng = this.#lateness;
    const most = rng.pick([1, 5, latestOfWork]);
    if (!rng.chance(traits.late) || !erp.canSweepLate) return 0;
    const lateMs = rng.int(1_000, most * mayWorkMs);
    this.lateUntilMs = Math.max(this.lateUntilMs, stage.time.nowMs + mayWorkMs + lateMs);
    return lateMs;
  }
}

/** Faults that are possible for a request. */
function faultsOf(kind: RequestInfo['kind']): readonly Fault[] {
  const any: Fault[] = ['unreachable', 'request_lost', 'answer_lost', 'page', 'throttled', 'busy', 'auth', 'strange'];
  if (kind === 'find') return [...any, 'truncated', 'truncated', 'truncated'];
  if (kind === 'create') {
    return [...any, 'answer_lost', 'answer_lost', 'page_though_done', 'strange_though_done', 'half', 'server_dies'];
  }
  if (kind === 'post') return [...any, 'answer_lost', 'page_though_done', 'strange_though_done', 'server_dies'];
  return any;
}
