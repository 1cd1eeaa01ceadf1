// The clinic's clock, and everything that depends on it.
import { describe, expect, test } from 'vitest';
import { afterDuration, isDuration } from '../../src/clock.ts';
import { Zone } from '../../src/zone.ts';
import { type Controlled, start } from './support.ts';

const now = () => new Date('2026-03-10T10:00:00Z');

describe('durations are those of the zone', () => {
  test.each([
    ['2026-01-31T10:00:00Z', 'P1M', '2026-02-28T10:00:00.000Z', 'the last day of a shorter month'],
    ['2028-02-29T10:00:00Z', 'P1Y', '2029-02-28T10:00:00.000Z', 'a leap day'],
    ['2026-03-28T10:00:00Z', 'P1D', '2026-03-29T09:00:00.000Z', 'a day of 23 hours'],
    ['2026-10-24T10:00:00Z', 'P1D', '2026-10-25T11:00:00.000Z', 'a day of 25 hours'],
    ['2026-03-28T22:00:00Z', 'PT24H', '2026-03-29T22:00:00.000Z', 'hours are exact'],
    ['2026-12-31T21:59:59Z', 'PT1S', '2026-12-31T22:00:00.000Z', 'a second'],
    ['2026-01-01T00:00:00Z', 'P1Y2M3W4DT5H6M7S', '2027-03-26T05:06:07.000Z', 'all units'],
  ])('%s and %s is %s: %s', (from, duration, to) => {
    expect(new Date(afterDuration(Date.parse(from), duration, new Zone('Europe/Helsinki'))).toISOString()).toBe(to);
  });

  test.each(['', 'P', 'PT', 'P1DT', '1D', 'P-1D', 'P1.5D', 'PT1D', 'P1D ', `P${'9'.repeat(30)}D`])(
    '%j is none',
    (text) => {
      expect(isDuration(text)).toBe(false);
    },
  );
});

describe('POST /sandbox/clock', () => {
  test('it goes forward, stands still and runs; answers and Date headers follow', async () => {
    const api = await start({ now });
    expect((await api.control('GET', 'clock')).json).toEqual({
      ...{ now: '2026-03-10T10:00:00.000Z', local: '2026-03-10T12:00:00.000000+02:00' },
      ...{ runs: true, timezone: 'Europe/Helsinki' },
    });
    const { json } = await api.control('POST', 'clock', { now: '2026-03-31T18:00:00', runs: false });
    expect(json).toMatchObject({ now: '2026-03-31T15:00:00.000Z', runs: false });
    expect((await api.get('invoice/', { page_size: 1 })).headers.get('date')).toBe('Tue, 31 Mar 2026 15:00:00 GMT');
    const { json: later } = await api.control('POST', 'clock', { advance: 'PT90M' });
    expect(later).toMatchObject({ now: '2026-03-31T16:30:00.000Z', runs: false });
  });

  test.each([
    [{ advance: 'a month' }, 'advance'],
    [{ now: 'soon' }, 'now'],
    [{ now: '2026-03-09T10:00:00Z' }, 'now'],
    [{ advance: 'P999Y' }, 'advance'],
    [{ now: '2026-04-01', advance: 'P1D' }, 'non_field_errors'],
    [{ forward: 'P1D' }, 'forward'],
  ])('%j is refused by its field, and the clock stays', async (change, field) => {
    const api = await start({ now, invoices: 1 });
    const { status, json } = await api.control('POST', 'clock', change);
    expect([status, Object.keys(json)]).toEqual([400, [field]]);
    expect((await api.control('GET', 'clock')).json.now).toBe('2026-03-10T10:00:00.000Z');
  });

  test('a clock that stands still holds up no client: limits go on by the time of the machine', async () => {
    let machineMs = now().getTime();
    const api = await start({ now: () => new Date(machineMs), rateWindowSeconds: 60 });
    await api.control('POST', 'clock', { runs: false });
    for (let n = 0; n < 3; n++) expect((await api.get('invoice/', { page_size: 1000 })).status).toBe(200);
    expect((await api.get('invoice/')).status).toBe(429);
    machineMs += 60_000;
    expect((await api.get('invoice/')).status).toBe(200);
  });
});

describe('what follows the clock', () => {
  const advance = (api: Controlled, duration: string) =>
    api.control('POST', 'clock', { advance: duration, runs: false });

  test('payment links expire', async () => {
    const api = await start({ now });
    const invoice = api.sandbox.clinic.createInvoice({ client: 2001, department: 11, rows: [{ sum: '80.00' }] });
    const { json } = await api.send('POST', 'postransaction/', {
      ...{ amount: '80.00', terminal_id: 0, payment_type: 5003, transaction_type: 4 },
      ...{ department: api.ref('department', 11), invoice: api.ref('invoice', invoice.id) },
      payment_link_data: { duration: 60, invoice_id: invoice.id, description: 'Visit' },
    });
    const status = async () => (await api.get(`postransaction/${json.id}/`)).json.payment_link.payment_status;
    await advance(api, 'PT59M');
    expect(await status()).toBe(1);
    await advance(api, 'PT2M');
    expect(await status()).toBe(3);
  });

  test('tokens expire', async () => {
    const api = await start({ now });
    const issued = await fetch(`${api.sandbox.url}/4711/oauth2/token/`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('sandbox-client:sandbox-secret')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token } = (await issued.json()) as { access_token: string };
    const get = async () =>
      (await fetch(api.ref('invoice', 0).replace('0/', ''), { headers: { authorization: `Bearer ${access_token}` } }))
        .status;
    expect(await get()).toBe(200);
    await advance(api, 'PT10H');
    expect(await get()).toBe(401);
  });

  test('the automatic period lock moves on its day, and staff can switch it on in a running sandbox', async () => {
    const api = await start({ now });
    const changed = await api.control('PATCH', 'departments/11', {
      ...{ automatic_financial_period_lock_enabled: true, automatic_financial_period_lock_day: 5 },
    });
    expect(changed.status).toBe(200);
    const lock = async () => (await api.get('settings/department/11/')).json.financial_period_lock_date;
    expect(await lock()).toBe('2026-03-01');
    await advance(api, 'P25D'); // 4 April
    expect(await lock()).toBe('2026-03-01');
    await advance(api, 'P1D'); // 5 April
    expect(await lock()).toBe('2026-04-01');
  });

  test('days end: each day with final invoices has its accounting report', async () => {
    const api = await start({ now });
    const reports = async () => (await api.get('accountingreport/', { page_size: 1000 })).json.results;
    const before = (await reports()).length;
    const { id } = api.sandbox.clinic.createInvoice({
      department: 11,
      rows: [{ sum: '10.00', vat_percentage: '25.5' }],
    });
    expect(id).toBeGreaterThan(0);
    await advance(api, 'PT1H');
    expect(await reports()).toHaveLength(before);
    await advance(api, 'P1D');
    const added = (await reports()).slice(before).filter((one: { date: string }) => one.date === '2026-03-10');
    expect(added).toHaveLength(1);
    expect(added[0].department).toBe(api.ref('department', 11));
    await advance(api, 'P1M');
    expect((await reports()).filter((one: { date: string }) => one.date === '2026-03-10')).toHaveLength(1);
  });

  test('reminders that are due go out', async () => {
    const api = await start({ now });
    const { json: appointment } = await api.send('POST', 'appointment/', {
      ...{ start: '2026-03-12T10:00:00', end: '2026-03-12T10:30:00', department: api.ref('department', 11), type: 1 },
      ...{ client: api.ref('client', 2001), title: 'Check-up' },
    });
    const reminder = await api.send('POST', 'appointment_reminder/', {
      ...{ appointment: appointment.url, remind_at: '2026-03-11T09:00:00', delivery_method: 1 },
    });
    expect([reminder.status, reminder.text]).toEqual([201, expect.any(String)]);
    const sent = () => api.sandbox.clinic.online.messages.all().filter(({ subject }) => subject === 'Your appointment');
    await advance(api, 'PT12H');
    expect(sent()).toHaveLength(0);
    await advance(api, 'P1D');
    expect(sent().length).toBeGreaterThan(0);
  });
});
