// The clinic's purchasing outside of its endpoints: initial records, live events, and the state file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../src/index.ts';
import { Rng } from '../src/rng.ts';
import { connectWholesaler } from '../src/supply/credentials.ts';
import { supplyHappening } from '../src/supply/live.ts';
import { callApi } from './contract/harness.ts';
import { callAs, Receiver, register } from './contract/wholesaler-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'supply-'));
const started: Sandbox[] = [];
const start = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const now = () => new Date('2026-05-20T12:00:00Z');
  const sandbox = await startSandbox({ invoices: 60, rateWindowSeconds: 0, checkAnswers: true, now, ...options });
  started.push(sandbox);
  return sandbox;
};
afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
  rmSync(folder, { recursive: true, force: true });
});

describe('the live clinic', () => {
  const happenings = (sandbox: Sandbox, count: number) => {
    const rng = new Rng(1, 'supply live');
    return Array.from({ length: count }, () => supplyHappening(sandbox.clinic, rng));
  };

  test('orders and receives, the same for the same seed, and moves no other random numbers', async () => {
    const [one, two, other] = [await start(), await start(), await start()];
    const seen = happenings(one, 30);
    expect(happenings(two, 30)).toEqual(seen);
    expect(new Set(seen.map((event) => event?.kind))).toEqual(new Set(['order_placed', 'order_delivered']));
    const delivered = one.clinic.supply.orders.all().filter(({ status }) => status === 2);
    expect(delivered.length).toBe(seen.filter((event) => event?.kind === 'order_delivered').length);
    for (const { id, lines } of delivered) {
      const ordered = new Set(lines.map(({ item }) => item));
      expect(one.clinic.supply.stock.of(id).map(({ item }) => item)).toEqual([...ordered]);
    }
    expect(one.live(20)).toEqual(other.live(20));
  });

  test('a clinic without wholesalers has nothing to do', async () => {
    const sandbox = await start();
    for (const { id } of [...sandbox.clinic.supply.wholesalers.all()]) sandbox.clinic.supply.wholesalers.delete(id);
    expect(happenings(sandbox, 3)).toEqual([null, null, null]);
  });
});

test('the state file keeps registrations, the pending upload, and events that are not delivered yet', async () => {
  const receiver = new Receiver();
  await receiver.start();
  receiver.answers = [500];
  const options = { stateFile: join(folder, 'clinic.json'), quirks: { loopbackCallbacks: true } };
  const before = await start(options);
  const available = await register(callApi(before), receiver);
  const { id } = connectWholesaler(before.clinic, available, { customer_number: '7' });
  await receiver.event(({ json }) => json.wholesaler.id === id);
  const path = `wholesaler/${id}/catalog_upload_url/`;
  const pending = await callAs(callApi(before)).send('POST', path, { filename: 'a.csv' });
  await before.stop();

  const after = await start(options);
  const again = await callAs(callApi(after)).send('POST', path, { filename: 'b.csv' });
  expect([again.json.upload_id, again.json.catalog_id]).toEqual([pending.json.upload_id, pending.json.catalog_id]);
  const [first, second] = [receiver.received[0], await receiver.event((one) => one !== receiver.received[0])];
  expect([second.text, second.json.event]).toEqual([first?.text, 'wholesaler.created']);
  receiver.stop();
});
