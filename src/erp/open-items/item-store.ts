import { insertRows, rowsAsArrays } from '../../db/bulk.ts';
import { instant, integer, nullable, numeric, text, texts } from '../../db/columns.ts';
import { type Connection, execute, row, rows } from '../../db/rows.ts';
import { Money } from '../../domain/money.ts';
import type { InstallationId } from '../../terms.ts';
import type { ItemLine, OurGroup } from './item-plan.ts';

/** An invoice whose lines in the ERP have changed by a delivery. */
export interface TouchedItem {
  invoiceId: number;
  /** Counter of changes. If it has increased meanwhile, the item is processed again. */
  touched: number;
  failures: number;
  lines: DeliveredLine[];
  ours: OurGroup[];
}

export interface DeliveredLine extends ItemLine {
  /** The ERP's id of the entry. */
  erpId: string;
}

/** The result for an item. */
export interface MatchedItem {
  invoiceId: number;
  touched: number;
  remark: string | null;
}

/** An item with a remark is tried again after this time, since a user may have corrected it in the ERP. */
const remindSeconds = 24 * 60 * 60;

/**
 * Items that are due, the longest waiting first, with their delivered lines and our groups. Items with a remark come
 * last.
 */
export async function touchedItems(
  db: Connection,
  installation: InstallationId,
  limit: number,
): Promise<TouchedItem[]> {
  const items = await rows(
    db,
    { invoice_id: integer, touched: integer, failures: integer },
    `select invoice_id, touched, failures from erp_open_item
     where installation = ? and (touched <> matched or remark is not null)
       and coalesce(not_before, '-infinity') <= clock_timestamp()
     order by touched = matched, touched_at, invoice_id limit ?`,
    [installation, limit],
  );
  const ids = items.map(({ invoice_id }) => invoice_id);
  const lines = await rows(
    db,
    {
      invoice_id: integer,
      unit_id: text,
      line: integer,
      reverses: nullable(text),
      account: text,
      amount: numeric,
      erp_id: text,
    },
    `select l.invoice_id, l.unit_id, l.line, u.reverses, l.account, l.amount, u.erp_id
     from erp_open_line l join erp_unit u on u.installation = l.installation and u.unit_id = l.unit_id
     where l.installation = ? and l.invoice_id = any(?::bigint[]) and u.state = 'delivered' and u.erp_id is not null
     order by u.seq, u.undo_n nulls first, l.line`,
    [installation, ids],
  );
  const groups = await rows(
    db,
    { invoice_id: integer, line_ids: texts, group_id: nullable(text) },
    'select invoice_id, line_ids, group_id from erp_item_match where installation = ? and invoice_id = any(?::bigint[])',
    [installation, ids],
  );
  const linesOf = Map.groupBy(lines, ({ invoice_id }) => invoice_id);
  const groupsOf = Map.groupBy(groups, ({ invoice_id }) => invoice_id);
  return items.map(({ invoice_id: invoiceId, touched, failures }) => ({
    invoiceId,
    touched,
    failures,
    lines: (linesOf.get(invoiceId) ?? []).map((line) => ({
      unitId: line.unit_id,
      line: line.line,
      reverses: line.reverses,
      isPayment: line.unit_id.startsWith(`${installation}/payment/`),
      account: line.account,
      amount: new Money(line.amount),
      erpId: line.erp_id,
    })),
    ours: (groupsOf.get(invoiceId) ?? []).map(({ line_ids, group_id }) => ({ lineIds: line_ids, groupId: group_id })),
  }));
}

/** Number of changed items that are not matched yet, due or not. */
export async function countTouched(db: Connection, installation: InstallationId): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    'select count(*)::int as n from erp_open_item where installation = ? and touched <> matched',
    [installation],
  );
  return n;
}

/**
 * Stores groups before they are matched, so that they are recognised as ours even if the request ends without an
 * answer.
 */
export async function intendMatches(
  trx: Connection,
  installation: InstallationId,
  groups: readonly { invoiceId: number; lineIds: readonly string[] }[],
): Promise<void> {
  const { from, bindings } = groupsAsArrays(groups.map((group) => ({ ...group, groupId: null })));
  await execute(
    trx,
    `insert into erp_item_match (installation, invoice_id, line_ids)
     select ?, invoice_id, line_ids from ${from} on conflict do nothing`,
    [installation, ...bindings],
  );
}

/** Marks items as matched, and replaces their stored groups; null keeps the stored groups. */
export async function saveMatched(
  trx: Connection,
  installation: InstallationId,
  items: readonly MatchedItem[],
  groups: readonly { invoiceId: number; lineIds: readonly string[]; groupId: string | null }[] | null,
): Promise<void> {
  if (items.length === 0) return;
  if (groups !== null) {
    await execute(trx, 'delete from erp_item_match where installation = ? and invoice_id = any(?::bigint[])', [
      installation,
      items.map(({ invoiceId }) => invoiceId),
    ]);
    await insertRows(
      trx,
      'erp_item_match',
      { installation: 'bigint', invoice_id: 'bigint', line_ids: 'text[]', group_id: 'text' },
      groups.map(({ invoiceId, lineIds, groupId }) => ({
        installation,
        invoice_id: invoiceId,
        line_ids: [...lineIds],
        group_id: groupId,
      })),
    );
  }
  const { from, bindings } = rowsAsArrays(
    'done',
    { invoice_id: 'bigint', touched: 'bigint', remark: 'text' },
    items.map(({ invoiceId, touched, remark }) => ({ invoice_id: invoiceId, touched, remark })),
  );
  await execute(
    trx,
    `update erp_open_item i set matched = done.touched, failures = 0, remark = done.remark,
       not_before = case when done.remark is not null then clock_timestamp() + make_interval(secs => ?) end,
       remark_since = case when done.remark is null then null else coalesce(i.remark_since, clock_timestamp()) end
     from ${from} where i.installation = ? and i.invoice_id = done.invoice_id`,
    [remindSeconds, ...bindings, installation],
  );
}

/** Counts a failure of items, and delays their next attempt. */
export async function postponeItems(
  trx: Connection,
  installation: InstallationId,
  invoiceIds: readonly number[],
  seconds: number,
): Promise<void> {
  await execute(
    trx,
    `update erp_open_item set failures = failures + 1, not_before = clock_timestamp() + make_interval(secs => ?)
     where installation = ? and invoice_id = any(?::bigint[])`,
    [seconds, installation, invoiceIds],
  );
}

/** Invoices whose lines stay unmatched in the ERP, with the reason for the accountant. */
export function openItemRemarks(
  db: Connection,
  installation: InstallationId,
  { after, limit }: { after: number; limit: number },
) {
  return rows(
    db,
    { invoice_id: integer, remark: text, remark_since: instant },
    `select invoice_id, remark, remark_since from erp_open_item
     where installation = ? and remark is not null and invoice_id > ? order by invoice_id limit ?`,
    [installation, after, limit],
  );
}

function groupsAsArrays(groups: readonly { invoiceId: number; lineIds: readonly string[]; groupId: string | null }[]) {
  return rowsAsArrays(
    'made',
    { invoice_id: 'bigint', line_ids: 'text[]', group_id: 'text' },
    groups.map(({ invoiceId, lineIds, groupId }) => ({
      invoice_id: invoiceId,
      line_ids: [...lineIds],
      group_id: groupId,
    })),
  );
}
