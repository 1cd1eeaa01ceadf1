import type { InstallationConfig } from '../config/load-config.ts';
import type { Db } from '../db/pool.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { type OwedAsRevenue, owedAsRevenue } from '../mapping/owed.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { SourceUsage } from '../mapping/source-usage.ts';
import { storedSourceAccounts, storeSourceAccounts } from '../mirror/source-accounts.ts';
import { listAccountNumbers } from '../practice/account-numbers.ts';
import type { PracticeClient } from '../practice/client.ts';
import type { Dialect } from '../records/dialect.ts';
import type { AccountNumber } from '../records/types.ts';
import type { InstallationId } from '../terms.ts';

/** After it the list that was stored last is taken. */
const longestWaitMs = 20_000;

export interface AccountPorts {
  db: Db;
  practice(installation: InstallationId): PracticeClient;
}

/** Rows that a mapping posts as revenue although they are named as gift cards, vouchers or prepayments. */
export interface OwedFinding {
  /** Whether the names of the accounts are known; where not, VAT groups alone were looked at. */
  names_known: boolean;
  found: OwedAsRevenue[];
}

/** What an installation's source has used, looked at by the names of its accounts and VAT groups. It only warns. */
export async function findOwedAsRevenue(
  ports: AccountPorts,
  { id, dialect }: Pick<InstallationConfig, 'id' | 'dialect'>,
  { rows }: Pick<SourceUsage, 'rows'>,
  mapping: Mapping,
): Promise<OwedFinding> {
  const accounts = await accountNames(ports, id, dialect);
  return { names_known: accounts !== null, found: owedAsRevenue(rows, accounts ?? [], mapping) };
}

/** The account number list, asked of the source; where it does not answer, or refuses, the one that was stored last, if any. */
async function accountNames(
  { db, practice }: AccountPorts,
  installation: InstallationId,
  dialect: Dialect,
): Promise<AccountNumber[] | null> {
  const ended = AbortSignal.timeout(longestWaitMs);
  try {
    const accounts = await listAccountNumbers(practice(installation).forWindow({ signal: ended }), dialect);
    await storeSourceAccounts(db, installation, accounts);
    return accounts;
  } catch (error) {
    if (!(error instanceof PracticeError) && !ended.aborted) throw error;
    return storedSourceAccounts(db, installation);
  }
}
