import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { fiscalYearStart } from '../domain/dates.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import { type AccountFigures, accountFigures } from '../ledger/account-days.ts';
import { accountType } from '../ledger/export/exported-unit.ts';
import { hasSummaries } from '../ledger/summaries/read-summaries.ts';
import type { AccountNames } from '../mapping/account-names.ts';
import type { AccountType } from '../mapping/chart.ts';
import { reportTexts, sectionTitles } from '../texts/reports/reports.ts';
import { readAccountNames } from './account-names.ts';
import {
  changeOf,
  journalFacts,
  journalItems,
  type LineFields,
  LinesOfFigures,
  lineFacts,
  lineItems,
} from './book-lines.ts';
import {
  type Asked,
  columnsOf,
  type Figure,
  type Item,
  type LinePlace,
  type Period,
  type Section,
  type SectionShape,
  sectionOf,
} from './report-sections.ts';

/** Reports of accounts by entry date, from the stored sums of days (`account_day`). Each line is an item of its account's figure. */

type BooksInput = InstallationConfig;

/** An account with its figures; the parts of the account if they are split. */
interface Account extends AccountFigures {
  name: string | null;
  type: AccountType;
}

interface Books {
  accounts: Account[];
  names: AccountNames;
  upToSeq: number | null;
  after: LinePlace | null;
  hasSummaries: boolean;
}

/** Balances without the amounts of earlier fiscal years, for accounts of income and expense. */
function opening({ type, before, earlier }: Account): Money {
  return isOfResult(type) ? before.minus(earlier) : before;
}

function isOfResult(type: AccountType): boolean {
  return type === 'income' || type === 'expense';
}

async function readBooks(
  db: Connection,
  installation: BooksInput,
  { from, through }: Period,
  { split, upToSeq, account, after = null }: Asked,
): Promise<Books> {
  const names = await readAccountNames(db, installation);
  const first = from ?? through;
  const yearStart = fiscalYearStart(first, installation.fiscalYearStart);
  const found = await accountFigures(db, installation.id, { from: first, through, yearStart, split, account, upToSeq });
  const accounts = [...Map.groupBy(found, (each) => each.account)].flatMap(([number, of]) => {
    // An account has one type, even if several roles use it.
    const role = of[0]?.role ?? 'revenue';
    const type = names.chart?.get(number)?.type ?? accountType(role);
    const name = names.nameOf(number, role);
    return [...Map.groupBy(of, ({ part }) => part)].map(([part, parts]): Account => {
      const added = (each: 'before' | 'earlier' | 'debit' | 'credit') => sum(parts.map((figures) => figures[each]));
      return {
        ...{ account: number, role, part, name, type, before: added('before'), earlier: added('earlier') },
        ...{ debit: added('debit'), credit: added('credit') },
      };
    });
  });
  return { accounts, names, upToSeq, after, hasSummaries: await hasSummaries(db, installation.id) };
}

/** The amounts that a report shows for an account, and for one of its lines. */
interface View {
  shape: Omit<SectionShape, 'keys' | 'facts'>;
  amountsOf(account: Account): Item['amounts'];
  /** The amounts before the period. The first line of the figure contains them. */
  before(account: Account): Item['amounts'];
  ofLine(line: LineFields): Item['amounts'];
}

/** Makes the section of a report from accounts, with a figure for each and lines as its items. */
function accountSection(
  db: Connection,
  installation: BooksInput,
  period: Period,
  asked: Asked,
  { books, view, accounts, more }: { books: Books; view: View; accounts: readonly Account[]; more: readonly Account[] },
): Section {
  const keys = [...columnsOf('account', 'name', 'type'), ...(asked.split === null ? [] : columnsOf(asked.split))];
  const shape: SectionShape = { ...view.shape, keys, facts: asked.documents ? lineFacts(books.hasSummaries) : [] };
  // All accounts are read in one pass. The lines of one account are read a page at a time.
  const all =
    asked.documents && asked.account === null && books.after === null
      ? new LinesOfFigures(db, installation.id, period, {
          ...{ split: asked.split, upToSeq: books.upToSeq, decimals: installation.decimals },
          figures: accounts.map((account) => ({ ...account, opening: opening(account) })),
        })
      : null;
  const figureOf = (account: Account, place: number | null): Figure => {
    const isAccount = place !== null;
    const amounts = view.amountsOf(account);
    const keysOf = {
      ...{ account: isAccount ? account.account : null, name: account.name, type: account.type },
      ...(asked.split !== null && { [asked.split]: account.part }),
    };
    const whole: Item = { keys: keysOf, document: reportTexts.everyEntry, facts: {}, amounts };
    if (!asked.documents || !isAccount) return { keys: keysOf, amounts, items: [whole] };
    const before = view.before(account);
    const first =
      books.after === null && Object.values(before).some((amount) => !amount.isZero())
        ? [{ ...whole, document: reportTexts.balanceBefore, amounts: before }]
        : [];
    const lines = {
      ...{ account: account.account, split: asked.split, part: account.part, upToSeq: books.upToSeq },
      after: books.after,
      ...{ opening: opening(account), decimals: installation.decimals },
    };
    const of = (line: LineFields): Item => ({
      ...{ keys: keysOf, document: line.document, facts: line.facts, amounts: view.ofLine(line), at: line.at },
    });
    const found = all === null ? lineItems(db, installation.id, period, lines) : all.at(place);
    return { keys: keysOf, amounts, items: itemsFrom(first, found, of) };
  };
  return sectionOf(shape, [
    ...accounts.map((account, place) => figureOf(account, place)),
    ...more.map((account) => figureOf(account, null)),
  ]);
}

async function* itemsFrom(
  first: readonly Item[],
  lines: AsyncIterable<LineFields>,
  of: (line: LineFields) => Item,
): AsyncGenerator<Item> {
  yield* first;
  for await (const line of lines) yield of(line);
}

/** Lines for results, which have no account: one for each part. */
function resultLines(
  accounts: readonly Account[],
  name: string,
  figures: (account: Account) => Pick<Account, 'before' | 'debit' | 'credit'>,
): Account[] {
  const results = accounts.filter(({ type }) => isOfResult(type));
  return [...Map.groupBy(results, ({ part }) => part)].flatMap(([part, of]): Account[] => {
    const added = (each: 'before' | 'debit' | 'credit') => sum(of.map((account) => figures(account)[each]));
    const [before, debit, credit] = [added('before'), added('debit'), added('credit')];
    if (before.isZero() && debit.isZero() && credit.isZero()) return [];
    return [{ account: '', role: 'revenue', name, type: 'equity', part, before, earlier: zero, debit, credit }];
  });
}

function earlierResults(accounts: readonly Account[]): Account[] {
  return resultLines(accounts, reportTexts.earlierResult, ({ earlier }) => ({
    before: earlier,
    debit: zero,
    credit: zero,
  }));
}

const trialView = (name: string, title: string): View => ({
  shape: { name, title, amounts: columnsOf('opening', 'debit', 'credit', 'closing') },
  amountsOf: (account) => {
    const { debit, credit } = account;
    return { opening: opening(account), debit, credit, closing: opening(account).plus(debit).minus(credit) };
  },
  before: (account) => ({ opening: opening(account), debit: zero, credit: zero, closing: opening(account) }),
  ofLine: (line) => ({ opening: zero, debit: line.debit, credit: line.credit, closing: changeOf(line) }),
});

/** Every account with its balance before the period, its debits and credits in it, and its balance after it. */
export async function trialBalance(
  db: Connection,
  installation: BooksInput,
  period: Period,
  asked: Asked,
): Promise<Section[]> {
  const books = await readBooks(db, installation, period, asked);
  const view = trialView('trial_balance', sectionTitles.trialBalance);
  const { accounts } = books;
  return [accountSection(db, installation, period, asked, { books, view, accounts, more: earlierResults(accounts) })];
}

/** The lines of one account: its figure of the trial balance with its lines. */
export async function accountLines(
  db: Connection,
  installation: BooksInput,
  period: Period,
  asked: Asked,
): Promise<Section[]> {
  const books = await readBooks(db, installation, period, asked);
  const view = trialView('account', sectionTitles.account);
  const { accounts } = books;
  return [accountSection(db, installation, period, { ...asked, documents: true }, { books, view, accounts, more: [] })];
}

/** Income and expenses of the period, and of the fiscal year to its end; income is positive. */
export async function income(
  db: Connection,
  installation: BooksInput,
  period: Period,
  asked: Asked,
): Promise<Section[]> {
  const books = await readBooks(db, installation, period, asked);
  const view: View = {
    shape: { name: 'income', title: sectionTitles.income, amounts: columnsOf('amount', 'year_to_date') },
    amountsOf: (account) => {
      const amount = account.credit.minus(account.debit);
      return { amount, year_to_date: amount.minus(opening(account)) };
    },
    before: (account) => ({ amount: zero, year_to_date: opening(account).negated() }),
    ofLine: (line) => {
      const amount = changeOf(line).negated();
      return { amount, year_to_date: amount };
    },
  };
  const accounts = inOrderOf(['income', 'expense'], books.accounts);
  return [accountSection(db, installation, period, asked, { books, view, accounts, more: [] })];
}

/** Assets and liabilities before and after the period, with the results, so that the balances add up to zero. */
export async function balanceSheet(
  db: Connection,
  installation: BooksInput,
  period: Period,
  asked: Asked,
): Promise<Section[]> {
  const books = await readBooks(db, installation, period, asked);
  const turnover = ({ debit, credit }: Account) => debit.minus(credit);
  const view: View = {
    shape: {
      ...{ name: 'balance_sheet', title: sectionTitles.balanceSheet },
      amounts: columnsOf('opening', 'change', 'closing'),
    },
    amountsOf: (account) => ({
      ...{ opening: opening(account), change: turnover(account) },
      closing: opening(account).plus(turnover(account)),
    }),
    before: (account) => ({ opening: opening(account), change: zero, closing: opening(account) }),
    ofLine: (line) => {
      const change = changeOf(line);
      return { opening: zero, change, closing: change };
    },
  };
  const ofYear = resultLines(books.accounts, reportTexts.yearResult, (account) => ({
    ...{ before: opening(account), debit: account.debit, credit: account.credit },
  }));
  return [
    accountSection(db, installation, period, asked, {
      ...{ books, view, accounts: inOrderOf(['asset', 'liability', 'equity'], books.accounts) },
      more: [...earlierResults(books.accounts), ...ofYear],
    }),
  ];
}

/** Every line of every entry of the period. */
export async function journal(
  db: Connection,
  installation: BooksInput,
  period: Period,
  asked: Asked,
): Promise<Section[]> {
  const { accounts, ...of } = await readBooks(db, installation, period, asked);
  const amounts = {
    debit: sum(accounts.map(({ debit }) => debit)),
    credit: sum(accounts.map(({ credit }) => credit)),
  };
  const shape: SectionShape = {
    ...{ name: 'journal', title: sectionTitles.journal, keys: [], facts: journalFacts(of.hasSummaries) },
    amounts: columnsOf('debit', 'credit'),
  };
  return [sectionOf(shape, [{ keys: {}, amounts, items: journalItems(db, installation.id, period, of) }])];
}

function inOrderOf(types: readonly AccountType[], accounts: readonly Account[]): Account[] {
  return types.flatMap((type) => accounts.filter((account) => account.type === type));
}
