// A company in the fake Netvisor, as the subject of the contract's cases and of random rounds.

import { openNetvisor } from '../../../src/erp/targets/netvisor/index.ts';
import type { CloudErp } from '../contract/cloud.ts';
import { FakeNetvisor } from './fake.ts';

export const netvisor: CloudErp<FakeNetvisor> = {
  words: { vat_codes: { A: 'KOMY 25.5' }, journals: { '*': 'Eläinlääkäri' } },
  begin: (clock) => new FakeNetvisor(clock),
  open: (fake, ports) => openNetvisor(fake.config, ports),
  held: (fake) =>
    fake
      .books()
      .filter(({ state }) => state === 'valid')
      .map(({ description, date, lines }) => ({
        ...{ description: description.slice(0, description.indexOf(' · ')), state: 'posted', date, lines },
      })),
};
