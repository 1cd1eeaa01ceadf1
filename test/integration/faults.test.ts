import { describe, expect, test } from 'vitest';
import { startTestClinic } from '../support/clinic.ts';

describe('faults of the network and the server', () => {
  test('errors, cut bodies, pages of HTML, resets and wrong 429s cost time, and nothing else', async () => {
    const clinic = await startTestClinic({
      seed: 5,
      invoices: 60,
      faults: {
        http500: { probability: 0.05 },
        http503Html: { probability: 0.05 },
        truncatedBody: { probability: 0.05 },
        notJson: { probability: 0.05 },
        connectionReset: { probability: 0.05 },
        spurious429: { count: 2, retryAfter: 'seconds', seconds: 1 },
        unauthorizedOnce: null,
      },
    });
    try {
      const window = await clinic.sync();
      expect(window.error).toBeUndefined();
      expect(window.api.throttled).toBe(2);
      clinic.sandbox.setFaults({
        http500: null,
        http503Html: null,
        truncatedBody: null,
        notJson: null,
        connectionReset: null,
      });
      expect(await clinic.wrongBooks()).toEqual([]);
      const report = await clinic.reconcile();
      expect(report.ok, JSON.stringify(report.installations[0]!.equations, null, 1)).toBe(true);
    } finally {
      await clinic.stop();
    }
  });

  test('a token that is refused: the window does not open, and says what to do', async () => {
    const clinic = await startTestClinic({ seed: 5, invoices: 10, faults: { unauthorizedOnce: { count: 100 } } });
    try {
      const window = await clinic.sync();
      expect(window.failedToOpen).toMatchObject({ code: 'unauthorized' });
      expect(window.failedToOpen!.todo).not.toBe('');
      clinic.sandbox.setFaults({ unauthorizedOnce: null });
      expect((await clinic.sync()).outcome).toBe('closed');
    } finally {
      await clinic.stop();
    }
  });
});
