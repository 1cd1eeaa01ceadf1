import { integer, nullable, oneOf } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { markRefetched } from '../documents/refetch.ts';
import { savePage } from '../mirror/save-page.ts';
import { recordOf } from '../records/schema.ts';
import { type DocumentKind, documentKinds, type RecordKind } from '../terms.ts';
import { ignoredFilters, noteIgnored } from './capabilities/filters.ts';
import { unlessRefused } from './capabilities/refused.ts';
import { type PullContext, type PullResult, pullList } from './pull.ts';
import { pullRowSets } from './rows.ts';
import { contradictedFilter } from './walk/filter-check.ts';
import { pageSizeFor } from './walk/page-size.ts';

/** Documents whose parts are fetched again at a time; a window takes several rounds where there are more. */
export const partsBatch = 50;

export interface RefetchNeed {
  kind: DocumentKind;
  id: number;
  /** The invoice of a payment. */
  invoiceId: number | null;
}

/** The next documents whose parts are to be fetched again. */
export function wantedParts({ db, installation }: Pick<PullContext, 'db' | 'installation'>): Promise<RefetchNeed[]> {
  return rows(
    db,
    { kind: oneOf(documentKinds), id: integer, invoiceId: nullable(integer) },
    `select d.kind, d.id, m.parent_id as "invoiceId" from document d
     join mirror_record m on m.installation = d.installation and m.kind = d.kind and m.id = d.id
     where d.installation = ? and d.refetch = 'wanted' order by d.kind, d.id limit ?`,
    [installation, partsBatch],
  );
}

/**
 * Fetches the parts of documents whose proofs failed again: the invoice itself, its rows and its payments (ACCOUNTING
 * "Proofs": they may be stale). A payment's unknown invoice is fetched the same way.
 */
export async function pullParts(
  context: PullContext,
  needs: RefetchNeed[],
  count: (stream: RecordKind, result: PullResult) => void,
): Promise<void> {
  const invoices = new Set<number>();
  for (const need of needs) {
    if (need.kind === 'invoice') invoices.add(need.id);
    else if (need.kind === 'payment' && need.invoiceId !== null) invoices.add(need.invoiceId);
  }
  const prepayments = needs.filter(({ kind }) => kind === 'prepayment').map(({ id }) => id);
  await pullEach(context, 'prepayment', prepayments, (result) => count('prepayment', result));
  await pullEach(context, 'invoice', [...invoices], (result) => count('invoice', result));
  if (invoices.size > 0) {
    count('row', await pullRowSets(context, [...invoices]));
    for (const id of invoices) count('payment', await pullPaymentsOf(context, id));
  }
  await markRefetched(context.db, context.installation, needs);
}

/**
 * Records by their ids: in one question where they lie close together, one question each otherwise; where no id filter is
 * honoured, one walk of the list answers for all. Gives those that the source has.
 */
export async function pullEach(
  context: PullContext,
  kind: RecordKind,
  ids: number[],
  count: (result: PullResult) => void = () => undefined,
): Promise<Set<number>> {
  const near = await pullNear(context, kind, ids);
  if (near) {
    count(near);
    return near.found;
  }
  const found = new Set<number>();
  for (const id of ids) {
    const ignored = await ignoredFilters(context.db, context.installation, kind);
    if (ids.length > 1 && ignored.has('id__gt') && ignored.has('id__lt')) {
      const wanted = new Set(ids);
      const keep = (saved: { ids: number[] }) => {
        for (const each of saved.ids) if (wanted.has(each)) found.add(each);
      };
      count(await pullList(context, kind, {}, null, { keepWalk: false, onSaved: keep }));
      return found;
    }
    const one = await pullOne(context, kind, id);
    count(one);
    if (one.found) found.add(id);
  }
  return found;
}

/** Everything between the lowest and the highest id, where that weighs no more than a question each; null where it cannot be. */
async function pullNear(
  context: PullContext,
  kind: RecordKind,
  ids: number[],
): Promise<(PullResult & { found: Set<number> }) | null> {
  const { db, dialect, installation } = context;
  const lowest = ids.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const highest = ids.reduce((a, b) => Math.max(a, b), 0);
  const span = highest - lowest + 1;
  const pageSize = pageSizeFor(span, dialect.default_page_size, dialect.max_page_size);
  if (ids.length < 2 || span > pageSize || pageSize / dialect.default_page_size > ids.length) return null;
  const ignored = await ignoredFilters(db, installation, kind);
  if (ignored.has('id__gt') || ignored.has('id__lt')) return null;
  const question = { id__gt: String(lowest - 1), id__lt: String(highest + 1) };
  const answer = await askUnlessRefused(context, kind, question, pageSize);
  if (answer === null) return null;
  const received = answer.results.map(({ id }) => id);
  if (received.length < answer.count || received.some((id) => id < lowest || id > highest)) return null;
  const saved = await db.transaction((trx) => savePage(trx, context, kind, answer, context.findOwnEchoes));
  const found = new Set(ids.filter((id) => received.includes(id)));
  return {
    ...{ seen: saved.received, pulled: saved.pulled, found },
    ...{ began: answer.sourceTime, earliest: answer.sourceTime },
  };
}

/**
 * One record by its id (field-notes: retrieving one invoice is not shown): the ids strictly between its neighbours, in one
 * question of weight 1. `found` is false when the source does not have it; where the filters leave a doubt, a walk decides.
 */
export async function pullOne(
  context: PullContext,
  kind: RecordKind,
  id: number,
): Promise<PullResult & { found: boolean }> {
  const { db, installation } = context;
  const ignored = await ignoredFilters(db, installation, kind);
  const question: Record<string, string> = {};
  if (!ignored.has('id__gt')) question.id__gt = String(id - 1);
  if (!ignored.has('id__lt')) question.id__lt = String(id + 1);
  if (Object.keys(question).length > 0) {
    const answer = await askUnlessRefused(context, kind, question, null);
    const found = answer?.results.some((item) => item.id === id) ?? false;
    if (answer !== null && (found || answer.count === 0)) {
      const saved = await db.transaction((trx) => savePage(trx, context, kind, answer, context.findOwnEchoes));
      return {
        seen: saved.received,
        pulled: saved.pulled,
        began: answer.sourceTime,
        earliest: answer.sourceTime,
        found,
      };
    }
    for (const item of answer?.results ?? []) {
      const filter = contradictedFilter(question, recordOf(kind, item, context.dialect), context.timezone);
      if (filter !== null) await noteIgnored(db, installation, kind, filter);
    }
  }
  let found = false;
  const result = await pullList(context, kind, {}, id - 1, {
    keepWalk: false,
    onSaved: (saved) => {
      found ||= saved.ids.includes(id);
    },
  });
  return { ...result, found };
}

function askUnlessRefused(
  { db, installation, client, priority }: PullContext,
  kind: RecordKind,
  filters: Record<string, string>,
  pageSize: number | null,
) {
  return unlessRefused(
    () => client.list(kind, filters, pageSize, { priority }),
    filters,
    (filter) => noteIgnored(db, installation, kind, filter),
  );
}

async function pullPaymentsOf(context: PullContext, invoice: number): Promise<PullResult> {
  return pullList(context, 'payment', { invoice__is: String(invoice) }, null, { keepWalk: false });
}
