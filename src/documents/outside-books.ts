import { date, integer, nullable, numeric, oneOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { formatExact, Money, sum } from '../domain/money.ts';
import { absenceProblems, declinedProblem, lateProblems } from '../domain/problems.ts';
import { type CalendarDate, type DocumentKind, documentKinds, type InstallationId } from '../terms.ts';

/**
 * The reason why a document is not in the books as the source has it (ACCOUNTING E6). Each document counts once, for
 * the first reason that applies:
 * - `left_as_posted`: it is posted, and the accountant declined its change. It counts as in the books.
 * - `missing_in_source`: it is posted, and the source does not show it.
 * - `change_held`: it is posted, and its change is held.
 * - `waiting`: it is held, and the accountant decided to wait.
 * - `late`: it is held because of a closed period or its date.
 * - `held`: it is held for any other problem.
 * - `pending`: it was read, and not judged yet.
 * - `put_aside`: a record from which no document can be made.
 */
export const outsideReasons = [
  'left_as_posted',
  'missing_in_source',
  'change_held',
  'waiting',
  'late',
  'held',
  'pending',
  'put_aside',
] as const;
export type OutsideReason = (typeof outsideReasons)[number];

/** Documents of one kind that are outside the books for one reason. */
export interface OutsideGroup {
  installation: InstallationId;
  kind: DocumentKind;
  reason: OutsideReason;
  count: number;
  /** The number of documents with an unknown amount. `amount` and `vat` are the sums of the others. */
  unknown: number;
  /**
   * Decimals as text, with the source's sign. For `change_held`, the sum of the differences. Null if no amount is
   * known.
   */
  amount: string | null;
  vat: string | null;
  /** The earliest document date. */
  oldest: CalendarDate | null;
}

/**
 * The documents that are not in the books of these installations. One statement reads any number of installations,
 * using the indexes on problems. With `dated`, only documents with a date in it, and those without a known date.
 */
export function outsideBooks(
  db: Connection,
  installations: readonly InstallationId[],
  dated: { from: CalendarDate | null; through: CalendarDate } | null = null,
): Promise<OutsideGroup[]> {
  return rows(
    db,
    {
      ...{ installation: integer, kind: oneOf(documentKinds), reason: oneOf(outsideReasons) },
      ...{
        count: integer,
        unknown: integer,
        amount: nullable(numeric),
        vat: nullable(numeric),
        oldest: nullable(date),
      },
    },
    `with outside as (
       select installation, kind, document_date, outside_amount, outside_vat,
         case when problem_code = ? then 'left_as_posted' when problem_code = any(?::text[]) then 'missing_in_source' when state = 'posted' then 'change_held' when late_decision = 'wait' then 'waiting'
           when problem_code = any(?::text[]) then 'late' else 'held' end as reason
       from document where installation = any(?) and problem_code is not null
       union all
       select installation, kind, document_date, null, null, 'pending'
       from document where installation = any(?) and dirty and state = 'pending' and problem_code is null
       union all
       select installation, kind, null, null, null, 'put_aside'
       from put_aside where installation = any(?) and kind <> 'row' and record like '-%')
     select installation, kind, reason, count(*)::int as count,
       (count(*) filter (where outside_amount is null))::int as unknown,
       sum(outside_amount) as amount, sum(outside_vat) as vat, min(document_date) as oldest
     from outside where document_date is null
       or document_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')
     group by installation, kind, reason order by installation, kind, reason`,
    [
      declinedProblem,
      absenceProblems,
      lateProblems,
      installations,
      installations,
      installations,
      dated?.from ?? null,
      dated?.through ?? null,
    ],
  );
}

/**
 * A total of documents that are not in the books. `amount` and `vat` have the currency's decimals; they are null if no
 * amount is known.
 */
export interface OutsideFigure {
  documents: number;
  amount: string | null;
  vat: string | null;
  oldest: CalendarDate | null;
  /** The number of documents with an unknown amount, which `amount` does not include. */
  unknown: number;
}

/** Documents of one kind that are not in the books, in total and by reason. */
export interface OutsideOfKind extends OutsideFigure {
  reasons: Partial<Record<OutsideReason, OutsideFigure>>;
}

/**
 * Totals by kind of document. They are not added across kinds, because an invoice and its payment are one debt. Kinds
 * without documents are left out.
 */
export type Outside = Partial<Record<'invoices' | 'payments' | 'prepayments' | 'vat_due', OutsideOfKind>>;

const plurals = {
  invoice: 'invoices',
  payment: 'payments',
  prepayment: 'prepayments',
  vat_due: 'vat_due',
} as const;

export function outsideByKind(groups: readonly OutsideGroup[], decimals: number): Outside {
  return byKind(
    groups.filter(({ reason }) => reason !== 'left_as_posted'),
    decimals,
  );
}

/** The changes that the accountant declined. The amounts are the differences from the entries in force. */
export function leftAsPosted(groups: readonly OutsideGroup[], decimals: number): Outside {
  return byKind(
    groups.filter(({ reason }) => reason === 'left_as_posted'),
    decimals,
  );
}

function byKind(groups: readonly OutsideGroup[], decimals: number): Outside {
  const outside: Outside = {};
  for (const [kind, ofKind] of Map.groupBy(groups, (group) => group.kind)) {
    const reasons = ofKind.map((group) => [group.reason, figureOf([group], decimals)] as const);
    outside[plurals[kind]] = { ...figureOf(ofKind, decimals), reasons: Object.fromEntries(reasons) };
  }
  return outside;
}

/** The totals of the documents that are outside for one of these reasons. */
export function ofReasons(outside: Outside, has: (reason: OutsideReason) => boolean, decimals: number): Outside {
  const found: Outside = {};
  for (const kinds of Object.values(plurals)) {
    const reasons = Object.entries(outside[kinds]?.reasons ?? {}).filter(([reason]) => has(reason as OutsideReason));
    const figures = reasons.map(([, figure]) => ({ ...figure, count: figure.documents }));
    if (figures.length > 0) found[kinds] = { ...figureOf(figures, decimals), reasons: Object.fromEntries(reasons) };
  }
  return found;
}

type Totals = Pick<OutsideGroup, 'count' | 'unknown' | 'amount' | 'vat' | 'oldest'>;

function figureOf(groups: readonly Totals[], decimals: number): OutsideFigure {
  const total = (key: 'amount' | 'vat') => {
    const known = groups.flatMap((group) => group[key] ?? []);
    if (known.length === 0) return null;
    return formatExact(sum(known.map((each) => new Money(each))), decimals);
  };
  return {
    documents: groups.reduce((n, { count }) => n + count, 0),
    amount: total('amount'),
    vat: total('vat'),
    oldest: groups.flatMap(({ oldest }) => oldest ?? []).sort()[0] ?? null,
    unknown: groups.reduce((n, { unknown }) => n + unknown, 0),
  };
}
