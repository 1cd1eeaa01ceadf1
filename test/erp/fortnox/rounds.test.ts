// Random rounds of deliveries into the fake, while requests and answers are lost, late or odd, tokens end, people enter
// vouchers, and a period is locked for a while.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rng } from '../../../sandbox/src/rng.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { badRound, badRounds, type Rounds, said } from '../contract/bad-way.ts';
import { fortnox } from './company.ts';
import type { FakeFortnox } from './fake.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());

const way: Rounds<FakeFortnox> = {
  erp: fortnox,
  own: (fake) => [
    () => said(500, { ErrorInformation: { Error: 1, Message: 'System exception', Code: 1_000_003 } }),
    (send, _, rng) => {
      fake.tokenSeconds = rng.pick([1, 3_600]);
      return send();
    },
    (send) => {
      fake.enter();
      return send();
    },
  ],
};

const rounds = Number(process.env.ROUNDS ?? 40);

test(`in ${rounds} random rounds, each entry is there once and equal`, { timeout: 7_200_000 }, async () => {
  const round = (seed: number) => badRound({ owner, simulated }, way, new Rng(seed, 'fortnox'));
  expect(await badRounds(rounds, round)).toEqual([]);
});
