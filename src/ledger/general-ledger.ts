import { date, integers, oneOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type LedgerEntry, reversedLines } from '../domain/entry.ts';
import { type CalendarDate, type InstallationId, type LineRole, lineRoles } from '../terms.ts';
import { type DateRange, entriesByDate, loadEntries } from './journal/read-entries.ts';
import { loadSummaries, summariesByDate } from './summaries/read-summaries.ts';
import type { DailySummary } from './summaries/summary.ts';

/**
 * A unit of the general ledger: a document's entry, or a daily summary of entries. The posting mode of an entry decides
 * which. Exports write units, and delivery sends them to the ERP. Both kinds have an `id`, a `date` and balanced
 * `lines`.
 */
export type GeneralLedgerUnit =
  | { kind: 'entry'; posting: LedgerEntry }
  | { kind: 'daily_summary'; posting: DailySummary };

/**
 * Yields an installation's general ledger in the order of dates, a day's entries before its summaries, with one page of
 * each in memory. Entries without their daily summary are left out (`countUnsummarised`).
 */
export async function* generalLedger(
  db: Connection,
  installation: InstallationId,
  range: DateRange,
): AsyncGenerator<GeneralLedgerUnit> {
  const summaries = summariesByDate(db, installation, range);
  let summary = await summaries.next();
  for await (const entry of entriesByDate(db, installation, range, ['document'])) {
    for (; !summary.done && summary.value.date < entry.date; summary = await summaries.next()) {
      yield { kind: 'daily_summary', posting: summary.value };
    }
    yield { kind: 'entry', posting: entry };
  }
  for (; !summary.done; summary = await summaries.next()) yield { kind: 'daily_summary', posting: summary.value };
}

/**
 * The units with these ids, in the given order. An id `<unit>/undo/<n>` gives the unit with debit and credit swapped
 * for an odd n, and the unit unchanged for an even n (src/erp/outbox/undo.ts). Throws LedgerError if a unit does not
 * exist.
 */
export async function loadUnits(
  db: Connection,
  wanted: readonly { kind: GeneralLedgerUnit['kind']; id: string }[],
): Promise<GeneralLedgerUnit[]> {
  const idsOf = (kind: GeneralLedgerUnit['kind']) => [
    ...new Set(wanted.flatMap((unit) => (unit.kind === kind ? baseOf(unit.id).base : []))),
  ];
  const units = new Map<string, GeneralLedgerUnit>();
  for (const posting of await loadEntries(db, idsOf('entry'))) units.set(posting.id, { kind: 'entry', posting });
  for (const posting of await loadSummaries(db, idsOf('daily_summary'))) {
    units.set(posting.id, { kind: 'daily_summary', posting });
  }
  return wanted.flatMap(({ id }) => {
    const { base, n } = baseOf(id);
    const unit = units.get(base);
    return unit === undefined ? [] : n === 0 ? unit : undoing(unit, n);
  });
}

/** The id of the nth undo of a unit. */
export function undoId(base: string, n: number): string {
  return `${base}/undo/${n}`;
}

/** The unit's id without the undo, and the number of the undo: 0 for the unit itself. */
function baseOf(id: string): { base: string; n: number } {
  const [, base = id, n = '0'] = /^(.+)\/undo\/(\d+)$/.exec(id) ?? [];
  return { base, n: Number(n) };
}

function undoing(unit: GeneralLedgerUnit, n: number): GeneralLedgerUnit {
  const { id: base } = unit.posting;
  const id = undoId(base, n);
  const isReversed = n % 2 === 1;
  if (unit.kind === 'daily_summary') {
    return {
      kind: unit.kind,
      posting: { ...unit.posting, id, lines: isReversed ? reversedLines(unit.posting.lines) : unit.posting.lines },
    };
  }
  const { posting } = unit;
  return {
    kind: unit.kind,
    posting: {
      ...posting,
      id,
      description: isReversed ? `Undone: ${posting.description}` : posting.description,
      reverses: n === 1 ? base : undoId(base, n - 1),
      lines: isReversed ? reversedLines(posting.lines) : posting.lines,
    },
  };
}

/** An installation's sub-ledger in the order of dates: every document's entry, whatever its posting mode. */
export async function* subLedger(
  db: Connection,
  installation: InstallationId,
  range: DateRange,
): AsyncGenerator<GeneralLedgerUnit> {
  for await (const entry of entriesByDate(db, installation, range)) yield { kind: 'entry', posting: entry };
}

/** An account with one role, the installations that post to it, and the earliest day on which they do. */
export interface UsedAccount {
  account: string;
  role: LineRole;
  installations: InstallationId[];
  firstDate: CalendarDate;
}

/**
 * The accounts to which these installations post, by account and role. `subLedger` selects the accounts of entries;
 * otherwise the accounts of general ledger units are returned.
 */
export async function usedAccounts(
  db: Connection,
  installations: InstallationId[],
  range: DateRange,
  options: { subLedger: boolean },
): Promise<UsedAccount[]> {
  const found = await rows(
    db,
    { account: text, role: oneOf(lineRoles), installations: integers, first_date: date },
    `select l.account, l.role, array_agg(distinct e.installation) as installations, min(e.entry_date) as first_date
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = any(?::bigint[])
       and (? or e.posting_mode = 'document' or exists (select from summary_member m where m.entry_id = e.id))
       and e.entry_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')
     group by l.account, l.role order by l.account, l.role`,
    [installations, options.subLedger, range.from, range.to],
  );
  return found.map(({ first_date: firstDate, ...account }) => ({ ...account, firstDate }));
}
