import type { TrytonConfig } from '../../../config/erp.ts';
import type { Clock } from '../../../domain/clock.ts';
import { visible } from '../../../domain/text.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { erpRecordFindings, trytonTerms } from '../../../texts/findings/erp-records.ts';
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
import { asId, asList, idOf, readAs } from '../api/form.ts';
import { ApiTarget } from '../api/target.ts';
import { TrytonCalls } from './calls.ts';
import { trytonCapabilities } from './capabilities.ts';
import { TrytonChecks } from './check.ts';
import { idsOf, TrytonConnection } from './connection.ts';
import { toMove } from './moves.ts';
import { TrytonNames, type TrytonPeriod, type TrytonRecords } from './names.ts';
import { TrytonReader } from './read.ts';
import { toDate } from './wire.ts';

/** Opens the target for a Tryton server. It sends no request yet. */
export function openTryton(config: TrytonConfig, ports: { clock: Clock; log: Logger }): ErpTarget {
  return new ApiTarget(companyOf(config), new TrytonApi(config, ports));
}

export class TrytonApi implements ErpApi<TrytonRecords> {
  readonly capabilities = trytonCapabilities;
  readonly terms = trytonTerms;
  readonly records: TrytonNames;
  readonly reader: TrytonReader;
  readonly books: TrytonReader;
  readonly matching: LineMatching<TrytonRecords>;
  readonly #connection: TrytonConnection;
  readonly #calls: TrytonCalls;

  constructor(config: TrytonConfig, { clock, log }: { clock: Clock; log: Logger }) {
    this.#connection = new TrytonConnection(config, log);
    this.#calls = new TrytonCalls(this.#connection, config);
    this.records = new TrytonNames(this.#calls, clock);
    this.reader = new TrytonReader(this.#calls);
    this.books = this.reader;
    this.matching = {
      lines: (ids, request) => this.reader.lines(ids, request),
      match: (groups, request) => this.match(groups, request),
      unmatch: (lines, request) => this.unmatch(lines, request),
    };
  }

  company(request: RequestOptions): Promise<{ id: string; currency: string }> {
    return this.#calls.company(request);
  }

  forget(): void {
    this.records.clear();
  }

  async entryFault({ date }: ErpEntry, request: RequestOptions): Promise<Fault | null> {
    const period = periodOf(date, await this.records.periods(request));
    const { erp } = this.terms;
    if (period === undefined) return { code: 'erp_period_missing', message: erpRecordFindings.noPeriod({ erp, date }) };
    if (period.isOpen) return null;
    const message = erpRecordFindings.periodClosed({ erp, period: visible(period.name), date });
    return { code: 'period_closed_in_erp', message };
  }

  lineFault(
    account: TrytonRecords['account'],
    { entry: { date }, line }: Parameters<ErpApi<TrytonRecords>['lineFault']>[1],
  ): Fault | null {
    const { erp } = this.terms;
    const unknown = (reason: string): Fault => ({
      code: 'erp_account_unknown',
      message: erpRecordFindings.account({ erp, account: visible(line.account), reason }),
    });
    if (account.type === null) return unknown(erpRecordFindings.isHeading);
    if (account.isClosed) return unknown(erpRecordFindings.isClosed);
    if (account.from !== null && date < account.from) return unknown(erpRecordFindings.from({ date: account.from }));
    if (account.through !== null && date > account.through)
      return unknown(erpRecordFindings.through({ date: account.through }));
    if (account.hasSecondCurrency) return unknown(erpRecordFindings.hasSecondCurrency);
    if (account.partyRequired === (line.party !== null)) return null;
    return {
      code: 'erp_party_refused',
      message:
        line.party === null
          ? erpRecordFindings.needsParty({ account: account.code })
          : erpRecordFindings.takesNoParty({ account: account.code, party: line.party.code }),
    };
  }

  async create(entries: readonly ResolvedEntry<TrytonRecords>[], request: WriteOptions): Promise<number[]> {
    return idsOf(await this.#write('model.account.move.create', [await this.movesOf(entries, request)], request));
  }

  /** The field values of new moves. */
  async movesOf(entries: readonly ResolvedEntry<TrytonRecords>[], request: RequestOptions): Promise<JsonObject[]> {
    const { companyId } = await this.#calls.company(request);
    const periods = await this.records.periods(request);
    return entries.map((resolved) => {
      const { date, unitId } = resolved.entry;
      const period = periodOf(date, periods);
      if (period === undefined)
        throw new ErpError('unsent', erpAnswerTexts.periodNotFound({ erp: this.terms.erp, unitId: visible(unitId) }));
      return toMove(resolved, { companyId, periodId: period.id });
    });
  }

  async createParties(parties: readonly { code: string; name: string }[], request: WriteOptions): Promise<void> {
    const values = parties.map(({ code, name }) => ({ name, identifiers: [['create', [{ code }]]] }));
    await this.#write('model.party.party.create', [values], request);
  }

  async post(ids: readonly string[], request: WriteOptions): Promise<void> {
    await this.#write('model.account.move.post', [ids.map(trytonId)], request);
  }

  async withdrawDrafts(ids: readonly string[], request: WriteOptions): Promise<void> {
    await this.#write('model.account.move.delete', [ids.map(trytonId)], request);
  }

  async periods(request: RequestOptions): Promise<ErpPeriods> {
    // The periods are not read from a cache, because a user may just have closed a period.
    const list = await this.records.readPeriods(request);
    return {
      periods: list.map(({ from, through, isOpen }) => ({ from, through, isOpen, kind: 'general' })),
      lockedThrough: [],
    };
  }

  async match(groups: readonly (readonly TrytonRecords['line'][])[], request: WriteOptions): Promise<void> {
    const { companyId } = await this.#calls.company(request);
    const reconciliations = groups.map((group) => ({
      company: companyId,
      date: toDate(
        group
          .map(({ date }) => date)
          .toSorted()
          .at(-1) ?? '',
      ),
      lines: [['add', group.map(({ id }) => trytonId(id))]],
    }));
    await this.#write('model.account.move.reconciliation.create', [reconciliations], request);
  }

  /** Uses Tryton's wizard, because the group Accounting may not delete a reconciliation. */
  async unmatch(lines: readonly TrytonRecords['line'][], request: WriteOptions): Promise<void> {
    // One line of each reconciliation is enough.
    const ids = [...new Map(lines.map(({ matched, id }) => [matched, trytonId(id)])).values()];
    const wizard = 'wizard.account.move.unreconcile_lines';
    const session = readAs(await this.#write(`${wizard}.create`, [], request), (value) =>
      asId(asList(value)[0] ?? null),
    );
    const records = { active_model: 'account.move.line', active_id: ids[0] ?? null, active_ids: ids };
    await this.#write(`${wizard}.execute`, [session, {}, 'unreconcile'], request, records);
    await this.#write(`${wizard}.delete`, [session], request).catch(() => {});
  }

  check(plan: CheckPlan, request: RequestOptions): TrytonChecks {
    return new TrytonChecks({ calls: this.#calls, names: this.records, connection: this.#connection }, plan, request);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #write(method: string, params: JsonValue[], request: RequestOptions, context: JsonObject = {}): Promise<JsonValue> {
    return this.#calls.call('writes', method, params, request, context);
  }
}

function periodOf(date: CalendarDate, periods: readonly TrytonPeriod[]): TrytonPeriod | undefined {
  return periods.find(({ from, through }) => from <= date && date <= through);
}

function trytonId(id: string): number {
  return idOf('Tryton', id);
}
