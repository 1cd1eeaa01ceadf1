import { beforeEach, describe, expect, test } from 'vitest';
import type { Figures } from '../../src/queries/figures.ts';
import { Collector } from '../../src/runtime/metrics/collector.ts';
import { Metrics, type Readings } from '../../src/runtime/metrics/metrics.ts';

const nothing: Figures = {
  ...{ windows: [], held: [], budgets: [], deliveries: [], erps: [], scrubs: [], verdicts: [] },
  mailFailing: false,
  backup: null,
};
const at = '2026-03-01T12:00:00Z';

describe('the collector', () => {
  let elapsed: number;
  let reads: number;
  let failures: unknown[];
  let read: () => Promise<Figures>;
  let collector: Collector;

  beforeEach(() => {
    elapsed = 0;
    reads = 0;
    failures = [];
    read = async () => nothing;
    collector = new Collector(
      () => {
        reads += 1;
        return read();
      },
      { failed: (error) => failures.push(error), elapsed: () => elapsed },
    );
  });

  test('reads once for scrapes that come together, and again when the figures are older than 15 s', async () => {
    await Promise.all([collector.figures(), collector.figures(), collector.figures()]);
    elapsed = 15_000;
    expect(await collector.figures()).toEqual({ values: nothing, ageSeconds: 15 });
    expect(reads).toBe(1);
    elapsed = 15_001;
    expect(await collector.figures()).toEqual({ values: nothing, ageSeconds: 0 });
    expect(reads).toBe(2);
  });

  test('keeps the last figures, with their age, where reading fails; has none before', async () => {
    read = async () => {
      throw new Error('gone');
    };
    expect(await collector.figures()).toBeNull();
    read = async () => nothing;
    await collector.figures();
    elapsed = 60_000;
    read = async () => {
      throw new Error('gone again');
    };
    expect(await collector.figures()).toEqual({ values: nothing, ageSeconds: 60 });
    expect(failures.map(String)).toEqual(['Error: gone', 'Error: gone again']);
  });
});

describe('the metrics', () => {
  const readings: Readings = {
    installations: [4711],
    version: '1.2.3',
    watched: [{ installation: 4711, intervalSeconds: 300, paused: false, late: true, counters: { missed: 2 } }],
    dependencies: { postgres: true, temporal: false },
    pool: { used: 2, free: 3, waiting: 1, limit: 12 },
    requests: new Map([[4711, { requests: 10, weight: 25, throttled: 1, waitedSeconds: 1.5 }]]),
    figures: {
      values: {
        ...nothing,
        windows: [
          {
            installation: 4711,
            synced_to: new Date(at),
            failed_in_a_row: 2,
            open_since: new Date('2026-03-01T12:09:00Z'),
          },
          { installation: 4799, synced_to: new Date(at), failed_in_a_row: 0, open_since: null },
        ],
        held: [{ installation: 4711, code: 'unmapped_vat', n: 3 }],
        budgets: [
          {
            ...{ installation: 4711, action: 'invoice.list', limit: 60, limitNow: 30, used: 12, free: 0, waiting: 1 },
            blockedUntil: new Date(at),
          },
        ],
        deliveries: [{ installation: 4711, state: 'uncertain', n: 4 }],
        erps: [{ installation: 4711, failing: true }],
        scrubs: [{ installation: 4711, progress: 0.25 }],
        verdicts: [{ installation: 4711, ok: false, checked_at: new Date(at), failing: true }],
        mailFailing: true,
        backup: new Date('2026-03-01T02:30:00Z'),
      },
      ageSeconds: 7,
    },
    nowMs: new Date('2026-03-01T12:10:00Z').getTime(),
  };
  const series = async (metrics: Metrics) =>
    (await metrics.text()).text
      .split('\n')
      .filter((line) => /^vetledger_/.test(line) && !/^vetledger_(process|nodejs)_/.test(line));

  test('each figure has its series; an installation that is not served here has none', async () => {
    const metrics = new Metrics(async () => readings);
    metrics.begin(4711);
    const run = { workflow_id: 'w', run_id: 'r' };
    const error = { code: 'c', message: 'm', todo: 't' };
    metrics.count({ time: at, event: 'window_closed', installation: 4711, window: 1, report: {}, ...run });
    metrics.count({ time: at, event: 'window_not_opened', installation: 4711, window: 2, error, ...run });
    metrics.count({
      time: at,
      event: 'delivery',
      installation: 4711,
      delivered: 5,
      refused: 1,
      left: 0,
      error: null,
      ...run,
    });
    metrics.count({ time: at, event: 'outage', dependency: 'temporal', installation: null, error });
    const expected = [
      'vetledger_windows_total{installation="4711",outcome="closed"} 1',
      'vetledger_windows_total{installation="4711",outcome="failed"} 0',
      'vetledger_windows_total{installation="4711",outcome="not_opened"} 1',
      'vetledger_delivered_total{installation="4711"} 5',
      'vetledger_outages_total{dependency="postgres"} 0',
      'vetledger_outages_total{dependency="temporal"} 1',
      'vetledger_outages_total{dependency="practice_api"} 0',
      'vetledger_outages_total{dependency="erp"} 0',
      'vetledger_info{version="1.2.3"} 1',
      'vetledger_schedule_interval_seconds{installation="4711"} 300',
      'vetledger_paused{installation="4711"} 0',
      'vetledger_late{installation="4711"} 1',
      'vetledger_windows_missed_total{installation="4711"} 2',
      'vetledger_dependency_up{dependency="postgres"} 1',
      'vetledger_dependency_up{dependency="temporal"} 0',
      'vetledger_database_pool_connections{state="used"} 2',
      'vetledger_database_pool_connections{state="free"} 3',
      'vetledger_database_pool_connections{state="waiting"} 1',
      'vetledger_database_pool_limit 12',
      'vetledger_figures_age_seconds 7',
      'vetledger_lag_seconds{installation="4711"} 600',
      'vetledger_synced_to_timestamp_seconds{installation="4711"} 1772366400',
      'vetledger_failed_windows_in_a_row{installation="4711"} 2',
      'vetledger_window_open_seconds{installation="4711"} 60',
      'vetledger_documents_held{installation="4711",code="unmapped_vat"} 3',
      'vetledger_budget_limit{installation="4711",action="invoice.list"} 30',
      'vetledger_budget_used{installation="4711",action="invoice.list"} 12',
      'vetledger_budget_waiting{installation="4711",action="invoice.list"} 1',
      'vetledger_budget_blocked{installation="4711",action="invoice.list"} 1',
      'vetledger_deliveries{installation="4711",state="uncertain"} 4',
      'vetledger_erp_failing{installation="4711"} 1',
      'vetledger_mail_failing 1',
      'vetledger_scrub_progress_ratio{installation="4711"} 0.25',
      'vetledger_reconcile_ok{installation="4711"} 0',
      'vetledger_reconcile_timestamp_seconds{installation="4711"} 1772366400',
      'vetledger_reconcile_failing{installation="4711"} 1',
      'vetledger_backup_timestamp_seconds 1772332200',
      'vetledger_api_requests_total{installation="4711"} 10',
      'vetledger_budget_taken_total{installation="4711"} 25',
      'vetledger_api_throttled_total{installation="4711"} 1',
      'vetledger_budget_waited_seconds_total{installation="4711"} 1.5',
    ];
    expect((await series(metrics)).sort()).toEqual(expected.sort());
    // A second scrape must not count anything twice.
    expect((await series(metrics)).sort()).toEqual(expected.sort());
  });

  test('books that were never reconciled have the age of 1970 once a window has closed, and none in a first load', async () => {
    const of = (synced_to: Date | null) => ({
      ...nothing,
      windows: [{ installation: 4711, synced_to, failed_in_a_row: 0, open_since: null }],
      verdicts: [{ installation: 4711, ok: null, checked_at: null, failing: false }],
    });
    const told = async (synced_to: Date | null) =>
      (
        await series(new Metrics(async () => ({ ...readings, figures: { values: of(synced_to), ageSeconds: 0 } })))
      ).filter((line) => line.startsWith('vetledger_reconcile'));
    const failing = 'vetledger_reconcile_failing{installation="4711"} 0';
    const never = 'vetledger_reconcile_timestamp_seconds{installation="4711"} 0';
    expect((await told(new Date(at))).sort()).toEqual([failing, never]);
    expect(await told(null)).toEqual([failing]);
  });

  test('what is no longer so is no longer shown', async () => {
    let now = readings;
    const metrics = new Metrics(async () => now);
    expect((await series(metrics)).join('\n')).toContain('unmapped_vat');
    now = { ...readings, figures: { values: nothing, ageSeconds: 0 } };
    expect((await series(metrics)).join('\n')).not.toMatch(/unmapped_vat|vetledger_backup/);
  });
});
