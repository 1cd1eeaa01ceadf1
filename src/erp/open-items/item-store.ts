import { insertRows, rowsAsArrays } from '../../db/bulk.ts';
import { instant, integer, nullable, numeric, text, texts } from '../../db/columns.ts';
import { type Connection, execute, row, rows } from '../../db/rows.ts';
import { Money } from '../../domain/money.ts';
import type { InstallationId } from '../../terms.ts';
import type { ItemLine, OurGroup } from './item-plan.ts';
import { isClientItem, prepaymentParts } from './prepayment-parts.ts';

/** An item whose lines in the ERP have changed by a delivery: an invoice, or a client with his prepayments. */
export interface TouchedItem {
  /** `<installation>/invoice/<id>` or `<installation>/client/<id>`. */
  item: string;
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
  item: string;
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
    { item: text, touched: integer, failures: integer },
    `select item, touched, failures from erp_open_item
     where installation = ? and (touched <> matched or remark is not null)
       and coalesce(not_before, '-infinity') <= clock_timestamp()
     order by touched = matched, touched_at, item limit ?`,
    [installation, limit],
  );
  const ids = items.map(({ item }) => item);
  const lines = await rows(
    db,
    {
      item: text,
      unit_id: text,
      line: integer,
      reverses: nullable(text),
      account: text,
      amount: numeric,
      erp_id: text,
    },
    `select l.item, l.unit_id, l.line, u.reverses, l.account, l.amount, u.erp_id
     from erp_open_line l join erp_unit u on u.installation = l.installation and u.unit_id = l.unit_id
     where l.installation = ? and l.item = any(?::text[]) and u.state = 'delivered' and u.erp_id is not null
     order by u.seq, u.undo_n nulls first, l.line`,
    [installation, ids],
  );
  const groups = await rows(
    db,
    { item: text, line_ids: texts, group_id: nullable(text) },
    'select item, line_ids, group_id from erp_item_match where installation = ? and item = any(?::text[])',
    [installation, ids],
  );
  const linesOf = Map.groupBy(lines, ({ item }) => item);
  const groupsOf = Map.groupBy(groups, ({ item }) => item);
  const units = lines.flatMap((line) => (isClientItem(line.item) ? [line.unit_id] : []));
  const partOf = await prepaymentParts(db, installation, units);
  return items.map(({ item, touched, failures }) => ({
    item,
    touched,
    failures,
    lines: (linesOf.get(item) ?? []).map((line) => ({
      unitId: line.unit_id,
      line: line.line,
      reverses: line.reverses,
      isPayment: line.unit_id.startsWith(`${installation}/payment/`),
      account: line.account,
      part: (isClientItem(item) && partOf.get(line.unit_id)) || '',
      amount: new Money(line.amount),
      erpId: line.erp_id,
    })),
    ours: (groupsOf.get(item) ?? []).map(({ line_ids, group_id }) => ({ lineIds: line_ids, groupId: group_id })),
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
  groups: readonly { item: string; lineIds: readonly string[] }[],
): Promise<void> {
  const { from, bindings } = groupsAsArrays(groups.map((group) => ({ ...group, groupId: null })));
  await execute(
    trx,
    `insert into erp_item_match (installation, item, line_ids)
     select ?, item, line_ids from ${from} on conflict do nothing`,
    [installation, ...bindings],
  );
}

/** Marks items as matched, and replaces their stored groups; null keeps the stored groups. */
export async function saveMatched(
  trx: Connection,
  installation: InstallationId,
  items: readonly MatchedItem[],
  groups: readonly { item: string; lineIds: readonly string[]; groupId: string | null }[] | null,
): Promise<void> {
  if (items.length === 0) return;
  if (groups !== null) {
    await execute(trx, 'delete from erp_item_match where installation = ? and item = any(?::text[])', [
      installation,
      items.map(({ item }) => item),
    ]);
    await insertRows(
      trx,
      'erp_item_match',
      { installation: 'bigint', item: 'text', line_ids: 'text[]', group_id: 'text' },
      groups.map(({ item, lineIds, groupId }) => ({
        installation,
        item,
        line_ids: [...lineIds],
        group_id: groupId,
      })),
    );
  }
  const { from, bindings } = rowsAsArrays(
    'done',
    { item: 'text', touched: 'bigint', remark: 'text' },
    items.map(({ item, touched, remark }) => ({ item, touched, remark })),
  );
  await execute(
    trx,
    `update erp_open_item i set matched = done.touched, failures = 0, remark = done.remark,
       not_before = case when done.remark is not null then clock_timestamp() + make_interval(secs => ?) end,
       remark_since = case when done.remark is null then null else coalesce(i.remark_since, clock_timestamp()) end
     from ${from} where i.installation = ? and i.item = done.item`,
    [remindSeconds, ...bindings, installation],
  );
}

/** Counts a failure of items, and delays their next attempt. */
export async function postponeItems(
  trx: Connection,
  installation: InstallationId,
  items: readonly string[],
  seconds: number,
): Promise<void> {
  await execute(
    trx,
    `update erp_open_item set failures = failures + 1, not_before = clock_timestamp() + make_interval(secs => ?)
     where installation = ? and item = any(?::text[])`,
    [seconds, installation, items],
  );
}

/** Items whose lines stay unmatched in the ERP, with the reason for the accountant. */
export function openItemRemarks(
  db: Connection,
  installation: InstallationId,
  { after, limit }: { after: string; limit: number },
) {
  return rows(
    db,
    { item: text, remark: text, remark_since: instant },
    `select item, remark, remark_since from erp_open_item
     where installation = ? and remark is not null and item > ? order by item limit ?`,
    [installation, after, limit],
  );
}

function groupsAsArrays(groups: readonly { item: string; lineIds: readonly string[]; groupId: string | null }[]) {
  return rowsAsArrays(
    'made',
    { item: 'text', line_ids: 'text[]', group_id: 'text' },
    groups.map(({ item, lineIds, groupId }) => ({
      item,
      line_ids: [...lineIds],
      group_id: groupId,
    })),
  );
}
