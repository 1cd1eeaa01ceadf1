import { underLease } from '../../db/lease.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { doubtInMs, foreignIn, isBehind, openClaim, takeOverAdopted } from '../claims/claim-store.ts';
import { foreignError, look } from '../claims/look.ts';
import { companyKey } from '../entry-key.ts';
import { type RequestContext, Requests, Stopped } from './delivery-requests.ts';

/** When this process last looked at a company for an installation's entries, by its clock. */
export type Looks = Map<string, number>;

/** Whether the company takes this database's entries of the installation. */
export type ClaimVerdict =
  /** `mostEntries`: the first entry is sent alone. `looksUpFirst`: the ERP has entries that this database does not remember. */
  | { is: 'clear'; mostEntries: number; looksUpFirst: boolean }
  /** `ms` null: until somebody does something. */
  | { is: 'waiting'; for: PlainError; ms: number | null }
  /** Units have changed, or a request failed, which is noted with the company: the next turn goes on. */
  | { is: 'again' };

/** A look is believed by the process that made it for so long. */
const lookAgainMs = 15 * 60_000;
/** After an answer that was not complete. */
const incompleteAgainMs = 10_000;

/**
 * The entries are the claim: nothing is sent to a company before it was looked whether another database has entries of the
 * installation there. The first entry of ours is sent alone, and looked at once more before any other: of two databases that begin
 * at once, at least one then sees the other. The caller holds the company's lease; `isSending`: something is due.
 */
export async function checkClaim(
  context: RequestContext & { databaseId: string; looks: Looks },
  { isSending }: { isSending: boolean },
): Promise<ClaimVerdict> {
  const { db, lease, installation, strategy, clock, looks, target, databaseId } = context;
  // Entries that cannot be looked up tell nothing of who made them.
  if (strategy.afterDoubt !== 'look_up')
    return { is: 'clear', mostEntries: strategy.batchEntries, looksUpFirst: false };
  const of = { company: lease.company, installation: installation.id };
  const { isClaimed, sentAgoMs } = await underLease(db, lease, (trx) => openClaim(trx, of));
  const isFirstThere = sentAgoMs !== null;
  if (!isClaimed && !isFirstThere) {
    const ms = await doubtInMs(db, of);
    if (ms !== null) return { is: 'waiting', for: firstInDoubt, ms };
  }
  if (!isClaimed && isFirstThere && sentAgoMs < strategy.seenAfterMs) {
    return { is: 'waiting', for: firstUnseen, ms: strategy.seenAfterMs - sentAgoMs };
  }
  const name = `${companyKey(target.company)} ${installation.id}`;
  const lookedAt = looks.get(name) ?? Number.NEGATIVE_INFINITY;
  const isDue = !isClaimed || clock.elapsed() - lookedAt >= lookAgainMs;
  if (isDue && (isSending || isFirstThere)) {
    const requests = new Requests(context);
    try {
      const isComplete = await look(
        {
          ...{ db, databaseId, claim: of, target },
          ask: (send) => requests.ask(send),
          transact: (work) => underLease(db, lease, work),
        },
        { full: false, claims: isFirstThere },
      );
      if (!isComplete) return { is: 'waiting', for: incomplete, ms: incompleteAgainMs };
    } catch (error) {
      if (error instanceof Stopped) return { is: 'again' };
      throw error;
    }
    looks.set(name, clock.elapsed());
  }
  const [foreign] = await foreignIn(db, [of]);
  if (foreign !== undefined) return { is: 'waiting', for: foreignError(foreign), ms: null };
  if ((await underLease(db, lease, (trx) => takeOverAdopted(trx, of))) > 0) return { is: 'again' };
  const isOurs = isClaimed || isFirstThere;
  return { is: 'clear', mostEntries: isOurs ? strategy.batchEntries : 1, looksUpFirst: await isBehind(db, of) };
}

const firstInDoubt: PlainError = {
  code: 'erp_first_in_doubt',
  message:
    'The first entry for the company was sent, and the ERP has not answered: nothing else is sent before it was looked up.',
  todo: 'Nothing: delivery goes on by itself.',
};

const firstUnseen: PlainError = {
  code: 'erp_first_unseen',
  message: 'The ERP shows a new entry some seconds late: the first one is waited for.',
  todo: 'Nothing: delivery goes on by itself.',
};

const incomplete: PlainError = {
  code: 'erp_list_incomplete',
  message: 'The ERP did not show all entries with keys of vetledger: nothing is sent before they were seen.',
  todo: 'Nothing, usually: they are asked for again by itself.',
};
