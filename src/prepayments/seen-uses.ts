import { instant, integer, json, nullable } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { instantOf } from '../domain/dates.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import { isNoMoney, prepaymentUse } from '../records/source-codes.ts';
import type { PaymentRecord, PrepaymentRecord } from '../records/types.ts';
import type { InstallationId } from '../terms.ts';

/** The settings of an installation that matching requires. */
export interface Followed {
  id: InstallationId;
  timezone: string;
  dialect: Dialect;
}

/** A payment of type 8 in the mirror, with the client of its invoice. */
export interface SeenUse {
  payment: PaymentRecord;
  version: number;
  invoiceClientId: number | null;
  recordedAt: Date | null;
}

/** The payments of type 8 among these ids. Payments that are gone or have no readable amount are left out. */
export async function readUses(db: Connection, installation: Followed, ids: readonly number[]): Promise<SeenUse[]> {
  if (ids.length === 0) return [];
  const { dialect, timezone } = installation;
  const field = dialect.fields.payment.payment_type.split('.');
  const found = await rows(
    db,
    { raw: json, version: integer },
    // The condition on the type avoids reading other payments, which are the majority.
    `select raw, version from mirror_record where installation = ? and kind = 'payment' and id = any(?) and gone_at is null
       and (raw #>> ?::text[]) ~ '^8(\\.0*|)$' order by id`,
    [installation.id, ids, field],
  );
  const uses = found
    .map(({ raw, version }) => ({ version, payment: readRecord('payment', raw, dialect) }))
    .filter(({ payment: { paymentType, paid } }) => paymentType === prepaymentUse && paid !== null && !paid.isZero());
  const clients = await clientsOfInvoices(
    db,
    installation,
    uses.map(({ payment }) => payment),
  );
  return uses.map(({ payment, version }) => ({
    payment,
    version,
    invoiceClientId: clients.get(payment.invoiceId) ?? null,
    recordedAt: payment.modified === null ? null : instantOf(payment.modified, timezone),
  }));
}

async function clientsOfInvoices(
  db: Connection,
  { id, dialect }: Followed,
  payments: readonly PaymentRecord[],
): Promise<Map<number | null, number | null>> {
  const ids = [...new Set(payments.flatMap(({ invoiceId }) => invoiceId ?? []))];
  if (ids.length === 0) return new Map();
  const found = await rows(
    db,
    { raw: json },
    `select raw from mirror_record where installation = ? and kind = 'invoice' and id = any(?)`,
    [id, ids],
  );
  return new Map(
    found.map(({ raw }) => {
      const invoice = readRecord('invoice', raw, dialect);
      return [invoice.id, invoice.clientId];
    }),
  );
}

/** A prepayment of the mirror. */
export interface SeenPrepayment {
  id: number;
  version: number;
  /** Null if its status is not money, if it is gone, or if its amount is unreadable. */
  record: PrepaymentRecord | null;
  createdAt: Date | null;
  modifiedAt: Date | null;
}

/** These prepayments as stored in the mirror. Unknown ids are left out. */
export async function readPrepayments(
  db: Connection,
  { id: installation, dialect, timezone }: Followed,
  ids: readonly number[],
): Promise<SeenPrepayment[]> {
  if (ids.length === 0) return [];
  const found = await rows(
    db,
    { id: integer, raw: json, version: integer, goneAt: nullable(instant) },
    `select id, raw, version, gone_at as "goneAt" from mirror_record
     where installation = ? and kind = 'prepayment' and id = any(?) order by id`,
    [installation, ids],
  );
  const instantIn = (text: string | null) => (text === null ? null : instantOf(text, timezone));
  return found.map(({ id, raw, version, goneAt }) => {
    const record = readRecord('prepayment', raw, dialect);
    const isMoney = goneAt === null && record.paid !== null && !isNoMoney(record.status);
    return {
      id,
      version,
      record: isMoney ? record : null,
      createdAt: instantIn(record.created),
      modifiedAt: instantIn(record.modified),
    };
  });
}
