import { postingContexts } from '../bookkeeping/posting-context.ts';
import { postsVatOnPayment, VatDueBatch } from '../bookkeeping/vat-due-batch.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { zero } from '../domain/money.ts';
import { type DueBooks, dueOf, dueSteps, keyOfGroup } from '../posting/vat-due.ts';
import { finalInvoicesBefore } from '../reports/before-start.ts';
import { columnsOf, type Item, type Section, type SectionShape, section } from '../reports/report-sections.ts';
import { sectionTitles } from '../texts/reports/reports.ts';

const shape: SectionShape = {
  name: 'vat_not_due',
  title: sectionTitles.openingVatNotDue,
  keys: columnsOf('group', 'rate'),
  facts: columnsOf('number', 'date'),
  amounts: columnsOf('vat', 'not_due'),
};

/**
 * The VAT of invoices from before the start date that was not due then, by VAT group: the opening balance of `opening_vat_not_due`
 * (ACCOUNTING R13). Later payments move it. Empty without VAT on payment. Invoices with the remark `vat_due_unknown` are left out.
 */
export async function openingVatNotDue(db: Connection, installation: InstallationConfig): Promise<Section[]> {
  if (!postsVatOnPayment(installation)) return [];
  // Lock dates decide nothing about documents before the start.
  const context = await postingContexts(installation, async () => null)(db, []);
  const items: Item[] = [];
  for await (const page of finalInvoicesBefore(db, installation)) {
    const ids = page.map(({ id }) => id);
    const { books } = await VatDueBatch.ofInvoices(db, installation, ids, context);
    for (const id of ids) items.push(...notDueOf(books, id, installation.decimals));
  }
  return [section(shape, items.toSorted(inOrder))];
}

/** The VAT of each group of an invoice, less what was due with the payments before the start date. */
function notDueOf(books: DueBooks, id: number, decimals: number): Item[] {
  const invoice = books.invoices.get(id);
  if (invoice?.role !== 'opening_vat_not_due') return [];
  const last = dueSteps(books, id, decimals).findLast(({ isOpening }) => isOpening);
  const due = last && dueOf(last.after, last.paid.after, decimals);
  return [...(last?.after.groups.values() ?? invoice.groups)].flatMap((group) => {
    const left = group.vat.minus(due?.get(keyOfGroup(group))?.vat ?? zero);
    if (left.isZero()) return [];
    return {
      keys: { group: group.group, rate: group.rate?.toFixed() ?? null },
      document: `invoice ${id}`,
      facts: { number: invoice.documentNumber, date: invoice.day },
      amounts: { vat: group.vat, not_due: left },
    };
  });
}

const inOrder = (a: Item, b: Item) =>
  `${a.keys.group} ${a.keys.rate}`.localeCompare(`${b.keys.group} ${b.keys.rate}`, 'en');
