/**
 * The daemon's metrics (listed in docs/operators/watch.md). Labels are installation ids and words of fixed lists, so that
 * their number is limited and none holds personal data. The alerts in deploy/prometheus/alerts.yaml use these metrics.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { TimedEvent } from '../../domain/events.ts';
import type { Figures } from '../../queries/figures.ts';
import { metricTexts } from '../../texts/metrics.ts';

/** The values of a scrape that do not come from events. */
export interface Readings {
  installations: readonly number[];
  version: string;
  /** Whether PostgreSQL and Temporal answer, as far as this process knows. */
  dependencies: Record<'postgres' | 'temporal', boolean>;
  pool: { used: number; free: number; waiting: number; limit: number };
  /** The requests of this process to each installation's practice API so far. */
  requests: ReadonlyMap<number, { requests: number; weight: number; throttled: number; waitedSeconds: number }>;
  /** Figures from the database, with their age; null before the first reading. */
  figures: { values: Figures; ageSeconds: number } | null;
  /** The figures of the watch over the windows for each installation. */
  watched: readonly {
    installation: number;
    intervalSeconds: number;
    paused: boolean;
    late: boolean;
    counters: { missed: number } | null;
  }[];
  nowMs: number;
}

const byInstallation = ['installation'] as const;

export class Metrics {
  readonly #registry = new Registry();
  readonly #read: () => Promise<Readings>;
  readonly #windows = this.#counter('vetledger_windows_total', metricTexts.windows_total, [
    ...byInstallation,
    'outcome',
  ]);
  readonly #delivered = this.#counter('vetledger_delivered_total', metricTexts.delivered_total, byInstallation);
  readonly #outages = this.#counter('vetledger_outages_total', metricTexts.outages_total, ['dependency']);
  readonly #gauges = this.#makeGauges();
  readonly #counted = this.#makeCounted();

  constructor(read: () => Promise<Readings>) {
    this.#read = read;
    collectDefaultMetrics({ register: this.#registry, prefix: 'vetledger_' });
    for (const dependency of ['postgres', 'temporal', 'practice_api', 'erp']) this.#outages.inc({ dependency }, 0);
  }

  /** Starts the series of an installation at 0: Prometheus sees no increase in a series that starts above 0. */
  begin(installation: number): void {
    for (const outcome of ['closed', 'failed', 'not_opened']) this.#windows.inc({ installation, outcome }, 0);
    this.#delivered.inc({ installation }, 0);
  }

  count(event: TimedEvent): void {
    switch (event.event) {
      case 'window_closed':
      case 'window_failed':
      case 'window_not_opened':
        this.#windows.inc({ installation: event.installation, outcome: event.event.replace('window_', '') });
        break;
      case 'delivery':
        this.#delivered.inc({ installation: event.installation }, event.delivered);
        break;
      case 'outage':
        this.#outages.inc({ dependency: event.dependency });
        break;
      default:
    }
  }

  /** All metrics in Prometheus' text format. */
  async text(): Promise<{ contentType: string; text: string }> {
    this.#show(await this.#read());
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #show(now: Readings): void {
    const gauges = this.#gauges;
    for (const gauge of Object.values(gauges)) gauge.reset();
    for (const counter of Object.values(this.#counted)) counter.reset();
    // `reset` sets a series without labels to 0, which would mean a backup in 1970.
    gauges.backupAt.remove();
    gauges.info.set({ version: now.version }, 1);
    for (const [dependency, isUp] of Object.entries(now.dependencies)) gauges.up.set({ dependency }, isUp ? 1 : 0);
    const { limit, ...connections } = now.pool;
    for (const [state, n] of Object.entries(connections)) gauges.pool.set({ state }, n);
    gauges.poolLimit.set(limit);
    for (const [installation, use] of now.requests) {
      this.#counted.requests.inc({ installation }, use.requests);
      this.#counted.weight.inc({ installation }, use.weight);
      this.#counted.throttled.inc({ installation }, use.throttled);
      this.#counted.waited.inc({ installation }, use.waitedSeconds);
    }
    for (const { installation, intervalSeconds, paused, late, counters } of now.watched) {
      gauges.interval.set({ installation }, intervalSeconds);
      gauges.paused.set({ installation }, paused ? 1 : 0);
      gauges.late.set({ installation }, late ? 1 : 0);
      if (counters !== null) this.#counted.missed.inc({ installation }, counters.missed);
    }
    if (now.figures === null) return;
    gauges.age.set(now.figures.ageSeconds);
    this.#showFigures(now.figures.values, now.nowMs, new Set(now.installations));
  }

  #showFigures(found: Figures, nowMs: number, served: ReadonlySet<number>): void {
    const gauges = this.#gauges;
    const of = <Row extends { installation: number }>(rows: readonly Row[]) =>
      rows.filter(({ installation }) => served.has(installation));
    const secondsSince = (at: Date) => Math.max(0, (nowMs - at.getTime()) / 1000);
    for (const { installation, synced_to, failed_in_a_row, open_since } of of(found.windows)) {
      if (synced_to !== null) {
        gauges.lag.set({ installation }, secondsSince(synced_to));
        gauges.syncedTo.set({ installation }, synced_to.getTime() / 1000);
      }
      gauges.failedInARow.set({ installation }, failed_in_a_row);
      gauges.open.set({ installation }, open_since === null ? 0 : secondsSince(open_since));
    }
    for (const { installation, code, n } of of(found.held)) gauges.held.set({ installation, code }, n);
    for (const { installation, action, ...budget } of of(found.budgets)) {
      gauges.budgetLimit.set({ installation, action }, budget.limitNow);
      gauges.budgetUsed.set({ installation, action }, budget.used);
      gauges.budgetWaiting.set({ installation, action }, budget.waiting);
      gauges.budgetBlocked.set({ installation, action }, budget.blockedUntil === null ? 0 : 1);
    }
    for (const { installation, state, n } of of(found.deliveries)) gauges.deliveries.set({ installation, state }, n);
    for (const { installation, failing } of of(found.erps)) gauges.erpFailing.set({ installation }, failing ? 1 : 0);
    for (const { installation, progress } of of(found.scrubs)) gauges.scrub.set({ installation }, progress);
    gauges.mailFailing.set(found.mailFailing ? 1 : 0);
    if (found.backup !== null) gauges.backupAt.set(found.backup.getTime() / 1000);
    const synced = new Set(
      found.windows.flatMap(({ installation, synced_to: to }) => (to === null ? [] : [installation])),
    );
    for (const { installation, ok, checked_at, failing } of of(found.verdicts)) {
      if (ok !== null) gauges.reconciled.set({ installation }, ok ? 1 : 0);
      // An installation that was never reconciled shows 0 after its first closed window. During a first load there is
      // nothing to reconcile.
      if (checked_at !== null || synced.has(installation))
        gauges.reconciledAt.set({ installation }, (checked_at?.getTime() ?? 0) / 1000);
      gauges.reconcileFailing.set({ installation }, failing ? 1 : 0);
    }
  }

  #makeGauges() {
    const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Gauge({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
    const byAction = [...byInstallation, 'action'] as const;
    return {
      info: gauge('vetledger_info', metricTexts.info, ['version']),
      interval: gauge('vetledger_schedule_interval_seconds', metricTexts.schedule_interval_seconds, byInstallation),
      late: gauge('vetledger_late', metricTexts.late, byInstallation),
      paused: gauge('vetledger_paused', metricTexts.paused, byInstallation),
      up: gauge('vetledger_dependency_up', metricTexts.dependency_up, ['dependency']),
      pool: gauge('vetledger_database_pool_connections', metricTexts.database_pool_connections, ['state']),
      poolLimit: gauge('vetledger_database_pool_limit', metricTexts.database_pool_limit),
      age: gauge('vetledger_figures_age_seconds', metricTexts.figures_age_seconds),
      lag: gauge('vetledger_lag_seconds', metricTexts.lag_seconds, byInstallation),
      syncedTo: gauge('vetledger_synced_to_timestamp_seconds', metricTexts.synced_to_timestamp_seconds, byInstallation),
      failedInARow: gauge('vetledger_failed_windows_in_a_row', metricTexts.failed_windows_in_a_row, byInstallation),
      open: gauge('vetledger_window_open_seconds', metricTexts.window_open_seconds, byInstallation),
      held: gauge('vetledger_documents_held', metricTexts.documents_held, [...byInstallation, 'code']),
      budgetLimit: gauge('vetledger_budget_limit', metricTexts.budget_limit, byAction),
      budgetUsed: gauge('vetledger_budget_used', metricTexts.budget_used, byAction),
      budgetWaiting: gauge('vetledger_budget_waiting', metricTexts.budget_waiting, byAction),
      budgetBlocked: gauge('vetledger_budget_blocked', metricTexts.budget_blocked, byAction),
      deliveries: gauge('vetledger_deliveries', metricTexts.deliveries, [...byInstallation, 'state']),
      erpFailing: gauge('vetledger_erp_failing', metricTexts.erp_failing, byInstallation),
      mailFailing: gauge('vetledger_mail_failing', metricTexts.mail_failing),
      scrub: gauge('vetledger_scrub_progress_ratio', metricTexts.scrub_progress_ratio, byInstallation),
      reconciled: gauge('vetledger_reconcile_ok', metricTexts.reconcile_ok, byInstallation),
      backupAt: gauge('vetledger_backup_timestamp_seconds', metricTexts.backup_timestamp_seconds),
      reconciledAt: gauge(
        'vetledger_reconcile_timestamp_seconds',
        metricTexts.reconcile_timestamp_seconds,
        byInstallation,
      ),
      reconcileFailing: gauge('vetledger_reconcile_failing', metricTexts.reconcile_failing, byInstallation),
    };
  }

  /** Counters whose values are kept elsewhere and copied at each scrape. */
  #makeCounted() {
    return {
      requests: this.#counter('vetledger_api_requests_total', metricTexts.api_requests_total, byInstallation),
      weight: this.#counter('vetledger_budget_taken_total', metricTexts.budget_taken_total, byInstallation),
      throttled: this.#counter('vetledger_api_throttled_total', metricTexts.api_throttled_total, byInstallation),
      missed: this.#counter('vetledger_windows_missed_total', metricTexts.windows_missed_total, byInstallation),
      waited: this.#counter(
        'vetledger_budget_waited_seconds_total',
        metricTexts.budget_waited_seconds_total,
        byInstallation,
      ),
    };
  }

  #counter<Label extends string>(name: string, help: string, labelNames: readonly Label[]) {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
  }
}
