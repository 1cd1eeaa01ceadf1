import type { Connection } from '../db/rows.ts';
import { formatExact, Money, type Money as MoneyType, zero } from '../domain/money.ts';
import {
  type BookFinding,
  bookFindings,
  missingUnits,
  ownBalances,
  unsettledUnits,
} from '../erp/books/book-snapshot.ts';
import { type ReportedForeign, reportedForeign } from '../erp/claims/claim-store.ts';
import type { UnitState } from '../erp/outbox/unit.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { e7Texts } from '../texts/findings/reconcile.ts';
import { type Difference, type Equation, type ErpListed, listLimit, type Note, Tally } from './reconcile-report.ts';

/** The input of E7 besides the stored readings of the ERP (src/erp/books). */
export interface ErpBooksInput {
  id: InstallationId;
  decimals: number;
  /** The company's key in our tables. */
  company: string;
  /** Accounts that only our entries use. */
  ownedAccounts: readonly string[];
  /** The ERP's balances per account, as just read. */
  balances: ReadonlyMap<string, MoneyType>;
}

/**
 * Equation E7: the ERP has every delivered unit once, as it was sent. It has no other entry with one of our keys or on
 * an account to which only vetledger posts. Uses the stored results of `readBooks`.
 */
export async function checkErpBooks(
  db: Connection,
  input: ErpBooksInput,
): Promise<{ equation: Equation; listed: ErpListed }> {
  const { id, decimals, company } = input;
  const tally = new Tally();
  const withinTolerance: Note[] = [];
  const { found: listed, omitted } = await bookFindings(db, id, listLimit);
  const met = new Set<string>();
  for (const entry of listed) {
    const found = differenceOf(entry, met);
    if (found !== null) tally.add(found);
    else if (entry.message !== null && entry.isEqual) {
      withinTolerance.push({
        document: documentOf(entry.unitId),
        message: e7Texts.at({ where: whereOf(entry), text: entry.message }),
      });
    }
  }
  tally.addFound({ listed: [], omitted, total: zero });
  const { missing, omitted: moreMissing } = await missingUnits(db, id, listLimit);
  for (const { unitId, key, erpNumber, amount } of missing) {
    tally.add({
      document: documentOf(unitId),
      amount: new Money(amount),
      message: e7Texts.missing({ unit: unitId, number: erpNumber, key }),
    });
  }
  tally.addFound({ listed: [], omitted: moreMissing, total: zero });
  const foreign = await reportedForeign(db, { company, installation: id }, listLimit);
  for (const entry of foreign.found) tally.add(foreignDifference(entry));
  tally.addFound({ listed: [], omitted: foreign.omitted, total: zero });
  for (const difference of await accountDifferences(db, input)) tally.add(difference);
  const unsettled = async (...states: UnitState[]) =>
    (await unsettledUnits(db, id, states, listLimit)).map(({ unitId, state, code, message }) => ({
      document: documentOf(unitId),
      message:
        code === null
          ? e7Texts.inState({ unit: unitId, state })
          : e7Texts.withProblem({ unit: unitId, code, message: message ?? '' }),
    }));
  return {
    equation: tally.equation(decimals),
    listed: {
      undelivered: await unsettled('pending', 'sending', 'uncertain', 'drafted'),
      refused: await unsettled('refused'),
      cancelled_out: await unsettled('cancelled_out'),
      within_tolerance: withinTolerance,
    },
  };
}

/**
 * An entry of the company that this database did not send. Its amount is not read, so the difference counts as zero.
 */
function foreignDifference({ kind, unitId, number, date, key }: ReportedForeign): Difference {
  const where = whereOf({ erpNumber: number, erpDate: date });
  return {
    document: documentOf(unitId),
    amount: zero,
    message: e7Texts.at({ where, text: e7Texts[kind]({ unit: unitId, key }) }),
  };
}

/** On owned accounts, the ERP's balance must equal the delivered balance. */
async function accountDifferences(
  db: Connection,
  { company, ownedAccounts, balances, decimals }: ErpBooksInput,
): Promise<Difference[]> {
  if (ownedAccounts.length === 0) return [];
  const ours = await ownBalances(db, company, ownedAccounts);
  return ownedAccounts.flatMap((account) => {
    const [own, theirs] = [new Money(ours.get(account) ?? 0), balances.get(account) ?? zero];
    const amount = theirs.minus(own);
    if (amount.isZero()) return [];
    const message = e7Texts.balance({ erp: formatExact(theirs, decimals), own: formatExact(own, decimals) });
    return { document: e7Texts.account({ account }), amount, message };
  });
}

/** States of units that must not be in the ERP. */
const unexpected: Partial<Record<UnitState, string>> = e7Texts.states;

/**
 * The difference that an entry causes; null if it causes none. `met` contains the units whose entry was already read.
 */
function differenceOf(entry: BookFinding, met: Set<string>): Difference | null {
  const { unitId, state, isEqual, copies, message } = entry;
  if (unitId === null) {
    const document = e7Texts.erpEntry({ number: entry.erpNumber });
    return { document, amount: new Money(entry.amount), message: message ?? '' };
  }
  const isSurplus = met.has(unitId);
  met.add(unitId);
  const misplaced = state === null ? undefined : unexpected[state];
  const reasons = [
    ...(isSurplus ? [e7Texts.surplus({ unit: unitId, copies })] : []),
    ...(misplaced === undefined ? [] : [e7Texts.unexpected({ unit: unitId, state: misplaced })]),
    ...(isEqual ? [] : [message ?? '']),
  ];
  if (reasons.length === 0) return null;
  const amount = new Money(isSurplus || misplaced !== undefined ? entry.amount : entry.difference);
  return {
    document: documentOf(unitId),
    amount,
    message: e7Texts.at({ where: whereOf(entry), text: reasons.join('; ') }),
  };
}

function whereOf({ erpNumber, erpDate }: { erpNumber: string | null; erpDate: CalendarDate | null }): string {
  return e7Texts.entryOf({ number: erpNumber, date: erpDate });
}

/** The document of a unit: `invoice 7`; for a summary, its day and department. */
function documentOf(unitId: string | null): string {
  const [, kind = '', id = ''] = (unitId ?? '').split('/');
  return `${kind} ${id}`;
}
