import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { type Money, sum } from '../domain/money.ts';
import { entryRecords } from '../ledger/journal/entry-records.ts';
import { loadEntries } from '../ledger/journal/read-entries.ts';
import { loadSummaries } from '../ledger/summaries/read-summaries.ts';
import type { DailySummary } from '../ledger/summaries/summary.ts';
import type { AccountNames } from '../mapping/account-names.ts';
import { readAccountNames } from '../reports/account-names.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { deliveriesOf, type UnitDelivery } from './delivery-status.ts';

/** A daily summary with its entries and their documents. */
export interface ExplainedSummary {
  summary: DailySummary;
  /** The entries of the summary, in the order of the journal. */
  members: SummaryMember[];
  /** The delivery of the summary, followed by its undos; empty if nothing is delivered. */
  deliveries: UnitDelivery[];
  names: AccountNames;
  timezone: string;
  decimals: number;
}

export interface SummaryMember {
  entry: string;
  document: DocumentRef;
  voucher: string | null;
  reason: string;
  description: string;
  /** The sum of the entry's debits. */
  amount: Money;
}

/** The id of a daily summary with its installation; null if the text is none. */
export function summaryOfCode(code: string): { installation: InstallationId; summary: string } | null {
  const [, installation] = /^(\d{1,15})\/summary\/\d{4}-\d\d-\d\d-(?:\d{1,15}|none)\/\d{1,9}$/.exec(code) ?? [];
  return installation === undefined ? null : { installation: Number(installation), summary: code };
}

/** The summary with its entries. Throws LedgerError `entry_missing` if the ledger has none with this id. */
export async function explainSummary(
  db: Connection,
  installation: InstallationConfig,
  id: string,
): Promise<ExplainedSummary> {
  const [summary] = await loadSummaries(db, [id]);
  if (summary === undefined) throw new Error(`summary ${id} was not loaded`);
  const ids = summary.members.map(({ entryId }) => entryId);
  const records = await entryRecords(db, ids);
  return {
    summary,
    members: (await loadEntries(db, ids)).map(({ id: entry, document, reason, description, lines }) => ({
      ...{ entry, document, reason, description, voucher: records.get(entry)?.voucher ?? null },
      amount: sum(lines.flatMap(({ side, amount }) => (side === 'debit' ? [amount] : []))),
    })),
    deliveries: (await deliveriesOf(db, installation.id, [id])).get(id) ?? [],
    names: await readAccountNames(db, installation),
    timezone: installation.timezone,
    decimals: installation.decimals,
  };
}
