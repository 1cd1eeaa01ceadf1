import { catalogue } from './catalogue.ts';

/** Steps of activities, as `vetledger status` and the Temporal UI show them. */
export const stepTexts = catalogue('steps.stepTexts', {
  comparing: 'comparing',
  printing: 'printing lines',
  delivering: 'delivering',
  judging: 'judging',
  matching: 'matching open items',
  readingBack: 'entries read back',
  reposting: 'reposting',
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

/** Steps that read a list of the source. */
export const pullSteps = catalogue('steps.pullSteps', {
  invoice: 'pulling invoices',
  row: 'pulling rows',
  payment: 'pulling payments',
  prepayment: 'pulling prepayments',
});
