import { expect, test } from 'vitest';
import type { InstallationConfig } from '../../src/config/load.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { ErpError, type ErpTarget } from '../../src/erp/port.ts';
import { reconcileWithErp } from '../../src/queries/reconcile-erp.ts';
import type { InstallationReport } from '../../src/reconcile/report.ts';
import { capabilitiesOf } from '../erp/capabilities.ts';
import { mappingOf } from '../posting/support.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
const erp = {
  ...{ kind: 'tryton', url: 'http://127.0.0.1:9', database: 'books', company: null, user: 'api', password: 'x' },
  ...{ post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60, from: null, auto: true },
} as const;
const mapping = mappingOf({});
const report = (installation: number) =>
  ({
    installation,
    ok: true,
    equations: { E1: { ok: true, difference: '0.00', documents: [] } },
  }) as unknown as InstallationReport;
const installation = (id: number, changes: object = {}) =>
  ({ id, decimals: 2, mapping, erp, ...changes }) as unknown as InstallationConfig;

/** Sleeps are over at once, and remembered. */
const slept: number[] = [];
const clock: Clock = {
  ...{ now: () => 0, elapsed: () => 0 },
  sleep: async (ms) => void slept.push(ms),
};

function target(failures: ErpError[]): ErpTarget {
  return {
    capabilities: capabilitiesOf(),
    company: { kind: 'tryton', url: 'http://127.0.0.1:9', id: 'books/' },
    read: async () => [],
    books: {
      balances: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        return { entries: 0, balances: new Map() };
      },
      entries: async function* () {},
    },
  } as unknown as ErpTarget;
}

function run(failures: ErpError[], installations = [installation(1)]) {
  return reconcileWithErp(
    { db, databaseId: 'test', delivery: { target: () => target(failures) }, clock },
    { ok: true, installations: installations.map(({ id }) => report(id)) },
    installations,
    { full: false, signal: new AbortController().signal, onProgress: () => undefined },
  );
}

const locked = () => new ErpError('locked', 'the company is locked');

test('E7 is told where the ERP’s books can be read, and fails the whole', async () => {
  await db.raw(
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, erp_id)
     values (1, '1/invoice/7/1', 'entry', 1, '2026-02-01', 'KEY', 'company', 'delivered', '11')`,
  );
  const both = [installation(1), installation(2, { erp: { kind: 'ledger' } })];
  const { ok, installations } = await run([], both);
  expect(ok).toBe(false);
  expect(installations.map(({ ok: each, equations }) => [each, Object.keys(equations)])).toEqual([
    [false, ['E1', 'E7']],
    [true, ['E1']],
  ]);
  expect(installations[0]!.equations.E7).toMatchObject({ ok: false, documents: [{ document: 'invoice 7' }] });
});

test('an ERP that a delivery locks is asked again; one that cannot be read ends the command', async () => {
  await run([locked(), locked()]);
  expect(slept).toHaveLength(2);
  await expect(run(Array.from({ length: 9 }, locked))).rejects.toMatchObject({ code: 'erp_unreadable', exitCode: 3 });
  await expect(run([new ErpError('auth', 'wrong password')])).rejects.toMatchObject({ code: 'erp_unreadable' });
});
