// A company in the fake Netvisor, as the subject of the contract's cases and of random rounds.

import { openNetvisor } from '../../../src/erp/targets/netvisor/index.ts';
import { type CloudErp, partsOf } from '../contract/cloud.ts';
import { FakeNetvisor } from './fake.ts';

export const netvisor: CloudErp<FakeNetvisor> = {
  words: { vat_codes: { A: 'KOMY 25.5' }, journals: { '*': 'Eläinlääkäri' } },
  begin: (clock) => new FakeNetvisor(clock),
  open: (fake, ports) => openNetvisor(fake.config, ports),
  held: (fake) =>
    fake
      .books()
      .filter(({ state }) => state === 'valid')
      .flatMap(({ id, description, date, lines }) =>
        partsOf(description).map((parts) => ({ id, ...parts, state: 'posted', date, lines })),
      ),
  unknown(fake, rng) {
    fake.remembers = rng.pick(['all', 'successes', 'nothing']);
    fake.lagSeconds = rng.pick([0, 0, 5, 59]);
    fake.excludesDays = rng.chance(0.5);
    fake.showsInvalidated = rng.chance(0.5);
  },
};
