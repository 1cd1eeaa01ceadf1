// Counter sales: a draft invoice, to which staff add items before they finalise it.
import type { Clinic } from './clinic.ts';
import type { Amount } from './money.ts';
import { noteFeeSold } from './online/prescriptions.ts';
import { chargeOf } from './pricing.ts';
import { type Invoice, type InvoiceRow, invoiceStatus, NotFound, ValidationProblem } from './records.ts';

export const openCounterSale = (clinic: Clinic, department: number, client: number | null): Invoice => {
  if (!clinic.departments.has(department)) throw new ValidationProblem('department', 'Object does not exist.');
  clinic.requireUnlocked(department, clinic.today(), 'non_field_errors');
  return clinic.createInvoice({ department, client, countersale: true, rows: [], status: invoiceStatus.draft });
};

/** Adds an item of the catalogue. The default VAT is the item's. */
export const addToCounterSale = (
  clinic: Clinic,
  id: number,
  { item: itemId, quantity, vat_percentage }: { item: number; quantity: Amount; vat_percentage?: Amount },
): InvoiceRow => {
  const sale = draftSale(clinic, id);
  const item = clinic.registers.items.get(itemId);
  if (!item) throw new ValidationProblem('item', 'Invalid hyperlink - Object does not exist.');
  if (!item.shop) throw new ValidationProblem('item', `Item ${item.id} is not sold over the counter.`);
  const client = sale.client === null ? null : (clinic.clients.get(sale.client) ?? null);
  const charge = chargeOf(clinic, item, { quantity, vat_percentage: vat_percentage ?? item.vat_percentage, client });
  return clinic.addRow(sale.id, charge);
};

export const finaliseCounterSale = (clinic: Clinic, id: number): Invoice => {
  const sale = draftSale(clinic, id);
  if (clinic.invoiceRows.of(sale.id).length === 0) {
    throw new ValidationProblem('non_field_errors', 'A counter sale without items cannot be finalized.');
  }
  const finalised = clinic.finaliseDraft(sale.id);
  noteFeeSold(clinic, finalised);
  return finalised;
};

const draftSale = (clinic: Clinic, id: number): Invoice => {
  const sale = clinic.invoice(id);
  if (!sale.countersale) throw new NotFound();
  if (sale.status !== invoiceStatus.draft) throw new ValidationProblem('non_field_errors', 'It is no draft any more.');
  return sale;
};
