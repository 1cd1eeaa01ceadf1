import { date, integer, nullable, numeric, oneOf, type RowOf, text } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { resultPages } from '../db/result-pages.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import { formatMoney, Money, moneyOfDigits, zero } from '../domain/money.ts';
import { partColumn, type Split } from '../ledger/account-days.ts';
import { debitLessCredit } from '../ledger/journal/signed.ts';
import { voucherText } from '../ledger/journal/vouchers.ts';
import { summaryJournal } from '../ledger/summaries/read-summaries.ts';
import type { AccountNames } from '../mapping/account-names.ts';
import { documentKinds, type InstallationId, lineRoles, sides } from '../terms.ts';
import { type Cell, columnsOf, type Item, isRecorded, type LinePlace, type Period } from './report-sections.ts';

/** Entries that are read at once. */
const entriesAtOnce = 500;

/** The facts of a line. With daily summaries, also the number of the summary that has the line in the ERP. */
const facts = (hasSummary: boolean) => [
  ...columnsOf('date', 'voucher'),
  ...(hasSummary ? columnsOf('summary') : []),
  ...columnsOf('number', 'text'),
];
export const lineFacts = (hasSummary: boolean) => [...facts(hasSummary), ...columnsOf('running_balance')];
export const journalFacts = (hasSummary: boolean) => [
  ...facts(hasSummary),
  ...columnsOf('account', 'name', 'department'),
];

/** A line as a report shows it. */
export interface LineFields {
  document: string;
  facts: Record<string, Cell>;
  debit: Money;
  credit: Money;
  at: LinePlace;
}

interface AccountPart {
  account: string;
  split: Split | null;
  part: string | null;
  upToSeq: number | null;
  opening: Money;
  decimals: number;
  after: LinePlace | null;
}

/** The lines on an account in the order of dates, with one page of entries in memory. */
export async function* lineItems(
  db: Connection,
  installation: InstallationId,
  period: Period,
  of: AccountPart,
): AsyncGenerator<LineFields> {
  const { account, split, part, upToSeq, opening, decimals, after } = of;
  let balance = after === null ? opening : opening.plus(await changeUpTo(db, installation, period, of, after));
  for await (const line of bookLines(db, installation, period, { account, upToSeq, after })) {
    if (split !== null && (line[split] === null ? null : String(line[split])) !== part) continue;
    const fields = fieldsOf(line);
    balance = balance.plus(changeOf(fields));
    yield { ...fields, facts: { ...fields.facts, running_balance: formatMoney(balance, decimals) } };
  }
}

/** The number of lines in the books in a period, on an account or on all. */
export async function countLines(
  db: Connection,
  installation: InstallationId,
  { from, through }: Period,
  account: string | null,
): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*) as n from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date >= ?::date and e.entry_date <= ?::date and l.account = coalesce(?, l.account)`,
    [installation, from ?? '-infinity', through, account],
  );
  return n;
}

/** Every line of the journal in the order of dates. */
export async function* journalItems(
  db: Connection,
  installation: InstallationId,
  period: Period,
  { names, upToSeq, after }: { names: AccountNames; upToSeq: number | null; after: LinePlace | null },
): AsyncGenerator<Item> {
  for await (const line of bookLines(db, installation, period, { account: null, upToSeq, after })) {
    const { document, facts: of, debit, credit, at } = fieldsOf(line);
    const { account, role, department } = line;
    yield {
      ...{ keys: {}, document, facts: { ...of, account, name: names.nameOf(account, role), department } },
      ...{ amounts: { debit, credit }, at },
    };
  }
}

function fieldsOf(of: LineFacts): LineFields {
  const { kind, document, day, journal, year, n, number, description, side } = of;
  const amount = moneyOfDigits(of.amount);
  const voucher = journal === null || year === null || n === null ? null : voucherText(year, journal, n);
  const { summaryYear, summaryN } = of;
  const summary = summaryYear === null || summaryN === null ? null : voucherText(summaryYear, summaryJournal, summaryN);
  return {
    document: `${kind} ${document}`,
    facts: { date: day, voucher, ...(summary !== null && { summary }), number, text: description },
    at: { day, seq: of.seq, line: of.line },
    ...(side === 'debit' ? { debit: amount, credit: zero } : { debit: zero, credit: amount }),
  };
}

/** The debit, or the credit with a minus: one of them is zero, and long lists have no time for sums with zero. */
export function changeOf({ debit, credit }: LineFields): Money {
  return credit.isZero() ? debit : credit.negated();
}

/** A figure of an account, or of a part of it. */
export interface FigurePart extends Pick<AccountPart, 'account' | 'part' | 'opening'> {}

/**
 * The lines of all figures of a report from one pass over the books: a pass for each account would read every entry again.
 * Figures are read in their order, each at most once, and lines of a figure that is not read are skipped.
 */
export class LinesOfFigures {
  readonly #pages: AsyncIterator<PlacedLine[]>;
  readonly #figures: readonly FigurePart[];
  readonly #decimals: number;
  #page: PlacedLine[] = [];
  /** The place of the next line in `#page`. */
  #next = 0;

  constructor(
    db: Connection,
    installation: InstallationId,
    period: Period,
    of: { split: Split | null; upToSeq: number | null; decimals: number; figures: readonly FigurePart[] },
  ) {
    this.#figures = of.figures;
    this.#decimals = of.decimals;
    this.#pages = linesByFigure(db, installation, period, of);
  }

  /** The lines of the figure at this place, in the order of dates. */
  async *at(place: number): AsyncGenerator<LineFields> {
    let balance = this.#figures[place]?.opening ?? zero;
    for (;;) {
      if (this.#next === this.#page.length) {
        const { value, done } = await this.#pages.next();
        if (done) return;
        this.#page = value;
        this.#next = 0;
      }
      const line = this.#page[this.#next];
      if (line === undefined || line.place > place) return;
      this.#next += 1;
      if (line.place < place) continue;
      const fields = fieldsOf(line);
      balance = balance.plus(changeOf(fields));
      fields.facts.running_balance = formatMoney(balance, this.#decimals);
      yield fields;
    }
  }
}

/** Lines with the places of their figures, page by page. */
function linesByFigure(
  db: Connection,
  installation: InstallationId,
  { from, through }: Period,
  { split, upToSeq, figures }: { split: Split | null; upToSeq: number | null; figures: readonly FigurePart[] },
): AsyncGenerator<PlacedLine[]> {
  return resultPages(
    db,
    { ...factShape, place: integer },
    `select ${factColumns}, f.place - 1 as place
     from (
       ${entriesWithFacts}
       where e.installation = ? and e.entry_date >= ?::date and e.entry_date <= ?::date and ${isRecorded} offset 0
     ) e
     join entry_line l on l.entry_id = e.id
     join unnest(?::text[], ?::text[]) with ordinality f(account, part, place)
       on f.account = l.account and ${partColumn(split)} is not distinct from f.part
     order by f.place, e.day, e.seq, l.line`,
    [
      ...[installation, from ?? '-infinity', through, upToSeq],
      ...[figures.map(({ account }) => account), figures.map(({ part }) => part)],
    ],
  );
}

type PlacedLine = LineFacts & { place: number };

type LineFacts = RowOf<typeof factShape>;
type BookLine = RowOf<typeof lineShape>;

/** The facts that every report shows of a line. */
const factShape = {
  ...{ day: date, seq: integer, kind: oneOf(documentKinds), document: integer, description: text },
  ...{ journal: nullable(text), year: nullable(integer), n: nullable(integer), number: nullable(text) },
  ...{ summaryYear: nullable(integer), summaryN: nullable(integer) },
  ...{ line: integer, side: oneOf(sides), amount: numeric },
};

const lineShape = {
  ...factShape,
  ...{ account: text, role: oneOf(lineRoles), department: nullable(integer) },
  ...{ dimension_1: nullable(text), dimension_2: nullable(text), dimension_3: nullable(text) },
};

/**
 * The entries with the facts that every line of theirs shows, once per entry: the number printed on the invoice whose
 * receivable it opens or settles, its voucher and its daily summary. A condition follows.
 */
const entriesWithFacts = `select e.id, e.entry_date as day, e.seq, e.kind, e.document_id as document, e.description,
    (select o.document_number from entry_line o where o.entry_id = e.id and o.document_number is not null
     order by o.line limit 1) as number,
    v.journal, v.fiscal_year as year, v.number as n, s.fiscal_year as "summaryYear", s.voucher_number as "summaryN"
  from entry e left join voucher v on v.entry_id = e.id
  left join summary_member m on m.entry_id = e.id left join summary_entry s on s.id = m.summary_id`;

/** The columns of `factShape`, of such an entry `e` and a line `l`. */
const factColumns = [
  ...['e.day', 'e.seq', 'e.kind', 'e.document', 'e.description', 'e.number', 'e.journal', 'e.year', 'e.n'],
  ...['e."summaryYear"', 'e."summaryN"', 'l.line', 'l.side', 'l.amount'],
].join(', ');

interface Only {
  /** One account; null for all. */
  account: string | null;
  upToSeq: number | null;
  after: LinePlace | null;
}

/** Lines with the facts of their entries for reports, in the order of dates. */
async function* bookLines(
  db: Connection,
  installation: InstallationId,
  period: Period,
  only: Only,
): AsyncGenerator<BookLine> {
  const { after } = only;
  // The entry of the place is read again, because a page may end inside it.
  const first = after && { day: after.day, seq: after.seq - 1 };
  const read = (last: BookLine[] | null) => readLines(db, installation, period, only, last?.[0] ?? first);
  for await (const page of pages(entriesAtOnce, read))
    for (const line of page.flat()) if (after === null || line.seq !== after.seq || line.line > after.line) yield line;
}

/** Debits less credits of an account from the first day of the period up to a line. */
async function changeUpTo(
  db: Connection,
  installation: InstallationId,
  { from }: Period,
  { account, split, part, upToSeq }: AccountPart,
  { day, seq, line }: LinePlace,
): Promise<Money> {
  const { change } = await row(
    db,
    { change: numeric },
    `select coalesce(${debitLessCredit()}, 0) as change from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date >= ?::date and (e.entry_date, e.seq) <= (?::date, ?::bigint)
       and (e.seq <> ? or l.line <= ?) and ${isRecorded}
       and l.account = ? and ${partColumn(split)} is not distinct from ?::text`,
    [installation, from ?? '-infinity', day, seq, seq, line, upToSeq, account, part],
  );
  return new Money(change);
}

/** The lines of the next entries after one of them, a list for each entry. */
async function readLines(
  db: Connection,
  installation: InstallationId,
  { from, through }: Period,
  { account, upToSeq }: Only,
  after: { day: string; seq: number } | null,
) {
  const found = await rows(
    db,
    lineShape,
    // Without `offset 0`, each page may read the lines of all years to find those on the account.
    `select ${factColumns}, l.account, l.role, l.department_id as department, l.dimension_1, l.dimension_2, l.dimension_3
     from (
       ${entriesWithFacts}
       where e.installation = ? and (e.entry_date, e.seq) > (?::date, ?::bigint) and e.entry_date <= ?::date and ${isRecorded}
         and (?::text is null or exists (select from entry_line o where o.entry_id = e.id and o.account = ? offset 0))
       order by e.entry_date, e.seq limit ?
     ) e
     cross join lateral (select * from entry_line own where own.entry_id = e.id offset 0) l
     where l.account = coalesce(?::text, l.account) order by e.day, e.seq, l.line`,
    [
      ...[installation, after?.day ?? from ?? '-infinity', after?.seq ?? 0, through, upToSeq],
      ...[account, account, entriesAtOnce, account],
    ],
  );
  return [...Map.groupBy(found, ({ seq }) => seq).values()];
}
