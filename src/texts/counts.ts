import { catalogue } from './catalogue.ts';

const counted =
  (one: string, many = `${one}s`) =>
  ({ n }: { n: number }): string =>
    `${n} ${n === 1 ? one : many}`;

/** Numbers of things. `count` of the command line uses them. */
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
});
