import type { LineFields, Party } from '../domain/entry.ts';
import type { InvoiceRecord } from '../records/types.ts';
import type { CalendarDate, Role } from '../terms.ts';
import { documentNumber, type Findings } from './findings.ts';
import type { Fact } from './hash.ts';
import type { PostingContext } from './types.ts';

/** What all lines of an invoice and of its payments say alike (ACCOUNTING "Who and where"). */
export interface InvoiceSide {
  /** The payer: the client, or on a counter sale without one the mapping's cash customer (R11). */
  party: Party;
  departmentId: number | null;
  /** What a line that opens or settles the invoice's receivable carries besides. */
  receivable: Pick<LineFields, 'invoiceId' | 'documentNumber' | 'dueDate' | 'bankReference'>;
  /** The facts these came from, for the input hash. */
  facts: Fact;
}

/** Reads the invoice's party and what its receivable lines carry; null when that holds the document. */
export function invoiceSide(invoice: InvoiceRecord, context: PostingContext, findings: Findings): InvoiceSide | null {
  const { clientId, departmentId, payer, bankReference } = invoice;
  const number = documentNumber(invoice);
  const dueDate: CalendarDate | null =
    invoice.dueDate === null ? null : findings.date(invoice.dueDate, 'the due date of the invoice', context);
  const code = clientId === null ? context.mapping.cash_customer : `client:${clientId}`;
  if (!code) return findings.hold('cash_customer_unmapped', 'there is no client, and the mapping has no cash_customer');
  if (invoice.dueDate !== null && dueDate === null) return null;
  return {
    party: { code, ...payer },
    departmentId,
    receivable: { invoiceId: invoice.id, documentNumber: number, dueDate, bankReference },
    facts: [clientId, payer.name, payer.vatNumber, payer.countryCode, departmentId, number, dueDate, bankReference],
  };
}

/** A client by id alone: prepayments carry no snapshot, and their lines close only if all name the same party. */
export function clientParty(clientId: number): Party {
  return { code: `client:${clientId}`, name: null, vatNumber: null, countryCode: null };
}

/** Who a payment's own line names: the mapping's counterparty for insurance and financing, otherwise `payer`. */
export function moneyParty(role: Role, payer: Party, context: PostingContext): Party {
  const isThirdParty = role === 'insurance_receivable' || role === 'financing_receivable';
  const code = isThirdParty ? context.mapping.counterparties[role] : undefined;
  return code ? { code, name: null, vatNumber: null, countryCode: null } : payer;
}
