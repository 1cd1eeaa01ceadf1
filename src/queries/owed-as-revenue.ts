import type { InstallationConfig } from '../config/load-config.ts';
import type { Db } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { type OwedAsRevenue, owedAsRevenue } from '../mapping/owed.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { SourceUsage } from '../mapping/source-usage.ts';
import { storedSourceAccounts, storeSourceAccounts } from '../mirror/source-accounts.ts';
import { listAccountNumbers } from '../practice/account-numbers.ts';
import type { PracticeClient } from '../practice/client.ts';
import type { OnOutcome } from '../practice/exchange.ts';
import type { Dialect } from '../records/dialect.ts';
import type { AccountNumber } from '../records/types.ts';
import type { InstallationId } from '../terms.ts';

/** The longest wait for the source's list of accounts. After it, the stored list is used. */
const longestWaitMs = 20_000;

/** Where the list of accounts comes from. Without a client of the source, it is the stored list. */
export type AccountPorts =
  | { db: Db; practice(installation: InstallationId): PracticeClient }
  | { db: Connection; practice: null };

/** Rows that a mapping posts as revenue although their names indicate gift cards, vouchers or prepayments. */
export interface OwedFinding {
  /** Whether the names of the accounts are known. If not, only VAT groups were checked. */
  names_known: boolean;
  found: OwedAsRevenue[];
}

/** Checks the names of the accounts and VAT groups that an installation's source uses. The result is only a warning. */
export async function findOwedAsRevenue(
  ports: AccountPorts,
  { id, dialect }: Pick<InstallationConfig, 'id' | 'dialect'>,
  { rows }: Pick<SourceUsage, 'rows'>,
  mapping: Mapping,
): Promise<OwedFinding> {
  const accounts = await accountNames(ports, id, dialect);
  return { names_known: accounts !== null, found: owedAsRevenue(rows, accounts ?? [], mapping) };
}

/**
 * The list of account numbers from the source. If the source does not answer or refuses, the last stored list, if any.
 */
async function accountNames(
  ports: AccountPorts,
  installation: InstallationId,
  dialect: Dialect,
): Promise<AccountNumber[] | null> {
  if (ports.practice === null) return storedSourceAccounts(ports.db, installation);
  const { db, practice } = ports;
  // The names only serve a warning, so a source that does not answer at once is not asked again.
  const failed = new AbortController();
  const ended = AbortSignal.any([AbortSignal.timeout(longestWaitMs), failed.signal]);
  const onOutcome: OnOutcome = (error) => {
    if (error !== null && error.code !== 'throttled' && error.code !== 'unauthorized') failed.abort();
  };
  try {
    const accounts = await listAccountNumbers(practice(installation).forWindow({ signal: ended, onOutcome }), dialect);
    await storeSourceAccounts(db, installation, accounts);
    return accounts;
  } catch (error) {
    if (!(error instanceof PracticeError) && !ended.aborted) throw error;
    return storedSourceAccounts(db, installation);
  }
}
