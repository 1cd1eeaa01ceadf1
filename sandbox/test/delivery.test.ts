// Tests the courier of wholesaler events without a network and with a simulated clock.
import { describe, expect, test } from 'vitest';
import { departments } from '../src/catalogue.ts';
import { Clinic } from '../src/clinic.ts';
import type { OutgoingWebhook } from '../src/outgoing.ts';
import { defaultQuirks } from '../src/quirks.ts';
import { changeCredentials, connectWholesaler } from '../src/supply/credentials.ts';
import { Courier, signatureOf } from '../src/supply/delivery.ts';
import { Zone } from '../src/zone.ts';

/** A simulated receiver and clock. `answer` gives the receiver's answers, and only the test advances the time. */
const world = (answer: (webhook: OutgoingWebhook, attempt: number) => number | Error) => {
  const sent: { at: number; webhook: OutgoingWebhook }[] = [];
  let nowMs = Date.parse('2026-05-20T12:00:00Z');
  const timers = new Map<() => void, number>();
  const clinic = new Clinic({
    ...{ seed: 1, zone: new Zone('Europe/Helsinki'), decimals: 2, quirks: defaultQuirks, clock: () => nowMs },
  });
  for (const department of departments()) clinic.departments.set(department.id, department);
  const available = clinic.insert(clinic.supply.available, {
    ...{ name: 'Tukku', email: null, register_number: null, owner: 'wholesaler-client' },
    ...{ webhook_callback_url: 'https://one.example/', verification_salt: 'the-first-of-salts' },
  });
  const start = () => {
    const courier = new Courier(clinic, {
      send: async (webhook) => {
        sent.push({ at: nowMs, webhook });
        const status = answer(webhook, sent.length);
        if (status instanceof Error) throw status;
        return status;
      },
      after: (ms, act) => {
        timers.set(act, nowMs + ms);
        return () => timers.delete(act);
      },
    });
    clinic.onChange = (changed) => courier.changed(changed);
    return courier;
  };
  /** Runs everything that needs no time. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  /** Advances the time until no timer is left, but at most `steps` timers. */
  const pass = async (steps = 100) => {
    await settle();
    for (let step = 0; step < steps && timers.size > 0; step++) {
      const [act, at] = [...timers].sort(([, a], [, b]) => a - b)[0]!;
      timers.delete(act);
      nowMs = at;
      act();
      await settle();
    }
  };
  return { clinic, available, sent, start, pass, timers };
};
const eventOf = ({ webhook }: { webhook: OutgoingWebhook }) => JSON.parse(webhook.body);

describe('practice-api "Events": delivery', () => {
  test('the signature is the HMAC-SHA256 of timestamp, dot and body, keyed by the salt as UTF-8', () => {
    // The expected value was computed with: printf '1780000000.{"a":1}' | openssl dgst -sha256 -hmac 'salt-of-16-chärs'
    expect(signatureOf('salt-of-16-chärs', '1780000000', '{"a":1}')).toBe(
      'v1=5992888aea2386e829efe70f5e5239999cbf139ef56a3e6427f4db698d71bbe2',
    );
  });

  test('attempts pause longer and longer, ten in all, with one event_id and body; then it is given up', async () => {
    const { clinic, available, sent, start, pass } = world(() => 500);
    start();
    connectWholesaler(clinic, available.id);
    await pass();
    const pauses = sent.slice(1).map(({ at }, n) => (at - sent[n]!.at) / 1000);
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
    expect(new Set(sent.map(({ webhook }) => webhook.body)).size).toBe(1);
    expect(clinic.supply.events.all()).toMatchObject([{ attempts: 10, state: 'given up' }]);
  });

  test.each([[new Error('no connection')], [302], [404], [500]])('%s is tried again, until 2xx', async (failure) => {
    const { clinic, available, sent, start, pass } = world((_, attempt) => (attempt < 3 ? failure : 202));
    start();
    connectWholesaler(clinic, available.id);
    await pass();
    expect([sent.length, clinic.supply.events.all()[0]?.state]).toEqual([3, 'delivered']);
  });

  test('a changed salt and address hold from the next attempt on, together', async () => {
    const { clinic, available, sent, start, pass } = world((_, attempt) => (attempt === 1 ? 500 : 200));
    start();
    connectWholesaler(clinic, available.id);
    await pass(0);
    const moved = { webhook_callback_url: 'https://two.example/', verification_salt: 'the-second-of-salts' };
    clinic.update(clinic.supply.available, available, moved);
    await pass();
    expect(sent.map(({ webhook }) => webhook.url)).toEqual(['https://one.example/', 'https://two.example/']);
    const signatures = sent.map(({ webhook: { headers, body } }, n) => {
      const salt = ['the-first-of-salts', 'the-second-of-salts'][n]!;
      return headers['x-webhook-signature'] === signatureOf(salt, headers['x-webhook-timestamp']!, body);
    });
    expect([signatures, eventOf(sent[0]!).event_id]).toEqual([[true, true], eventOf(sent[1]!).event_id]);
  });

  test('events of one credential set arrive in their order; another set does not wait', async () => {
    const { clinic, available, sent, start, pass } = world((_, attempt) => (attempt === 1 ? 503 : 200));
    start();
    const wide = connectWholesaler(clinic, available.id);
    changeCredentials(clinic, wide.id, { customer_number: '1' });
    const other = connectWholesaler(clinic, available.id, { department: 11 });
    await pass();
    expect(sent.map((one) => [eventOf(one).event, eventOf(one).wholesaler.id])).toEqual([
      ['wholesaler.created', wide.id],
      ['wholesaler.created', other.id],
      ['wholesaler.created', wide.id],
      ['wholesaler.updated', wide.id],
    ]);
  });

  test('what waits when the sandbox stops is sent by the next one, with its event_id', async () => {
    const { clinic, available, sent, start, pass, timers } = world((_, attempt) => (attempt === 1 ? 500 : 200));
    const first = start();
    connectWholesaler(clinic, available.id);
    await pass(0);
    first.stop();
    expect(timers.size).toBe(0);
    start();
    await pass();
    expect([sent.length, eventOf(sent[1]!).event_id]).toEqual([2, eventOf(sent[0]!).event_id]);
    expect(clinic.supply.events.all()[0]).toMatchObject({ attempts: 2, state: 'delivered' });
  });

  test('nothing is sent for a registration that is deleted', async () => {
    const { clinic, available, sent, start, pass } = world(() => 500);
    start();
    connectWholesaler(clinic, available.id);
    await pass(0);
    clinic.supply.available.delete(available.id);
    await pass();
    expect([sent.length, clinic.supply.events.all()[0]?.state]).toEqual([1, 'given up']);
  });

  test('of events that are delivered the last thousand are kept', async () => {
    const { clinic, available, sent, start, pass } = world(() => 204);
    start();
    const { id } = connectWholesaler(clinic, available.id);
    for (let n = 1; n < 1050; n++) {
      changeCredentials(clinic, id, { customer_number: String(n) });
      if (n % 100 === 0) await pass();
    }
    await pass();
    expect([sent.length, clinic.supply.events.size]).toEqual([1050, 1000]);
  });
});
