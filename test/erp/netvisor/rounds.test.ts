// Random rounds of deliveries into the fake, with all that is not known about Netvisor: which requests use up their ids,
// how late a search shows a voucher, and how late a request without an answer takes effect.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rng } from '../../../sandbox/src/rng.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { badRound, badRounds, type Rounds, said } from '../contract/bad-way.ts';
import { netvisor } from './company.ts';
import type { FakeNetvisor } from './fake.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());

const failed = (code: string) =>
  said(200, `<Root><ResponseStatus><Status>FAILED</Status><Status>${code} :: virhe</Status></ResponseStatus></Root>`);

const way: Rounds<FakeNetvisor> = {
  erp: netvisor,
  own: (fake) => [
    () => failed('TECHNICAL_ERROR'),
    () => failed('SYSTEM_MAINTENANCE'),
    async (send) => {
      await send();
      return failed('TECHNICAL_ERROR');
    },
    async (send, _, rng) => {
      const answer = await send();
      const [first] = fake.held();
      // A person copies a voucher and invalidates the copy, or only looks at a voucher.
      if (first === undefined || rng.chance(0.5)) return answer;
      fake.copy(String(first.id));
      fake.change(String(fake.held().at(-1)?.id), { status: 'invalidated' });
      return answer;
    },
  ],
};

const rounds = Number(process.env.ROUNDS ?? 40);

test(`in ${rounds} random rounds, each entry is there once and equal`, { timeout: 7_200_000 }, async () => {
  const round = (seed: number) => badRound({ owner, simulated }, way, new Rng(seed, 'netvisor'));
  expect(await badRounds(rounds, round)).toEqual([]);
});
