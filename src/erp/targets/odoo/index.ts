import type { OdooConfig } from '../../../config/erp.ts';
import type { Clock } from '../../../domain/clock.ts';
import { visible } from '../../../domain/text.ts';
import type { JsonObject } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { erpRecordFindings, odooTerms } from '../../../texts/findings/erp-records.ts';
import { companyOf } from '../../company.ts';
import type { Logger } from '../../deliver/slice.ts';
import type { ErpEntry } from '../../erp-entry.ts';
import {
  type CheckPlan,
  ErpError,
  type ErpPeriods,
  type ErpTarget,
  type RequestOptions,
  type WriteOptions,
} from '../../port.ts';
import type { ErpApi, Fault, LineMatching, ResolvedEntry } from '../api/erp-api.ts';
import { idOf, readAs } from '../api/form.ts';
import { ApiTarget } from '../api/target.ts';
import { type Company, OdooCalls } from './calls.ts';
import { odooCapabilities } from './capabilities.ts';
import { OdooChecks } from './check.ts';
import { openCompany } from './company.ts';
import { OdooConnection, type OdooTransport } from './connection.ts';
import { withdrawDrafts } from './drafts.ts';
import { findExternalIds, keyInExternalId, maySearch, moveIdOf, partyIdOf } from './external-ids.ts';
import { keepLines, load } from './load.ts';
import { readLocks } from './locks.ts';
import { toTable } from './moves.ts';
import { OdooNames, type OdooRecords } from './names.ts';
import { OdooReader } from './read.ts';
import { taxFault } from './taxes.ts';
import { asTimeOrNull } from './wire.ts';

export interface OdooPorts {
  clock: Clock;
  log: Logger;
  /** The transport of requests. Default: HTTP. */
  transport?: OdooTransport;
}

/** How long the company, its currency and Odoo's version are cached. */
const companyKeptMs = 600_000;
/** Odoo calculates with binary floating-point numbers, which store this many digits exactly. */
const mostDigits = 15;

/** Opens the target for an Odoo server. It sends no request yet. */
export function openOdoo(config: OdooConfig, ports: OdooPorts): ErpTarget {
  return new ApiTarget(companyOf(config), new OdooApi(config, ports));
}

class OdooApi implements ErpApi<OdooRecords> {
  readonly capabilities = odooCapabilities;
  readonly terms = odooTerms;
  readonly records: OdooNames;
  readonly reader: OdooReader;
  readonly books: OdooReader;
  readonly matching: LineMatching<OdooRecords>;
  readonly taxFault = taxFault;
  readonly #config: OdooConfig;
  readonly #clock: Clock;
  readonly #connection: OdooConnection;
  readonly #calls: OdooCalls;
  #company: { is: Company; until: number } | null = null;

  constructor(config: OdooConfig, { clock, log, transport }: OdooPorts) {
    this.#config = config;
    this.#clock = clock;
    this.#connection = new OdooConnection(config, log, transport);
    this.#calls = new OdooCalls(this.#connection, (request) => this.company(request));
    this.records = new OdooNames(this.#calls, clock);
    this.reader = new OdooReader(this.#calls, this.records);
    this.books = this.reader;
    this.matching = {
      lines: (ids, request) => this.reader.lines(ids, request),
      match: (groups, request) => this.match(groups, request),
      unmatch: (lines, request) => this.unmatch(lines, request),
    };
  }

  async company(request: RequestOptions): Promise<Company> {
    const now = this.#clock.elapsed();
    if (this.#company === null || this.#company.until <= now) {
      this.#company = {
        is: await openCompany(this.#config, this.#connection, request),
        until: now + companyKeptMs,
      };
    }
    return this.#company.is;
  }

  forget(error?: unknown): void {
    this.records.clear();
    if (error instanceof ErpError && error.means === 'auth') this.#company = null;
  }

  lineFault(
    account: OdooRecords['account'],
    { entry, line, journal }: Parameters<ErpApi<OdooRecords>['lineFault']>[1],
  ): Fault | null {
    const { erp } = this.terms;
    const unknown = (reason: string): Fault => ({
      code: 'erp_account_unknown',
      message: erpRecordFindings.account({ erp, account: visible(line.account), reason }),
    });
    if (line.amount.precision(true) > mostDigits) {
      const amount = line.amount.toFixed();
      return { code: 'erp_refused', message: erpRecordFindings.amountTooLong({ erp, amount, most: mostDigits }) };
    }
    if (!account.isActive) return unknown(erpRecordFindings.isArchived);
    if (account.currencyId !== null) return unknown(erpRecordFindings.hasCurrency);
    if (journal !== null && account.journalIds.length > 0 && !account.journalIds.includes(journal.id))
      return unknown(erpRecordFindings.notInJournal({ journal: visible(entry.journal) }));
    return null;
  }

  /**
   * Creates moves with Odoo's import, which sets the external ids of each move and line in the same transaction. It
   * does not send a key that Odoo already has, because the import would overwrite that move.
   */
  async create(entries: readonly ResolvedEntry<OdooRecords>[], request: WriteOptions): Promise<number[]> {
    const { features } = await this.company(request);
    const sent = entries.map(({ entry }) => entry);
    const known = await this.#present(sent, request);
    if (known.length > 0) {
      throw new ErpError('duplicate', erpAnswerTexts.alreadyThere({ erp: this.terms.erp }), { keys: known });
    }
    return load(this.#calls, 'account.move', toTable(entries, features), request, sent);
  }

  /** Keys that Odoo already has. A user who may not search external ids searches the likely places by reference. */
  async #present(entries: readonly ErpEntry[], request: RequestOptions): Promise<string[]> {
    const keys = entries.map(({ key, date }) => ({ key, dates: [date], since: null }));
    if (await maySearch(this.#calls, request)) {
      const wanted = keys.map(({ key }) => moveIdOf(key));
      const ids = await findExternalIds(this.#calls, 'account.move', wanted, request);
      return [...ids.keys()].flatMap((id) => keyInExternalId(id) ?? []);
    }
    const found = new Set((await this.reader.likely(keys, request)).map(({ key }) => key));
    return keys.flatMap(({ key }) => (found.has(key) ? [key] : []));
  }

  /** Creates partners with our client id as external id and as reference. */
  async createParties(parties: readonly { code: string; name: string }[], request: WriteOptions): Promise<void> {
    const { companyId } = await this.company(request);
    const table = {
      fields: ['id', 'name', 'ref', 'company_id/.id'],
      data: parties.map(({ code, name }) => [partyIdOf(companyId, code), name, code, String(companyId)]),
    };
    await load(this.#calls, 'res.partner', table, request);
  }

  async post(ids: readonly string[], request: WriteOptions): Promise<void> {
    if (ids.length > 0) await this.#write('account.move', 'action_post', ids, keepLines, request);
  }

  withdrawDrafts(ids: readonly string[], request: RequestOptions): Promise<void> {
    return withdrawDrafts(this.#calls, ids.map(odooId), request);
  }

  periods(request: RequestOptions): Promise<ErpPeriods> {
    return readLocks(this.#calls, request);
  }

  async match(groups: readonly (readonly OdooRecords['line'][])[], request: WriteOptions): Promise<void> {
    const context = await this.#branch(request);
    // One group per request: Odoo matches all lines of an account in a request with each other.
    for (const group of groups) {
      const ids = group.map(({ id }) => id);
      await this.#write('account.move.line', 'reconcile', ids, context, request);
    }
  }

  async unmatch(lines: readonly OdooRecords['line'][], request: WriteOptions): Promise<void> {
    const ids = lines.map(({ id }) => id);
    await this.#write('account.move.line', 'remove_move_reconcile', ids, await this.#branch(request), request);
  }

  /** A context with the parent companies. Matching lines of a branch reads settings of its parents. */
  async #branch(request: RequestOptions): Promise<JsonObject> {
    return { allowed_company_ids: (await this.company(request)).usable };
  }

  /** Calls a method that returns nothing in some versions. The caller reads its effect back. */
  async #write(
    model: string,
    method: string,
    ids: readonly string[],
    context: JsonObject,
    request: WriteOptions,
  ): Promise<void> {
    const call = { model, method, ids: ids.map(odooId), context, returnsNothing: true } as const;
    await this.#calls.call('writes', call, request);
  }

  async expiries(request: RequestOptions): Promise<{ name: string; at: Date }[]> {
    const { features, userId } = await this.company(request);
    if (!features.hasKeyExpiry) return [];
    const domain = [['user_id', '=', userId]];
    const keys = await this.#calls.all('res.users.apikeys', { domain, fields: ['name', 'expiration_date'] }, request);
    return keys.flatMap(({ name, expiration_date: date }) => {
      const at = readAs(date ?? null, asTimeOrNull);
      return at === null ? [] : [{ name: typeof name === 'string' ? visible(name) : '', at }];
    });
  }

  check(plan: CheckPlan, request: RequestOptions): OdooChecks {
    return new OdooChecks(this.#calls, plan, request);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}

function odooId(id: string): number {
  return idOf('Odoo', id);
}
