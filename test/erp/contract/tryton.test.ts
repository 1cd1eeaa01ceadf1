import { afterAll, beforeAll, describe } from 'vitest';
import type { TrytonServer } from '../../../scripts/tryton/server.ts';
import { Money } from '../../../src/domain/money.ts';
import { trytonCapabilities } from '../../../src/erp/targets/tryton/capabilities.ts';
import { openTryton } from '../../../src/erp/targets/tryton/index.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { mappingData } from '../../simulator/delivery/plan.ts';
import { useDatabase } from '../../support/database.ts';
import { configOf, hasTryton, openTestTryton, ports, TrytonPerson } from '../../support/tryton.ts';
import type { ContractSubject } from './cases.ts';
import { newCompany } from './fake.ts';
import { matchingCases } from './matching-cases.ts';
import { outsideTime } from './outside-time.ts';
import { contractSuite } from './suite.ts';
import { Troubles, troubled } from './troubled.ts';

/** The ERP section of the mapping for the prepared company (scripts/tryton/demo-company.ts). */
const words = {
  ...mappingData.erp,
  vat_codes: { A: 'Sales 25.5 %' },
  dimensions: {
    department: { name: 'Department', values: { '': 'NONE' } },
    dimension_1: { name: 'Reporting dimension 1', values: { east: 'LAB', west: 'IMG', '': 'NONE' } },
    dimension_2: { name: 'Reporting dimension 2', values: { '': 'NONE' } },
  },
  journals: { '*': 'REV' },
};

interface TrytonMove {
  id: number;
  description: string;
  state: string;
  date: { year: number; month: number; day: number };
}

interface TrytonLine {
  move: number;
  debit: { decimal: string };
  credit: { decimal: string };
  reconciliation: number | null;
  'account.': { code: string };
}

describe.skipIf(!hasTryton)('a real Tryton', { timeout: 120_000 }, () => {
  const { owner, url } = useDatabase();
  const simulated = new SimulatedDatabase(url);
  let tryton: TrytonServer;
  let accountant: TrytonPerson;

  beforeAll(async () => {
    await simulateClock(owner);
    tryton = await openTestTryton();
    accountant = await TrytonPerson.logIn(tryton, 'admin');
  }, 120_000);
  afterAll(async () => {
    await simulated.close();
    await tryton?.release();
  });

  /** Each case has a new installation and therefore new moves, so that moves of other cases do not matter. */
  async function begin(): Promise<ContractSubject> {
    const { time, installation: plain, company, db, release, databaseId } = await newCompany({ owner, simulated });
    const mapping = parseMapping({ ...mappingData, erp: words });
    if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
    const installation = { ...plain, mapping: mapping.mapping };
    const troubles = new Troubles();
    const ours = ` · ${installation.id}/`;
    return {
      ...{ capabilities: trytonCapabilities, db, databaseId, installation, time, troubles },
      open: () => troubled(outsideTime(openTryton(configOf(tryton), ports), time), { troubles, time, company }),
      setAway: (isAway) => {
        troubles.isAway = isAway;
      },
      lock: (through) => setPeriods(through, 'close'),
      unlock: () => setPeriods('2026-12-31', 'reopen'),
      async held() {
        const moves = await accountant.call<TrytonMove[]>(
          ...(['model.account.move.search_read', [['description', 'like', `%${ours}%`]], 0, null, null] as const),
          ['description', 'state', 'date'],
        );
        const lines = await accountant.call<TrytonLine[]>(
          ...([
            'model.account.move.line.search_read',
            [['move', 'in', moves.map(({ id }) => id)]],
            0,
            null,
            null,
          ] as const),
          ['move', 'debit', 'credit', 'reconciliation', 'account.code'],
        );
        return moves.map(({ id, description, state, date: { year, month, day } }) => ({
          ...{ description: description.slice(0, description.indexOf(ours)), state },
          date: new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10),
          lines: lines
            .filter(({ move }) => move === id)
            .map(({ debit, credit, reconciliation, 'account.': { code } }) => ({
              ...{ account: code, amount: new Money(debit.decimal).minus(credit.decimal) },
              matched: reconciliation === null ? null : String(reconciliation),
            })),
        }));
      },
      misdeeds: () => [],
      close: release,
    };
  }

  /** Closes or reopens the periods of 2026 up to a day, as the accountant would. */
  async function setPeriods(through: string, how: 'close' | 'reopen'): Promise<void> {
    const [year, month, day] = through.split('-').map(Number);
    const last = { __class__: 'date', year, month, day };
    const first = { __class__: 'date', year: 2026, month: 1, day: 1 };
    const ids = await accountant.call<number[]>(
      ...([
        'model.account.period.search',
        [
          ['start_date', '>=', first],
          ['end_date', '<=', last],
        ],
        0,
        null,
        null,
      ] as const),
    );
    await accountant.call(`model.account.period.${how}`, ids);
    if (how === 'close') return;
    // Closing a period closes its journals, but reopening it does not reopen them.
    const journals = await accountant.call<number[]>(
      ...([
        'model.account.journal.period.search',
        [
          ['period', 'in', ids],
          ['state', '=', 'closed'],
        ],
        0,
        null,
        null,
      ] as const),
    );
    await accountant.call('model.account.journal.period.reopen', journals);
  }

  contractSuite(trytonCapabilities, begin, { isAlone: true, more: matchingCases });
});
