// The readable form of `vetledger run`'s events.

import { expect, test } from 'vitest';
import { eventLine } from '../../src/cli/commands/run.ts';

test('a window that did not open has the time, what happened and what to do', () => {
  const error = { code: 'unreachable', message: 'no connection (connect ECONNREFUSED)', todo: 'Check base_url.' };
  const ids = { installation: 4711, window: 12, workflow_id: 'w', run_id: 'r' };
  expect(eventLine({ time: '2026-03-01T08:00:00.123Z', event: 'window_not_opened', error, ...ids })).toBe(
    '2026-03-01 08:00:00 UTC  installation 4711 window NOT opened | no connection (connect ECONNREFUSED) | what to do: Check base_url.',
  );
});
