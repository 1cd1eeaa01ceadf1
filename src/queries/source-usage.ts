import type { InstallationConfig } from '../config/load-config.ts';
import { bool, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type Money, parseMoney, zero } from '../domain/money.ts';
import type { InvoiceUse, MoneyUse, RowUse, SourceUsage } from '../mapping/source-usage.ts';
import type { CalendarDate } from '../terms.ts';

// Amounts that parseMoney accepts. A document with any other amount is held, and left out of the sums. Longer amounts
// would overflow PostgreSQL's numeric. `calendarDay` matches the day of a date or time as written; near midnight it may
// be one day off.
const calendarDay = '^\\d{4}-\\d{2}-\\d{2}';

const decimal = '^\\s*[+-]?(\\d{1,30}\\.?\\d{0,30}|\\.\\d{1,30})([eE][+-]?\\d{1,2})?\\s*$';

/**
 * The accounts, VAT groups, dimensions, payment types and departments in the mirror's documents, with counts and exact
 * sums. Documents dated before the start date are left out; with `since`, also those before that day.
 */
export async function sourceUsage(
  db: Connection,
  installation: InstallationConfig,
  since: CalendarDate | null = null,
): Promise<SourceUsage> {
  return {
    rows: await rowUses(db, installation, since),
    money: await moneyUses(db, installation, since),
    invoices: await invoiceUses(db, installation, since),
  };
}

/** The fields of a row that determine its accounts. */
const rowKeys = {
  account: nullable(text),
  dimension_1: nullable(text),
  dimension_2: nullable(text),
  dimension_3: nullable(text),
  internal_account: nullable(text),
  internal_dimension_1: nullable(text),
  internal_dimension_2: nullable(text),
  vat_group: nullable(text),
  vat_group_rate: nullable(text),
  vat_percentage: nullable(text),
  vat_account: nullable(text),
};

/** The rows alone, as `sourceUsage` counts them. */
export async function rowUses(
  db: Connection,
  { id, dialect }: InstallationConfig,
  since: CalendarDate | null,
): Promise<RowUse[]> {
  const { row, invoice } = dialect.fields;
  const fieldOf: Record<keyof typeof rowKeys, string> = {
    account: row.account_number,
    dimension_1: row.dimension_1,
    dimension_2: row.dimension_2,
    dimension_3: row.dimension_3,
    internal_account: row.internal_account,
    internal_dimension_1: row.internal_dimension_1,
    internal_dimension_2: row.internal_dimension_2,
    vat_group: row.vat_group_name,
    vat_group_rate: row.vat_group_rate,
    vat_percentage: row.vat_percentage,
    vat_account: row.vat_group_account,
  };
  const keys = Object.keys(fieldOf).join(', ');
  const ofRow = recordFields('r.raw', 'rr', [...Object.values(fieldOf), row.sum, row.sum_vat, row.sum_total]);
  const ofInvoice = recordFields('i.raw', 'ii', [
    ...[invoice.department, invoice.invoice_date, invoice.consolidated_invoices],
  ]);
  const found = await rows(
    db,
    {
      ...rowKeys,
      department: nullable(integer),
      n: integer,
      net: nullable(numeric),
      vat: nullable(numeric),
      gross: nullable(numeric),
      has_net: nullable(bool),
      has_vat: nullable(bool),
      first_date: nullable(text),
      last_date: nullable(text),
    },
    // The text of an invoice is read once, not with each of its rows. Without `offset 0`, PostgreSQL may read the rows of all years.
    `with recent as materialized (${recent('invoice')} and m.needs_rows), invoices as materialized (
       select i.id, ${idIn(ofInvoice.text(invoice.department))} as department,
         substring(${ofInvoice.text(invoice.invoice_date)} from ?) as day
       from recent i ${ofInvoice.join}
       where i.state <> 'before_start' and coalesce(${ofInvoice.text(invoice.consolidated_invoices)}, '[]') in ('[]', '')
     ), seen as (
       select ${Object.entries(fieldOf)
         .map(([key, field]) => `${ofRow.text(field)} as ${key}`)
         .join(', ')}, i.department,
         ${ofRow.text(row.sum)} as net, ${ofRow.text(row.sum_vat)} as vat, ${ofRow.text(row.sum_total)} as gross, i.day
       from (select * from invoices where ${datedSince('day')}) i
       cross join lateral (
         select raw from mirror_record own
         where own.installation = ? and own.kind = 'row' and own.parent_id = i.id and own.gone_at is null offset 0) r
       ${ofRow.join}
     )
     select ${keys}, department, count(*) as n, ${summed('net')} as net, ${summed('vat')} as vat, ${summed('gross')} as gross,
       bool_or(net ~ '[1-9]') as has_net, bool_or(vat ~ '[1-9]') as has_vat,
       min(day) as first_date, max(day) as last_date
     from seen group by ${keys}, department`,
    [id, since, since, calendarDay, since, since, id, decimal, decimal, decimal],
  );
  return found.map((use) => ({
    account: named(use.account),
    department: use.department,
    dimensions: [named(use.dimension_1), named(use.dimension_2), named(use.dimension_3)],
    internal: {
      account: named(use.internal_account),
      dimension1: named(use.internal_dimension_1),
      dimension2: named(use.internal_dimension_2),
    },
    vat: {
      name: named(use.vat_group),
      rate: parseMoney(named(use.vat_group_rate) ?? named(use.vat_percentage) ?? ''),
      account: named(use.vat_account),
    },
    count: use.n,
    net: moneyOf(use.net),
    vatAmount: moneyOf(use.vat),
    gross: moneyOf(use.gross),
    hasNet: use.has_net === true,
    hasVat: use.has_vat === true,
    dates: use.first_date === null || use.last_date === null ? null : [use.first_date, use.last_date],
  }));
}

async function moneyUses(
  db: Connection,
  { id, dialect }: InstallationConfig,
  since: CalendarDate | null,
): Promise<MoneyUse[]> {
  const { payment, prepayment, invoice } = dialect.fields;
  const ofPayment = recordFields('p.raw', 'pp', [payment.payment_type, payment.paid, payment.date_added]);
  const ofPrepayment = recordFields('p.raw', 'pp', [
    ...[prepayment.payment_type, prepayment.department, prepayment.paid, prepayment.created],
  ]);
  const ofInvoice = recordFields('i.raw', 'ii', [invoice.department]);
  const found = await rows(
    db,
    {
      kind: oneOf(['payment', 'prepayment']),
      type: nullable(text),
      department: nullable(integer),
      opening: bool,
      n: integer,
      paid: nullable(numeric),
    },
    `with payments as materialized (${recent('payment')}), prepayments as materialized (${recent('prepayment')}), seen as (
       select p.state, p.kind, ${ofPayment.text(payment.payment_type)} as type,
         of_invoice.department, ${ofPayment.text(payment.paid)} as paid,
         substring(${ofPayment.text(payment.date_added)} from ?) as day, coalesce(o.state, '') = 'before_start' as opening
       from payments p ${ofPayment.join}
       left join lateral (
         select ${idIn(ofInvoice.text(invoice.department))} as department from (
           select raw from mirror_record own
           where own.installation = p.installation and own.kind = 'invoice' and own.id = p.parent_id offset 0) i ${ofInvoice.join}
       ) of_invoice on true
       left join document o on o.installation = p.installation and o.kind = 'invoice' and o.id = p.parent_id
       union all
       select p.state, p.kind, ${ofPrepayment.text(prepayment.payment_type)}, ${idIn(ofPrepayment.text(prepayment.department))},
         ${ofPrepayment.text(prepayment.paid)}, substring(${ofPrepayment.text(prepayment.created)} from ?), false
       from prepayments p ${ofPrepayment.join}
     )
     select kind, type, department, opening, count(*) as n, ${summed('paid')} as paid
     from seen where state not in ('before_start', 'not_money') and ${datedSince('day')}
     group by kind, type, department, opening`,
    [id, since, since, id, since, since, calendarDay, calendarDay, decimal, since, since],
  );
  return found.map(({ type, n, paid, ...use }) => {
    const number = type === null ? null : parseMoney(type);
    return { ...use, type: number?.isInteger() ? Number(number.toFixed()) : null, count: n, paid: moneyOf(paid) };
  });
}

async function invoiceUses(
  db: Connection,
  { id, dialect }: InstallationConfig,
  since: CalendarDate | null,
): Promise<InvoiceUse[]> {
  const { invoice } = dialect.fields;
  const of = recordFields('i.raw', 'ii', [
    ...[
      invoice.department,
      invoice.consolidated_invoices,
      invoice.client,
      invoice.total_with_vat,
      invoice.invoice_date,
    ],
  ]);
  const found = await rows(
    db,
    { department: nullable(integer), collector: bool, client: bool, n: integer, gross: nullable(numeric) },
    `with recent as materialized (${recent('invoice')} and m.needs_rows), seen as (
       select ${idIn(of.text(invoice.department))} as department,
         coalesce(${of.text(invoice.consolidated_invoices)}, '[]') not in ('[]', '') as collector,
         coalesce(${of.text(invoice.client)}, '') <> '' as client, ${of.text(invoice.total_with_vat)} as gross,
         substring(${of.text(invoice.invoice_date)} from ?) as day
       from recent i ${of.join} where i.state <> 'before_start'
     )
     select department, collector, client, count(*) as n, ${summed('gross')} as gross
     from seen where ${datedSince('day')} group by department, collector, client`,
    [id, since, since, calendarDay, decimal, since, since],
  );
  return found.map(({ n, gross, ...use }) => ({ ...use, count: n, gross: moneyOf(gross) }));
}

/**
 * Reads several fields of a record with one parse of its text: each `#>>` would parse it again. `text` is the SQL of a field's
 * text, and `join` makes the fields visible.
 */
function recordFields(raw: string, alias: string, fields: readonly string[]) {
  const quoted = (name: string) => `"${name.replaceAll('"', '""').replaceAll('?', '\\?')}"`;
  const nested = new Set(fields.filter((field) => field.includes('.')).map((field) => field.split('.')[0]));
  const names = [...new Set(fields.map((field) => field.split('.')[0] ?? ''))];
  const columns = names.map((name) => `${quoted(name)} ${nested.has(name) ? 'json' : 'text'}`).join(', ');
  return {
    join: `cross join lateral json_to_record(${raw}) as ${alias} (${columns})`,
    text: (field: string): string => {
      const [name = '', ...inside] = field.split('.');
      const column = `${alias}.${quoted(name)}`;
      if (!nested.has(name)) return column;
      return `${column} #>> array[${inside.map((each) => `'${each.replaceAll("'", "''").replaceAll('?', '\\?')}'`).join(', ')}]::text[]`;
    },
  };
}

/**
 * SQL that extracts the id of a reference: a URL that ends with it, or the id alone; null if it has too many digits.
 */
function idIn(reference: string): string {
  return `substring(${reference} from '(\\?:^|[^0-9])(\\d{1,15})/*$')::bigint`;
}

/**
 * SQL: the present records of a kind with the states of their documents. Its bindings are the installation and twice a day: documents
 * that were judged with a day long before it are left out, so that the texts of old records are not read.
 */
function recent(kind: 'invoice' | 'payment' | 'prepayment'): string {
  return `select m.installation, m.kind, m.id, m.parent_id, m.raw, coalesce(d.state, '') as state
    from mirror_record m left join document d on d.installation = m.installation and d.kind = m.kind and d.id = m.id
    where m.installation = ? and m.kind = '${kind}' and m.gone_at is null
      and (?::date is null or d.document_date is null or d.document_date >= ?::date - 31)`;
}

/** SQL that keeps days from a day on. Both bindings are that day; null keeps all days, and rows without one. */
function datedSince(column: string): string {
  return `(?::text is null or ${column} >= ?)`;
}

/** SQL of a column's sum. Its one binding is the pattern of readable amounts. */
function summed(column: string): string {
  return `sum(case when ${column} ~ ? then ${column}::numeric end)`;
}

function moneyOf(text: string | null): Money {
  return (text === null ? null : parseMoney(text)) ?? zero;
}

function named(text: string | null): string | null {
  return text?.trim() || null;
}
