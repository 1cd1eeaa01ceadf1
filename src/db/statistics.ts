import { type Connection, execute } from './rows.ts';

/**
 * Work that adds or changes this many rows refreshes the statistics itself, since autovacuum checks only once a minute.
 */
export const refreshStatisticsFromRows = 500;

/** Tables that grow with the clinic, by the work that fills them. */
const filledBy = {
  pull: ['mirror_record', 'document'],
  post: ['document', 'entry', 'entry_line', 'summary_waiting'],
  summarise: ['summary_entry', 'summary_line', 'summary_member'],
  writeBack: ['document', 'write_back'],
  deliver: ['erp_unit'],
} as const;

/**
 * Refreshes PostgreSQL's statistics of the tables that some work has filled. Without them, PostgreSQL plans the next
 * statements as if the tables were nearly empty. Pass a pool as `db`: each table gets its own transaction, so that two
 * calls never deadlock.
 */
export async function refreshStatistics(db: Connection, filled: keyof typeof filledBy): Promise<void> {
  for (const table of filledBy[filled]) await execute(db, 'select refresh_statistics(?)', [table]);
}
