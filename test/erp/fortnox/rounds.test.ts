// Random rounds of deliveries into the fake, while requests and answers are lost, late or odd, tokens end, people enter
// vouchers, and a period is locked for a while.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rng } from '../../../sandbox/src/rng.ts';
import type { ErpTransport } from '../../../src/erp/targets/api/http.ts';
import { type Answer, type ErpRequest, NoAnswer } from '../../../src/erp/targets/api/http.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { ContractDelivery } from '../contract/cases.ts';
import type { SimulatedTime } from '../fake/time.ts';
import { fortnoxCompany } from './company.ts';
import type { FakeFortnox } from './fake.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());

/** No server works longer on a request. */
const longestWorkMs = 590_000;
const faults = [
  'lost',
  'unsent',
  'answer lost',
  'late',
  '500',
  'page',
  'throttled',
  'half',
  'token',
  'person',
] as const;

class BadWay implements ErpTransport {
  /** The number of faults that are still to come. */
  left: number;
  readonly #fake: FakeFortnox;
  readonly #time: SimulatedTime;
  readonly #rng: Rng;

  constructor(fake: FakeFortnox, time: SimulatedTime, rng: Rng) {
    this.#fake = fake;
    this.#time = time;
    this.#rng = rng;
    this.left = rng.int(2, 10);
  }

  close(): void {}

  async send(request: ErpRequest, { signal }: { signal: AbortSignal }): Promise<Answer> {
    // Another request of the client is sent only when the one before has ended, or its client has given up.
    const options = { signal: new AbortController().signal };
    await this.#time.sleep(this.#rng.int(1, 400), signal);
    if (this.left === 0 || !this.#rng.chance(0.4)) return this.#fake.send(request, options);
    this.left -= 1;
    const fault = this.#rng.pick(faults);
    switch (fault) {
      case 'lost':
        throw new NoAnswer('socket hang up', true);
      case 'unsent':
        throw new NoAnswer('connect ECONNREFUSED', false);
      case 'answer lost':
        await this.#fake.send(request, options);
        throw new NoAnswer('socket hang up', true);
      case 'late':
        this.#time.at(this.#time.nowMs + this.#rng.int(0, longestWorkMs), () => void this.#fake.send(request, options));
        throw new NoAnswer('no answer in time', true);
      case '500':
        return said(500, { ErrorInformation: { Error: 1, Message: 'System exception', Code: 1_000_003 } });
      case 'page':
        await this.#fake.send(request, options);
        return said(502, '<html>Bad gateway</html>');
      case 'throttled':
        return said(429, { message: 'Too many requests' });
      case 'half': {
        const { text, ...answer } = await this.#fake.send(request, options);
        return { ...answer, text: text.slice(0, text.length / 2) };
      }
      case 'token':
        this.#fake.tokenSeconds = this.#rng.pick([1, 3_600]);
        return this.#fake.send(request, options);
      case 'person':
        this.#fake.enter();
        return this.#fake.send(request, options);
    }
  }
}

function said(status: number, value: object | string): Answer {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { status, text, retryAfter: null, ids: { request: 'bad way' } };
}

async function round(seed: number): Promise<void> {
  const rng = new Rng(seed, 'fortnox');
  let way: BadWay | undefined;
  const subject = await fortnoxCompany({ owner, simulated }, (fake, time) => {
    way = new BadWay(fake, time, rng);
    return way;
  });
  try {
    const delivery = new ContractDelivery(subject);
    const planned = await delivery.post(rng.int(2, 5));
    if (rng.chance(0.3)) subject.fake.lock(rng.pick(['2026-01-31', '2026-02-28', '2026-03-31']));
    await delivery.drain();
    // A request that nobody waits for may still take effect.
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

const rounds = Number(process.env.ROUNDS ?? 40);

test(`in ${rounds} random rounds, each entry is there once and equal`, { timeout: 1_800_000 }, async () => {
  const wrong: string[] = [];
  for (let seed = 1; seed <= rounds; seed++)
    await round(seed).catch((error: Error) => wrong.push(`seed ${seed}: ${error.stack?.slice(0, 600)}`));
  expect(wrong).toEqual([]);
});
