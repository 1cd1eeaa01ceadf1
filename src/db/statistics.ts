import { type Connection, execute } from './rows.ts';

/** Rows that one piece of work adds or changes, from which on it does not wait for autovacuum, which looks once a minute. */
export const refreshStatisticsFromRows = 500;

/** Tables that grow with the clinic, by what fills them. */
const filledBy = {
  pull: ['mirror_record', 'document'],
  post: ['document', 'entry', 'entry_line', 'summary_waiting'],
  summarise: ['summary_entry', 'summary_line', 'summary_member'],
  writeBack: ['document', 'write_back'],
  deliver: ['erp_unit'],
} as const;

/**
 * Brings PostgreSQL's statistics of the tables that a piece of work has filled up to date: without them it plans the next statements
 * as if the tables were nearly empty. Each table is a transaction of its own, so that `db` is a pool and two of these never deadlock.
 */
export async function refreshStatistics(db: Connection, filled: keyof typeof filledBy): Promise<void> {
  for (const table of filledBy[filled]) await execute(db, 'select refresh_statistics(?)', [table]);
}
