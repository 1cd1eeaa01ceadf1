// The mirror at the end of a life must have exactly the clinic's records.

import { isDeepStrictEqual } from 'node:util';
import type { Invoice } from '../../sandbox/src/records.ts';
import { encode, Wire, type WireRecord } from '../../sandbox/src/wire.ts';
import type { RecordKind } from '../../src/terms.ts';
import { query } from '../support/sql.ts';
import type { Judged } from './judge.ts';
import { baseUrl } from './practice.ts';

const mostTold = 8;

/** Fields that change without a new `modified`, and fields that our write-backs change. */
const quietFields = ['due_sum', 'date_paid', 'external_info', 'modified'];

/** The mirror must have exactly the records of the clinic, with the same values. */
export async function wrongMirror({
  db,
  installation: { id },
  practice,
  hostility,
  isHostile,
}: Judged): Promise<string[]> {
  const { clinic } = practice;
  const wire = new Wire(`${baseUrl}/${id}/api/0.1`, practice.quirks, clinic.zone);
  const isFinal = ({ status, consolidated_invoices: members }: Invoice) =>
    status === 3 && !(isHostile && members.length > 0);
  const finals = new Set(clinic.invoices.all().flatMap((one) => (isFinal(one) ? [one.id] : [])));
  const expected: [RecordKind, string, Map<number, WireRecord>][] = [
    ['invoice', 'invoice', new Map(clinic.invoices.all().map((one) => [one.id, wire.invoice(one)]))],
    [
      'row',
      'invoicerow',
      new Map(
        clinic.invoiceRows
          .all()
          // No total reveals a hidden row of zero, and rows of collected invoices are not needed.
          .filter(({ invoice, sum_total: total }) => finals.has(invoice) && !(isHostile && Number(total) === 0))
          .map((one) => [one.id, wire.invoiceRow(one, true)]),
      ),
    ],
    [
      'payment',
      'invoicepayment',
      new Map(clinic.invoicePayments.all().map((one) => [one.id, wire.invoicePayment(one)])),
    ],
    [
      'prepayment',
      'unallocatedpayment',
      new Map(clinic.prepayments.all().map((one) => [one.id, wire.prepayment(one)])),
    ],
  ];
  const mirrored = await query<{ kind: RecordKind; id: number; raw: string; parent: number | null }>(
    db,
    `select kind, id::int, raw::text, parent_id::int as parent from mirror_record
     where installation = ? and gone_at is null and missing_at is null`,
    [id],
  );
  const wrong: string[] = [];
  for (const [kind, list, records] of expected) {
    const held = new Map(mirrored.filter((one) => one.kind === kind).map((one) => [one.id, one]));
    for (const [record, shown] of records) {
      if (practice.records.has(`${list}/${record}`) || hostility.concerns(kind, record)) continue;
      const raw = held.get(record)?.raw;
      if (raw === undefined) wrong.push(`the mirror lacks ${kind} ${record}`);
      else {
        const fields = staleFields(read(raw), read(practice.shown(encode(shown))));
        if (fields.length > 0) wrong.push(`the mirror has ${kind} ${record} with another ${fields.join(', ')}`);
      }
    }
    for (const [record, { parent }] of held) {
      const isKnown = kind === 'row' ? clinic.invoiceRows.get(record) !== undefined : records.has(record);
      const isOfDraft = kind === 'row' && parent !== null && !finals.has(parent);
      if (!isKnown && !isOfDraft) wrong.push(`the mirror has ${kind} ${record}, and the clinic does not`);
    }
  }
  return wrong.length > mostTold ? [...wrong.slice(0, mostTold), `and ${wrong.length - mostTold} more`] : wrong;
}

/** The members of a record, with unsigned zeros. */
const read = (text: string): Record<string, unknown> => JSON.parse(JSON.stringify(JSON.parse(text)));

function staleFields(held: Record<string, unknown>, shown: Record<string, unknown>): string[] {
  return Object.keys(shown).filter(
    (name) => !quietFields.includes(name) && !isDeepStrictEqual(held[name], shown[name]),
  );
}
