// A cloud ERP in a life: vetledger's own target with the fake of its server. VAT and dimensions are not judged here.

import { Rng } from '../../../sandbox/src/rng.ts';
import { unlessAborted } from '../../../src/domain/concurrency.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import { type Answer, type ErpRequest, type ErpTransport, NoAnswer } from '../../../src/erp/targets/api/http.ts';
import { said } from '../../erp/contract/bad-way.ts';
import { type CloudErp, type CloudFake, capabilitiesOf, type HeldInCloud, silent } from '../../erp/contract/cloud.ts';
import type { HeldEntry, Misdeed } from '../../erp/fake/server.ts';
import type { RequestInfo } from '../../erp/fake/target.ts';
import type { SimulatedTime } from '../../erp/fake/time.ts';
import { fortnox } from '../../erp/fortnox/company.ts';
import { netvisor } from '../../erp/netvisor/company.ts';
import { procountor } from '../../erp/procountor/company.ts';
import { xero } from '../../erp/xero/company.ts';
import type { ErpTraits, JudgedErp, LifeErp, Way } from './erp.ts';
import { heard } from './odoo/way.ts';

const erps: Record<string, CloudErp<never>> = {
  'fortnox target': fortnox as CloudErp<never>,
  'netvisor target': netvisor as CloudErp<never>,
  'procountor target': procountor as CloudErp<never>,
  'xero target': xero as CloudErp<never>,
};

export const cloudErps = Object.keys(erps);

export function cloudErp({ erp: name }: ErpTraits, seed: number, time: SimulatedTime): LifeErp {
  const erp = erps[name];
  if (erp === undefined) throw new Error(`no cloud ERP ${name}`);
  return new CloudLife(erp as CloudErp<CloudFake>, new Rng(seed, 'cloud'), time);
}

class CloudLife implements LifeErp {
  readonly judged: JudgedErp & { misdeeds: Misdeed[] };
  readonly requestsPerCall = 10;
  readonly isReviewed = false;
  readonly canSweepLate = false;
  readonly words: object;
  readonly #erp: CloudErp<CloudFake>;
  readonly #fake: CloudFake;
  readonly #time: SimulatedTime;
  /** The state of each entry by id when the oracle last saw it. */
  readonly #seen = new Map<string, string>();

  constructor(erp: CloudErp<CloudFake>, rng: Rng, time: SimulatedTime) {
    this.#erp = erp;
    this.#time = time;
    this.#fake = erp.begin(time.clock());
    this.words = erp.words;
    erp.unknown?.(this.#fake, rng);
    const own = capabilitiesOf(this.#fake.config.kind, true);
    // `heldEntry` gives each line the VAT of its account.
    const vat = { mode: 'explicit_rows', tolerance_minor: 0 } as const;
    this.judged = {
      record: { capabilities: { ...own, vat, dimensions: [] } },
      misdeeds: [],
      onChange: () => undefined,
      held: () => erp.held(this.#fake).map(heldEntry),
    };
  }

  lock(through: string): boolean {
    this.#fake.lock(through);
    return true;
  }

  unlock(): void {
    this.#fake.unlock();
  }

  mishap(): null {
    return null;
  }

  tamper(): Map<string, string> {
    return new Map();
  }

  open(way: Way): ErpTarget {
    const capabilities = capabilitiesOf(this.#fake.config.kind, true);
    const transport = new CloudWay(this.#fake, this.#time, way, {
      mayWorkMs: capabilities.doubt.server_may_work_seconds * 1_000,
      onDone: () => this.#tellChanges(),
    });
    const inner = this.#erp.open(this.#fake, { clock: this.#time.clock(), log: silent, transport });
    return {
      ...{ capabilities, company: way.company },
      find: (keys, request) => inner.find(keys, request),
      keyed: (which, request) => inner.keyed(which, request),
      create: (entries, request) =>
        heard(inner.create(entries, request), way, { kind: 'create', keys: entries.map(({ key }) => key) }),
      post: (ids, request) => heard(inner.post(ids, request), way, { kind: 'post', keys: [] }),
      withdrawDrafts: (ids, request) => inner.withdrawDrafts(ids, request),
      read: (ids, request, only) => inner.read(ids, request, only),
      periods: (request) => inner.periods(request),
      check: (plan, request) => inner.check(plan, request),
      close: () => inner.close(),
    };
  }

  /** Reports the entries that are new in the books or were posted since the last request. */
  #tellChanges(): void {
    for (const entry of this.judged.held()) {
      if (this.#seen.get(entry.id) === entry.state) continue;
      this.#seen.set(entry.id, entry.state);
      this.judged.onChange(entry);
    }
  }
}

function heldEntry({ id, description, unitId, key, state, date, lines }: HeldInCloud): HeldEntry {
  const part = (account: string) => (account === '2931' ? 'tax' : 'base');
  return {
    ...{ id, key, unitId, description, number: null, state: state as HeldEntry['state'], date, journal: 'SALES' },
    ...{ createdAtMs: 0, visibleAtMs: 0, postedAtMs: null },
    lines: lines.map(({ account, amount }, index) => ({
      ...{ id: String(index), account, amount, party: null, dimensions: {}, matched: null },
      vat: account === '1700' ? [] : [{ code: 'S25', part: part(account), amount }],
    })),
  };
}

/** The connection of a simulated process: each request takes time, and may fail in any way. */
class CloudWay implements ErpTransport {
  readonly #fake: CloudFake;
  readonly #time: SimulatedTime;
  readonly #way: Way;
  readonly #server: { mayWorkMs: number; onDone(): void };

  constructor(fake: CloudFake, time: SimulatedTime, way: Way, server: { mayWorkMs: number; onDone(): void }) {
    this.#fake = fake;
    this.#time = time;
    this.#way = way;
    this.#server = server;
  }

  close(): void {}

  async send(request: ErpRequest, { signal }: { signal: AbortSignal }): Promise<Answer> {
    const { life } = this.#way;
    const info = infoOf(request);
    const isWriting = info.kind !== 'find';
    if (isWriting) await life.step(`before ${info.kind}`, false);
    signal.throwIfAborted();
    try {
      return await this.#exchange(request, info, signal);
    } finally {
      if (isWriting) await life.step(`after ${info.kind}`, true);
    }
  }

  async #exchange(request: ErpRequest, info: RequestInfo, signal: AbortSignal): Promise<Answer> {
    const { life, network, timeoutMs } = this.#way;
    const { outMs, workMs, backMs, fault } = network(info);
    const giveUp = new AbortController();
    const cancel = this.#time.at(this.#time.nowMs + timeoutMs, () =>
      giveUp.abort(new NoAnswer('no answer in time (response time-out)', true)),
    );
    const either = AbortSignal.any([signal, giveUp.signal]);
    const sent = this.#sent(request, fault, outMs, Math.min(workMs, this.#server.mayWorkMs - outMs - 1));
    // The server continues even if the client stops waiting.
    sent.catch(() => undefined);
    try {
      if (info.kind !== 'find') await life.step(`during ${info.kind}`, true);
      const answer = await unlessAborted(sent, either);
      await this.#time.sleep(backMs, either);
      return answer;
    } finally {
      cancel();
    }
  }

  async #sent(request: ErpRequest, fault: string, outMs: number, workMs: number): Promise<Answer> {
    await this.#time.sleep(outMs);
    if (fault === 'unreachable') throw new NoAnswer('no connection (connect ECONNREFUSED)', false);
    if (fault === 'request_lost') throw cut();
    const refusal = { page: 502, throttled: 429, busy: 503, auth: 401, strange: 500 }[fault];
    if (refusal !== undefined) return said(refusal, '<html><body>Not now</body></html>');
    await this.#time.sleep(workMs);
    if (fault === 'server_dies') throw cut();
    const answer = await this.#fake.send(request, { signal: new AbortController().signal });
    this.#server.onDone();
    if (fault === 'answer_lost') throw cut();
    if (fault.endsWith('_though_done')) return said(502, '<html><body>Bad Gateway</body></html>');
    const isCut = fault === 'truncated' || fault === 'half';
    return isCut ? { ...answer, text: answer.text.slice(0, answer.text.length / 2) } : answer;
  }
}

const cut = () => new NoAnswer('the connection broke off (ECONNRESET)', true);

function infoOf({ verb = 'POST', path, body }: ErpRequest): RequestInfo {
  const isCreating = /^(?:POST \/3\/vouchers|POST \/ledgerreceipts|POST \/accounting\.nv|PUT .*\/ManualJournals)/;
  const isPosting = /approve$|^POST .*\/ManualJournals\//;
  const call = `${verb} ${path}`;
  const keys = [...body.matchAll(/[[(]([A-Z2-7]{20})[\])]/g)].map(([, key = '']) => key);
  if (verb === 'GET' || path.includes('token')) return { kind: 'find', keys: [] };
  return { kind: isPosting.test(call) ? 'post' : isCreating.test(call) ? 'create' : 'withdrawDrafts', keys };
}
