import { beforeEach, describe, expect, test } from 'vitest';
import { execute } from '../../src/db/rows.ts';
import { Money } from '../../src/domain/money.ts';
import { companyKeyOf, companyOf } from '../../src/erp/company.ts';
import { noteOutcome } from '../../src/erp/company-lease.ts';
import { surplusDrafts } from '../../src/erp/deliver/surplus-drafts.ts';
import { companyKey, entryKey } from '../../src/erp/entry-key.ts';
import type { FoundEntry } from '../../src/erp/erp-entry.ts';
import { cancelOut } from '../../src/erp/outbox/cancel-out.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { retryUnits } from '../../src/erp/outbox/state.ts';
import { noteSwept } from '../../src/erp/outbox/unwanted-drafts.ts';
import { ErpError } from '../../src/erp/port.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { deliveryStatus } from '../../src/queries/delivery-status.ts';
import { deliveryFields } from '../../src/wording/delivery.ts';
import { timeIn } from '../../src/wording/words.ts';
import { installationOf } from '../simulator/delivery/installation.ts';
import { useDatabase } from '../support/database.ts';
import { query } from '../support/sql.ts';
import { capabilitiesOf, capabilitiesWith } from './capabilities.ts';
import { payment } from './drafts.ts';
import { erpEntry } from './fake/entries.ts';
import { ScriptedTarget } from './scripted-target.ts';
import { databaseId, runSlice } from './slices.ts';

const entry = erpEntry(1);

function held(id: string, changes: Partial<FoundEntry> = {}, revenue = '-10.00'): FoundEntry {
  return {
    ...{ id, key: entry.key, number: null, state: 'draft', date: entry.date, journal: entry.journal, description: '' },
    lines: [
      ['1700', '10.00'],
      ['3000', revenue],
    ].map(([account, amount], n) => ({
      ...{ id: `${id}.${n}`, account: account!, amount: new Money(amount!), party: null, vat: [], dimensions: {} },
      matched: null,
    })),
    ...changes,
  };
}

const posted = held('1', { state: 'posted', number: 'V1' });

describe('a draft with a unit’s key is surplus only if it certainly is ours', () => {
  test.each<[string, string | null, FoundEntry[], string[]]>([
    ['a twin of what is posted', '1', [posted, held('2')], ['2']],
    ['two of them', '1', [posted, held('2'), held('3')], ['2', '3']],
    ['beside a draft that waits for the accountant', '2', [held('2'), held('3')], ['3']],
    ['none where what counts was not found', '1', [held('2')], []],
    ['none where what counts is void', '1', [held('1', { state: 'void' }), held('2')], []],
    ['none where nobody knows what counts', null, [posted, held('2')], []],
    ['none that somebody has given another amount', '1', [posted, held('2', {}, '-9.00')], []],
    ['none that somebody has dated otherwise', '1', [posted, held('2', { date: '2026-03-03' })], []],
    ['nothing that is posted, though it be a second time', '1', [posted, held('2', { state: 'posted' })], []],
  ])('%s', (_, kept, found, surplus) => {
    expect(surplusDrafts({ erp_id: kept }, entry, found, { capabilities: capabilitiesOf(), decimals: 2 })).toEqual(
      surplus,
    );
  });
});

describe('the number of deleted surplus drafts', () => {
  const { db } = useDatabase();
  const installation = installationOf(1, 1);

  test('is shown by `status` if there are any', async () => {
    if (installation.erp.kind !== 'tryton') throw new Error('the installation of a round is delivered');
    await noteOutcome(db, companyOf(installation.erp), null);
    const none = await deliveryStatus(db, installation);
    expect(none).toMatchObject({ drafts_swept: 0 });
    expect(deliveryFields(none!, timeIn('UTC')).join()).not.toContain('too late');
    const scope = { installation: installation.id, company: companyKeyOf(installation.erp)! };
    for (const deleted of [2, 0, 1]) {
      await db.transaction((trx) =>
        noteSwept(trx, scope, { unitIds: [], stillThere: [], deleted, lookUpAfterMs: 1_000 }),
      );
    }
    const some = await deliveryStatus(db, installation);
    expect(some).toMatchObject({ drafts_swept: 3 });
    expect(deliveryFields(some!, timeIn('UTC')).join()).toContain(
      'deleted drafts that the ERP created after their request timed out: 3',
    );
  });
});

describe('a draft that could not be deleted', () => {
  const { db, truncate } = useDatabase();
  const installation = 1;
  let target: ScriptedTarget;
  let key: string;
  let unitId: string;
  let deletions: 'sent' | 'refused' | 'cut';
  beforeEach(async () => {
    await truncate();
    target = new ScriptedTarget(capabilitiesWith({ doubt: { server_may_work_seconds: 60 } }));
    deletions = 'sent';
    target.before = ({ kind }) => {
      if (kind !== 'withdrawDrafts' || deletions === 'sent') return;
      if (deletions === 'cut') throw new ErpError('unsent', 'connection refused');
      throw new ErpError('refused', 'it is being edited', { problem: 'erp_refused' });
    };
    await db.transaction(async (trx) => {
      const [id] = await appendEntries(trx, installation, [payment(1)], { decimals: 2, windowId: null });
      unitId = id!;
      key = entryKey(databaseId, unitId);
      const company = companyKey(target.company);
      await enqueueUnits(trx, { installation, databaseId, company, from: null, auto: true });
    });
  });

  const slice = () => runSlice(db, target, { installation });
  /** The ERP changes entries that it receives. */
  const altering = () => {
    target.onCreate = (made) => {
      const [line] = made.lines;
      if (line) line.account = 'changed';
    };
  };
  async function passTime(seconds: number): Promise<void> {
    const earlier = (name: string) => `${name} = ${name} - make_interval(secs => ${seconds})`;
    await execute(db, `update erp_sweep set ${earlier('not_before')}`);
    await execute(db, `update erp_unit set ${earlier('not_before')}, ${earlier('sent_at')}`);
    await execute(db, `update erp_company set ${earlier('not_before')}, ${earlier('periods_read_at')}`);
    await execute(db, `update lease set ${earlier('expires_at')}`);
  }
  const noted = () => query(db, 'select unit_id from erp_sweep');
  const states = () => query(db, 'select state, problem_code as code from erp_unit');
  const differing = [{ state: 'refused', code: 'erp_differs' }];

  test.each(['cut', 'refused'] as const)('is deleted later, where its deletion was %s', async (how) => {
    altering();
    deletions = how;
    await slice();
    expect(await states()).toEqual(differing);
    expect(target.drafts).toEqual([key]);
    deletions = 'sent';
    // The sweep does not repeat the deletion at once.
    const sent = target.sent.length;
    await passTime(60);
    await slice();
    expect(target.sent).toHaveLength(sent);
    await passTime(600);
    await slice();
    expect(target.drafts).toEqual([]);
    expect(await noted()).toEqual([]);
    expect(await states()).toEqual(differing);
    expect(await query(db, 'select drafts_swept::int as n from erp_company')).toEqual([{ n: 0 }]);
  });

  test('is tried ten times, and then stays', async () => {
    altering();
    deletions = 'refused';
    for (let n = 0; n < 12; n++) {
      await slice();
      await passTime(100_000);
    }
    expect(target.sizes('withdrawDrafts')).toHaveLength(1 + 10);
    expect(await noted()).toEqual([]);
  });

  test('stays if a user has changed it since', async () => {
    altering();
    deletions = 'refused';
    await slice();
    deletions = 'sent';
    target.held[0]!.description = 'mine now';
    await passTime(600);
    await slice();
    expect(target.drafts).toEqual([key]);
    expect(await noted()).toEqual([]);
  });

  test('is no longer recorded if it was deleted', async () => {
    altering();
    await slice();
    expect(target.drafts).toEqual([]);
    expect(await noted()).toEqual([]);
    await db.transaction((trx) => retryUnits(trx, installation, null, { actedBy: 'tester', reason: 'a test' }));
    deletions = 'refused';
    await slice();
    expect(await noted()).toHaveLength(1);
    target.held.splice(0);
    await passTime(600);
    await slice();
    expect(await noted()).toEqual([]);
  });

  test('beside a period that was closed is deleted, also when the unit was settled without being sent', async () => {
    // A draft was created, but its posting got no answer, and then its period was closed.
    target.after = ({ kind }) => {
      if (kind === 'create') throw new ErpError('doubt', 'no answer in time');
    };
    await slice();
    target.after = () => undefined;
    target.openPeriods = { periods: null, lockedThrough: [{ kind: 'general', date: '2026-02-28' }] };
    deletions = 'refused';
    // The periods are read again after 15 minutes.
    await passTime(1_000);
    await slice();
    expect(await states()).toEqual([{ state: 'refused', code: 'period_closed_in_erp' }]);
    expect(target.drafts).toEqual([key]);
    await db.transaction((trx) => cancelOut(trx, installation, [unitId]));
    deletions = 'sent';
    await passTime(600);
    await slice();
    expect(target.drafts).toEqual([]);
    expect(await states()).toEqual([{ state: 'cancelled_out', code: null }]);
  });

  test('belongs to the accountant in mode draft, and a recorded one is never deleted', async () => {
    altering();
    deletions = 'refused';
    await slice();
    target.onCreate = () => undefined;
    // The draft is now correct, so the retry keeps it.
    target.held[0]!.lines[0]!.account = '1910';
    await db.transaction((trx) => retryUnits(trx, installation, null, { actedBy: 'tester', reason: 'a test' }));
    await runSlice(db, target, { installation, post: 'draft' });
    expect(await states()).toEqual([{ state: 'drafted', code: null }]);
    deletions = 'sent';
    await passTime(600);
    await runSlice(db, target, { installation, post: 'draft' });
    expect(target.drafts).toEqual([key]);
    expect(await states()).toEqual([{ state: 'drafted', code: null }]);
  });
});
