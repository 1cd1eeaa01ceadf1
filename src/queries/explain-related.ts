import { integer, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { LedgerEntry } from '../domain/entry.ts';
import type { DocumentFacts } from '../posting/types.ts';
import { type DocumentKind, type DocumentRef, type DocumentState, documentKinds, documentStates } from '../terms.ts';

export interface RelatedDocument extends DocumentRef {
  state: DocumentState;
  problemCode: string | null;
  entryId: string | null;
}

/** The invoices that the text of an explanation names. */
export function invoicesNamed(entries: readonly LedgerEntry[], facts: DocumentFacts | null): number[] {
  const related = facts === null ? [] : relatedRefs(facts);
  const originals = entries.flatMap(({ original }) => (original === null ? [] : [original]));
  return [...new Set([...related, ...originals].flatMap(({ kind, id }) => (kind === 'invoice' ? [id] : [])))];
}

/** The documents that belong to a document. */
export function relatedRefs(facts: DocumentFacts): DocumentRef[] {
  const refs = (kind: DocumentKind, ids: readonly (number | null)[]): DocumentRef[] =>
    ids.flatMap((id) => (id === null ? [] : [{ kind, id }]));
  switch (facts.kind) {
    case 'invoice': {
      const { originalInvoiceId, consolidatedInvoiceIds } = facts.invoice;
      const paymentIds = facts.payments.map(({ id }) => id);
      return [
        ...refs('invoice', [originalInvoiceId]),
        ...refs('payment', paymentIds),
        ...refs('invoice', consolidatedInvoiceIds),
      ];
    }
    case 'payment':
      return [
        ...refs('invoice', [facts.payment.invoiceId]),
        ...refs('prepayment', facts.prepayment?.prepaymentIds ?? []),
      ];
    case 'vat_due':
      return refs('invoice', [facts.id]);
    case 'prepayment':
      return refs('prepayment', [facts.prepayment.refundsId]);
  }
}

export async function relatedDocuments(
  db: Connection,
  installation: number,
  refs: readonly DocumentRef[],
): Promise<RelatedDocument[]> {
  const found = await rows(
    db,
    {
      kind: oneOf(documentKinds),
      id: integer,
      state: oneOf(documentStates),
      problem_code: nullable(text),
      entry_id: nullable(text),
    },
    `select d.kind, d.id, d.state, d.problem_code, d.entry_id
     from unnest(?::text[], ?::bigint[]) with ordinality as t(kind, id, place)
     join document d on d.installation = ? and d.kind = t.kind and d.id = t.id order by t.place`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id), installation],
  );
  return found.map(({ problem_code, entry_id, ...document }) => ({
    ...document,
    problemCode: problem_code,
    entryId: entry_id,
  }));
}
