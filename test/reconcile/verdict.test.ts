import { expect, test } from 'vitest';
import { equationNames, type InstallationReport } from '../../src/reconcile/reconcile-report.ts';
import { saveChainVerdict, saveVerdicts } from '../../src/reconcile/verdict.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';

const { db } = useDatabase();

/** The parts of a report that a verdict depends on. */
function reportOf(failing: string[], { readsErp = false } = {}): InstallationReport {
  const names = [...equationNames, ...(readsErp ? ['E7'] : [])];
  const equations = Object.fromEntries(names.map((name) => [name, { ok: !failing.includes(name) }]));
  return { installation: 4711, ok: failing.length === 0, equations } as unknown as InstallationReport;
}

test('the last verdict stands; a difference in the ERP does until its books are read again', async () => {
  const after = async (report: InstallationReport) => {
    await saveVerdicts(db, [report]);
    return query(db, 'select ok, failing from reconcile_verdict');
  };
  expect(await after(reportOf([]))).toEqual([{ ok: true, failing: [] }]);
  expect(await after(reportOf(['E2', 'E6']))).toEqual([{ ok: false, failing: ['E2', 'E6'] }]);
  expect(await after(reportOf(['E7'], { readsErp: true }))).toEqual([{ ok: false, failing: ['E7'] }]);
  expect(await after(reportOf([]))).toEqual([{ ok: false, failing: ['E7'] }]);
  expect(await after(reportOf([], { readsErp: true }))).toEqual([{ ok: true, failing: [] }]);
});

test('a broken chain stands until the chains are walked again', async () => {
  const verdict = () => query(db, 'select ok, failing from reconcile_verdict');
  await saveVerdicts(db, [reportOf(['E2'])]);
  await saveChainVerdict(db, 4711, ['chain', 'seals']);
  expect(await verdict()).toEqual([{ ok: false, failing: ['E2', 'chain', 'seals'] }]);
  await saveVerdicts(db, [reportOf([])]);
  expect(await verdict()).toEqual([{ ok: false, failing: ['chain', 'seals'] }]);
  await saveChainVerdict(db, 4711, ['seals']);
  expect(await verdict()).toEqual([{ ok: false, failing: ['seals'] }]);
  await saveChainVerdict(db, 4711, []);
  expect(await verdict()).toEqual([{ ok: true, failing: [] }]);
});
