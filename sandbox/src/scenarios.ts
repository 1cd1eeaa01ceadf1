// Named sets of quirks and faults that real integrations encounter.
import type { Faults } from './faults.ts';
import type { Quirks } from './quirks.ts';

export interface Scenario {
  about: string;
  quirks?: Partial<Quirks>;
  faults?: Partial<Faults>;
  /** The clinic's local time at the start. */
  startsAt?: string;
}

export const scenarioNames = ['flaky', 'slow', 'lost-answers', 'month-end', 'strict', 'late-commits'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

export const scenarios: Record<ScenarioName, Scenario> = {
  flaky: {
    about:
      'One request in nine fails: 500, 503 with a page, a reset connection, half an answer, 429, or a refused token.',
    faults: {
      http500: { probability: 0.03 },
      http503Html: { probability: 0.02 },
      connectionReset: { probability: 0.02 },
      truncatedBody: { probability: 0.02 },
      spurious429: { probability: 0.02, seconds: 1 },
      unauthorizedOnce: { probability: 0.01 },
    },
  },
  slow: {
    about: 'Every third answer takes two seconds longer.',
    faults: { timeoutMs: { probability: 0.33, ms: 2000 } },
  },
  'lost-answers': {
    about: 'One request in ten takes effect, and its answer is lost.',
    faults: {
      connectionReset: { probability: 0.05, when: 'after' },
      http500: { probability: 0.05, when: 'after' },
    },
  },
  'month-end': {
    about:
      'The clock starts on the last afternoon of a month and stands still. Set it forward to see period locks and end-of-day reports.',
    startsAt: '2026-03-31T16:00:00',
  },
  strict: {
    about:
      'The server refuses unknown fields, unknown filters and lenient forms, and names the section of the specification.',
    quirks: { strict: true },
  },
  'late-commits': {
    about: 'Lists show a third of the transactions five seconds after their ids and `modified`.',
    quirks: { lateCommitShare: 0.33, lateCommitMs: 5000 },
  },
};
