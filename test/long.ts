/** Test files of `npm run test:long`: those that wait for real time-outs, start real daemons, or load many clinics. */
export const longTests = [
  'test/absence/hidden.test.ts',
  'test/activities/idle-opening.test.ts',
  'test/cli/{backfill,copies}.test.ts',
  'test/embedded/{optional-packages,postgres,temporal}.test.ts',
  'test/erp/contract/fake.test.ts',
  'test/integration/{absent,other-servers,prepayment-vat-clinic,redate-summaries,refused,streamed-load}.test.ts',
  'test/lint/layers.test.ts',
  'test/runtime/pools.test.ts',
  'test/sync/{aside,by-invoice,loads,scrub}.test.ts',
  'test/windows/{ended-runs,many-installations,reload,webhook-to-window}.test.ts',
  'test/workflows/{deliver,hanging-source,kill,pausing,replays,window-evidence,windows}.test.ts',
];

/** Test files of `npm run test:nightly`: random worlds, real ERPs, hostile servers, killed processes, mutants, whole months. */
export const nightlyTests = [
  'sandbox/test/{coverage,fuzz/fuzz}.test.ts',
  'test/budget/budget-property.test.ts',
  'test/days.test.ts',
  'test/differ/self-test.test.ts',
  'test/domain/bounded.test.ts',
  'test/erp/contract/{tryton,mutants}.test.ts',
  'test/erp/rounds.test.ts',
  'test/erp/tryton/*.test.ts',
  'test/hostile/*.test.ts',
  'test/month-end/{month-end,closed-in-erp}.test.ts',
  'test/simulation/rare-mutants.test.ts',
  'test/simulator/{mutants,outages}.test.ts',
];
