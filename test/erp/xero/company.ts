// A company in the fake Xero, as the subject of the contract's cases and of random rounds.

import { openXero } from '../../../src/erp/targets/xero/index.ts';
import { type CloudErp, partsOf } from '../contract/cloud.ts';
import { FakeXero } from './fake.ts';

const states: Record<string, string> = { DRAFT: 'draft', POSTED: 'posted' };

export const xero: CloudErp<FakeXero> = {
  words: { vat_codes: { A: 'OUTPUT2' }, journals: { '*': 'MANJOURNAL' } },
  begin: (clock) => new FakeXero(clock),
  open: (fake, ports) => openXero(fake.config, ports),
  held: (fake) =>
    fake
      .held()
      .filter(({ status }) => status in states)
      .flatMap(({ id, narration, status, date, lines }) =>
        partsOf(narration).map((parts) => ({ id, ...parts, state: states[status] ?? status, date, lines })),
      ),
  unknown(fake, rng) {
    fake.replays = rng.pick(['all', 'successes', 'none']);
    fake.lagMs = rng.pick([0, 0, 5_000, 59_000]);
  },
};
