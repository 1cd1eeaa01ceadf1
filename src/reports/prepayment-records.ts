import { date, integer, json, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { type Connection, rows } from '../db/rows.ts';
import { businessDate } from '../domain/dates.ts';
import { Money, zero } from '../domain/money.ts';
import { creditLessDebit, debitLessCredit } from '../ledger/journal/signed.ts';
import { clientNames } from '../mirror/client-names.ts';
import { readRecord } from '../mirror/read.ts';
import { takenByUses } from '../prepayments/taken.ts';
import { notedUses } from '../prepayments/used.ts';
import { isNoMoney } from '../records/source-codes.ts';
import { type CalendarDate, type DocumentKind, documentKinds } from '../terms.ts';
import { everyEntry, isRecorded, ofInstallation, type Recorded } from './report-sections.ts';
import type { SettledDocuments } from './settled-prepayments.ts';
import type { VatInput } from './vat.ts';

const pageSize = 500;

/** A prepayment or refund in the source. */
export interface PrepaymentOfSource {
  id: number;
  clientId: number | null;
  refundsId: number | null;
  /** The received amount with the source's sign; negative for a refund. */
  paid: Money | null;
  /** The business date that the document had at its first judgement. */
  date: CalendarDate | null;
  state: string | null;
  /** Whether the prepayment exists in the source, and its status is not pending, failed or aborted. */
  isMoney: boolean;
}

/** The prepayments and refunds of the mirror that are not settled, by id. */
export async function* prepaymentsOfSource(
  db: Connection,
  { id: installation, dialect, timezone }: VatInput,
  { prepayments: settled }: SettledDocuments,
): AsyncGenerator<PrepaymentOfSource[]> {
  const shape = { id: integer, raw: json, gone: nullable(text), state: nullable(text), day: nullable(date) };
  const found = pages(pageSize, (after: { id: number } | null) =>
    rows(
      db,
      shape,
      `select m.id, m.raw, m.gone_at::text as gone, d.state, d.document_date as day from mirror_record m
         left join document d on d.installation = m.installation and d.kind = m.kind and d.id = m.id
       where m.installation = ? and m.kind = 'prepayment' and m.id > ? and m.id <> all(?::bigint[]) order by m.id limit ?`,
      [installation, after?.id ?? 0, [...settled], pageSize],
    ),
  );
  for await (const page of found) {
    yield page.map(({ id, raw, gone, state, day }) => {
      const { clientId, refundsId, paid, status, created } = readRecord('prepayment', raw, dialect);
      const isMoney = gone === null && !isNoMoney(status);
      const own = created === null ? null : businessDate(created, timezone);
      return { id, clientId, refundsId, paid, isMoney, state, date: day ?? own };
    });
  }
}

/** A payment of type 8 in the source. */
export interface UseOfSource {
  id: number;
  /** The paid amount with the source's sign. */
  amount: Money;
  /** The client whose prepayment the payment used. Without a match, the client of the invoice. */
  clientId: number | null;
  date: CalendarDate | null;
  state: string | null;
  /** The invoice of an unmatched payment with a cancellation; null otherwise. */
  cancelledOn: number | null;
  /** The matched prepayments and the amounts used; empty without a match. */
  taken: { prepaymentId: number; amount: Money }[];
}

/** The payments of type 8 that used something else than settled prepayments, with their matches, by id. */
export async function* usesOfSource(
  db: Connection,
  { id: installation, timezone }: VatInput,
  { payments: settled }: SettledDocuments,
): AsyncGenerator<UseOfSource[]> {
  for await (const page of notedUses(db, installation, timezone, pageSize, settled)) {
    const ids = page.map(({ paymentId }) => paymentId);
    const taken = await takenByUses(db, installation, ids);
    const documents = await rows(
      db,
      { id: integer, state: text, day: nullable(date) },
      `select id, state, document_date as day from document where installation = ? and kind = 'payment' and id = any(?::bigint[])`,
      [installation, ids],
    );
    const byId = new Map(documents.map((each) => [each.id, each]));
    yield page.map(({ paymentId, amount, clientId, recordedOn, cancelledOn }) => ({
      ...{ id: paymentId, amount, clientId, cancelledOn },
      date: byId.get(paymentId)?.day ?? recordedOn,
      state: byId.get(paymentId)?.state ?? null,
      taken: [...(taken.get(paymentId) ?? [])].map(([prepaymentId, part]) => ({ prepaymentId, amount: part })),
    }));
  }
}

/** Amounts on `prepayment_liability` and `prepayment_vat` from entries dated up to a day. */
export interface BookedOnPrepayments {
  /** Per document, with the client of its lines; a credit is positive. */
  liabilities: { kind: DocumentKind; id: number; amount: Money; clientId: number | null }[];
  /** The VAT of originals; a debit is positive. */
  vats: { id: number; vat: Money }[];
  /** VAT that refunds and uses gave back. */
  vatShares: { kind: DocumentKind; id: number; prepaymentId: number; vat: Money }[];
}

/** The booked amounts of documents that are not settled. `vats` and `vatShares` are those of `bookedVat`. */
export async function bookedOnPrepayments(
  db: Connection,
  { id: installation }: VatInput,
  through: CalendarDate,
  { prepayments: settled, payments }: SettledDocuments,
  { vats, vatShares }: BookedVat,
): Promise<BookedOnPrepayments> {
  const liabilities = await rows(
    db,
    { kind: oneOf(documentKinds), id: integer, amount: numeric, party: nullable(text) },
    `select e.kind, e.document_id as id, min(l.party_code) as party,
       ${creditLessDebit()} as amount
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date <= ?::date and l.role = 'prepayment_liability' and ${ofInstallation}
       and not (e.kind = 'prepayment' and e.document_id = any(?::bigint[]) or e.kind = 'payment' and e.document_id = any(?::bigint[]))
     group by e.kind, e.document_id having ${creditLessDebit()} <> 0
     order by e.kind, e.document_id`,
    [installation, through, String(installation), [...settled], [...payments]],
  );
  return {
    liabilities: liabilities.map(({ party, amount, ...document }) => ({
      ...document,
      amount: new Money(amount),
      clientId: clientOf(party),
    })),
    vats: vats.filter(({ id }) => !settled.has(id)),
    vatShares: vatShares.filter(({ prepaymentId }) => !settled.has(prepaymentId)),
  };
}

export type BookedVat = Pick<BookedOnPrepayments, 'vats' | 'vatShares'>;

/** The VAT of originals at receipt, and what refunds and uses gave back, by entries dated up to a day. */
export async function bookedVat(
  db: Connection,
  { id: installation }: VatInput,
  through: CalendarDate,
): Promise<BookedVat> {
  const shares = await rows(
    db,
    { kind: oneOf(documentKinds), id: integer, prepaymentId: integer, vat: numeric },
    `select e.kind, e.document_id as id, s.prepayment_id as "prepaymentId", sum(s.vat) as vat
     from entry_share s join entry e on e.id = s.entry_id
     where s.installation = ? and e.entry_date <= ?::date
       and not exists (select from entry r where r.reverses = e.id and r.entry_date <= ?::date)
     group by e.kind, e.document_id, s.prepayment_id having sum(s.vat) <> 0
     order by e.kind, e.document_id, s.prepayment_id`,
    [installation, through, through],
  );
  // The shares show the VAT that refunds and uses give back.
  const vats = await rows(
    db,
    { id: integer, vat: numeric },
    `select e.document_id as id, ${debitLessCredit()} as vat
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.entry_date <= ?::date and e.kind = 'prepayment' and l.role = 'prepayment_vat' and ${ofInstallation}
       and not exists (select from entry_share s join entry o on o.id = s.entry_id
         where o.installation = e.installation and o.kind = e.kind and o.document_id = e.document_id)
     group by e.document_id having ${debitLessCredit()} <> 0
     order by e.document_id`,
    [installation, through, String(installation)],
  );
  return {
    vats: vats.map(({ id, vat }) => ({ id, vat: new Money(vat) })),
    vatShares: shares.map(({ vat, ...share }) => ({ ...share, vat: new Money(vat) })),
  };
}

/** The originals of which VAT is left in the books. */
export function prepaymentsWithVat({ vats, vatShares }: BookedVat): Set<number> {
  const left = new Map(vats.map(({ id, vat }) => [id, vat]));
  for (const { prepaymentId, vat } of vatShares) left.set(prepaymentId, (left.get(prepaymentId) ?? zero).minus(vat));
  return new Set([...left].flatMap(([id, vat]) => (vat.isZero() ? [] : [id])));
}

/** `client:5` is client 5; any other party is not a client. */
export function clientOf(party: string | null): number | null {
  const id = /^client:(\d+)$/.exec(party ?? '')?.[1];
  return id === undefined ? null : Number(id);
}

/** The latest name of each of these parties in the entries, or else on an invoice in the mirror, such as one before the start date. */
export async function namesNow(
  db: Connection,
  input: VatInput,
  parties: readonly string[],
): Promise<Map<string, string>> {
  const names = await customerNames(db, input, parties);
  const clients = parties.flatMap((party) => (names.has(party) ? [] : (clientOf(party) ?? [])));
  for (const [client, name] of await clientNames(db, input, clients)) names.set(`client:${client}`, name);
  return names;
}

/** The latest name of each of these parties in the entries recorded up to then. */
export async function customerNames(
  db: Connection,
  { id: installation }: VatInput,
  parties: readonly string[],
  { upToSeq }: Recorded = everyEntry,
): Promise<Map<string, string>> {
  if (parties.length === 0) return new Map();
  const found = await rows(
    db,
    { party: text, name: text },
    // Most parties always had one name. Only the others need their entries, in the order of the chain.
    `with known as materialized (
       select party_code, min(name collate "C") as name, min(name collate "C") = max(name collate "C") and ?::bigint is null as is_only
       from entry_party_name where installation = ? and party_code = any(?::text[]) and name is not null group by party_code)
     select party_code as party, name from known where is_only
     union all
     select party, name from (
       select distinct on (n.party_code) n.party_code as party, n.name
       from known k join entry_party_name n on n.installation = ? and n.party_code = k.party_code
       join entry e on e.id = n.entry_id
       where not k.is_only and n.name is not null and ${isRecorded}
       order by n.party_code, e.seq desc) latest`,
    [upToSeq, installation, parties, installation, upToSeq],
  );
  return new Map(found.map(({ party, name }) => [party, name]));
}
