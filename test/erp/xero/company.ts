// A company in the fake Xero, as the subject of the contract's cases and of random rounds.

import { openXero } from '../../../src/erp/targets/xero/index.ts';
import type { CloudErp } from '../contract/cloud.ts';
import { FakeXero } from './fake.ts';

const states: Record<string, string> = { DRAFT: 'draft', POSTED: 'posted' };

export const xero: CloudErp<FakeXero> = {
  words: { vat_codes: { A: 'OUTPUT2' }, journals: { '*': 'MANJOURNAL' } },
  begin: (clock) => new FakeXero(clock),
  open: (fake, ports) => openXero(fake.config, ports),
  held: (fake) =>
    fake.held().map(({ narration, status, date, lines }) => ({
      description: narration.slice(0, narration.indexOf(' · ')),
      ...{ state: states[status] ?? status, date, lines },
    })),
};
