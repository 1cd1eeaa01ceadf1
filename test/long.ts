/** Test files of `npm run test:long`: those that wait for real time-outs, start real daemons, or load many clinics. */
export const longTests = [
  'test/absence/hidden.test.ts',
  'test/activities/idle-opening.test.ts',
  'test/budget/many-installations.test.ts',
  'test/cli/{backfill,copies,filters-doctor,remove-data,two-databases}.test.ts',
  'test/deploy/alert-cases.test.ts',
  'test/embedded/{optional-packages,postgres,temporal}.test.ts',
  'test/erp/contract/fake.test.ts',
  'test/erp/odoo/contract-versions.test.ts',
  'test/integration/{absent,mapping-ways,other-servers,prepayment-vat-clinic,redate-summaries,refused,streamed-load}.test.ts',
  'test/lint/layers.test.ts',
  'test/mapping/books.test.ts',
  'test/practice/limit.test.ts',
  'test/reports/vat-return-lives.test.ts',
  'test/runtime/pools.test.ts',
  'test/simulation/mutants.test.ts',
  'test/sync/{aside,by-invoice,loads,scrub}.test.ts',
  'test/windows/{ended-runs,many-installations,observation,reload,webhook-to-window}.test.ts',
  'test/workflows/{coverage,deliver,hanging-source,idle-window-cost,kill,pausing,reconciling,replays,schedule,window-evidence,windows}.test.ts',
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
  'test/erp/odoo/rounds.test.ts',
  'test/erp/tryton/*.test.ts',
  'test/hostile/*.test.ts',
  'test/month-end/{month-end,closed-in-erp}.test.ts',
  'test/simulation/rare-mutants.test.ts',
  'test/simulator/{mutants,outages}.test.ts',
];
