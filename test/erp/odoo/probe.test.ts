import { expect, test } from 'vitest';
import { probeErp } from '../../../src/erp/probe/probe.ts';
import { SimulatedTime } from '../fake/time.ts';
import { Trap } from './traps/cases.ts';

test('a probe of a fake Odoo measures what real servers do', async () => {
  const { fake, target } = new Trap(17);
  fake.lock('2026-02-28', 'fiscalyear_lock_date');
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const { facts, left } = await time.run(
    probeErp({
      ...{ target, accounts: ['3000', '3010'], journal: 'SALES', day: '2026-03-02', clock: time.clock() },
      ...{ signal: new AbortController().signal, onStep: () => undefined },
    }),
  );
  expect(facts).toEqual({
    ...{ 'key.unique': 'enforced', 'key.duplicate_reply': 'refused', 'key.lookup_lag_seconds': 0 },
    ...{ 'doubt.server_may_work_seconds': 60, 'periods.on_locked': 'redated', imbalance: 'refused' },
  });
  // The entry that Odoo moved out of the closed period is posted.
  expect(fake.held().map(({ id, state }) => [id, state])).toEqual(left.map((id) => [id, 'posted']));
});
