import type { App } from '../app.ts';
import type { InstallationConfig } from '../config.ts';
import { sum } from '../domain/money.ts';
import type { InvoiceRecord, PrepaymentRecord, RowRecord } from '../domain/records.ts';
import type { ListAnswer, PracticeClient } from '../practice/client.ts';
import { PracticeError } from '../practice/errors.ts';
import { parseRecord } from '../practice/schema.ts';
import { filterTimestamp, hasOffset } from '../sync/filters.ts';
import { type RecordKind, recordKinds } from '../terms.ts';
import { type Check, failure } from './doctor.ts';

const namesOfLists = {
  invoice: 'invoices',
  row: 'invoice rows',
  payment: 'payments',
  prepayment: 'prepayments',
} as const;

/** A clock that is further off than this makes dates around midnight, and windows, hard to follow. */
const clockToleranceMs = 60_000;
const dayMs = 24 * 3_600_000;

/** Tries one installation's practice API: each list, its filters, its clock and page size, the department settings. */
export async function checkPractice(app: App, installation: InstallationConfig): Promise<Check[]> {
  return new Examination(app, installation).run();
}

type Answers = Partial<Record<RecordKind, ListAnswer>>;

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
      // Out of reach, or signed in with nothing that it accepts: the other lists would say the same.
      if (answer === 'stop') return this.#checks;
      if (answer) answers[kind] = answer;
    }
    const first = answers.invoice ?? Object.values(answers)[0];
    if (!first) return this.#checks;
    this.#clock(first);
    this.#pageSize(answers);
    await this.#filters(answers);
    this.#vatGroups(answers);
    this.#refunds(answers);
    await this.#departments(answers);
    return this.#checks;
  }

  #add(check: string, status: Check['status'], message: string, todo: string | null = null): void {
    this.#checks.push({ installation: this.#installation.id, check, status, message, todo });
  }

  async #list(kind: RecordKind): Promise<ListAnswer | 'stop' | null> {
    const name = `list of ${namesOfLists[kind]}`;
    try {
      const answer = await this.#client.list(kind, {}, null);
      this.#add(name, 'ok', `${answer.count} records`);
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
    if (answer.clock === 'local') {
      this.#add(
        'clock',
        'warn',
        'its answers carry no Date header; our own clock is used',
        'Keep this machine’s clock synchronised (NTP).',
      );
      return;
    }
    const skewMs = this.#app.clock().getTime() - answer.answeredAt.getTime();
    const seconds = Math.round(Math.abs(skewMs) / 1000);
    if (Math.abs(skewMs) <= clockToleranceMs) this.#add('clock', 'ok', 'Date header present, clocks agree');
    else
      this.#add(
        'clock',
        'warn',
        `its clock and ours are ${seconds} s apart`,
        'Synchronise this machine’s clock (NTP).',
      );
  }

  #pageSize(answers: Answers): void {
    const expected = this.#installation.dialect.default_page_size;
    const full = Object.values(answers).find(({ count, results }) => results.length < count);
    const name = 'default page size';
    if (!full) this.#add(name, 'ok', `not known yet (every list is a single page); taken as ${expected}`);
    else if (full.results.length === expected) this.#add(name, 'ok', `${expected}`);
    else {
      this.#add(
        name,
        'warn',
        `${full.results.length}, and the configuration says ${expected}`,
        `Set practice_api.default_page_size to ${full.results.length}: requests are weighed by it.`,
      );
    }
  }

  async #filters(answers: Answers): Promise<void> {
    for (const kind of recordKinds) {
      const answer = answers[kind];
      if (!answer) continue;
      await this.#idFilter(kind, answer);
      if (kind !== 'payment') await this.#modifiedFilter(kind, answer);
    }
    await this.#invoiceFilter(answers.row);
  }

  /** Asks for the records above one that is not the highest of the page. */
  async #idFilter(kind: RecordKind, answer: ListAnswer): Promise<void> {
    const ids = answer.results.map(({ id }) => id).sort((a, b) => a - b);
    const middle = ids[Math.floor((ids.length - 1) / 2)];
    const filters = middle === undefined ? null : { id__gt: String(middle) };
    await this.#filter(
      kind,
      filters,
      ({ results, count }) => results.every(({ id }) => id > middle!) && count < answer.count,
    );
  }

  /** Asks for what will change tomorrow: nothing has. */
  async #modifiedFilter(kind: RecordKind, answer: ListAnswer): Promise<void> {
    const { dialect, timezone } = this.#installation;
    const records = answer.results.map(({ value }) => parseRecord(kind, value, dialect));
    const stamp = records.find(({ modified }) => modified !== null)?.modified;
    const style = stamp && !hasOffset(stamp) ? 'naive' : 'offset';
    const tomorrow = new Date(answer.answeredAt.getTime() + dayMs);
    const filters = answer.count === 0 ? null : { modified__gte: filterTimestamp(tomorrow, style, timezone) };
    await this.#filter(kind, filters, ({ count }) => count === 0);
  }

  /** Asks for the rows of two invoices that have some. */
  async #invoiceFilter(answer: ListAnswer | undefined): Promise<void> {
    if (!answer) return;
    const invoiceOf = ({ value }: { value: unknown }) => this.#row(value).invoiceId;
    const wanted = [...new Set(answer.results.map(invoiceOf).filter((id) => id !== null))].slice(0, 2);
    const filters = wanted.length === 0 ? null : { invoice__in: wanted.join(',') };
    await this.#filter(
      'row',
      filters,
      ({ results }) => results.length > 0 && results.every((row) => wanted.includes(invoiceOf(row)!)),
    );
  }

  async #filter(
    kind: RecordKind,
    filters: Record<string, string> | null,
    honoured: (answer: ListAnswer) => boolean,
  ): Promise<void> {
    const [filter] = Object.keys(filters ?? {});
    if (!filters || filter === undefined) return;
    const name = `filter ${filter} on ${namesOfLists[kind]}`;
    try {
      if (honoured(await this.#client.list(kind, filters, null))) this.#add(name, 'ok', 'honoured');
      else
        this.#add(
          name,
          'warn',
          'ignored by this server',
          'Nothing: windows notice it and do without, with more requests.',
        );
    } catch (error) {
      if (!(error instanceof PracticeError)) throw error;
      this.#add(name, 'warn', error.message, 'Nothing: windows notice it and do without, with more requests.');
    }
  }

  #vatGroups({ row: answer }: Answers): void {
    if (!answer || answer.results.length === 0) return;
    const without = answer.results.filter(({ value }) => this.#row(value).vatGroup === null).length;
    const name = 'VAT groups of rows';
    if (without === 0) this.#add(name, 'ok', 'each row names its VAT group');
    else
      this.#add(
        name,
        'warn',
        `${without} of ${answer.results.length} rows name none`,
        'Map them by rate: `vat` with "*" and a table by rate.',
      );
  }

  /** Whether a refund lowers its original's unused amount, told from the newest prepayments (ACCOUNTING E3). */
  #refunds({ prepayment: answer }: Answers): void {
    if (!answer) return;
    const setting = this.#installation.dialect.prepayment.refund_lowers_unused_amount;
    const seen = refundsLower(
      answer.results.map(({ value }) => parseRecord('prepayment', value, this.#installation.dialect)),
    );
    const name = 'refunds of prepayments';
    const says =
      seen === null
        ? 'whether they lower unused_amount cannot be told yet'
        : seen
          ? 'they lower unused_amount'
          : 'they leave unused_amount as it was';
    if (seen !== null && setting !== 'auto' && seen !== setting) {
      this.#add(
        name,
        'warn',
        `${says}, and the configuration says otherwise`,
        `Set practice_api.prepayment.refund_lowers_unused_amount to ${seen}.`,
      );
    } else this.#add(name, 'ok', says);
  }

  async #departments({ invoice: answer }: Answers): Promise<void> {
    const departments = new Set<number>();
    for (const { value } of answer?.results ?? []) {
      const { departmentId } = parseRecord('invoice', value, this.#installation.dialect) as InvoiceRecord;
      if (departmentId !== null) departments.add(departmentId);
    }
    const needed = this.#installation.mapping.policies.follow_source_lock;
    for (const department of departments) {
      const settings = await this.#client.departmentSettings(department);
      const name = `settings of department ${department}`;
      if (settings !== 'unknown')
        this.#add(name, 'ok', settings.lockDate ? `locked before ${settings.lockDate}` : 'no period is locked');
      else {
        this.#add(
          name,
          needed ? 'fail' : 'warn',
          'its lock date cannot be read',
          needed
            ? 'Give the application the permission to read department settings: policies.follow_source_lock needs them.'
            : 'Nothing, unless policies.follow_source_lock is to be used.',
        );
      }
    }
  }

  #row(value: unknown): RowRecord {
    return parseRecord('row', value, this.#installation.dialect);
  }
}

/** True or false where an original that was refunded, and not used otherwise, tells; else null. */
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
