// Random rounds of deliveries into the fake, with all that is not known about Procountor: how late a search shows a
// receipt, how large its pages are, and how late a request without an answer takes effect.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rng } from '../../../sandbox/src/rng.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { badRound, badRounds, type Rounds, said } from '../contract/bad-way.ts';
import { procountor } from './company.ts';
import type { FakeProcountor } from './fake.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());

const way: Rounds<FakeProcountor> = {
  erp: procountor,
  own: (fake) => [
    () => said(500, '<html><h1>Internal Server Error</h1></html>'),
    () => said(400, { errors: [{ status: 400, message: 'SOMETHING_NEW' }] }),
    async (send) => {
      await send();
      return said(500, { errors: [{ status: 500, message: 'INTERNAL' }] });
    },
    (send, _, rng) => {
      fake.tokenSeconds = rng.pick([1, 3_600]);
      return send();
    },
  ],
};

const rounds = Number(process.env.ROUNDS ?? 40);

test(`in ${rounds} random rounds, each entry is there once and equal`, { timeout: 7_200_000 }, async () => {
  const round = (seed: number) => badRound({ owner, simulated }, way, new Rng(seed, 'procountor'));
  expect(await badRounds(rounds, round)).toEqual([]);
});
