import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SliceReport } from '../../src/erp/deliver/slice.ts';
import type { Delivery } from '../../src/erp/delivery.ts';
import type { ErpTarget } from '../../src/erp/port.ts';
import { isDelivering } from '../../src/runtime/request-deliveries.ts';
import { vetledger } from '../cli/support.ts';
import { capabilitiesOf } from '../erp/capabilities.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { fromEnvironment } from '../support/demo-config.ts';
import { waitFor } from '../workflows/support.ts';

const idle: SliceReport = { delivered: 0, refused: 0, uncertain: 0, left: 0, nextDueMs: null, waitingFor: null };
const noTarget = () => {
  throw new Error('no delivery of these tests asks for it');
};

/** The closed periods in the ERP. */
const lockedThrough: { kind: 'general'; date: string }[] = [];
const periodsOnly = {
  capabilities: capabilitiesOf(),
  company: { kind: 'tryton', url: 'http://127.0.0.1:9', id: 'books/' },
  periods: async () => ({ periods: null, lockedThrough }),
} as unknown as ErpTarget;

/** An ERP that numbers entries, as the outbox records it. */
const delivery: Delivery = {
  enqueue: async ({ id }) =>
    (
      await clinic.rows(
        `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company)
         select installation, id, 'entry', seq, entry_date, md5(id), 'test' from entry where installation = ?
         on conflict do nothing returning 1`,
        [id],
      )
    ).length,
  foreign: async () => ({ error: null, isComplete: true }),
  target: () => periodsOnly,
  capabilities: noTarget,
  slice: async ({ installation: { id } }) => {
    const done = await clinic.rows(
      `update erp_unit set state = 'delivered', erp_id = seq, erp_number = 'M-' || seq, erp_date = unit_date,
         settled_at = clock_timestamp()
       where installation = ? and state = 'pending' returning 1`,
      [id],
    );
    return { ...idle, delivered: done.length };
  },
  matchItems: async () => ({ matched: 0, nextDueMs: null }),
  close: async () => undefined,
};

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({
    ...{ seed: 29, invoices: 60, delivery },
    settings: {
      erp: `{kind: tryton, url: "http://127.0.0.1:9", database: books, user: api, password: ${fromEnvironment('PRACTICE_TOKEN')}, close_source_periods: true}`,
    },
  });
});
afterAll(() => clinic.stop());

test('prepayments carry the ERP’s numbers once they are delivered, and what we wrote is no change', async () => {
  const first = await clinic.sync();
  expect(first).toMatchObject({ outcome: 'closed', written_back: 0 });
  await ended();
  const posted = await prepayments();
  expect(posted.length).toBeGreaterThan(2);
  for (const { id, number } of posted) expect(externalId(id), `prepayment ${id}`).toBe(number);
  expect(await clinic.rows(`select from write_back where value_is = 'entry_id'`)).toEqual([]);

  const [{ id: shownId, number: shownNumber }] = posted as [(typeof posted)[0]];
  const explained = await vetledger(
    ['explain', 'prepayment', String(shownId), '--config', clinic.config, '--json'],
    clinic.env,
  );
  expect(explained.json().write_back).toMatchObject({ state: 'done', value: shownNumber });

  // The source has new versions of all records, but only because of our writes.
  const second = await clinic.sync();
  expect(second).toMatchObject({ outcome: 'closed', posted: 0 });
  expect(second.pulled.prepayments).toBe(0);
  expect(await clinic.reconcile()).toMatchObject({ ok: true });
});

test('a period that is closed in the ERP is closed in the practice software, where it does not lock itself', async () => {
  const departments = [...clinic.sandbox.clinic.departments.values()];
  for (const department of departments) department.financial_period_lock_date = null;
  departments[0]!.automatic_financial_period_lock_enabled = false;
  departments[1]!.automatic_financial_period_lock_enabled = true;
  // The periods were read with the first delivery, and are read again after ten minutes.
  const read = `update erp_company set periods_read_at = periods_read_at - interval '1 hour' returning 1`;
  expect(await clinic.rows(read)).toHaveLength(1);
  lockedThrough.push({ kind: 'general', date: '2025-12-31' });
  await clinic.engine.requestDelivery(clinic.sandbox.installation);
  await waitFor('the lock date', async () => departments[0]!.financial_period_lock_date !== null);
  await ended();
  expect(departments[0]!.financial_period_lock_date).toBe('2026-01-01');
  expect(departments[1]!.financial_period_lock_date).toBeNull();
});

const ended = () =>
  waitFor('end of the delivery', async () => !(await isDelivering(clinic.app, clinic.engine.client, 4711)));

function externalId(id: number): unknown {
  return clinic.sandbox.clinic.prepayment(id).external_info.external_id;
}

function prepayments() {
  return clinic.rows<{ id: number; number: string }>(
    `select d.id, u.erp_number as number from document d join erp_unit u on u.unit_id = d.entry_id
     where d.kind = 'prepayment' and d.state = 'posted'`,
  );
}
