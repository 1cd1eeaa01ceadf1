// Invoices, their rows and credit notes: totals, numbers, payer snapshots.
import type { InvoiceInput, RowInput } from './inputs.ts';
import type { Amount } from './money.ts';
import { dec, fixed, negated, rowAmount, sumOf } from './money.ts';
import type { Client, Invoice, InvoiceRow, Payer, RowExtra, VatGroup } from './records.ts';
import { invoiceStatus, NotFound, ValidationProblem } from './records.ts';
import { Store } from './store.ts';
import { addDays } from './zone.ts';

/** A payer without any details. */
export const noPayer: Payer = {
  payer_name: '',
  payer_organization_name: '',
  payer_id_number: '',
  payer_register_number: '',
  payer_vat_number: '',
  payer_street_address: '',
  payer_street_address_2: '',
  payer_zip_code: '',
  payer_city: '',
  payer_state: '',
  payer_country: '',
  payer_country_code: '',
};

/** Shared by all rows without internal accounts, to save memory. */
const noExtra: RowExtra = { account_number: null, reporting_dimension_1: null, reporting_dimension_2: null };

export class Invoicing extends Store {
  /** Creates an invoice with its rows. The totals are the exact sums of the rows, rounded half-even. */
  createInvoice(input: InvoiceInput): Invoice {
    return this.commit(() => {
      const department = this.department(input.department ?? this.firstDepartment());
      const client = input.client == null ? null : this.clientOf(input.client);
      const invoice_date = input.invoice_date ?? this.today();
      const invoice = this.insert(this.invoices, {
        ...noPayer,
        ...client?.payer,
        ...input.payer,
        status: invoiceStatus.draft,
        invoice_number: null,
        invoice_prefix: '',
        invoice_date,
        invoice_due_date: addDays(invoice_date, client?.customer_type ? 14 : 7),
        date_paid: null,
        credit_note: input.credit_note ?? false,
        countersale: input.countersale ?? false,
        ...this.#totals(input.rows.map((row) => this.#amounts(row))),
        reference_number: '',
        additional_reference: '',
        client: client?.id ?? null,
        department: department.id,
        consultation: input.consultation ?? null,
        credit_note_original_invoice: input.credit_note_original_invoice ?? null,
        consolidated_invoice: null,
        consolidated_invoices: input.consolidated_invoices ?? [],
      });
      for (const row of input.rows) this.#insertRow(invoice.id, row);
      const status = input.status ?? invoiceStatus.final;
      if (status === invoiceStatus.final) this.finalise(invoice.id);
      else if (status !== invoiceStatus.draft) this.update(this.invoices, invoice, { status });
      return invoice;
    });
  }

  /** Finalises an invoice: sets the department's prefix, the next number and the bank reference. */
  finalise(id: number): Invoice {
    return this.commit(() => {
      const invoice = this.invoice(id);
      const department = this.department(invoice.department);
      const invoice_number = department.next_invoice_number++;
      return this.update(this.invoices, invoice, {
        status: invoiceStatus.final,
        invoice_number,
        invoice_prefix: department.prefix,
        reference_number: bankReference(invoice_number),
        ...(dec(invoice.due_sum).isZero() ? { date_paid: this.clock() } : {}),
      });
    });
  }

  /**
   * Finalises a draft for the API. Throws ValidationProblem if it is not a draft, or if its date is in a locked period.
   */
  finaliseDraft(id: number): Invoice {
    return this.commit(() => {
      const invoice = this.invoice(id);
      if (invoice.status !== invoiceStatus.draft) {
        throw new ValidationProblem('non_field_errors', 'Only a draft can be finalized.');
      }
      this.requireUnlocked(invoice.department, invoice.invoice_date, 'invoice_date');
      return this.finalise(id);
    });
  }

  /**
   * Changes the dates of an invoice for the API. Throws ValidationProblem for a business date of a final invoice, or in
   * a locked period.
   */
  redate(id: number, dates: Partial<Pick<Invoice, 'invoice_date' | 'invoice_due_date'>>): Invoice {
    return this.commit(() => {
      const invoice = this.invoice(id);
      if (dates.invoice_date !== undefined) {
        if (invoice.status !== invoiceStatus.draft) {
          throw new ValidationProblem('invoice_date', 'The date of a draft only can be changed.');
        }
        this.requireUnlocked(invoice.department, dates.invoice_date, 'invoice_date');
      }
      return this.update(this.invoices, invoice, dates);
    });
  }

  voidInvoice(id: number): Invoice {
    return this.commit(() => this.update(this.invoices, this.invoice(id), { status: invoiceStatus.voided }));
  }

  /** Changes fields of an invoice that only staff can change, such as the payer snapshot or the date. */
  updateInvoice(id: number, changes: Partial<Omit<Invoice, 'id' | 'created' | 'modified'>>): Invoice {
    return this.commit(() => this.update(this.invoices, this.invoice(id), changes));
  }

  /** Moves the invoice to another client and takes a new payer snapshot. */
  changePayer(id: number, clientId: number): Invoice {
    const client = this.clientOf(clientId);
    return this.updateInvoice(id, { client: client.id, ...client.payer });
  }

  /** Adds a row. On a final invoice, the row is an extra fee. */
  addRow(invoiceId: number, row: RowInput): InvoiceRow {
    return this.commit(() => {
      const invoice = this.invoice(invoiceId);
      const added = this.#insertRow(invoice.id, row);
      if (invoice.status === invoiceStatus.final) this.noteChange('extra_fee', invoice.id);
      this.retotal(invoiceId);
      return added;
    });
  }

  /** Changes a row, and updates the invoice's totals, due_sum and `modified`. */
  updateRow(id: number, changes: Partial<Omit<InvoiceRow, 'id' | 'invoice' | 'created' | 'modified'>>): InvoiceRow {
    return this.commit(() => {
      const row = this.invoiceRows.get(id);
      if (!row) throw new NotFound();
      this.update(this.invoiceRows, row, changes);
      this.retotal(row.invoice);
      return row;
    });
  }

  /** Makes a credit note of a final invoice: of all its rows, or of the given ones. The original does not change. */
  credit(id: number, options: { rows?: number[]; useOriginalDate?: boolean } = {}): Invoice {
    return this.commit(() => {
      const original = this.invoice(id);
      if (original.status !== invoiceStatus.final) {
        throw new ValidationProblem('non_field_errors', 'Only a finalized invoice can be refunded.');
      }
      const rows = this.#rowsToCredit(original, options.rows);
      const invoice_date = options.useOriginalDate ? original.invoice_date : this.today();
      this.requireUnlocked(original.department, invoice_date, 'invoice_date');
      return this.createInvoice({
        department: original.department,
        client: original.client,
        payer: payerOf(original),
        countersale: original.countersale,
        credit_note: true,
        credit_note_original_invoice: original.id,
        invoice_date,
        rows: rows.map((row) => ({
          ...row,
          quantity: negated(row.quantity),
          sum: negated(row.sum),
          sum_vat: negated(row.sum_vat),
          sum_total: negated(row.sum_total),
          credited_invoicerow: row.id,
        })),
      });
    });
  }

  /** Sets due_sum to total_with_vat less the payments, and date_paid while nothing is due. */
  protected settle(invoice: Invoice): void {
    const paid = sumOf(this.invoicePayments.of(invoice.id).map((payment) => payment.paid));
    const due_sum = fixed(dec(invoice.total_with_vat).minus(paid), this.decimals);
    const due = dec(due_sum);
    // An overpaid invoice counts as paid.
    const isOverpaid = due.isNegative() !== dec(invoice.total_with_vat).isNegative();
    const isPaid = invoice.status === invoiceStatus.final && (due.isZero() || isOverpaid);
    const date_paid = isPaid ? (invoice.date_paid ?? this.clock()) : null;
    if (this.quirks.paymentTouchesInvoice) this.update(this.invoices, invoice, { due_sum, date_paid });
    else this.updateQuietly(this.invoices, invoice, { due_sum, date_paid });
  }

  protected retotal(invoiceId: number): void {
    const invoice = this.invoice(invoiceId);
    const { due_sum: _beforePayments, ...totals } = this.#totals(this.invoiceRows.of(invoiceId));
    this.update(this.invoices, invoice, totals);
    this.settle(invoice);
  }

  #totals(rows: readonly Pick<InvoiceRow, 'sum' | 'sum_vat' | 'sum_total'>[]) {
    const total_with_vat = fixed(sumOf(rows.map((row) => row.sum_total)), this.decimals);
    return {
      total: fixed(sumOf(rows.map((row) => row.sum)), this.decimals),
      total_vat: fixed(sumOf(rows.map((row) => row.sum_vat)), this.decimals),
      total_with_vat,
      due_sum: total_with_vat,
    };
  }

  #amounts(row: RowInput): Required<Pick<RowInput, 'sum' | 'sum_vat' | 'sum_total'>> {
    const { sum, sum_total } = row;
    const percentage = row.vat_percentage ?? row.vat_group?.percentage ?? '0';
    const sum_vat = row.sum_vat ?? rowAmount(dec(sum).times(dec(percentage).div(100)));
    return { sum, sum_vat, sum_total: sum_total ?? rowAmount(dec(sum).plus(sum_vat)) };
  }

  #insertRow(invoice: number, row: RowInput): InvoiceRow {
    const amounts = this.#amounts(row);
    const vat_percentage = row.vat_percentage ?? row.vat_group?.percentage ?? '0.00';
    return this.insert(this.invoiceRows, {
      invoice,
      name: row.name ?? 'Service',
      quantity: row.quantity ?? '1.00',
      price: row.price ?? amounts.sum,
      price_with_vat: row.price_with_vat ?? amounts.sum_total,
      ...amounts,
      vat_percentage,
      account_number: row.account_number ?? '3000',
      reporting_dimension_1: row.reporting_dimension_1 ?? null,
      reporting_dimension_2: row.reporting_dimension_2 ?? null,
      reporting_dimension_3: row.reporting_dimension_3 ?? null,
      credited_invoicerow: row.credited_invoicerow ?? null,
      invoice_row_extra: row.invoice_row_extra ? { ...noExtra, ...row.invoice_row_extra } : noExtra,
      vat_group: row.vat_group ?? this.#vatGroup(vat_percentage),
    });
  }

  #vatGroup(percentage: Amount): VatGroup {
    const known = this.vatGroups.find((group) => dec(group.percentage).equals(percentage));
    return known ?? { name: `VAT ${dec(percentage).toFixed()} %`, percentage, account_number: '2939' };
  }

  #rowsToCredit(original: Invoice, wanted: number[] | undefined): InvoiceRow[] {
    const rows = this.invoiceRows.of(original.id);
    if (!wanted) return [...rows];
    if (wanted.length === 0) throw new ValidationProblem('invoice_rows', 'This list may not be empty.');
    return [...new Set(wanted)].map((id) => {
      const row = rows.find((candidate) => candidate.id === id);
      if (!row) throw new ValidationProblem('invoice_rows', `Row ${id} does not belong to this invoice.`);
      return row;
    });
  }

  protected clientOf(id: number): Client {
    const client = this.clients.get(id);
    if (!client) throw new ValidationProblem('client', `Invalid pk "${id}" - object does not exist.`);
    return client;
  }

  protected firstDepartment(): number {
    return this.departments.keys().next().value ?? 0;
  }
}

/** The payer snapshot of an invoice. */
export const payerOf = (invoice: Invoice): Payer =>
  Object.fromEntries(Object.keys(noPayer).map((key) => [key, invoice[key as keyof Payer]])) as unknown as Payer;

/** A Finnish bank reference: the number and its 7-3-1 check digit. */
const bankReference = (invoiceNumber: number): string => {
  const digits = String(invoiceNumber);
  const weights = [7, 3, 1];
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, at) => total + Number(digit) * (weights[at % 3] as number), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
};
