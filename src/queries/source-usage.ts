import type { InstallationConfig } from '../config/load.ts';
import { type Db, query } from '../db/pool.ts';
import { type Money, parseMoney, zero } from '../domain/money.ts';
import type { InvoiceUse, MoneyUse, RowUse, SourceUsage } from '../mapping/source-usage.ts';

// As parseMoney reads amounts; what it would not read holds its document for another reason.
const decimal = '^\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d{1,3})?\\s*$';

export async function usesOf(db: Db, installation: InstallationConfig): Promise<SourceUsage> {
  return {
    rows: await rowUses(db, installation),
    money: await moneyUses(db, installation),
    invoices: await invoiceUses(db, installation),
  };
}

async function rowUses(db: Db, { id, dialect }: InstallationConfig): Promise<RowUse[]> {
  const { row, invoice } = dialect.fields;
  const texts = [
    ...[row.account_number, row.dimension_1, row.dimension_2, row.dimension_3],
    ...[row.internal_account, row.internal_dimension_1, row.internal_dimension_2],
    ...[row.vat_group_name, row.vat_group_rate, row.vat_percentage, row.vat_group_account],
  ];
  const found = await query<{
    keys: (string | null)[];
    department: number | null;
    n: number;
    net: string | null;
    vat: string | null;
    gross: string | null;
    has_net: boolean | null;
    has_vat: boolean | null;
  }>(
    db,
    `with seen as (
       select array[${texts.map(() => 'r.raw #>> ?').join(', ')}] as keys, ${idIn('i.raw #>> ?')} as department,
         r.raw #>> ? as net, r.raw #>> ? as vat, r.raw #>> ? as gross
       from mirror_record r
       join mirror_record i on i.installation = r.installation and i.kind = 'invoice' and i.id = r.parent_id
       left join document d on d.installation = i.installation and d.kind = 'invoice' and d.id = i.id
       where r.installation = ? and r.kind = 'row' and r.gone_at is null and i.gone_at is null and i.needs_rows
         and coalesce(d.state, '') <> 'before_start' and coalesce(i.raw #>> ?, '[]') in ('[]', '')
     )
     select keys, department, count(*) as n, ${summed('net')} as net, ${summed('vat')} as vat, ${summed('gross')} as gross,
       bool_or(net ~ '[1-9]') as has_net, bool_or(vat ~ '[1-9]') as has_vat
     from seen group by keys, department`,
    [
      ...[...texts, invoice.department, row.sum, row.sum_vat, row.sum_total].map(path),
      id,
      path(invoice.consolidated_invoices),
      decimal,
      decimal,
      decimal,
    ],
  );
  return found.map(({ keys, department, n, net, vat, gross, has_net, has_vat }) => {
    const [account, one, two, three, internal, internalOne, internalTwo, name, rate, percentage, own] = keys.map(named);
    return {
      account: account ?? null,
      department,
      dimensions: [one ?? null, two ?? null, three ?? null],
      internal: { account: internal ?? null, dimension1: internalOne ?? null, dimension2: internalTwo ?? null },
      vat: { name: name ?? null, rate: parseMoney(rate ?? percentage ?? ''), account: own ?? null },
      count: n,
      net: moneyOf(net),
      vatAmount: moneyOf(vat),
      gross: moneyOf(gross),
      hasNet: has_net === true,
      hasVat: has_vat === true,
    };
  });
}

async function moneyUses(db: Db, { id, dialect }: InstallationConfig): Promise<MoneyUse[]> {
  const { payment, prepayment, invoice } = dialect.fields;
  const found = await query<
    Omit<MoneyUse, 'count' | 'paid' | 'type'> & { type: string | null; n: number; paid: string }
  >(
    db,
    `with seen as (
       select p.kind, p.id, p.raw #>> ? as type, ${idIn('i.raw #>> ?')} as department, p.raw #>> ? as paid,
         coalesce(o.state, '') = 'before_start' as opening
       from mirror_record p
       left join mirror_record i on i.installation = p.installation and i.kind = 'invoice' and i.id = p.parent_id
       left join document o on o.installation = p.installation and o.kind = 'invoice' and o.id = p.parent_id
       where p.installation = ? and p.kind = 'payment' and p.gone_at is null
       union all
       select p.kind, p.id, p.raw #>> ?, ${idIn('p.raw #>> ?')}, p.raw #>> ?, false
       from mirror_record p where p.installation = ? and p.kind = 'prepayment' and p.gone_at is null
     )
     select seen.kind, type, department, opening, count(*) as n, ${summed('paid')} as paid
     from seen left join document d on d.installation = ? and d.kind = seen.kind and d.id = seen.id
     where coalesce(d.state, '') not in ('before_start', 'not_money')
     group by seen.kind, type, department, opening`,
    [
      ...[path(payment.payment_type), path(invoice.department), path(payment.paid), id],
      ...[path(prepayment.payment_type), path(prepayment.department), path(prepayment.paid), id],
      decimal,
      id,
    ],
  );
  return found.map(({ type, n, paid, ...use }) => {
    const number = type === null ? null : parseMoney(type);
    return { ...use, type: number?.isInteger() ? Number(number.toFixed()) : null, count: n, paid: moneyOf(paid) };
  });
}

async function invoiceUses(db: Db, { id, dialect }: InstallationConfig): Promise<InvoiceUse[]> {
  const { invoice } = dialect.fields;
  const found = await query<Omit<InvoiceUse, 'count' | 'gross'> & { n: number; gross: string | null }>(
    db,
    `with seen as (
       select ${idIn('i.raw #>> ?')} as department, coalesce(i.raw #>> ?, '[]') not in ('[]', '') as collector,
         coalesce(i.raw #>> ?, '') <> '' as client, i.raw #>> ? as gross
       from mirror_record i
       left join document d on d.installation = i.installation and d.kind = 'invoice' and d.id = i.id
       where i.installation = ? and i.kind = 'invoice' and i.gone_at is null and i.needs_rows
         and coalesce(d.state, '') <> 'before_start'
     )
     select department, collector, client, count(*) as n, ${summed('gross')} as gross
     from seen group by department, collector, client`,
    [
      ...[invoice.department, invoice.consolidated_invoices, invoice.client, invoice.total_with_vat].map(path),
      id,
      decimal,
    ],
  );
  return found.map(({ n, gross, ...use }) => ({ ...use, count: n, gross: moneyOf(gross) }));
}

/** A field's name, which may reach into an object, as PostgreSQL's `#>>` takes it. */
function path(field: string): string[] {
  return field.split('.');
}

/** SQL of the id that a url-reference ends with, or of a bare id. */
function idIn(reference: string): string {
  return `substring(${reference} from '(\\d+)/*$')::bigint`;
}

/** SQL of a column's sum; its one binding is the pattern of amounts that can be read. */
function summed(column: string): string {
  return `sum(case when ${column} ~ ? then ${column}::numeric end)`;
}

function moneyOf(text: string | null): Money {
  return (text === null ? null : parseMoney(text)) ?? zero;
}

function named(text: string | null): string | null {
  return text?.trim() || null;
}
