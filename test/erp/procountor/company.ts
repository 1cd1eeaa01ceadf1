// A company in the fake Procountor, as the subject of the contract's cases and of random rounds.

import { openProcountor } from '../../../src/erp/targets/procountor/index.ts';
import { type CloudErp, partsOf } from '../contract/cloud.ts';
import { FakeProcountor } from './fake.ts';

const states = { UNFINISHED: 'draft', APPROVED: 'posted', INVALIDATED: 'void' };

export const procountor: CloudErp<FakeProcountor> = {
  words: { vat_codes: { A: 'vat_1 25.5' }, journals: { '*': 'JOURNAL' } },
  begin: (clock) => new FakeProcountor(clock),
  open: (fake, ports) => openProcountor(fake.config, ports),
  held: (fake) =>
    fake
      .held()
      .filter(({ status }) => status !== 'INVALIDATED')
      .flatMap(({ id, name, status, date, lines }) =>
        partsOf(name).map((parts) => ({ id, ...parts, state: states[status], date, lines })),
      ),
  unknown(fake, rng) {
    fake.lagSeconds = rng.pick([0, 0, 5, 59]);
    fake.mostPerPage = rng.pick([1, 3, 200]);
  },
};
