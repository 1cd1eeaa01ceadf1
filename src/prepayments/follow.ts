import { integer } from '../db/columns.ts';
import { retryingTransaction } from '../db/database-errors.ts';
import type { Transact } from '../db/lease.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { markedIds } from '../documents/marked.ts';
import type { DocumentKind, DocumentRef, InstallationId } from '../terms.ts';
import { adjustChanges } from './changes-of-prepayments.ts';
import type { TakenFrom } from './own-client.ts';
import type { Followed } from './seen-uses.ts';
import { findMatches, type MatchScope } from './solve.ts';
import { findOwnMatches } from './solve-own.ts';
import { type TouchedPrepayment, trackPrepayments } from './track-prepayments.ts';
import { trackUses } from './track-uses.ts';

const pageSize = 500;
/**
 * Each match leaves fewer candidates for other payments, so matching is repeated. The next window continues after these
 * rounds.
 */
const roundsAtMost = 5;

/**
 * Finds which prepayments the payments used, for all documents that are marked to be judged (ACCOUNTING R7). It stores
 * all of them first and matches afterwards, each client's own prepayments first, so that the order of arrival does not
 * matter. Call it before the documents are judged, so that a payment is posted under the right client at once.
 */
export async function followMarked(db: Connection, installation: Followed, transact: Transact): Promise<void> {
  const { id } = installation;
  const inTurn = <Result>(work: (trx: Connection) => Promise<Result>) =>
    retryingTransaction(transact, async (trx) => {
      await takeTurn(trx, id);
      return work(trx);
    });
  const payments: number[] = [];
  for await (const page of marked(db, id, 'payment')) {
    payments.push(...(await inTurn((trx) => trackUses(trx, installation, page))));
  }
  const prepayments: TouchedPrepayment[] = [];
  for await (const page of marked(db, id, 'prepayment')) {
    prepayments.push(...(await inTurn((trx) => trackPrepayments(trx, installation, page))));
  }
  const lowers = installation.dialect.prepayment.refund_lowers_unused_amount;
  for (const page of slices(prepayments)) await inTurn((trx) => adjustChanges(trx, id, page, lowers));
  // A matched prepayment changes the sums of its client, so that client is tried again.
  const touched = new Set(prepayments.map((each) => each.id));
  for (let round = 0, isFound = true; isFound && round < roundsAtMost; round++) {
    const found: TakenFrom[] = [];
    const find = async (rule: (trx: Connection, scope: MatchScope) => Promise<TakenFrom[]>) => {
      for (const page of slices(payments))
        found.push(...(await inTurn((trx) => rule(trx, { payments: page, prepayments: [] }))));
      for (const page of slices([...touched]))
        found.push(...(await inTurn((trx) => rule(trx, { payments: [], prepayments: page }))));
    };
    await find((trx, scope) => findOwnMatches(trx, installation, scope));
    await find((trx, scope) => findMatches(trx, id, scope));
    for (const { prepaymentId } of found) touched.add(prepaymentId);
    isFound = found.length > 0;
  }
}

/**
 * Does the same for claimed documents that have a new version, which another lane stored after `followMarked`. Runs in
 * the transaction that judges them.
 */
export async function followClaimed(
  trx: Connection,
  installation: Followed,
  claimed: readonly DocumentRef[],
): Promise<void> {
  const { id } = installation;
  const late = await notFollowed(trx, installation, claimed);
  if (late.length === 0) return;
  await takeTurn(trx, id);
  const idsOf = (kind: DocumentKind) => late.filter((each) => each.kind === kind).map((each) => each.id);
  const payments = await trackUses(trx, installation, idsOf('payment'));
  const prepayments = await trackPrepayments(trx, installation, idsOf('prepayment'));
  await adjustChanges(trx, id, prepayments, installation.dialect.prepayment.refund_lowers_unused_amount);
  const scope = { payments, prepayments: prepayments.map((each) => each.id) };
  await findOwnMatches(trx, installation, scope);
  await findMatches(trx, id, scope);
}

/**
 * Stores these prepayments without matching them, in the transaction that judges them. A first load matches when it has
 * read all payments and prepayments (`followMarked`).
 */
export async function notePrepayments(
  trx: Connection,
  installation: Followed,
  ids: readonly number[],
): Promise<TouchedPrepayment[]> {
  if (ids.length === 0) return [];
  await takeTurn(trx, installation.id);
  const touched = await trackPrepayments(trx, installation, ids);
  await adjustChanges(trx, installation.id, touched, installation.dialect.prepayment.refund_lowers_unused_amount);
  return touched;
}

/** Waits for a lock that only one transaction holds: matches of an installation are found one transaction at a time. */
export async function takeTurn(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger prepayments ' || ?::bigint, 0))`, [
    installation,
  ]);
}

async function notFollowed(
  db: Connection,
  { id: installation, dialect }: Followed,
  claimed: readonly DocumentRef[],
): Promise<DocumentRef[]> {
  const idsOf = (kind: DocumentKind) => claimed.filter((each) => each.kind === kind).map((each) => each.id);
  const [payments, prepayments] = [idsOf('payment'), idsOf('prepayment')];
  if (payments.length + prepayments.length === 0) return [];
  const uses = await rows(
    db,
    { id: integer },
    `select m.id from mirror_record m
     left join prepayment_use u on u.installation = m.installation and u.payment_id = m.id
     where m.installation = ? and m.kind = 'payment' and m.id = any(?)
       and case when u.payment_id is null then m.gone_at is null and (m.raw #>> ?::text[]) ~ '^8(\\.0*|)$'
         else m.gone_at is not null or u.version <> m.version end`,
    [installation, payments, dialect.fields.payment.payment_type.split('.')],
  );
  const others = await rows(
    db,
    { id: integer },
    `select m.id from mirror_record m
     left join prepayment_balance b on b.installation = m.installation and b.prepayment_id = m.id
     left join prepayment_refund r on r.installation = m.installation and r.refund_id = m.id
     where m.installation = ? and m.kind = 'prepayment' and m.id = any(?)
       and (b.version <> m.version or (b.version is null and r.refund_id is null) or m.gone_at is not null)`,
    [installation, prepayments],
  );
  return [
    ...uses.map(({ id }) => ({ kind: 'payment' as const, id })),
    ...others.map(({ id }) => ({ kind: 'prepayment' as const, id })),
  ];
}

async function* marked(db: Connection, installation: InstallationId, kind: DocumentKind): AsyncGenerator<number[]> {
  for (let after = 0; ; ) {
    const ids = await markedIds(db, installation, kind, { after, limit: pageSize });
    const last = ids.at(-1);
    if (last === undefined) return;
    yield ids;
    after = last;
  }
}

function slices<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / pageSize) }, (_, at) =>
    items.slice(at * pageSize, (at + 1) * pageSize),
  );
}
