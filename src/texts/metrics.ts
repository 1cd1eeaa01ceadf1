import { catalogue } from './catalogue.ts';

/** Help texts of the daemon's metrics, by the metric's name without the prefix `vetledger_`. */
export const metricTexts = catalogue('metrics.metricTexts', {
  windows_total: 'Windows that ended in this process, by outcome: closed, failed, not_opened.',
  delivered_total: 'Entries and daily summaries that the ERP has, as this process has confirmed.',
  outages_total: 'Outages that this process has found, by service.',
  info: '1, with the version of the program.',
  schedule_interval_seconds: 'Current time between two windows.',
  late: '1 if no window has closed for more than two intervals, otherwise 0; 0 while the windows are paused.',
  paused: '1 while the windows are paused, otherwise 0.',
  dependency_up: '1 if a service that all installations need answers, otherwise 0.',
  database_pool_connections: 'Connections to PostgreSQL by state: used, free, and waited for.',
  database_pool_limit: 'Limit of connections to PostgreSQL.',
  figures_age_seconds: 'Age of the figures that come from the database.',
  lag_seconds: 'Age of the source state that the books reflect; absent before the first window has closed.',
  synced_to_timestamp_seconds:
    'Time of the source state that the books reflect, in Unix time; absent before the first window has closed.',
  failed_windows_in_a_row: 'Windows that failed since the last one that closed.',
  window_open_seconds: 'Time since the open window opened; 0 if no window is open.',
  documents_held: 'Documents with a problem, by its code.',
  budget_limit: 'Weight that a rate budget now allows in a rolling window.',
  budget_used: 'Used weight of a rate budget.',
  budget_waiting: 'Processes that wait for a rate budget.',
  budget_blocked: '1 while the source accepts no request (429), otherwise 0.',
  deliveries: 'Entries and daily summaries for the ERP, by state.',
  erp_failing: '1 if the last answer of the ERP is an error, otherwise 0.',
  mail_failing: '1 while a mail waits that could not be sent, otherwise 0.',
  scrub_progress_ratio: 'Share of the current scrub pass that is read, from 0 to 1.',
  reconcile_ok: '1 if the last reconciliation found no difference, otherwise 0.',
  backup_timestamp_seconds:
    'Time of the last successful run of backup.sh, in Unix time; before the first backup, the creation of the tables.',
  reconcile_timestamp_seconds:
    'Time of the last reconciliation, in Unix time; 0 if there was none although a window has closed.',
  reconcile_failing: '1 if the last attempt of a daemon to reconcile failed, otherwise 0.',
  api_requests_total: 'Requests to the practice API.',
  budget_taken_total: 'Weight of the requests to the practice API.',
  api_throttled_total: 'Answers 429 of the practice API.',
  windows_missed_total: 'Windows of the Schedule that Temporal could not start in time.',
  budget_waited_seconds_total: 'Time spent waiting for the rate budgets.',
});
