import { afterEach, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { startTamperingProxy, type TamperingProxy } from '../support/tampering.ts';

let clinic: TestClinic;
let proxy: TamperingProxy;
afterEach(async () => {
  await clinic.stop();
  await proxy.stop();
});

async function clinicThatCounts(list: string, count: string): Promise<void> {
  proxy = await startTamperingProxy();
  clinic = await startTestClinic({ seed: 5, invoices: 60, settings: { base_url: proxy.url } });
  proxy.target = clinic.sandbox.url;
  proxy.tamper = (answer, { path }) =>
    path.split('?')[0]?.endsWith(`/${list}/`)
      ? { ...answer, body: answer.body.replace(/"count":\s*\d+/, `"count":${count}`) }
      : answer;
}

test.each([
  ['10000000000000', /cannot be proven complete/],
  ['1e300', /no usable count/],
  ['-1', /no usable count/],
  ['1.5', /no usable count/],
  ['"many"', /no usable count/],
  ['null', /no usable count/],
])('a list of payments that counts %s ends the window with a plain error, soon', async (count, says) => {
  await clinicThatCounts('invoicepayment', count);
  const window = await clinic.sync();
  expect(window.outcome).toBe('failed');
  expect(window.error?.message).toMatch(says);
  expect(window.error?.todo).not.toBe('');
  expect(proxy.requests.length).toBeLessThan(500);
});
