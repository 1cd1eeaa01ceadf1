import { afterEach, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic | null = null;
afterEach(async () => {
  await clinic?.stop();
  clinic = null;
});

test.each([
  ['what the specification does not show', ['id__lt', 'id__lte', 'invoice__in', 'modified__lt', 'ordering']],
  ['all that can be done without', ['id__gt', 'id__lt', 'id__lte', 'invoice__in', 'modified__gte', 'ordering']],
])('a server that answers 400 to %s is synchronised without', async (_, refusedFilters) => {
  clinic = await startTestClinic({
    ...{ seed: 23, invoices: 250, overlapSeconds: 1 },
    quirks: { order: 'random', refusedFilters },
  });
  const first = await clinic.sync();
  expect(first.error ?? null).toBeNull();
  expect(await clinic.wrongBooks()).toEqual([]);
  expect((await clinic.reconcile()).ok).toBe(true);
  clinic.sandbox.live(15);
  const second = await clinic.sync();
  expect(second.error ?? null).toBeNull();
  expect(second.pulled.invoices + second.pulled.payments + second.pulled.prepayments).toBeGreaterThan(0);
  expect(await clinic.wrongBooks()).toEqual([]);
  const report = await clinic.reconcile();
  expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
});
