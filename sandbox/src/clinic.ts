// The clinic's operations, which the HTTP routes, the generated history, live() and tests call. This file has payments,
// prepayments and consolidated invoices; invoicing.ts has invoices.
import type { PaymentInput, PrepaymentInput } from './inputs.ts';
import { Invoicing, payerOf } from './invoicing.ts';
import type { Amount } from './money.ts';
import { dec, fixed, Money, negated } from './money.ts';
import type { ExternalInfo, Invoice, InvoicePayment, Prepayment } from './records.ts';
import { invoiceStatus, prepaymentType, ValidationProblem } from './records.ts';

const maxExternalInfoBytes = 65_536;

export class Clinic extends Invoicing {
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

  /**
   * Cancels a payment by adding a negative one; the original stays. `cancelDate` is used only if the settings allow it.
   */
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
      const department = this.department(input.department ?? this.firstDepartment());
      const client = this.clientOf(input.client ?? this.clients.all()[0]?.id ?? 0);
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

  /** Refunds (part of) a prepayment: a new record with a negative `paid` that refers to the original. */
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

  /** Pays a final invoice from a prepayment, or from a part of it: a payment of type 8. */
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

  /** Merges top-level keys into `external_info`; keys that the request does not have stay unchanged. */
  mergeExternalInfo(id: number, changes: ExternalInfo): Prepayment {
    return this.commit(() => {
      const prepayment = this.prepayment(id);
      const external_info = { ...prepayment.external_info, ...changes };
      const text = JSON.stringify(external_info);
      if (text === JSON.stringify(prepayment.external_info)) return prepayment;
      if (Buffer.byteLength(text) > maxExternalInfoBytes) {
        throw new ValidationProblem('external_info', 'Ensure that it has no more than 65,536 bytes of JSON in all.');
      }
      return this.update(this.prepayments, prepayment, { external_info });
    });
  }

  /** Collects the due sums of one client's final invoices in one invoice. A payment of type 6 settles each member. */
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

  /** Deletes a record; an invoice is deleted with its rows and payments. Only a deleted row sends a webhook. */
  deleteRecord(kind: 'invoice' | 'invoicerow' | 'invoicepayment' | 'unallocatedpayment', id: number): void {
    this.commit(() => {
      if (kind === 'invoice') {
        for (const row of [...this.invoiceRows.of(id)]) this.invoiceRows.delete(row.id);
        for (const payment of [...this.invoicePayments.of(id)]) this.invoicePayments.delete(payment.id);
        this.invoices.delete(id);
      } else if (kind === 'invoicerow') {
        const invoiceId = this.invoiceRows.get(id)?.invoice;
        this.remove(this.invoiceRows, id);
        if (invoiceId !== undefined) this.retotal(invoiceId);
      } else if (kind === 'invoicepayment') {
        const invoiceId = this.invoicePayments.get(id)?.invoice;
        this.invoicePayments.delete(id);
        if (invoiceId !== undefined) this.settle(this.invoice(invoiceId));
      } else {
        this.prepayments.delete(id);
      }
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
    this.settle(invoice);
    return payment;
  }

  /** Reduces a prepayment's unused amount; a negative amount increases it. */
  #use(prepayment: Prepayment, amount: Amount): void {
    const unused = dec(prepayment.unused_amount).minus(amount);
    const fully_used = !unused.isPositive() || unused.isZero();
    const isMoney = prepayment.status === 'Ready' || prepayment.status === 'Fully used';
    const status = isMoney ? (fully_used ? 'Fully used' : 'Ready') : prepayment.status;
    this.update(this.prepayments, prepayment, { unused_amount: fixed(unused, this.decimals), fully_used, status });
  }
}
