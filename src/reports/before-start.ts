import { integer, json, nullable } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { type Connection, rows } from '../db/rows.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import type { RecordOf } from '../records/schema.ts';
import { finalStatus } from '../records/source-codes.ts';
import type { SourceKind } from '../terms.ts';
import type { ReportInput } from './report-sections.ts';

const pageSize = 500;
const recordShape = { id: integer, parent_id: nullable(integer), raw: json };

type Input = ReportInput & { dialect: Dialect };

/** The records of documents that are dated before the start date and not gone, a page at a time. */
export async function* recordsBefore<Kind extends Exclude<SourceKind, 'payment'>>(
  db: Connection,
  { id, dialect }: Input,
  kind: Kind,
): AsyncGenerator<RecordOf<Kind>[]> {
  const found = pages(pageSize, (after: { id: number } | null) =>
    rows(
      db,
      recordShape,
      `select m.id, m.parent_id, m.raw from document d
         join mirror_record m on m.installation = d.installation and m.kind = d.kind and m.id = d.id
       where d.installation = ? and d.kind = ? and d.state = 'before_start' and d.id > ? and m.gone_at is null
       order by d.id limit ?`,
      [id, kind, after?.id ?? 0, pageSize],
    ),
  );
  for await (const page of found) yield page.map(({ raw }) => readRecord(kind, raw, dialect));
}

/** Final invoices from before the start date. */
export async function* finalInvoicesBefore(db: Connection, input: Input): AsyncGenerator<RecordOf<'invoice'>[]> {
  for await (const page of recordsBefore(db, input, 'invoice'))
    yield page.filter(({ status }) => status === finalStatus);
}

/** The payments on these invoices with a date before the start date. */
export async function paymentsBefore(
  db: Connection,
  { id, dialect }: Input,
  invoices: readonly number[],
): Promise<RecordOf<'payment'>[]> {
  const found = await rows(
    db,
    recordShape,
    `select m.id, m.parent_id, m.raw from mirror_record m
       join document d on d.installation = m.installation and d.kind = m.kind and d.id = m.id
     where m.installation = ? and m.kind = 'payment' and m.parent_id = any(?::bigint[]) and m.gone_at is null
       and d.state = 'before_start' order by m.id`,
    [id, invoices],
  );
  return found.map(({ raw }) => readRecord('payment', raw, dialect));
}
