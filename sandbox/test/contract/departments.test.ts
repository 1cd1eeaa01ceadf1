import { expect, test } from 'vitest';
import { useSandbox } from './harness.ts';

const api = useSandbox({ now: () => new Date('2026-05-20T12:00:00.000Z') });

test('practice-api "Department settings": allow_nhp_processing is on the department object', async () => {
  expect((await api().get('department/11/')).json).toEqual({
    id: 11,
    url: api().ref('department', 11),
    name: 'Kuusikko Animal Hospital',
    invoice_prefix: 'KU',
    allow_nhp_processing: true,
  });
  expect((await api().get('department/13/')).json.allow_nhp_processing).toBe(false);
  expect((await api().get('department/99/')).status).toBe(404);
});

test('practice-api "Endpoints: Settings": the online prescription settings name the item of the fee', async () => {
  const { clinic } = api().sandbox;
  const fee = clinic.registers.items.all().find((item) => item.name === 'Prescription fee');
  expect((await api().get('department/12/settings/')).json).toEqual({
    department: api().ref('department', 12),
    prescription_fee_item_id: fee?.id,
    prescription_fee_item: api().ref('item', fee?.id ?? 0),
  });
  clinic.department(12).prescription_fee_item = null;
  expect((await api().get('department/12/settings/')).json).toMatchObject({
    prescription_fee_item_id: null,
    prescription_fee_item: null,
  });
  expect((await api().get('department/99/settings/')).status).toBe(404);
});
