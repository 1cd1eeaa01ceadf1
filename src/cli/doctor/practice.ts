import type { InstallationConfig } from '../../config/load-config.ts';
import { sum } from '../../domain/money.ts';
import { PracticeError } from '../../domain/practice-error.ts';
import type { ListAnswer, PracticeClient } from '../../practice/client.ts';
import { scrubCostPerDay, scrubStatus } from '../../queries/scrub.ts';
import { parseRecord } from '../../records/schema.ts';
import type { PrepaymentRecord, RowRecord } from '../../records/types.ts';
import type { App } from '../../runtime/app.ts';
import { usedFilters } from '../../sync/capabilities/filter-uses.ts';
import {
  type FilterFinding,
  noteFindings,
  type StoredVerdict,
  storedVerdicts,
} from '../../sync/capabilities/filters.ts';
import { probeList } from '../../sync/capabilities/probe.ts';
import { readDefaultPageSizes } from '../../sync/capabilities/server.ts';
import { certainSkewMs, skewInWords } from '../../sync/clock-remarks.ts';
import { receivedIn } from '../../sync/walk/count-proof.ts';
import { type RecordKind, recordKinds } from '../../terms.ts';
import { checkNames, listNames, doctorPracticeTexts as texts } from '../../texts/commands/doctor.ts';
import { healthCauses } from '../../texts/findings/health.ts';
import { type Answers, checkAddresses } from './addresses.ts';
import { type Check, failure } from './check.ts';

/** Checks one installation's practice API: lists, filters, clock, page size, VAT groups, refunds and department settings. */
export async function checkPractice(app: App, installation: InstallationConfig): Promise<Check[]> {
  return new Examination(app, installation).run();
}

class Examination {
  readonly #app: App;
  readonly #installation: InstallationConfig;
  readonly #client: PracticeClient;
  readonly #checks: Check[] = [];

  constructor(app: App, installation: InstallationConfig) {
    this.#app = app;
    this.#installation = installation;
    this.#client = app.practice(installation.id);
  }

  async run(): Promise<Check[]> {
    const answers: Answers = {};
    for (const kind of recordKinds) {
      const answer = await this.#list(kind);
      // The server is unreachable or refuses the credentials, so the other lists would fail, too.
      if (answer === 'stop') return this.#checks;
      if (answer) answers[kind] = answer;
    }
    const first = answers.invoice ?? Object.values(answers)[0];
    if (!first) return this.#checks;
    this.#checks.push(...checkAddresses(this.#installation, answers));
    this.#clock(first);
    this.#pageSize(answers);
    await this.#filters(answers);
    this.#vatGroups(answers);
    this.#refunds(answers);
    await this.#scrub(answers);
    await this.#departments(answers);
    return this.#checks;
  }

  #add(check: string, status: Check['status'], message: string, todo: string | null = null): void {
    this.#checks.push({ installation: this.#installation.id, check, status, message, todo });
  }

  #warn(check: string, { message, todo }: { message: string; todo: string }): void {
    this.#add(check, 'warn', message, todo);
  }

  async #list(kind: RecordKind): Promise<ListAnswer | 'stop' | null> {
    const name = checkNames.list({ list: listNames[kind] });
    try {
      const answer = await this.#client.list(kind, {}, null);
      this.#add(name, 'ok', texts.records(answer));
      return answer;
    } catch (error) {
      if (!(error instanceof PracticeError)) throw error;
      const { unreachable: _, ...failed } = failure(this.#installation.id, name, error);
      const stop = ['unreachable', 'timeout', 'unauthorized', 'redirected', 'not_json'].includes(error.code);
      this.#checks.push({ ...failed, ...(stop ? { unreachable: true } : {}) });
      return stop ? 'stop' : null;
    }
  }

  #clock(answer: ListAnswer): void {
    if (answer.clock === 'unknown') {
      this.#warn(checkNames.clock, texts.clockUnknown());
      return;
    }
    const skewMs = certainSkewMs(answer);
    if (Math.abs(skewMs) <= this.#installation.clockSkewLimitSeconds * 1000) {
      this.#add(checkNames.clock, 'ok', texts.clocksAgree);
      return;
    }
    this.#warn(checkNames.clock, texts.clockWrong({ skew: skewInWords(skewMs) }));
  }

  /** Compares the page size of each list with the configuration. A list with a single page shows no page size. */
  #pageSize(answers: Answers): void {
    const expected = this.#installation.dialect.default_page_size;
    const full = recordKinds.filter((kind) => {
      const answer = answers[kind];
      return answer !== undefined && receivedIn(answer) > 0 && receivedIn(answer) < answer.count;
    });
    const sizeOf = (answer: ListAnswer | undefined) => (answer === undefined ? expected : receivedIn(answer));
    const shown = full.map((kind) => ({ kind, size: sizeOf(answers[kind]) }));
    const others = shown.filter(({ size }) => size !== expected);
    const name = checkNames.pageSize;
    if (full.length === 0) this.#add(name, 'ok', texts.pageSizeUnknown({ expected }));
    else if (others.length === 0) this.#add(name, 'ok', `${expected}`);
    else {
      const sizes = others.map(({ kind, size }) => texts.pageSizeOf({ size, list: listNames[kind] })).join(', ');
      this.#warn(name, texts.pageSizeOther({ sizes, expected }));
    }
  }

  /** Tests each filter and stores the verdicts for the windows. An ignored filter is a warning. */
  async #filters(answers: Answers): Promise<void> {
    const { db } = this.#app;
    const { id, dialect, timezone } = this.#installation;
    const known = await storedVerdicts(db, id);
    for (const kind of recordKinds) {
      const answer = answers[kind];
      if (!answer) continue;
      const ports = {
        list: (filters: Record<string, string>) => this.#client.list(kind, filters, null),
        dialect,
        timezone,
      };
      const findings = await probeList(ports, kind, answer);
      await noteFindings(db, id, findings);
      for (const finding of findings) this.#filter(finding, known);
    }
  }

  #filter({ list, filter, verdict, reason }: FilterFinding, known: StoredVerdict[]): void {
    const name = checkNames.filter({ filter, list: listNames[list] });
    const use = usedFilters[list][filter];
    const without = use ? texts.filterWithout(use) : '';
    if (verdict === 'honoured') this.#add(name, 'ok', use ? texts.filterHonoured : texts.filterHonouredInstead);
    else if (verdict === 'ignored') {
      this.#add(
        name,
        'warn',
        texts.filterIgnored({ reason, without }),
        list === 'row' && filter === 'modified__gte' ? texts.rowChangesUnseen : texts.filterNotNeeded,
      );
    } else {
      const before = known.find((fact) => fact.list === list && fact.filter === filter && fact.verdict !== 'unknown');
      const earlier = before ? texts.filterBefore(before) : '';
      this.#add(name, 'ok', texts.filterUntestable({ reason, before: earlier, without }));
    }
  }

  #vatGroups({ row: answer }: Answers): void {
    if (!answer || answer.results.length === 0) return;
    const without = answer.results.filter(({ value }) => this.#row(value).vatGroup === null).length;
    const name = texts.vatGroupsCheck;
    if (without === 0) this.#add(name, 'ok', texts.vatGroupsKnown);
    else this.#warn(name, texts.vatGroupsMissing({ without, rows: answer.results.length }));
  }

  /** The daily cost of the scrub, and whether it will read all records in time. */
  async #scrub(answers: Answers): Promise<void> {
    const { id, dialect, scrubDays, scrubMinShare } = this.#installation;
    const name = checkNames.scrub;
    if (scrubDays === 0) {
      this.#add(name, 'ok', texts.scrubOff);
      return;
    }
    const of = (kind: RecordKind) => answers[kind]?.count ?? 0;
    const counts = { invoice: of('invoice'), row: of('row'), payment: of('payment'), prepayment: of('prepayment') };
    const pageSizes = await readDefaultPageSizes(this.#app.db, id, dialect);
    const cost = scrubCostPerDay(counts, dialect, scrubDays, scrubMinShare, pageSizes);
    const says = texts.scrubCost({ ...cost, days: scrubDays });
    const { late, forecast_at } = await scrubStatus(this.#app.db, id, scrubDays, this.#app.clock());
    if (!late) this.#add(name, 'ok', says);
    else {
      const end = forecast_at ? texts.scrubEnds({ at: forecast_at.toISOString() }) : texts.scrubReadNothing;
      this.#warn(name, { message: texts.scrubLate({ cost: says, end }), todo: healthCauses.scrubLate().todo });
    }
  }

  /** Infers from the newest prepayments whether a refund lowers the unused amount of its original (ACCOUNTING E3). */
  #refunds({ prepayment: answer }: Answers): void {
    if (!answer) return;
    const setting = this.#installation.dialect.prepayment.refund_lowers_unused_amount;
    const seen = refundsLower(
      answer.results.map(({ value }) => parseRecord('prepayment', value, this.#installation.dialect)),
    );
    const name = checkNames.refunds;
    const seenText = seen === null ? texts.refundsUnknown : seen ? texts.refundsLower : texts.refundsKeep;
    if (seen !== null && setting !== 'auto' && seen !== setting) {
      this.#warn(name, texts.refundsOther({ seen: seenText, lower: String(seen) }));
    } else this.#add(name, 'ok', seenText);
  }

  async #departments({ invoice: answer }: Answers): Promise<void> {
    const departments = new Set<number>();
    for (const { value } of answer?.results ?? []) {
      const { departmentId } = parseRecord('invoice', value, this.#installation.dialect);
      if (departmentId !== null) departments.add(departmentId);
    }
    const needed = this.#installation.mapping.policies.follow_source_lock;
    for (const department of departments) {
      const settings = await this.#client.departmentSettings(department);
      const name = checkNames.settings({ department });
      if (settings !== 'unknown')
        this.#add(name, 'ok', settings.lockDate ? texts.lockedBefore({ date: settings.lockDate }) : texts.notLocked);
      else {
        this.#add(
          name,
          needed ? 'fail' : 'warn',
          texts.lockUnreadable,
          needed ? texts.lockNeeded : texts.lockNotNeeded,
        );
      }
    }
  }

  #row(value: unknown): RowRecord {
    return parseRecord('row', value, this.#installation.dialect);
  }
}

/** Whether refunds lower the unused amount of their original. Null if no original shows it. */
export function refundsLower(prepayments: PrepaymentRecord[]): boolean | null {
  const refunds = Map.groupBy(
    prepayments.filter(({ refundsId }) => refundsId !== null),
    ({ refundsId }) => refundsId,
  );
  for (const { id, paid, unusedAmount } of prepayments) {
    const amounts = (refunds.get(id) ?? []).map((refund) => refund.paid);
    if (amounts.length === 0 || paid === null || unusedAmount === null || !amounts.every((amount) => amount !== null))
      continue;
    if (unusedAmount.equals(paid)) return false;
    if (unusedAmount.equals(paid.plus(sum(amounts)))) return true;
  }
  return null;
}
