import { underLease } from '../../db/lease.ts';
import { deliveryErrors } from '../../texts/errors/deliveries.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { doubtInMs, foreignIn, isBehind, openClaim, takeOverAdopted } from '../claims/claim-store.ts';
import { foreignError, searchForeign } from '../claims/search-foreign.ts';
import { companyKey } from '../entry-key.ts';
import { type RequestContext, Requests, Stopped } from './delivery-requests.ts';

/** When this process last searched a company for an installation's entries, by `clock.elapsed()`. */
export type Searches = Map<string, number>;

/** Whether this database may send entries of the installation to the company. */
export type ClaimVerdict =
  /**
   * `mostEntries`: 1 for the first entry. `looksUpFirst`: the ERP has entries of this database that it does not know.
   */
  | { is: 'clear'; mostEntries: number; looksUpFirst: boolean }
  /** `ms`: null if the operator has to act first. */
  | { is: 'waiting'; for: PlainError; ms: number | null }
  /** Units have changed, or a request failed and was recorded. The next turn continues. */
  | { is: 'again' };

/** How long a process relies on its last search. */
const searchAgainMs = 15 * 60_000;
/** Delay after an incomplete answer. */
const incompleteAgainMs = 10_000;

/**
 * Checks that no other database delivers the installation to this company. The entries themselves are the claim: before
 * anything is sent, the company is searched for entries of other databases. The first entry is sent alone, and the
 * search is repeated before any other entry. So if two databases start at once, at least one of them notices the other.
 * The caller holds the company's lease. `isSending`: units are due.
 */
export async function checkClaim(
  context: RequestContext & { databaseId: string; searches: Searches },
  { isSending }: { isSending: boolean },
): Promise<ClaimVerdict> {
  const { db, lease, installation, strategy, clock, searches, target, databaseId } = context;
  const requests = new Requests(context);
  try {
    if (isSending) await requests.roomForBatch();
  } catch (error) {
    if (error instanceof Stopped) return { is: 'again' };
    throw error;
  }
  // An ERP without look-up does not show who made an entry.
  if (strategy.afterDoubt !== 'look_up')
    return { is: 'clear', mostEntries: strategy.batchEntries, looksUpFirst: false };
  const of = { company: lease.company, installation: installation.id };
  const { isClaimed, sentAgoMs } = await underLease(db, lease, (trx) => openClaim(trx, of));
  const isFirstInErp = sentAgoMs !== null;
  if (!isClaimed && !isFirstInErp) {
    const ms = await doubtInMs(db, of);
    if (ms !== null) return { is: 'waiting', for: deliveryErrors.firstInDoubt(), ms };
  }
  if (!isClaimed && isFirstInErp && sentAgoMs < strategy.seenAfterMs) {
    return { is: 'waiting', for: deliveryErrors.firstUnseen(), ms: strategy.seenAfterMs - sentAgoMs };
  }
  const name = `${companyKey(target.company)} ${installation.id}`;
  const searchedAt = searches.get(name) ?? Number.NEGATIVE_INFINITY;
  const isDue = !isClaimed || clock.elapsed() - searchedAt >= searchAgainMs;
  if (isDue && (isSending || isFirstInErp)) {
    try {
      const isComplete = await searchForeign(
        {
          ...{ db, databaseId, claim: of, target },
          ask: (send) => requests.ask(send),
          transact: (work) => underLease(db, lease, work),
        },
        { full: false, claims: isFirstInErp },
      );
      if (!isComplete) return { is: 'waiting', for: deliveryErrors.listIncomplete(), ms: incompleteAgainMs };
    } catch (error) {
      if (error instanceof Stopped) return { is: 'again' };
      throw error;
    }
    searches.set(name, clock.elapsed());
  }
  const [foreign] = await foreignIn(db, [of]);
  if (foreign !== undefined) return { is: 'waiting', for: foreignError(foreign), ms: null };
  if ((await underLease(db, lease, (trx) => takeOverAdopted(trx, of))) > 0) return { is: 'again' };
  const isOurs = isClaimed || isFirstInErp;
  return { is: 'clear', mostEntries: isOurs ? strategy.batchEntries : 1, looksUpFirst: await isBehind(db, of) };
}
