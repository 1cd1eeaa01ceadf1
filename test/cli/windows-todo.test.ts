import { expect, test } from 'vitest';
import { windowsTodo } from '../../src/cli/commands/windows.ts';
import type { RecordedWindow } from '../../src/queries/windows.ts';

const closed: RecordedWindow = {
  ...{ id: 1, installation: 4711, kind: 'window', trigger: 'schedule', from: null, to: null, outcome: 'closed' },
  ...{ error: null, remarks: [], opened_at: new Date(0), closed_at: new Date(0), workflow_id: 'w', covered_by: null },
  reset_of: null,
  idle_windows: null,
};

function failed(id: number, code: string, change: Partial<RecordedWindow> = {}): RecordedWindow {
  return { ...closed, id, outcome: 'failed', error: { code, message: 'it failed', todo: `mend ${code}` }, ...change };
}

test.each<[string, RecordedWindow[], string | null]>([
  ['nothing failed', [closed], null],
  ['what failed is covered', [failed(2, 'unauthorized', { covered_by: [3] })], null],
  ['an error that was not kept', [failed(2, 'x', { error: null })], null],
  ['one', [failed(2, 'unauthorized')], 'What to do\n  window 2: unauthorized: mend unauthorized'],
  [
    'several ways',
    [failed(5, 'unauthorized'), closed, failed(4, 'source_failed'), failed(2, 'unauthorized')],
    'What to do\n  windows 5, 2: unauthorized: mend unauthorized\n  window 4: source_failed: mend source_failed',
  ],
  [
    'very many',
    Array.from({ length: 13 }, (_, n) => failed(40 - n, 'unauthorized')),
    'What to do\n  windows 40, 39, 38, 37, 36, 35, 34, 33, 32, 31 and 3 more: unauthorized: mend unauthorized',
  ],
  [
    'text from outside cannot steer the terminal',
    [failed(2, 'unauthorized', { error: { code: 'x', message: '', todo: 'clear\u001b[2J' } })],
    'What to do\n  window 2: x: clear\\u001b[2J',
  ],
])('what to do about failed windows: %s', (_name, windows, text) => {
  expect(windowsTodo(windows)).toBe(text);
});
