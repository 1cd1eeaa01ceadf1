import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { instantOf, monthBounds } from '../domain/dates.ts';
import { inLanguage } from '../languages/language.ts';
import type { ClosedMonth } from '../ledger/close-of-month.ts';
import { bookedPrepayments } from '../reports/booked-prepayments.ts';
import { bookedVat } from '../reports/booked-vat.ts';
import { trialBalance } from '../reports/books.ts';
import { decisions } from '../reports/decisions.ts';
import { lateEntries } from '../reports/late-entries.ts';
import { openItems } from '../reports/receivables.ts';
import type { Item, Listing, Period, Section } from '../reports/report-sections.ts';
import { bookedVouchers } from '../reports/vouchers.ts';
import type { Language } from '../texts/catalogue.ts';
import { cellWords, documentWords } from '../wording/cells.ts';
import { closeTables } from './close-tables.ts';

/** A table of a binder. */
export interface DatedListing extends Listing {
  /** The days of the month; a table of the state at its end has no first day. */
  period: Period;
}

/** The tables of a binder, by what was recorded at the close. Their items are read in this order, once. */
export async function binderTables(
  db: Connection,
  installation: InstallationConfig,
  month: string,
  closed: ClosedMonth,
  language: Language,
): Promise<DatedListing[]> {
  const days = monthBounds(month);
  const { seq, at } = closed.close;
  const recorded = { upToSeq: seq };
  const { id, timezone } = installation;
  const [checklist, ...aboutClose] = inLanguage(language, () => closeTables(closed, timezone));
  const accounts = await trialBalance(db, installation, days, {
    ...{ ...recorded, split: null, documents: false, account: null },
  });
  const ofMonth = [
    ...(checklist === undefined ? [] : [checklist]),
    ...accounts.map(listingOf),
    ...bookedVat(db, installation, days, recorded),
  ];
  const atEnd = [
    openItems(db, installation, days, recorded),
    bookedPrepayments(db, installation, days, recorded),
    bookedVouchers(db, installation, days, recorded),
  ];
  const decided = [
    lateEntries(db, id, days, recorded, at),
    ...aboutClose,
    decisions(db, installation, { from: instantOf(days.from, timezone) ?? at, to: at }),
  ];
  const dated = (listing: Listing, period: Period): DatedListing => ({
    ...{ ...listing, period, items: inWords(listing.items, language) },
  });
  return [
    ...ofMonth.map((each) => dated(each, days)),
    ...atEnd.map((each) => dated(each, { ...days, from: null })),
    ...decided.map((each) => dated(each, days)),
  ];
}

/** Items with words of the language instead of codes, because people read a binder. */
async function* inWords(items: Listing['items'], language: Language): AsyncGenerator<Item> {
  const worded = (cells: Item['keys']) =>
    Object.fromEntries(Object.keys(cells).map((name) => [name, cellWords(name, cells)]));
  for await (const item of items)
    yield inLanguage<Item>(language, () => ({
      ...{ ...item, keys: worded(item.keys), document: documentWords(item.document), facts: worded(item.facts) },
    }));
}

async function* itemsOf({ figures }: Section): AsyncGenerator<Item> {
  for (const { items } of figures) yield* items;
}

function listingOf(section: Section): Listing {
  return { shape: section.shape, items: itemsOf(section), hasTotal: true };
}
