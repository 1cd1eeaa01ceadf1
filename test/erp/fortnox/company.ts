// A company in the fake Fortnox, as the subject of the contract's cases and of random rounds.

import { openFortnox } from '../../../src/erp/targets/fortnox/index.ts';
import { type CloudErp, partsOf } from '../contract/cloud.ts';
import { FakeFortnox } from './fake.ts';

export const fortnox: CloudErp<FakeFortnox> = {
  words: { vat_codes: { A: 'MP1/U1' }, dimensions: { dimension_1: { name: 'Project' } }, journals: { '*': 'V' } },
  begin: (clock) => new FakeFortnox(clock),
  open: (fake, ports) => openFortnox(fake.config, ports),
  held: (fake) =>
    fake
      .held()
      .flatMap(({ id, description, date, lines }) =>
        partsOf(description).map((parts) => ({ id, ...parts, state: 'posted', date, lines })),
      ),
  crowd: (fake) => {
    const perPage = 4;
    fake.mostPerPage = perPage;
    for (let n = 0; n < perPage; n++) fake.enter();
    return () => {
      let left = perPage - 1;
      fake.onPage = (page) => {
        const [first] = fake.held().filter(({ id }) => id.startsWith('A/'));
        if (page > 1 || left === 0 || first === undefined) return;
        left -= 1;
        fake.remove(first.id);
        fake.enter('W');
      };
    };
  },
};
