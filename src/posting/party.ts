import type { LineFields, Party } from '../domain/entry.ts';
import type { InvoiceRecord } from '../records/types.ts';
import type { CalendarDate, Role } from '../terms.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import { documentNumber, type Findings } from './findings.ts';
import { type Fact, registerFacts } from './hash.ts';
import type { PostingContext } from './types.ts';

/** The common fields of the lines of an invoice and of its payments (ACCOUNTING "Who and where"). */
export interface InvoiceParty {
  /** The client, or the mapping's cash customer for a counter sale without a client (R11). */
  party: Party;
  departmentId: number | null;
  /** Further fields of a line that opens or settles the invoice's receivable. */
  receivable: Pick<LineFields, 'invoiceId' | 'documentNumber' | 'dueDate' | 'bankReference'>;
  /**
   * The source's facts that the fields above are made of, for the input hash. They exclude the payer's name (ACCOUNTING
   * R8).
   */
  facts: readonly Fact[];
  /** The facts of a party for an entry without a receivable, which has no due date and no bank reference. */
  factsWithoutReceivable: readonly Fact[];
}

/** The invoice's party and the fields of its receivable lines. Null if a finding holds the document. */
export function invoiceParty(invoice: InvoiceRecord, context: PostingContext, findings: Findings): InvoiceParty | null {
  const { clientId, departmentId, payer, bankReference } = invoice;
  const number = documentNumber(invoice);
  const dueDate: CalendarDate | null =
    invoice.dueDate === null ? null : findings.date(invoice.dueDate, postingFindings.dueDate, context);
  const code = clientId === null ? context.mapping.cash_customer : `client:${clientId}`;
  if (!code) return findings.hold('cash_customer_unmapped', postingFindings.noCashCustomer);
  if (invoice.dueDate !== null && dueDate === null) return null;
  const payerFacts = [clientId, payer.vatNumber, payer.countryCode, departmentId, number];
  const register = registerFacts(payer.registerNumber ?? null, payer.vatNumber);
  return {
    party: { code, name: payer.name, vatNumber: payer.vatNumber, countryCode: payer.countryCode },
    departmentId,
    receivable: { invoiceId: invoice.id, documentNumber: number, dueDate, bankReference },
    facts: [...payerFacts, dueDate, bankReference, ...register],
    factsWithoutReceivable: [...payerFacts, ...register],
  };
}

/**
 * The party of a client, with the id only. Prepayments have no payer snapshot, and the lines of a prepayment and its
 * use must have the same party to clear each other.
 */
export function clientParty(clientId: number): Party {
  return { code: `client:${clientId}`, name: null, vatNumber: null, countryCode: null };
}

/** The party of a payment's money line: the mapping's counterparty for insurance and financing, otherwise `payer`. */
export function moneyParty(role: Role, payer: Party, context: PostingContext): Party {
  const isThirdParty = role === 'insurance_receivable' || role === 'financing_receivable';
  const code = isThirdParty ? context.mapping.counterparties[role] : undefined;
  return code ? { code, name: null, vatNumber: null, countryCode: null } : payer;
}
