// Odoo as the ERP of a life: vetledger's own target with a fake of Odoo's servers.

import { Rng } from '../../../../sandbox/src/rng.ts';
import type { OdooConfig } from '../../../../src/config/erp.ts';
import type { Capabilities } from '../../../../src/erp/capabilities.ts';
import type { ErpTarget } from '../../../../src/erp/port.ts';
import { odooCapabilities } from '../../../../src/erp/targets/odoo/capabilities.ts';
import { openOdoo } from '../../../../src/erp/targets/odoo/index.ts';
import type { HeldEntry, Misdeed } from '../../../erp/fake/server.ts';
import type { SimulatedTime } from '../../../erp/fake/time.ts';
import { apiLogin, FakeCompany } from '../../../erp/odoo/fake/company.ts';
import { OdooError } from '../../../erp/odoo/fake/errors.ts';
import type { OdooVersion } from '../../../erp/odoo/fake/schema.ts';
import type { ErpTraits, JudgedErp, LifeErp, Way } from '../erp.ts';
import { tamper } from './by-hand.ts';
import { heard, SimulatedWay } from './way.ts';

interface Flavour {
  version: OdooVersion;
  protocol: OdooConfig['protocol'];
  mayLookUp: boolean;
}

const flavours: Record<string, Flavour> = {
  'odoo 17': { version: 17, protocol: 'jsonrpc', mayLookUp: true },
  'odoo 17 without look-up': { version: 17, protocol: 'jsonrpc', mayLookUp: false },
  'odoo 18': { version: 18, protocol: 'jsonrpc', mayLookUp: true },
  'odoo 19': { version: 19, protocol: 'json2', mayLookUp: true },
  'odoo 19 without look-up': { version: 19, protocol: 'json2', mayLookUp: false },
};

export const odooFlavours = Object.keys(flavours);

const silent = { debug: () => {}, info: () => {}, warn: () => {} };

export function odooErp(traits: ErpTraits, seed: number, time: SimulatedTime): LifeErp {
  const flavour = flavours[traits.erp];
  if (flavour === undefined) throw new Error(`no Odoo ${traits.erp}`);
  return new OdooErp(flavour, traits.maxEntries, new Rng(seed, 'odoo'), time);
}

class OdooErp implements LifeErp {
  readonly judged: JudgedErp & { misdeeds: Misdeed[] };
  readonly requestsPerCall = 10;
  readonly isReviewed = true;
  /** A late import changes the entry that it names, and creates none. */
  readonly canSweepLate = false;
  readonly #company: FakeCompany;
  readonly #capabilities: Capabilities;
  readonly #rng: Rng;
  readonly #time: SimulatedTime;
  /** The state of each entry by id when the oracle last saw it. */
  readonly #seen = new Map<string, string>();

  constructor({ version, ...options }: Flavour, maxEntries: number | null, rng: Rng, time: SimulatedTime) {
    const company = new FakeCompany({ version, clock: time.clock(), ...options });
    this.#company = company;
    this.#rng = rng;
    this.#time = time;
    const { write } = odooCapabilities;
    this.#capabilities = { ...odooCapabilities, write: { ...write, max_entries: maxEntries ?? write.max_entries } };
    const dimension = { theirs: 'project', unknown: 'refused' as const };
    this.judged = {
      record: { capabilities: { ...this.#capabilities, dimensions: [dimension] } },
      misdeeds: [],
      onChange: () => undefined,
      held: () => company.held().filter(({ id }) => !company.copies.has(Number(id))),
    };
    this.#addFlaws();
  }

  /** Accounts on which an additional Odoo module does something: it fails, changes the line's account, or adds lines. */
  #addFlaws(): void {
    const { odoo } = this.#company;
    const [strange, dropped, balanced] = ['3992', '3993', '3994'].map((code) =>
      this.#company.make('account.account', { code, name: `Flawed ${code}`, account_type: 'income' }),
    );
    const other = this.#company.idOf('account.account', 'code', '450000');
    odoo.core.afterCreate = (env, moves) => {
      for (const line of env.store.rows('account.move.line')) {
        if (!moves.includes(line.move_id as number)) continue;
        if (line.account_id === dropped) env.update('account.move.line', line.id, { account_id: other });
        if (line.account_id !== balanced) continue;
        for (const sign of [1, -1]) {
          const values = { account_id: other, move_id: line.move_id ?? false, balance: sign, name: 'added' };
          env.create('account.move.line', [values]);
        }
      }
    };
    odoo.core.beforeCommit = (env, moves) => {
      const lines = env.store.rows('account.move.line').filter((line) => moves.has(line.move_id as number));
      if (!lines.some((line) => line.account_id === strange)) return;
      throw new OdooError('builtins.TypeError', "unsupported operand type(s) for +: 'NoneType' and 'int'");
    };
  }

  lock(through: string): boolean {
    const year = 'fiscalyear_lock_date';
    const other = this.#company.odoo.version === 17 ? 'period_lock_date' : year;
    try {
      this.#company.lock(through, this.#rng.pick([year, 'tax_lock_date', other]));
      return true;
    } catch (error) {
      if (error instanceof OdooError) return false;
      throw error;
    }
  }

  unlock(): void {
    this.#company.unlock();
  }

  /** An administrator removes a right of vetledger's user for a while: to look up, create, delete or read something. */
  mishap(): { is: string; end(): void } {
    const { odoo } = this.#company;
    const [model, letters] = this.#rng.pick([
      ...[['ir.model.data', 'r'] as const, ['ir.model.data', 'r'] as const],
      ...[['account.move', 'u'] as const, ['account.move', 'cw'] as const, ['account.account', 'r'] as const],
    ]);
    odoo.takeRights(apiLogin, model, letters);
    return { is: `the user has lost ${letters} of ${model}`, end: () => odoo.takeRights(apiLogin, model, '') };
  }

  tamper(rng: Rng, entries: readonly HeldEntry[]): Map<string, string> {
    return tamper(this.#company, rng, entries);
  }

  open(way: Way): ErpTarget {
    const { odoo, config } = this.#company;
    const { doubt, pace } = this.#capabilities;
    const ports = {
      ...{ odoo, time: this.#time, onDone: () => this.#tellChanges() },
      misdeed: (text: string) => void this.judged.misdeeds.push({ atMs: this.#time.nowMs, about: 'pace', text }),
      ...{ atOnce: pace.in_flight_per_company, mayWorkMs: doubt.server_may_work_seconds * 1_000 },
    };
    const clock = this.#time.clock();
    const inner = openOdoo(config, { clock, log: silent, transport: new SimulatedWay(ports, way) });
    const keysOf = (ids: readonly string[]) =>
      this.judged.held().flatMap(({ id, key }) => (ids.includes(id) && key !== null ? [key] : []));
    return {
      ...{ capabilities: this.#capabilities, company: way.company },
      find: (keys, request) => inner.find(keys, request),
      keyed: (which, request) => inner.keyed(which, request),
      create: (entries, request) =>
        heard(inner.create(entries, request), way, { kind: 'create', keys: entries.map(({ key }) => key) }),
      post: (ids, request) => heard(inner.post(ids, request), way, { kind: 'post', keys: keysOf(ids) }),
      withdrawDrafts: (ids, request) =>
        heard(inner.withdrawDrafts(ids, request), way, { kind: 'withdrawDrafts', keys: keysOf(ids) }),
      read: (ids, request, only) => inner.read(ids, request, only),
      periods: (request) => inner.periods(request),
      ...(inner.matching && { matching: inner.matching }),
      ...(inner.books && { books: inner.books }),
      check: (plan, request) => inner.check(plan, request),
      close: () => inner.close(),
    };
  }

  /** Reports the entries that are new in the books or were posted since the last request. */
  #tellChanges(): void {
    const { store } = this.#company.odoo.core;
    const changed = store.rows('account.move').filter(({ id, state }) => this.#seen.get(String(id)) !== state);
    if (changed.length === 0) return;
    for (const { id, state } of changed) this.#seen.set(String(id), String(state));
    const ids = new Set(changed.map(({ id }) => String(id)));
    for (const entry of this.judged.held()) if (ids.has(entry.id)) this.judged.onChange(entry);
  }
}
