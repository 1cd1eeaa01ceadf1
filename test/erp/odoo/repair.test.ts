import { afterAll, beforeAll, expect, test } from 'vitest';
import { odooCapabilities } from '../../../src/erp/targets/odoo/capabilities.ts';
import { openOdoo } from '../../../src/erp/targets/odoo/index.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { useDatabase } from '../../support/database.ts';
import { ContractDelivery } from '../contract/cases.ts';
import { newCompany } from '../contract/fake.ts';
import { Troubles, troubled } from '../contract/troubled.ts';
import { directWay, FakeCompany } from './fake/company.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => simulateClock(owner));
afterAll(() => simulated.close());
const silent = { debug: () => {}, info: () => {}, warn: () => {} };

/** Adds the lines of a draft again, like an import of lines without external ids. */
function doubleLines({ odoo }: FakeCompany, moveId: number): void {
  const { store } = odoo.core;
  const lines = store.rows('account.move.line').filter(({ move_id: move }) => move === moveId);
  const values = lines.map(({ account_id: account = false, balance, name = false, partner_id: partner = false }) => {
    const cents = Math.round(Number(balance) * 100);
    const sides = { debit: Math.max(0, cents) / 100, credit: Math.max(0, -cents) / 100 };
    return { move_id: moveId, account_id: account, name, partner_id: partner, ...sides };
  });
  odoo.inside({ skip_invoice_sync: true }).create('account.move.line', values);
}

test.each([true, false])(
  'a draft whose lines are there twice is deleted and made again (may look up: %s)',
  async (mayLookUp) => {
    const { time, installation, company, db, release, databaseId } = await newCompany({ owner, simulated });
    const clock = time.clock();
    const fake = new FakeCompany({ version: 17, clock, protocol: 'jsonrpc', mayLookUp });
    const troubles = new Troubles();
    const ports = { clock, log: silent, transport: directWay(fake.odoo) };
    const subject = {
      ...{ capabilities: odooCapabilities, db, databaseId, installation, time, troubles },
      open: () => troubled(openOdoo(fake.config, ports), { troubles, time, company }),
      setAway: () => undefined,
      lock: async () => undefined,
      unlock: async () => undefined,
      held: async () => fake.held(),
      misdeeds: () => [],
      close: release,
    };
    try {
      const delivery = new ContractDelivery(subject);
      const planned = await delivery.post(1, { corrections: false });
      troubles.add('create', { is: 'answer_lost' });
      await delivery.tryFor(1);
      const [draft] = fake.held();
      expect(draft?.state).toBe('draft');
      const lines = draft?.lines.length ?? 0;
      doubleLines(fake, Number(draft?.id));
      expect(fake.held()[0]?.lines).toHaveLength(2 * lines);
      await delivery.drain();
      await delivery.expectDelivered(planned);
      const [posted] = fake.held();
      expect([fake.held().length, posted?.state, posted?.lines.length]).toEqual([1, 'posted', lines]);
      expect(posted?.id).not.toBe(draft?.id);
    } finally {
      await release();
    }
  },
);
