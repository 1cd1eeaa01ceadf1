/**
 * Test files that `npm run test:long` runs, and `npm test` leaves out so that it takes less than ten minutes: those that play many
 * random lives, work with a real Tryton, play hostile servers and neighbours, kill processes, play a month-end or two revisions, or wait for daemons to start and end, or time functions with long texts.
 */
export const longTests = [
  'sandbox/test/{coverage,fuzz/fuzz}.test.ts',
  'test/budget/budget-property.test.ts',
  'test/chaos/chaos.test.ts',
  'test/cli/copies.test.ts',
  'test/differ/self-test.test.ts',
  'test/domain/bounded.test.ts',
  'test/embedded/postgres.test.ts',
  'test/erp/contract/{tryton,mutants}.test.ts',
  'test/erp/rounds.test.ts',
  'test/erp/tryton/*.test.ts',
  'test/hostile/*.test.ts',
  'test/integration/redate-summaries.test.ts',
  'test/month-end/{month-end,closed-in-erp}.test.ts',
  'test/simulation/{outages,rare-mutants}.test.ts',
  'test/sync/by-invoice.test.ts',
  'test/workflows/{kill,pausing,replays,window-evidence}.test.ts',
];
