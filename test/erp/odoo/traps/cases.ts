// Cases in which Odoo does something else than requested, with the required behaviour of vetledger's target.

import { deepStrictEqual, ok, rejects } from 'node:assert/strict';
import type { OdooConfig } from '../../../../src/config/erp.ts';
import { Money } from '../../../../src/domain/money.ts';
import { compareEntry } from '../../../../src/erp/compare.ts';
import { entryKey } from '../../../../src/erp/entry-key.ts';
import type { ErpEntry, ErpLine, FoundEntry } from '../../../../src/erp/erp-entry.ts';
import type { ErpError, ErpTarget } from '../../../../src/erp/port.ts';
import { openOdoo } from '../../../../src/erp/targets/odoo/index.ts';
import { apiLogin, FakeCompany } from '../fake/company.ts';
import type { OdooVersion } from '../fake/schema.ts';
import { ChangedWay, type WireMutant } from './wire.ts';

export interface TrapCase {
  versions: OdooVersion[];
  run(trap: Trap): Promise<void>;
}

const request = { signal: new AbortController().signal, priority: 0, attemptId: 'attempt' };
const silent = { debug: () => {}, info: () => {}, warn: () => {} };
const day = '2026-03-02';
const nowMs = Date.parse('2026-03-06T06:00:00Z');

/** A company of the fake, and a target whose calls a mutant may change. */
export class Trap {
  readonly fake: FakeCompany;
  readonly way: ChangedWay;
  target: ErpTarget;
  readonly #open: () => ErpTarget;
  #entries = 0;

  constructor(
    version: OdooVersion,
    mutant: WireMutant = {},
    config: (fake: FakeCompany) => Partial<OdooConfig> = () => ({}),
  ) {
    const clock = { now: () => nowMs, elapsed: () => nowMs, sleep: async () => {} };
    this.fake = new FakeCompany({ version, clock });
    this.way = new ChangedWay(this.fake.odoo, mutant);
    const changed = { ...this.fake.config, ...config(this.fake) };
    this.#open = () => openOdoo(changed, { clock, log: silent, transport: this.way });
    this.target = this.#open();
  }

  /** Opens a new target without the memory of the old one, like another process. */
  reopen(): void {
    this.target = this.#open();
  }

  /** A sale of 100.00 with 25.50 of VAT. */
  sale(changes: Partial<ErpEntry> & { party?: ErpLine['party']; account?: string } = {}): ErpEntry {
    const unitId = `4711/invoice/${++this.#entries}/1`;
    const {
      party = { code: 'CASH', isOurs: false, name: null, vatNumber: null, countryCode: null },
      account = '3000',
      ...rest
    } = changes;
    const vat = (part: 'base' | 'tax') => ({ code: 'S25', part, base: null, rate: null });
    const line = (of: string, amount: string, more: Partial<ErpLine>): ErpLine => ({
      ...{ account: of, role: 'revenue', side: amount.startsWith('-') ? 'credit' : 'debit', description: 'a line' },
      ...{
        amount: new Money(amount.replace('-', '')),
        party: null,
        vat: null,
        dimensions: {},
        openItem: null,
        dueDate: null,
      },
      ...more,
    });
    return {
      ...{ key: entryKey('test', unitId), unitId, installation: 4711, date: day, journal: 'SALES' },
      ...{ description: `Invoice ${this.#entries}`, reference: null, reverses: null },
      lines: [
        line('1700', '125.50', { role: 'receivable', party }),
        line(account, '-100', { vat: vat('base') }),
        line('2931', '-25.50', { role: 'vat', vat: vat('tax') }),
      ],
      ...rest,
    };
  }

  async create(...entries: ErpEntry[]): Promise<string[]> {
    const ids = await this.target.create(entries, request);
    return entries.map(({ key }) => ids.get(key) ?? '');
  }

  async read(id: string): Promise<FoundEntry> {
    const [found] = await this.target.read([id], request);
    ok(found, 'it is not there');
    return found;
  }

  /** The differences between the sent entry and the entry that the target reads back. */
  async differences(entry: ErpEntry, id: string): Promise<string[]> {
    const found = await this.read(id);
    const { capabilities } = this.target;
    return compareEntry(entry, found, { capabilities, decimals: 2 }).map(({ what }) => what);
  }

  /** Creates and posts an entry. It must be unchanged both for the target and in the books. */
  async isAsSent(entry: ErpEntry): Promise<void> {
    const [id = ''] = await this.create(entry);
    await this.target.post([id], request);
    deepStrictEqual(await this.differences(entry, id), []);
    const held = this.fake.held().find((one) => one.id === id);
    const told = held?.lines.map(({ account, amount, vat }) => {
      const taxes = vat.map(({ part, amount: counted }) => `${part} ${counted.toFixed(2)}`);
      return [account, amount.toFixed(2), ...taxes].join(' ');
    });
    const sent = entry.lines.map(({ account, side, amount, vat }) => {
      const signed = (side === 'debit' ? amount : amount.negated()).toFixed(2);
      return [account, signed, ...(vat === null ? [] : [`${vat.part} ${signed}`])].join(' ');
    });
    deepStrictEqual(told, sent);
  }

  find(key: string): Promise<{ found: FoundEntry[] }> {
    return this.target.find([{ key, dates: [day], since: null }], request);
  }
}

const everywhere: OdooVersion[] = [17, 18, 19];
const refusedFor = (problem: string) => (error: unknown) => (error as ErpError).problem === problem;

/** The locks that Odoo reports, latest first, are those that it applies when it posts. */
async function tellsLock(trap: Trap, field: string): Promise<void> {
  trap.fake.lock('2026-02-28', field);
  const { lockedThrough } = await trap.target.periods(request);
  deepStrictEqual(
    lockedThrough.map(({ date }) => date),
    ['2026-02-28'],
  );
}

export const trapCases: Record<string, TrapCase> = {
  'a sale with VAT is as it was sent': { versions: everywhere, run: (trap) => trap.isAsSent(trap.sale()) },
  'an account’s own tax is not added': {
    versions: everywhere,
    async run(trap) {
      const { odoo } = trap.fake;
      const tax = trap.fake.idOf('account.tax', 'name', 'S25');
      odoo
        .inside()
        .update('account.account', trap.fake.idOf('account.account', 'code', '3000'), { tax_ids: [[6, 0, [tax]]] });
      await trap.isAsSent(trap.sale());
    },
  },
  'a rule for analytic accounts fills nothing in': {
    versions: everywhere,
    async run(trap) {
      const east = trap.fake.idOf('account.analytic.account', 'code', 'east');
      const values = { account_prefix: '30', analytic_distribution: { [east]: 100 } };
      trap.fake.make('account.analytic.distribution.model', values);
      const [id = ''] = await trap.create(trap.sale());
      deepStrictEqual(
        (await trap.read(id)).lines.map(({ dimensions }) => dimensions),
        [{}, {}, {}],
      );
    },
  },
  'an entry that is there is not created again, nor written to': {
    versions: everywhere,
    async run(trap) {
      const entry = trap.sale();
      const [id = ''] = await trap.create(entry);
      await trap.target.post([id], request);
      const other = { ...entry, lines: trap.sale({ account: '3010' }).lines };
      await rejects(trap.create(other), ({ means }: ErpError) => means === 'duplicate');
      deepStrictEqual(await trap.differences(entry, id), []);
      deepStrictEqual(trap.fake.held().length, 1);
    },
  },
  'a creation that takes effect twice adds no lines': {
    versions: everywhere,
    async run(trap) {
      const entry = trap.sale();
      const [id = ''] = await trap.create(entry);
      await trap.way.repeat('load');
      deepStrictEqual((await trap.read(id)).lines.length, 3);
    },
  },
  'a locked fiscal year is told': { versions: everywhere, run: (trap) => tellsLock(trap, 'fiscalyear_lock_date') },
  'locked taxes are told': { versions: everywhere, run: (trap) => tellsLock(trap, 'tax_lock_date') },
  'a locked period is told': { versions: [17], run: (trap) => tellsLock(trap, 'period_lock_date') },
  'locked sales are told': { versions: [18, 19], run: (trap) => tellsLock(trap, 'sale_lock_date') },
  'a hard lock is told': { versions: [18, 19], run: (trap) => tellsLock(trap, 'hard_lock_date') },
  'a lock of the parent company is told': {
    versions: everywhere,
    async run(trap) {
      trap.fake.lock('2026-02-28');
      const { lockedThrough } = await trap.target.periods(request);
      deepStrictEqual(
        lockedThrough.map(({ date }) => date),
        ['2026-02-28'],
      );
    },
  },
  'an entry that Odoo has moved to another day differs': {
    versions: everywhere,
    async run(trap) {
      const entry = trap.sale({ date: '2026-01-30' });
      trap.fake.lock('2026-01-31', 'tax_lock_date');
      const [id = ''] = await trap.create(entry);
      await trap.target.post([id], request);
      deepStrictEqual(trap.fake.held()[0]?.date === '2026-01-30', false);
      deepStrictEqual(await trap.differences(entry, id), ['date']);
    },
  },
  'an error is known whatever the user’s language': {
    versions: everywhere,
    async run(trap) {
      const { odoo } = trap.fake;
      const env = odoo.inside();
      for (const { id } of odoo.core.store.rows('res.lang')) env.update('res.lang', id, { active: true });
      env.write('res.users', [odoo.userOf(apiLogin).id], { lang: 'fi_FI' });
      await trap.create(trap.sale());
      // Deletes what the target remembers.
      odoo.core.store.remove('account.account', trap.fake.idOf('account.account', 'code', '3000'));
      await rejects(trap.create(trap.sale()), refusedFor('erp_account_unknown'));
    },
  },
  'an entry is in the company that the configuration names': {
    versions: everywhere,
    async run(trap) {
      const [id = ''] = await trap.create(trap.sale());
      const move = trap.fake.odoo.core.store.get('account.move', Number(id));
      deepStrictEqual(move?.company_id, trap.fake.odoo.core.store.rows('res.company').at(-1)?.id);
    },
  },
  'a client is the same contact, whatever its name': {
    versions: everywhere,
    async run(trap) {
      const party = (name: string) => ({
        code: '4711/client/5',
        isOurs: true,
        name,
        vatNumber: null,
        countryCode: null,
      });
      await trap.create(trap.sale({ party: party('Ann') }));
      const { store } = trap.fake.odoo.core;
      const before = store.rows('res.partner').length;
      trap.reopen();
      await trap.create(trap.sale({ party: party('Ann, married') })).catch(() => undefined);
      deepStrictEqual([store.rows('res.partner').length, trap.fake.held().length], [before, 2]);
    },
  },
  'a text that quotes another entry’s key is not taken for it': {
    versions: everywhere,
    async run(trap) {
      const other = trap.sale();
      const [id] = await trap.create(trap.sale({ description: `corrects [${other.key}]` }));
      ok(id);
      deepStrictEqual((await trap.find(other.key)).found, []);
    },
  },
  'without the right to search external ids an entry is found by its reference': {
    versions: everywhere,
    async run(trap) {
      const entry = trap.sale();
      const [id = ''] = await trap.create(entry);
      trap.fake.odoo.takeRights(apiLogin, 'ir.model.data', 'r');
      deepStrictEqual(
        (await trap.find(entry.key)).found.map((found) => found.id),
        [id],
      );
    },
  },
  'an entry whose external id is gone is found by its reference': {
    versions: everywhere,
    async run(trap) {
      const entry = trap.sale();
      const [id = ''] = await trap.create(entry);
      const { store } = trap.fake.odoo.core;
      for (const { id: row, module } of store.rows('ir.model.data')) {
        if (module === 'vetledger') store.remove('ir.model.data', row);
      }
      deepStrictEqual(
        (await trap.find(entry.key)).found.map((found) => found.id),
        [id],
      );
    },
  },
  'drafts are deleted although one of them was posted meanwhile': {
    versions: everywhere,
    async run(trap) {
      const [draft = '', posted = ''] = await trap.create(trap.sale(), trap.sale());
      await trap.target.post([posted], request);
      await trap.target.withdrawDrafts([draft, posted], request).catch(() => undefined);
      deepStrictEqual(
        trap.fake.held().map(({ id }) => id),
        [posted],
      );
    },
  },
  'lines of a draft are not matched': {
    versions: everywhere,
    async run(trap) {
      const sale = trap.sale();
      const back = {
        ...trap.sale(),
        lines: sale.lines.map((line) => ({
          ...line,
          side: line.side === 'debit' ? ('credit' as const) : ('debit' as const),
        })),
      };
      const ids = await trap.create(sale, back);
      const lines: string[] = [];
      for (const id of ids) lines.push((await trap.read(id)).lines.find(({ account }) => account === '1700')?.id ?? '');
      await rejects(async () => trap.target.matching?.match([lines], request), refusedFor('erp_refused'));
      deepStrictEqual(trap.fake.odoo.core.store.rows('account.partial.reconcile'), []);
    },
  },
};

/** The cases that need another configuration: a branch of the company. */
const inBranch = new Set([
  'a lock of the parent company is told',
  'an entry is in the company that the configuration names',
]);

/** Runs a case. Throws AssertionError if it fails. */
export async function runTrap(name: string, version: OdooVersion, mutant: WireMutant = {}): Promise<void> {
  const found = trapCases[name];
  if (found === undefined) throw new Error(`no case ${name}`);
  const config = inBranch.has(name) ? addBranch : () => ({});
  await found.run(new Trap(version, mutant, config));
}

/** Creates a branch that the user may use in addition to the company. */
function addBranch(fake: FakeCompany): Partial<OdooConfig> {
  const env = fake.odoo.inside();
  const parent = fake.company.id;
  const branch = fake.make('res.company', { name: 'Branch', parent_id: parent });
  env.write('res.users', [fake.odoo.userOf(apiLogin).id], { company_ids: [[6, 0, [parent, branch]]] });
  return { company: String(branch) };
}
