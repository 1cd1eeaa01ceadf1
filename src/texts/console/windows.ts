import { catalogue } from '../catalogue.ts';

/** The screen Windows. */
export const windowsTexts = catalogue('console/windows.windowsTexts', {
  timeLine: 'Time line',
  spans: { day: '24 hours', week: '7 days', month: '30 days' },
  cut: ({ windows }: { windows: number }) => `Only the newest ${windows} windows are drawn.`,
  schedule: 'Schedule',
  next: 'next window',
  seen: 'seen by a daemon',
  running: 'Running work',
  nothingRuns: 'Nothing runs.',
  workflow: 'workflow',
  step: 'step',
  attempt: 'attempt',
  waitsFor: 'waits for',
  since: 'since',
  cause: 'last cause',
  noted: 'noted',
  gaps: 'Gaps',
  gap: ({ what, command }: { what: string; command: string }) =>
    `No window has read the ${what}. To read them: ${command}`,
  noGap: ({ since }: { since: string }) => `No gap since ${since}.`,
  budgets: 'Rate budgets',
  scrub: 'Scrub',
  list: 'List',
  from: 'From',
  to: 'To',
  kind: 'Kind',
  outcome: 'Outcome',
  totals: ({ closed, failed, open }: Record<'closed' | 'failed' | 'open', number>) =>
    `${closed} closed, ${failed} failed, ${open} open`,
});

/** The time line of windows. */
export const timeLineTexts = catalogue('console/windows.timeLineTexts', {
  label: ({ from, to }: { from: string; to: string }) =>
    `Windows from ${from} to ${to}; the list below has the same windows`,
  read: 'read by a closed window',
  unread: 'not read yet',
  shapes: {
    closed: 'closed',
    failed: 'failed, not covered',
    covered: 'failed, covered by later windows',
    open: 'open',
    other: 'backfill or replay',
  },
});
