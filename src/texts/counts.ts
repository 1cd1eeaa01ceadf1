import { catalogue } from './catalogue.ts';

const counted =
  (one: string, many = `${one}s`) =>
  ({ n }: { n: number }): string =>
    `${n} ${n === 1 ? one : many}`;

/** Numbers of things. */
export const countTexts = catalogue('counts.countTexts', {
  document: counted('document'),
  entry: counted('entry', 'entries'),
  row: counted('row'),
  installation: counted('installation'),
  day: counted('day'),
  request: counted('request'),
  prepayment: counted('prepayment'),
  place: counted('place'),
  correction: counted('correction'),
  case: counted('case'),
  account: counted('account'),
  window: counted('window'),
  use: counted('use'),
  reversal: counted('reversal'),
  record: counted('record'),
  payment: counted('payment'),
  line: counted('line'),
  invoice: counted('invoice'),
  fault: counted('fault'),
  draft: counted('draft'),
  check: counted('check'),
  budget: counted('budget'),
  attempt: counted('attempt'),
  amount: counted('amount'),
  documentWaits: counted('document waits', 'documents wait'),
  earlierVersion: counted('earlier version'),
  entryWaits: counted('entry waits', 'entries wait'),
  idleWindow: counted('idle window'),
  newVersion: counted('new version'),
  process: counted('process', 'processes'),
  reason: counted('recorded reason'),
  time: counted('time'),
  vat_due: counted('VAT due date'),
});

/** Estimates of durations. */
export const aboutTexts = catalogue('counts.aboutTexts', {
  seconds: ({ n }: { n: number }) => `about ${n === 1 ? '1 second' : `${n} seconds`}`,
  minutes: ({ n }: { n: number }) => `about ${n === 1 ? '1 minute' : `${n} minutes`}`,
  hours: ({ n, minutes }: { n: number; minutes: number }) =>
    `about ${n === 1 ? '1 hour' : `${n} hours`}${minutes === 0 ? '' : ` ${minutes} minutes`}`,
});
