// What happens in the clinic, as operations: the HTTP routes, the seeded history, live() and tests all go through these.
import type { Amount } from './money.ts';
import { dec, fixed, Money, negated, rowAmount, sumOf } from './money.ts';
import type {
  Client,
  ExternalInfo,
  Invoice,
  InvoicePayment,
  InvoiceRow,
  Payer,
  Prepayment,
  PrepaymentStatus,
  RowExtra,
  VatGroup,
} from './records.ts';
import { invoiceStatus, NotFound, prepaymentType, ValidationProblem } from './records.ts';
import { Store } from './store.ts';
import { addDays } from './zone.ts';

export interface RowInput {
  /** Net amount; up to 4 decimals. */
  sum: Amount;
  /** Percent; 0 unless given. */
  vat_percentage?: Amount;
  /** From `sum` and the percentage unless given. */
  sum_vat?: Amount;
  sum_total?: Amount;
  account_number?: string;
  name?: string;
  quantity?: Amount;
  price?: Amount;
  price_with_vat?: Amount;
  reporting_dimension_1?: string | null;
  reporting_dimension_2?: string | null;
  reporting_dimension_3?: string | null;
  credited_invoicerow?: number | null;
  invoice_row_extra?: Partial<RowExtra>;
  /** The clinic's group of that percentage unless given. */
  vat_group?: VatGroup;
}

export interface InvoiceInput {
  department?: number;
  client?: number | null;
  rows: RowInput[];
  /** 3 Finalized unless given. */
  status?: number;
  /** Today unless given. */
  invoice_date?: string;
  payer?: Partial<Payer>;
  countersale?: boolean;
  credit_note?: boolean;
  credit_note_original_invoice?: number | null;
  consolidated_invoices?: number[];
  consultation?: number | null;
}

export interface PaymentInput {
  payment_type: number;
  /** What is due unless given. */
  paid?: Amount;
  /** Epoch milliseconds; now unless given. */
  date_added?: number;
  info?: string;
}

export interface PrepaymentInput {
  department?: number;
  client?: number;
  payment_type: number;
  paid: Amount;
  description?: string;
  status?: PrepaymentStatus;
  external_info?: ExternalInfo;
}

const noPayer: Payer = {
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

export class Clinic extends Store {
  /** Creates an invoice with its rows; totals are the exact sums of the rows, rounded half-even. */
  createInvoice(input: InvoiceInput): Invoice {
    return this.commit(() => {
      const department = this.department(input.department ?? this.#firstDepartment());
      const client = input.client == null ? null : this.#client(input.client);
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

  /** Draft to final: the department's prefix, the next number and its bank reference are set. */
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

  voidInvoice(id: number): Invoice {
    return this.commit(() => this.update(this.invoices, this.invoice(id), { status: invoiceStatus.voided }));
  }

  /** Changes fields of an invoice as staff can in the application, for example the payer snapshot or the date. */
  updateInvoice(id: number, changes: Partial<Omit<Invoice, 'id' | 'created' | 'modified'>>): Invoice {
    return this.commit(() => this.update(this.invoices, this.invoice(id), changes));
  }

  /** Another client takes over the invoice: its payer snapshot is taken anew. */
  changePayer(id: number, clientId: number): Invoice {
    const client = this.#client(clientId);
    return this.updateInvoice(id, { client: client.id, ...client.payer });
  }

  addRow(invoiceId: number, row: RowInput): InvoiceRow {
    return this.commit(() => {
      const added = this.#insertRow(this.invoice(invoiceId).id, row);
      this.#retotal(invoiceId);
      return added;
    });
  }

  /** Changes a row; the invoice's totals, due_sum and `modified` follow. */
  updateRow(id: number, changes: Partial<Omit<InvoiceRow, 'id' | 'invoice' | 'created' | 'modified'>>): InvoiceRow {
    return this.commit(() => {
      const row = this.invoiceRows.get(id);
      if (!row) throw new NotFound();
      this.update(this.invoiceRows, row, changes);
      this.#retotal(row.invoice);
      return row;
    });
  }

  /** Removes a record as if it had never been; an invoice takes its rows and payments with it. */
  deleteRecord(kind: 'invoice' | 'invoicerow' | 'invoicepayment' | 'unallocatedpayment', id: number): void {
    this.commit(() => {
      if (kind === 'invoice') {
        for (const row of [...this.invoiceRows.of(id)]) this.invoiceRows.delete(row.id);
        for (const payment of [...this.invoicePayments.of(id)]) this.invoicePayments.delete(payment.id);
        this.invoices.delete(id);
      } else if (kind === 'invoicerow') {
        const invoiceId = this.invoiceRows.get(id)?.invoice;
        this.invoiceRows.delete(id);
        if (invoiceId !== undefined) this.#retotal(invoiceId);
      } else if (kind === 'invoicepayment') {
        const invoiceId = this.invoicePayments.get(id)?.invoice;
        this.invoicePayments.delete(id);
        if (invoiceId !== undefined) this.#settle(this.invoice(invoiceId));
      } else {
        this.prepayments.delete(id);
      }
    });
  }

  /** A credit note of a final invoice: of all its rows, or of those named. The original is not changed. */
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

  /** Records a payment on a final invoice. */
  pay(invoiceId: number, input: PaymentInput): InvoicePayment {
    return this.commit(() => {
      const invoice = this.invoice(invoiceId);
      if (invoice.status !== invoiceStatus.final) {
        throw new ValidationProblem('invoice', 'Payments can be added to finalized invoices only.');
      }
      const date_added = input.date_added ?? this.clock();
      this.requireUnlocked(invoice.department, this.zone.date(date_added), 'date_added');
      return this.#addPayment(invoice, { ...input, date_added });
    });
  }

  /** Reverses a payment by a new negative record; the original stays. `cancelDate` counts only where settings allow it. */
  cancelPayment(id: number, info: string, cancelDate: number = this.clock()): InvoicePayment {
    return this.commit(() => {
      const payment = this.payment(id);
      const invoice = this.invoice(payment.invoice);
      const alreadyCancelled = this.invoicePayments.of(invoice.id).some((other) => other.cancels === id);
      if (alreadyCancelled || payment.cancels !== null) {
        throw new ValidationProblem('non_field_errors', 'This payment is cancelled already.');
      }
      const date_added = this.department(invoice.department).payment_cancel_set_date ? cancelDate : this.clock();
      this.requireUnlocked(invoice.department, this.zone.date(date_added), 'cancel_date');
      const paid = negated(payment.paid);
      if (payment.prepayment !== null) this.#use(this.prepayment(payment.prepayment), paid);
      const { payment_type, prepayment } = payment;
      return this.#addPayment(invoice, { payment_type, paid, date_added, info, cancels: id, prepayment });
    });
  }

  /** Takes a prepayment. */
  takePrepayment(input: PrepaymentInput): Prepayment {
    return this.commit(() => {
      const department = this.department(input.department ?? this.#firstDepartment());
      const client = this.#client(input.client ?? this.clients.all()[0]?.id ?? 0);
      this.requireUnlocked(department.id, this.today(), 'non_field_errors');
      const paid = fixed(dec(input.paid), this.decimals);
      return this.insert(this.prepayments, {
        department: department.id,
        client: client.id,
        payment_type: input.payment_type,
        paid,
        description: input.description ?? '',
        refunds: null,
        unused_amount: paid,
        fully_used: false,
        status: input.status ?? 'Ready',
        external_info: { external_id: null, ...input.external_info },
      });
    });
  }

  /** Pays back (part of) a prepayment: a new record with a negative `paid` that names the original. */
  refundPrepayment(id: number, amount: Amount, input: Partial<PrepaymentInput> = {}): Prepayment {
    return this.commit(() => {
      const original = this.prepayment(id);
      if (dec(amount).greaterThan(original.unused_amount)) {
        throw new ValidationProblem('paid', `The refund exceeds the unused amount ${original.unused_amount}.`);
      }
      if (this.quirks.refundLowersUnused) this.#use(original, amount);
      const refund = this.takePrepayment({
        payment_type: original.payment_type,
        description: `Refund of prepayment ${id}`,
        ...input,
        department: input.department ?? original.department,
        client: input.client ?? original.client,
        paid: negated(amount),
      });
      const zero = fixed(dec(0), this.decimals);
      return this.updateQuietly(this.prepayments, refund, { refunds: id, unused_amount: zero, fully_used: true });
    });
  }

  /** Applies (part of) a prepayment to a final invoice: a payment of type 8. */
  applyPrepayment(id: number, invoiceId: number, amount?: Amount): InvoicePayment {
    return this.commit(() => {
      const prepayment = this.prepayment(id);
      const invoice = this.invoice(invoiceId);
      const paid = fixed(amount ? dec(amount) : Money.min(prepayment.unused_amount, invoice.due_sum), this.decimals);
      if (invoice.status !== invoiceStatus.final)
        throw new ValidationProblem('invoice', 'The invoice is not finalized.');
      if (dec(paid).greaterThan(prepayment.unused_amount)) throw new ValidationProblem('paid', 'More than is unused.');
      this.requireUnlocked(invoice.department, this.today(), 'date_added');
      this.#use(prepayment, paid);
      return this.#addPayment(invoice, { payment_type: prepaymentType, paid, prepayment: id });
    });
  }

  /** Merges top-level keys into `external_info`; keys that are not sent stay as they are. */
  mergeExternalInfo(id: number, changes: ExternalInfo): Prepayment {
    return this.commit(() => {
      const prepayment = this.prepayment(id);
      const external_info = { ...prepayment.external_info, ...changes };
      if (JSON.stringify(external_info) === JSON.stringify(prepayment.external_info)) return prepayment;
      return this.update(this.prepayments, prepayment, { external_info });
    });
  }

  /** Collects what is due on final invoices of one client into one invoice; each member is settled by type 6. */
  consolidate(memberIds: number[]): Invoice {
    return this.commit(() => {
      const members = memberIds.map((id) => this.invoice(id));
      const first = members[0];
      if (!first) throw new ValidationProblem('consolidated_invoices', 'This list may not be empty.');
      const collector = this.createInvoice({
        department: first.department,
        client: first.client,
        payer: payerOf(first),
        consolidated_invoices: memberIds,
        rows: members.map((member) => ({
          name: `Invoice ${member.invoice_prefix}-${member.invoice_number}`,
          sum: member.due_sum,
          account_number: '1760',
        })),
      });
      for (const member of members) {
        this.update(this.invoices, member, { consolidated_invoice: collector.id });
        if (!dec(member.due_sum).isZero())
          this.#addPayment(member, { payment_type: 6, info: `Invoice ${collector.id}` });
      }
      return collector;
    });
  }

  #addPayment(invoice: Invoice, input: PaymentInput & Partial<Pick<InvoicePayment, 'cancels' | 'prepayment'>>) {
    const payment = this.insert(this.invoicePayments, {
      invoice: invoice.id,
      payment_type: input.payment_type,
      paid: fixed(dec(input.paid ?? invoice.due_sum), this.decimals),
      date_added: input.date_added ?? this.clock(),
      info: input.info ?? '',
      cancels: input.cancels ?? null,
      prepayment: input.prepayment ?? null,
    });
    this.#settle(invoice);
    return payment;
  }

  /** due_sum = total_with_vat - payments; date_paid while nothing is due. */
  #settle(invoice: Invoice): void {
    const paid = sumOf(this.invoicePayments.of(invoice.id).map((payment) => payment.paid));
    const due_sum = fixed(dec(invoice.total_with_vat).minus(paid), this.decimals);
    const isPaid = invoice.status === invoiceStatus.final && dec(due_sum).isZero();
    const date_paid = isPaid ? (invoice.date_paid ?? this.clock()) : null;
    if (this.quirks.paymentTouchesInvoice) this.update(this.invoices, invoice, { due_sum, date_paid });
    else this.updateQuietly(this.invoices, invoice, { due_sum, date_paid });
  }

  /** Draws on a prepayment (a negative amount gives back). */
  #use(prepayment: Prepayment, amount: Amount): void {
    const unused = dec(prepayment.unused_amount).minus(amount);
    const fully_used = !unused.isPositive() || unused.isZero();
    const isMoney = prepayment.status === 'Ready' || prepayment.status === 'Fully used';
    const status = isMoney ? (fully_used ? 'Fully used' : 'Ready') : prepayment.status;
    this.update(this.prepayments, prepayment, { unused_amount: fixed(unused, this.decimals), fully_used, status });
  }

  #retotal(invoiceId: number): void {
    const invoice = this.invoice(invoiceId);
    const { due_sum: _beforePayments, ...totals } = this.#totals(this.invoiceRows.of(invoiceId));
    this.update(this.invoices, invoice, totals);
    this.#settle(invoice);
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
    const rate = dec(row.vat_percentage ?? row.vat_group?.percentage ?? '0').div(100);
    const sum_vat = row.sum_vat ?? rowAmount(dec(row.sum).times(rate));
    return { sum: row.sum, sum_vat, sum_total: row.sum_total ?? rowAmount(dec(row.sum).plus(sum_vat)) };
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
      invoice_row_extra: {
        account_number: null,
        reporting_dimension_1: null,
        reporting_dimension_2: null,
        ...row.invoice_row_extra,
      },
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

  #client(id: number): Client {
    const client = this.clients.get(id);
    if (!client) throw new ValidationProblem('client', `Invalid pk "${id}" - object does not exist.`);
    return client;
  }

  #firstDepartment(): number {
    return this.departments.keys().next().value ?? 0;
  }
}

/** The payer snapshot of an invoice, alone. */
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
