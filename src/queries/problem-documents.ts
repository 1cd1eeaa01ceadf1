import { integer, json } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { Money } from '../domain/money.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import { printedNumber } from '../records/printed-number.ts';
import type { RecordOf } from '../records/schema.ts';
import type { DocumentRef, InstallationId, SourceKind } from '../terms.ts';
import { problemTexts } from '../texts/findings/problems.ts';

/** The payer, department and printed number of a document, as in the source. */
export interface WhoAndWhere {
  /** The payer's name, or else `client 5`, or else `no client`. */
  customer: string;
  department: number | null;
  clientId: number | null;
  /** The number printed on the invoice, or on a payment’s invoice. */
  number: string | null;
  /** The total of the invoice, or of a payment’s invoice. */
  invoiceTotal: Money | null;
}

const pageSize = 500;

/**
 * Customer and department of documents, by `kind/id`. A payment has the customer and department of its invoice
 * (ACCOUNTING "Who and where"). Documents that are not in the mirror are left out. Only one page of records is in
 * memory at a time.
 */
export async function whoAndWhere(
  db: Connection,
  installation: InstallationId,
  dialect: Dialect,
  documents: readonly DocumentRef[],
): Promise<Map<string, WhoAndWhere>> {
  const found = new Map<string, WhoAndWhere>();
  const idsOf = (kind: SourceKind) => documents.flatMap((each) => (each.kind === kind ? each.id : []));
  const invoiceOf = new Map<number, number>();
  for await (const { id, invoiceId } of readAll(db, installation, dialect, 'payment', idsOf('payment'))) {
    if (invoiceId !== null) invoiceOf.set(id, invoiceId);
  }
  const invoices = new Map<number, WhoAndWhere>();
  const invoiceIds = [...new Set([...idsOf('invoice'), ...invoiceOf.values()])];
  for await (const invoice of readAll(db, installation, dialect, 'invoice', invoiceIds)) {
    const { id, payer, clientId, departmentId: department, totalWithVat: invoiceTotal } = invoice;
    const customer = payer.name ?? clientName(clientId);
    invoices.set(id, { customer, department, clientId, number: printedNumber(invoice), invoiceTotal });
  }
  for await (const { id, clientId, departmentId } of readAll(
    db,
    installation,
    dialect,
    'prepayment',
    idsOf('prepayment'),
  )) {
    found.set(`prepayment/${id}`, {
      customer: clientName(clientId),
      department: departmentId,
      clientId,
      number: null,
      invoiceTotal: null,
    });
  }
  for (const id of idsOf('invoice')) set(found, `invoice/${id}`, invoices.get(id));
  for (const [id, invoiceId] of invoiceOf) set(found, `payment/${id}`, invoices.get(invoiceId));
  return found;
}

function set(found: Map<string, WhoAndWhere>, key: string, of: WhoAndWhere | undefined): void {
  if (of !== undefined) found.set(key, of);
}

function clientName(clientId: number | null): string {
  return clientId === null ? problemTexts.noClient : problemTexts.client({ id: clientId });
}

async function* readAll<Kind extends SourceKind>(
  db: Connection,
  installation: InstallationId,
  dialect: Dialect,
  kind: Kind,
  ids: readonly number[],
): AsyncGenerator<RecordOf<Kind>> {
  for (let at = 0; at < ids.length; at += pageSize) {
    const page = await rows(
      db,
      { id: integer, raw: json },
      'select id, raw from mirror_record where installation = ? and kind = ? and id = any(?) order by id',
      [installation, kind, ids.slice(at, at + pageSize)],
    );
    for (const { raw } of page) yield readRecord(kind, raw, dialect);
  }
}
