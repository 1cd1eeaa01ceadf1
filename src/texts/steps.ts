import { catalogue } from './catalogue.ts';

/** Steps of activities, as `vetledger status` and the Temporal UI show them. */
export const stepTexts = catalogue('steps.stepTexts', {
  delivering: 'delivering',
  matching: 'matching open items',
  posting: 'posting',
  summarising: 'summarising days',
  writingBack: 'writing back',
  counting: 'counting records',
  waitingForWindow: 'waiting for another window',
});

/** What an activity waits for: `its window waits for …`. */
export const waitTexts = catalogue('steps.waitTexts', {
  transaction: 'PostgreSQL to write a transaction',
  step: ({ step }: { step: string }): string => `the end of the step “${step}”`,
});
