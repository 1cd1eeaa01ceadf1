// Random rounds of deliveries into the fake, with all that is not known about Xero: what it replays, how late its lists
// show a journal, and how late a request without an answer takes effect.

import { afterAll, beforeAll, test } from 'vitest';
import { Rng } from '../../../sandbox/src/rng.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { ContractDelivery } from '../contract/cases.ts';
import { cloudSubject } from '../contract/cloud.ts';
import type { Trouble } from '../contract/troubled.ts';
import { xero } from './company.ts';

const rounds = Number(process.env.ROUNDS ?? 100);
const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());

const atATime = 10;
const firsts = Array.from({ length: Math.ceil(rounds / atATime) }, (_, n) => n * atATime + 1);
const troubles: ((rng: Rng) => Trouble)[] = [
  ...(['lost', 'answer_lost', 'no_ids', 'refused_though_done', 'strange'] as const).map((is) => () => ({ is })),
  (rng) => ({ is: 'late', ms: rng.int(1_000, 590_000) }),
];

test.each(firsts)('with troubles, each entry is in Xero once, as it was posted: rounds from %i', async (first) => {
  for (let seed = first; seed < first + atATime; seed++) {
    const rng = new Rng(seed, 'xero');
    const subject = await cloudSubject({ owner, simulated }, xero, { isCautious: true });
    const { fake } = subject;
    xero.unknown?.(fake, rng);
    const delivery = new ContractDelivery(subject);
    const planned = await delivery.post(rng.int(2, 6));
    for (let n = rng.int(0, 3); n > 0; n--) subject.troubles.add('create', rng.pick(troubles)(rng));
    if (rng.chance(0.3)) subject.troubles.add('find', { is: 'incomplete' });
    try {
      await delivery.drain();
      await delivery.retry();
      await delivery.drain();
      await delivery.expectDelivered(planned);
    } catch (error) {
      throw new Error(`round ${seed}: replays ${fake.replays}, lag ${fake.lagMs}`, { cause: error });
    } finally {
      await subject.close();
    }
  }
});
