import { type ActedBy, hashOf, recordAction } from '../actions/record.ts';
import { insertRows } from '../db/bulk.ts';
import { bool, columnTypes, date, instant, integer, json, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { Money } from '../domain/money.ts';
import { type CalendarDate, type DocumentKind, documentKinds, type InstallationId } from '../terms.ts';

/**
 * VAT returns as accountants filed them (ACCOUNTING "Dates"). A return is a list of lines: base and tax of an entry for
 * one VAT group. It never changes; a correction return is the next version of its period.
 */

/** A line as a return declares it. */
export interface DeclaredLine {
  entry: string;
  group: string | null;
  rate: string | null;
  /** Kind and tax code by the mapping at the time of filing. */
  kind: string | null;
  code: string | null;
  /** A late line that the return takes. */
  isLate: boolean;
  /** A difference from earlier versions of the return, which may be a withdrawal. */
  isChange: boolean;
  base: Money;
  tax: Money;
}

/** A declared line with the facts of its entry. */
export interface FiledLine extends DeclaredLine {
  version: number;
  kindOfDocument: DocumentKind;
  documentId: number;
  /** The document's day, the entry's day, and the entry's original VAT period. */
  day: CalendarDate;
  date: CalendarDate;
  period: string;
}

export interface FiledReturn {
  period: string;
  version: number;
  from: CalendarDate;
  through: CalendarDate;
  filedAt: Date;
  by: string;
  reason: string;
  /** The hash of the return's lines, as shown before filing. */
  shown: string;
}

/** SQL that joins, as `t`, the return that took entry `e` as late; no row if none did. */
export const takingReturn = `left join lateral (
  select t.period || ' ' || t.version as taken_by from vat_return_line t
  where t.entry_id = e.id and t.is_late and not t.is_change limit 1
) t on true`;

/** The returns of an installation, the oldest period first. */
export function filedReturns(db: Connection, installation: InstallationId): Promise<FiledReturn[]> {
  return rows(
    db,
    {
      ...{ period: text, version: integer, from: date, through: date, filedAt: instant, by: text, reason: text },
      shown: text,
    },
    `select r.period, r.version, r.from_day as "from", r.through, d.acted_at as "filedAt", d.acted_by as by, d.reason,
       a.shown_hash as shown
     from vat_return r join action a on a.id = r.action_id join action_done d on d.id = a.id
     where r.installation = ? order by r.from_day, r.through, r.version`,
    [installation],
  );
}

/** The lines of all versions of a period's return. */
export async function filedLines(db: Connection, installation: InstallationId, period: string): Promise<FiledLine[]> {
  const found = await rows(
    db,
    {
      ...{ version: integer, entry: text, group: nullable(text), rate: nullable(numeric), kind: nullable(text) },
      ...{ code: nullable(text), isLate: bool, isChange: bool, base: numeric, tax: numeric },
      ...{ kindOfDocument: oneOf(documentKinds), documentId: integer, day: date, date, period: text },
    },
    `select l.version, l.entry_id as entry, l.vat_group as "group", l.vat_rate as rate, l.kind, l.code,
       l.is_late as "isLate", l.is_change as "isChange", l.base, l.tax, e.kind as "kindOfDocument",
       e.document_id as "documentId", e.document_date as day, e.entry_date as date, e.vat_period as period
     from vat_return_line l join entry e on e.id = l.entry_id
     where l.installation = ? and l.period = ? order by l.version, e.seq`,
    [installation, period],
  );
  return found.map(({ base, tax, rate, ...line }) => ({
    ...{ ...line, base: new Money(base), tax: new Money(tax) },
    rate: rate === null ? null : new Money(rate).toFixed(),
  }));
}

/** The content of a return for its hash, which does not depend on the order of the lines. */
export function contentOf(period: string, version: number, lines: readonly DeclaredLine[]): string {
  const texts = lines.map(({ entry, group, rate, kind, code, isLate, isChange, base, tax }) =>
    JSON.stringify([entry, group, rate, kind, code, isLate, isChange, base.toFixed(), tax.toFixed()]),
  );
  return JSON.stringify([period, version, ...texts.sort()]);
}

/** The first return whose lines, or whose record, differ from what its action filed; null if there is none. */
export async function changedReturn(
  db: Connection,
  installation: InstallationId,
): Promise<{ period: string; version: number } | null> {
  const returns = await filedReturns(db, installation);
  for (const { period, version, shown } of returns) {
    const lines = (await filedLines(db, installation, period)).filter((line) => line.version === version);
    if (hashOf(contentOf(period, version, lines)) !== shown) return { period, version };
  }
  const actions = await rows(
    db,
    { result: json },
    `select result from action_done where installation = ? and kind = 'file_vat_return' order by id`,
    [installation],
  );
  const stored = new Set(returns.map(({ period, version }) => `${period} ${version}`));
  const filed = actions.map(({ result }): { period: string; version: number } => JSON.parse(result));
  return filed.find(({ period, version }) => !stored.has(`${period} ${version}`)) ?? null;
}

const columns = {
  ...{ installation: integer, period: text, version: integer, entry_id: text, vat_group: nullable(text) },
  ...{ vat_rate: nullable(numeric), kind: nullable(text), code: nullable(text), is_late: bool, is_change: bool },
  ...{ base: numeric, tax: numeric },
};

/** Stores a return with the action that files it, in the caller's transaction. */
export async function storeReturn(
  trx: Connection,
  installation: InstallationId,
  of: { period: string; version: number; from: CalendarDate; through: CalendarDate },
  lines: readonly DeclaredLine[],
  by: ActedBy,
): Promise<void> {
  const { period, version, from, through } = of;
  const late = [...new Set(lines.filter(({ isLate, isChange }) => isLate && !isChange).map(({ entry }) => entry))];
  const { id } = await recordAction(trx, {
    ...{ installation, kind: 'file_vat_return', by },
    input: { period, version, lines: lines.length, late },
    shown: contentOf(period, version, lines),
    result: { period, version },
  });
  await execute(
    trx,
    'insert into vat_return (installation, period, version, from_day, through, action_id) values (?, ?, ?, ?, ?, ?)',
    [installation, period, version, from, through, id],
  );
  await insertRows(
    trx,
    'vat_return_line',
    columnTypes(columns),
    lines.map(({ entry, group, rate, kind, code, isLate, isChange, base, tax }) => ({
      ...{ installation, period, version, entry_id: entry, vat_group: group, vat_rate: rate, kind, code },
      ...{ is_late: isLate, is_change: isChange, base: base.toFixed(), tax: tax.toFixed() },
    })),
  );
}
