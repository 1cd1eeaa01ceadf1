import { bool, date, integer, json, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { Line } from '../domain/entry.ts';
import { Money } from '../domain/money.ts';
import { readRecord } from '../mirror/read.ts';
import type { DuePayment, SeenSettlement } from '../posting/vat-due.ts';
import type { DueDocument } from '../posting/vat-due-facts.ts';
import type { Dialect } from '../records/dialect.ts';
import { longestChain, setOffPayment } from '../records/source-codes.ts';
import type { InvoiceRecord } from '../records/types.ts';
import { type InstallationId, lineRoles, sides } from '../terms.ts';

/** The reads of VAT on payment (ACCOUNTING R13). The number of statements does not depend on the number of documents. */

/**
 * The invoices whose VAT the documents concern, with their members and the chains of credit notes of all these
 * invoices.
 */
export async function relatedInvoices(
  db: Connection,
  installation: InstallationId,
  invoices: readonly number[],
): Promise<{ ids: number[]; collectors: Map<number, number> }> {
  const collected = await rows(
    db,
    { member: integer, collector: integer, isInForce: bool },
    `select c.member_id as member, c.collector_id as collector, d.entry_id is not null as "isInForce"
     from collector_member c
     join document d on d.installation = c.installation and d.kind = 'invoice' and d.id = c.collector_id
     where c.installation = ? and (c.member_id = any(?::bigint[]) or c.collector_id = any(?::bigint[]))
     order by d.entry_id is null desc, c.collector_id desc`,
    [installation, invoices, invoices],
  );
  // Of several collectors, the first one that is in the books counts.
  const collectors = new Map(collected.map(({ member, collector }) => [member, collector]));
  const members = [...new Set([...invoices, ...collectors.keys()])];
  const chained = await rows(
    db,
    { id: integer },
    `with recursive up as (
       select id, parent_id, 0 as links from mirror_record where installation = ? and kind = 'invoice' and id = any(?::bigint[])
       union
       select m.id, m.parent_id, up.links + 1 from up join mirror_record m
         on m.installation = ? and m.kind = 'invoice' and m.id = up.parent_id
       where up.links < ?),
     down as (
       select id, 0 as links from up
       union
       select m.id, down.links + 1 from down join mirror_record m
         on m.installation = ? and m.kind = 'invoice' and m.parent_id = down.id
       where down.links < ?)
     select distinct id from down`,
    [installation, members, installation, longestChain, installation, longestChain],
  );
  const ids = new Set([...members, ...chained.map(({ id }) => id), ...collectors.values()]);
  return { ids: [...ids].sort((a, b) => a - b), collectors };
}

/** An invoice with its state in the books. */
export interface DueInvoiceRow {
  record: InvoiceRecord;
  gone: boolean;
  isOpening: boolean;
  inForce: DueDocument['inForce'];
  latestPlace: number | null;
}

export async function dueInvoiceRows(
  db: Connection,
  installation: InstallationId,
  dialect: Dialect,
  ids: readonly number[],
): Promise<DueInvoiceRow[]> {
  const found = await rows(
    db,
    {
      ...{ id: integer, raw: json, gone: bool, isOpening: bool },
      ...{ entryId: nullable(text), documentDate: nullable(date), latestPlace: nullable(integer) },
    },
    `select m.id, m.raw, m.gone_at is not null as gone, coalesce(d.state = 'before_start', false) as "isOpening",
       d.entry_id as "entryId", e.document_date as "documentDate", v.seq as "latestPlace"
     from mirror_record m
     left join document d on d.installation = m.installation and d.kind = 'invoice' and d.id = m.id
     left join entry e on e.id = d.entry_id
     left join entry v on v.installation = m.installation and v.kind = 'vat_due' and v.document_id = m.id and v.n = 1
     where m.installation = ? and m.kind = 'invoice' and m.id = any(?::bigint[]) order by m.id`,
    [installation, ids],
  );
  const lines = await dueLines(
    db,
    found.flatMap(({ entryId }) => entryId ?? []),
  );
  return found.map(({ raw, gone, isOpening, entryId, documentDate, latestPlace }) => ({
    record: readRecord('invoice', raw, dialect),
    ...{ gone, isOpening, latestPlace },
    inForce: entryId === null || documentDate === null ? null : { lines: lines.get(entryId) ?? [], documentDate },
  }));
}

/** The lines of invoices that decide about their VAT, by entry. */
async function dueLines(db: Connection, entries: readonly string[]) {
  const found = await rows(
    db,
    {
      ...{ entry: text, account: text, role: oneOf(lineRoles), side: oneOf(sides), amount: numeric },
      ...{ department: nullable(integer), party: nullable(text), vatNumber: nullable(text), country: nullable(text) },
      ...{ group: nullable(text), rate: nullable(numeric), base: nullable(numeric), hasVat: bool },
    },
    `select entry_id as entry, account, role, side, amount, department_id as department, party_code as party,
       party_vat_number as "vatNumber", party_country_code as country,
       vat_group as "group", vat_rate as rate, vat_base as base, has_vat as "hasVat"
     from entry_line where entry_id = any(?::text[])
       and role in ('receivable', 'opening_receivable', 'revenue', 'vat_not_due') order by entry_id, line`,
    [entries],
  );
  const byEntry = Map.groupBy(found, ({ entry }) => entry);
  const lineOf = (line: (typeof found)[number]) => ({
    ...{ account: line.account, role: line.role, side: line.side, amount: new Money(line.amount) },
    departmentId: line.department,
    party: line.party === null ? null : partyOf(line.party, line.vatNumber, line.country),
    vat: line.hasVat ? vatOf(line.group, line.rate, line.base) : null,
  });
  return new Map([...byEntry].map(([entry, its]) => [entry, its.map(lineOf)]));
}

function partyOf(code: string, vatNumber: string | null, countryCode: string | null): Line['party'] {
  return { code, name: null, vatNumber, countryCode };
}

function vatOf(group: string | null, rate: string | null, base: string | null): Line['vat'] {
  return { group, rate: rate === null ? null : new Money(rate), base: base === null ? null : new Money(base) };
}

/** The payments of invoices with their state in the books, and those of type 12 that the source shows. */
export async function duePayments(
  db: Connection,
  installation: InstallationId,
  dialect: Dialect,
  invoices: readonly number[],
): Promise<{ payments: DuePayment[]; settlements: SeenSettlement[] }> {
  const found = await rows(
    db,
    {
      ...{ id: integer, raw: json, gone: bool, isOpening: bool, place: nullable(integer) },
      ...{
        documentDate: nullable(date),
        amount: nullable(numeric),
        type: nullable(integer),
        invoice: nullable(integer),
      },
    },
    `select m.id, m.raw, m.gone_at is not null as gone, coalesce(d.state = 'before_start', false) as "isOpening",
       e1.seq as place, coalesce(e.document_date, d.document_date) as "documentDate", l.amount, l.type, l.invoice
     from mirror_record m
     left join document d on d.installation = m.installation and d.kind = 'payment' and d.id = m.id
     left join entry e on e.id = d.entry_id
     left join entry e1 on e1.installation = m.installation and e1.kind = 'payment' and e1.document_id = m.id and e1.n = 1
     left join lateral (
       select sum(case side when 'credit' then amount else -amount end) as amount, max(payment_type) as type,
         max(invoice_id) as invoice
       from entry_line where entry_id = e.id and role in ('receivable', 'opening_receivable')) l on true
     where m.installation = ? and m.kind = 'payment' and m.parent_id = any(?::bigint[]) order by m.id`,
    [installation, invoices],
  );
  const payments: DuePayment[] = [];
  const settlements: SeenSettlement[] = [];
  for (const { id, raw, gone, isOpening, place, documentDate, amount, type, invoice } of found) {
    const { invoiceId, paymentType, paid } = readRecord('payment', raw, dialect);
    if (invoiceId === null) continue;
    if (!gone && paymentType === setOffPayment && paid !== null) settlements.push({ id, invoiceId, amount: paid });
    const fields = { id, invoiceId: invoice ?? invoiceId, type: type ?? paymentType ?? -1, date: documentDate ?? '' };
    if (isOpening && !gone && paid !== null) payments.push({ ...fields, amount: paid, place: -1, counts: true });
    else if (place !== null) {
      const counts = amount !== null;
      payments.push({ ...fields, amount: new Money(amount ?? 0), place, counts });
    }
  }
  return { payments, settlements };
}

/** A line of R13 in an entry in force, as a text to compare it by. */
export interface DueLineInForce {
  kind: 'payment' | 'vat_due';
  id: number;
  invoiceId: number;
  group: string | null;
  rate: Money | null;
  /** The VAT that became due. */
  vat: Money;
  base: Money;
}

/** The VAT that payments and latest days made due for these invoices, by their entries in force. */
export async function dueInForce(
  db: Connection,
  installation: InstallationId,
  documents: { payments: readonly number[]; latest: readonly number[] },
): Promise<DueLineInForce[]> {
  const found = await rows(
    db,
    {
      ...{ kind: oneOf(['payment', 'vat_due']), id: integer, invoiceId: nullable(integer) },
      ...{
        group: nullable(text),
        rate: nullable(numeric),
        side: oneOf(sides),
        amount: numeric,
        base: nullable(numeric),
      },
    },
    `select d.kind, d.id, l.invoice_id as "invoiceId", l.vat_group as "group", l.vat_rate as rate, l.side, l.amount,
       l.vat_base as base
     from document d join entry_line l on l.entry_id = d.entry_id
     where d.installation = ? and l.rule = 'R13' and l.role = 'vat'
       and (d.kind = 'payment' and d.id = any(?::bigint[]) or d.kind = 'vat_due' and d.id = any(?::bigint[]))`,
    [installation, documents.payments, documents.latest],
  );
  return found.flatMap(({ invoiceId, rate, side, amount, base, ...line }) => {
    if (invoiceId === null) return [];
    const sign = side === 'credit' ? 1 : -1;
    const signedBy = (of: string | null) => new Money(of ?? 0).times(sign);
    return [
      { ...line, invoiceId, rate: rate === null ? null : new Money(rate), vat: signedBy(amount), base: signedBy(base) },
    ];
  });
}
