// A bad connection to the fake of a cloud ERP: at random, requests and answers are lost, late or odd.

import type { Rng } from '../../../sandbox/src/rng.ts';
import type { Db } from '../../../src/db/pool.ts';
import { type Answer, type ErpRequest, type ErpTransport, NoAnswer } from '../../../src/erp/targets/api/http.ts';
import type { SimulatedDatabase } from '../../simulator/database.ts';
import type { SimulatedTime } from '../fake/time.ts';
import { ContractDelivery } from './cases.ts';
import { type CloudErp, type CloudFake, cloudSubject } from './cloud.ts';

/** No server works longer on a request. */
const longestWorkMs = 590_000;

type Send = () => Promise<Answer>;
export type Fault = (send: Send, request: ErpRequest, rng: Rng) => Promise<Answer> | Answer;

const faults: Record<string, Fault> = {
  lost: () => {
    throw new NoAnswer('socket hang up', true);
  },
  unsent: () => {
    throw new NoAnswer('connect ECONNREFUSED', false);
  },
  'answer lost': async (send) => {
    await send();
    throw new NoAnswer('socket hang up', true);
  },
  page: async (send) => {
    await send();
    return said(502, '<html>Bad gateway</html>');
  },
  throttled: () => said(429, { message: 'Too many requests' }),
  half: async (send) => {
    const { text, ...answer } = await send();
    return { ...answer, text: text.slice(0, text.length / 2) };
  },
};

class BadWay implements ErpTransport {
  /** The number of faults that are still to come. */
  left: number;
  readonly #to: { fake: ErpTransport; time: SimulatedTime; rng: Rng };
  readonly #faults: Fault[];

  constructor(to: { fake: ErpTransport; time: SimulatedTime; rng: Rng }, own: readonly Fault[]) {
    const { fake, time, rng } = to;
    this.#to = to;
    this.left = rng.int(2, 10);
    const late: Fault = (_, request) => {
      const send = () => void fake.send(request, { signal: new AbortController().signal });
      time.at(time.nowMs + rng.int(0, longestWorkMs), send);
      throw new NoAnswer('no answer in time', true);
    };
    this.#faults = [...Object.values(faults), late, ...own];
  }

  close(): void {}

  async send(request: ErpRequest, { signal }: { signal: AbortSignal }): Promise<Answer> {
    const { fake, time, rng } = this.#to;
    // A client sends another request only when the one before has ended, or it has given up.
    const send = () => fake.send(request, { signal: new AbortController().signal });
    await time.sleep(rng.int(1, 400), signal);
    if (this.left === 0 || !rng.chance(0.4)) return send();
    this.left -= 1;
    return rng.pick(this.#faults)(send, request, rng);
  }
}

export function said(status: number, value: object | string): Answer {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { status, text, retryAfter: null, ids: { request: 'bad way' } };
}

export interface Rounds<Fake extends CloudFake> {
  erp: CloudErp<Fake>;
  /** What else may happen to a request. */
  own(fake: Fake): Fault[];
}

/** One round: entries are delivered over a bad way, with a period that is locked for a while, and all must be there once. */
export async function badRound<Fake extends CloudFake>(
  databases: { owner: Db; simulated: SimulatedDatabase },
  { erp, own }: Rounds<Fake>,
  rng: Rng,
): Promise<void> {
  let way: BadWay | undefined;
  const over = (fake: Fake, time: SimulatedTime) => {
    way = new BadWay({ fake, time, rng }, own(fake));
    return way;
  };
  const subject = await cloudSubject(databases, erp, { isCautious: true, over });
  try {
    erp.unknown?.(subject.fake, rng);
    const delivery = new ContractDelivery(subject);
    const planned = await delivery.post(rng.int(2, 5));
    if (rng.chance(0.3)) subject.fake.lock(rng.pick(['2026-01-31', '2026-02-28', '2026-03-31']));
    await delivery.drain();
    // A request whose caller has stopped waiting may still take effect.
    await delivery.wait(longestWorkMs + 10_000);
    subject.fake.unlock();
    if (way) way.left = 0;
    await delivery.retry();
    await delivery.drain();
    await delivery.expectDelivered(planned);
  } finally {
    await subject.close();
  }
}

/** Runs rounds with the seeds 1 to `rounds`, and returns what was wrong in each. */
export async function badRounds(rounds: number, round: (seed: number) => Promise<void>): Promise<string[]> {
  const wrong: string[] = [];
  for (let seed = 1; seed <= rounds; seed++)
    await round(seed).catch((error: Error) => wrong.push(`seed ${seed}: ${error.stack?.slice(0, 600)}`));
  return wrong;
}
