import { beforeEach, describe, expect, it, test } from 'vitest';
import { execute } from '../../src/db/rows.ts';
import { companyOf } from '../../src/erp/company.ts';
import { namingFault } from '../../src/erp/company-identity.ts';
import { takeCompany } from '../../src/erp/company-lease.ts';
import { companyKey, entryKey } from '../../src/erp/entry-key.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { retryUnits } from '../../src/erp/outbox/state.ts';
import { type CompanyRef, ErpError } from '../../src/erp/port.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { type Changes, capabilitiesWith } from './capabilities.ts';
import { payment } from './drafts.ts';
import { ScriptedTarget } from './scripted-target.ts';
import { databaseId, runSlice } from './slices.ts';

const { db, truncate } = useDatabase();
beforeEach(truncate);

const instantly: Changes = { doubt: { server_may_work_seconds: 0 } };
const named = (id: string): CompanyRef => ({ kind: 'scripted', url: 'memory:', id });
const unnamed = named('db/');
const byName = named('db/Example');
const byId = named('db/1');

/** A client of one server. Its configuration names the company as given. */
function open(configured: CompanyRef, means = byId, changes: Changes = {}): ScriptedTarget {
  const target = new ScriptedTarget(capabilitiesWith({ ...instantly, ...changes }));
  return Object.assign(target, { company: configured, identify: async () => means });
}

/** Another client of the same server. */
const sharing = (server: ScriptedTarget, target: ScriptedTarget) => Object.assign(target, { held: server.held });

async function enqueued(installation: number, configured: CompanyRef, count: number, from = 1): Promise<string[]> {
  const drafts = Array.from({ length: count }, (_, n) => payment(from + n)).map((each) => ({ ...each, installation }));
  const ids = await db.transaction(async (trx) => {
    const made = await appendEntries(trx, installation, drafts, { decimals: 2, windowId: null });
    const company = companyKey(configured);
    await enqueueUnits(trx, { installation, databaseId, company, from: null, auto: true });
    return made;
  });
  return ids.map((id) => entryKey(databaseId, id));
}

const slice = (installation: number, target: ScriptedTarget) =>
  runSlice(db, target, { installation, holder: `holder ${installation}` });

const states = (installation: number) =>
  query(db, `select state, problem_code as problem, company from erp_unit where installation = ? order by seq`, [
    installation,
  ]);

const inUse = async () =>
  (await query<{ company: string }>(db, 'select company from erp_company_identity where is_in_use')).map(
    ({ company }) => company,
  );

const timeOut = () => new ErpError('doubt', 'no answer in time');

/** A target whose create requests get no answer. With `arrives`, they take effect. */
function unanswered(target: ScriptedTarget, arrives: boolean): ScriptedTarget {
  const fail = ({ kind }: { kind: string }) => {
    if (kind === 'create') throw timeOut();
  };
  return Object.assign(target, arrives ? { after: fail } : { before: fail });
}

test.each([
  ['https://erp.example', 'https://erp.example'],
  ['https://erp.example/', 'https://erp.example'],
  ['HTTPS://ERP.Example:443//', 'https://erp.example'],
  ['http://erp.example:80', 'http://erp.example'],
  ['http://erp.example:8000', 'http://erp.example:8000'],
  ['http://erp.example/Books/', 'http://erp.example/Books'],
  ['http://[::1]:8000', 'http://[::1]:8000'],
])('the address %s is compared as %s', (url, compared) => {
  const erp = { kind: 'tryton', url, database: 'DB', company: null } as Parameters<typeof companyOf>[0];
  expect(companyOf(erp)).toEqual({ kind: 'tryton', url: compared, id: 'DB/' });
});

describe('two installations of one company', () => {
  it('with different names: the later one sends nothing, and its error shows the other name', async () => {
    await enqueued(1, unnamed, 1);
    await enqueued(2, byName, 1, 10);
    const first = open(unnamed);
    expect(await slice(1, first)).toMatchObject({ delivered: 1, waitingFor: null });
    const second = open(byName);
    const report = await slice(2, second);
    expect(report).toMatchObject({ delivered: 0, left: 1, nextDueMs: null });
    expect(report.waitingFor?.code).toBe('erp_company_named_differently');
    expect(report.waitingFor?.message).toContain(
      '“db/Example” at memory:, and installation 1 names it “db/” at memory:',
    );
    expect(second.sent).toEqual([]);
    // `erp check` also reports the error, for each spelling of the company.
    const faultOf = async (installation: number, configured: CompanyRef, answered = byId) =>
      (await namingFault(db, { installation, configured, answered }))?.code ?? null;
    expect(await faultOf(2, byName)).toBe('erp_company_named_differently');
    expect(await faultOf(2, byId)).toBe('erp_company_named_differently');
    expect(await faultOf(2, unnamed)).toBe(null);
    expect(await faultOf(1, byName)).toBe(null);
    expect(await faultOf(1, unnamed, named('db/2'))).toBe('erp_company_means_another');
    expect(await query(db, 'select last_error_code from erp_company where company = ?', [companyKey(byName)])).toEqual([
      { last_error_code: 'erp_company_named_differently' },
    ]);
  });

  it('share one lease and one limit once they use the same name', async () => {
    const limited: Changes = { pace: { limits: [{ n: 100, weight: 1, per_seconds: 3600 }] } };
    await enqueued(1, unnamed, 1);
    await slice(1, open(unnamed, byId, limited));
    await enqueued(2, byName, 1, 10);
    await slice(2, open(byName, byId, limited));
    const before = await query(db, 'select id from erp_request where company = ?', [companyKey(unnamed)]);
    // The second company is spelled like the first one.
    const target = open(unnamed, byId, limited);
    expect(await slice(2, target)).toMatchObject({ delivered: 1, waitingFor: null });
    expect(await states(2)).toEqual([{ state: 'delivered', problem: null, company: companyKey(unnamed) }]);
    expect(await inUse()).toEqual([companyKey(unnamed)]);
    // The request under the other name counts too.
    const counted = await query<{ company: string }>(db, 'select company from erp_request');
    expect(new Set(counted.map(({ company }) => company))).toEqual(new Set([companyKey(unnamed)]));
    expect(counted).toHaveLength(before.length + 2 + target.sent.length + target.looks);
  });

  it('with concurrent deliveries: one of the names is in use, and one installation sends', async () => {
    await enqueued(1, unnamed, 2);
    await enqueued(2, byName, 2, 10);
    const reports = await Promise.all([slice(1, open(unnamed)), slice(2, open(byName))]);
    expect(reports.map(({ delivered }) => delivered).sort()).toEqual([0, 2]);
    expect(await inUse()).toHaveLength(1);
  });

  it('may be different companies', async () => {
    await enqueued(1, byName, 1);
    await enqueued(2, unnamed, 1, 10);
    expect(await slice(1, open(byName))).toMatchObject({ delivered: 1 });
    expect(await slice(2, open(unnamed, named('db/2')))).toMatchObject({ delivered: 1, waitingFor: null });
  });
});

describe('an installation whose configuration names the same company differently', () => {
  it('continues: its units in the company follow the name', async () => {
    await enqueued(1, unnamed, 1);
    const first = open(unnamed);
    await slice(1, first);
    const [key] = await enqueued(1, unnamed, 1, 10);
    await slice(1, unanswered(first, true));
    expect(await states(1)).toMatchObject([{ state: 'delivered' }, { state: 'uncertain' }]);
    await execute(db, 'update erp_unit set not_before = null');
    await execute(db, 'update erp_company set not_before = null');
    const second = sharing(first, open(byId));
    expect(await slice(1, second)).toMatchObject({ delivered: 1, waitingFor: null });
    expect(await states(1)).toEqual([
      { state: 'delivered', problem: null, company: companyKey(byId) },
      { state: 'delivered', problem: null, company: companyKey(byId) },
    ]);
    expect(second.held.filter((entry) => entry.key === key)).toHaveLength(1);
    expect(second.sent.map(({ kind }) => kind)).not.toContain('create');
    expect(await inUse()).toEqual([companyKey(byId)]);
    // Then the configuration changes back, from the id of the company to no name.
    await enqueued(1, unnamed, 1, 20);
    expect(await slice(1, open(unnamed))).toMatchObject({ delivered: 1, waitingFor: null });
    expect(await inUse()).toEqual([companyKey(unnamed)]);
  });

  it('waits for a delivery under the former name', async () => {
    await enqueued(1, unnamed, 1);
    await slice(1, open(unnamed));
    await takeCompany(db, unnamed, 'another process', { mayWorkMs: 0 });
    await enqueued(1, byId, 1, 10);
    const target = open(byId);
    const report = await slice(1, target);
    expect(report.waitingFor?.code).toBe('erp_company_busy');
    expect(report.nextDueMs).toBeGreaterThan(0);
    expect(target.sent).toEqual([]);
    expect(await inUse()).toEqual([companyKey(unnamed)]);
  });

  it('looks up what a killed process was sending under the former name, once the server can have finished', async () => {
    await enqueued(1, unnamed, 1);
    const first = open(unnamed);
    await slice(1, first);
    const [key] = await enqueued(1, unnamed, 1, 10);
    // The state after a process was killed between its request and the answer: the entry is in the ERP, and the unit is
    // still `sending`.
    await slice(1, unanswered(first, true));
    await takeCompany(db, unnamed, 'killed', { mayWorkMs: 0 });
    await execute(
      db,
      `update erp_unit set state = 'sending', doubt = null, sent_at = clock_timestamp() where erp_key = ?`,
      [key ?? ''],
    );
    await execute(db, 'update lease set expires_at = clock_timestamp()');
    await execute(db, 'update erp_company set not_before = null');
    const slow: Changes = { doubt: { server_may_work_seconds: 600 } };
    const second = sharing(first, open(byId, byId, slow));
    expect((await slice(1, second)).waitingFor?.code).toBe('erp_company_busy');
    expect(second.sent).toEqual([]);
    await execute(db, `update erp_company set look_up_from = look_up_from - interval '1 hour'`);
    await execute(db, `update erp_unit set sent_at = sent_at - interval '1 hour'`);
    expect(await slice(1, second)).toMatchObject({ delivered: 1, waitingFor: null });
    expect(second.held.filter((entry) => entry.key === key)).toHaveLength(1);
    expect(second.sent.map(({ kind }) => kind)).not.toContain('create');
  });
});

describe('a name that identifies another company than before', () => {
  const other = named('db/2');

  it('stops the delivery', async () => {
    await enqueued(1, unnamed, 1);
    await slice(1, unanswered(open(unnamed), false));
    await execute(db, 'update erp_unit set not_before = null');
    await execute(db, 'update erp_company set not_before = null');
    const target = open(unnamed, other);
    const report = await slice(1, target);
    expect(report).toMatchObject({ delivered: 0, nextDueMs: null });
    expect(report.waitingFor?.code).toBe('erp_company_means_another');
    expect(target.sent).toEqual([]);
  });

  it('reports what the former company may have, once the configuration names the new one by id', async () => {
    await enqueued(1, unnamed, 1);
    await slice(1, unanswered(open(unnamed), false));
    await enqueued(1, other, 1, 10);
    const target = open(other, other);
    await slice(1, target);
    expect(await states(1)).toEqual([
      { state: 'refused', problem: 'erp_company_changed', company: companyKey(unnamed) },
      { state: 'delivered', problem: null, company: companyKey(other) },
    ]);
    await db.transaction((trx) => retryUnits(trx, 1, null, { actedBy: 'tester', reason: 'a test' }));
    await slice(1, target);
    expect(await states(1)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
  });
});

it('nothing is sent before the ERP identifies the company', async () => {
  await enqueued(1, byName, 1);
  const target = open(byName);
  const identify = async () => {
    throw new ErpError('unsent', 'connect ECONNREFUSED');
  };
  const report = await slice(1, Object.assign(target, { identify }));
  expect(report.waitingFor?.code).toBe('erp_unreachable');
  expect(report.nextDueMs).toBeGreaterThan(0);
  expect(target.sent).toEqual([]);
  expect(await inUse()).toEqual([]);
});

it('a copy that may not write to a company may not do so under another name', async () => {
  await enqueued(1, unnamed, 1);
  await slice(1, open(unnamed));
  await execute(db, `insert into copy_bar (kind, key) values ('company', ?)`, [companyKey(unnamed)]);
  await enqueued(1, byId, 1, 10);
  const target = open(byId);
  expect((await slice(1, target)).waitingFor?.code).toBe('copy_barred');
  expect(target.sent).toEqual([]);
});

it.each([
  ['EUR', null, 1],
  ['USD', 'erp_currency_differs', 0],
])(
  'into books in %s, which the ERP tells, nothing goes unless they are the installation’s',
  async (currency, code, sent) => {
    await enqueued(1, byId, 1);
    const target = open(byId, { ...byId, currency } as CompanyRef);
    const report = await slice(1, target);
    expect([report.waitingFor?.code ?? null, report.delivered]).toEqual([code, sent]);
    expect(await inUse()).toHaveLength(sent);
  },
);
