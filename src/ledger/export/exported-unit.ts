import type { LedgerEntry, Line } from '../../domain/entry.ts';
import { formatMoney } from '../../domain/money.ts';
import type { CalendarDate, LineRole } from '../../terms.ts';
import type { GeneralLedgerUnit } from '../general-ledger.ts';
import { type EntryRecord, mappingVersionText } from '../journal/entry-records.ts';
import { type DailySummary, type SummaryLine, summaryDescription } from '../summaries/summary.ts';

/** A named fact of a unit or line, which formats write as a tag or cell. */
export type Fact = [name: string, value: string];

type MaybeFact = [name: string, value: string | number | null | undefined];

function present(facts: MaybeFact[]): Fact[] {
  return facts.flatMap(([name, value]): Fact[] => (value == null || value === '' ? [] : [[name, String(value)]]));
}

/** A unit of the general ledger with its facts as text, as formats write it. */
export interface ExportedUnit {
  id: string;
  seq: number;
  date: CalendarDate;
  description: string;
  facts: Fact[];
  /** When and by which window the entry was recorded. Only the CSV format writes these facts. */
  recorded: Fact[];
  lines: (Pick<Line, 'account' | 'role' | 'side' | 'amount'> & { facts: Fact[] })[];
}

/** The lines on which names of private persons are exported: lines that show who owes or is owed, or all. */
export type ExportedNames = 'receivables' | 'all';

/** The unit with its facts as texts. `decimals` is the number of decimals of the installation's currency. */
export function exportedUnit(
  unit: GeneralLedgerUnit,
  decimals: number,
  names: ExportedNames,
  record: EntryRecord | null = null,
): ExportedUnit {
  if (unit.kind === 'daily_summary') return exportedSummary(unit.posting, decimals);
  return exportedEntry(unit.posting, decimals, names, record);
}

function exportedEntry(
  entry: LedgerEntry,
  decimals: number,
  names: ExportedNames,
  record: EntryRecord | null,
): ExportedUnit {
  const { id, seq, date, description } = entry;
  const lines = entry.lines.map((line) => ({ ...line, facts: lineFacts(line, decimals, names) }));
  const facts = [
    ...entryFacts(entry),
    ...present([
      ['voucher', record?.voucher],
      ['mapping', record?.mapping && mappingVersionText(record.mapping)],
    ]),
  ];
  return { id, seq, date, description, facts, recorded: record === null ? [] : recordedFacts(record), lines };
}

function recordedFacts({ recordedAt, windowId }: Pick<EntryRecord, 'recordedAt' | 'windowId'>): Fact[] {
  return present([
    ['recorded_at', recordedAt.toISOString()],
    ['window', windowId],
  ]);
}

function exportedSummary(summary: DailySummary, decimals: number): ExportedUnit {
  const { id, seq, date, departmentId, record } = summary;
  const facts = present([
    ['reason', summary.isCorrection ? 'correction_summary' : 'daily_summary'],
    ['entries', summary.members.length],
    ...vatFacts(summary),
    ['voucher', record.voucher],
    ['mapping', record.mappings.map(mappingVersionText).join('; ')],
  ]);
  const lines = summary.lines.map((line) => ({ ...line, facts: summaryLineFacts(line, departmentId, decimals) }));
  return { id, seq, date, description: summaryDescription(summary), facts, recorded: recordedFacts(record), lines };
}

/** The entry's facts, without its date, id, description and lines. */
function entryFacts(entry: LedgerEntry): Fact[] {
  return present([
    ['document', `${entry.document.kind}/${entry.document.id}`],
    ['document_date', entry.documentDate],
    ['reason', entry.reason],
    ['reverses', entry.reverses],
    ['original', entry.original && `${entry.original.kind}/${entry.original.id}`],
    ...vatFacts(entry),
  ]);
}

/** The original VAT period of all lines, and whether it was closed before. */
function vatFacts({ vatPeriod, isLate }: Pick<LedgerEntry, 'vatPeriod' | 'isLate'>): MaybeFact[] {
  return [
    ['vat_period', vatPeriod],
    ['late', isLate ? 'yes' : null],
  ];
}

const namedRoles: ReadonlySet<LineRole> = new Set(['receivable', 'opening_receivable', 'prepayment_liability']);

/** The party's name if it is exported. A party with a VAT number is a business, so its name is never private. */
function partyName({ role, party }: Line, names: ExportedNames): string | null {
  if (party === null) return null;
  return names === 'all' || party.vatNumber !== null || namedRoles.has(role) ? party.name : null;
}

/** The line's facts, without its account, role and amount. */
function lineFacts(line: Line, decimals: number, names: ExportedNames): Fact[] {
  return present([
    ['party', line.party?.code],
    ['party_name', partyName(line, names)],
    ['vat_number', line.party?.vatNumber],
    ['country', line.party?.countryCode],
    ['department', line.departmentId],
    ['dimension_1', line.dimensions[0]],
    ['dimension_2', line.dimensions[1]],
    ['dimension_3', line.dimensions[2]],
    ['internal_account', line.internal.account],
    ['internal_dimension_1', line.internal.dimension1],
    ['internal_dimension_2', line.internal.dimension2],
    ['invoice', line.invoiceId],
    ['payment_type', line.paymentType],
    ['document_number', line.documentNumber],
    ['due_date', line.dueDate],
    ['bank_reference', line.bankReference],
    ['vat_group', line.vat?.group],
    ['vat_rate', line.vat?.rate?.toFixed()],
    ['vat_base', line.vat?.base && formatMoney(line.vat.base, decimals)],
    ['rule', line.rule],
    ['mapped_by', line.mappedBy],
  ]);
}

/** The facts of a daily summary's line, with the entries that it contains. */
function summaryLineFacts(line: SummaryLine, departmentId: number | null, decimals: number): Fact[] {
  return present([
    ['vat_number', line.buyer?.vatNumber],
    ['country', line.buyer?.countryCode],
    ['department', departmentId],
    ['dimension_1', line.dimensions[0]],
    ['dimension_2', line.dimensions[1]],
    ['dimension_3', line.dimensions[2]],
    ['internal_account', line.internal.account],
    ['internal_dimension_1', line.internal.dimension1],
    ['internal_dimension_2', line.internal.dimension2],
    ['payment_type', line.paymentType],
    ['vat_group', line.vat?.group],
    ['vat_rate', line.vat?.rate?.toFixed()],
    ['vat_base', line.vat?.base && formatMoney(line.vat.base, decimals)],
    ['rule', line.rule],
    ['documents', line.entryIds.join(' ')],
  ]);
}

/** VAT that the clinic owes, now or when its clients pay. */
const owed: ReadonlySet<LineRole> = new Set(['vat', 'vat_not_due', 'opening_vat_not_due']);

/** The type of account for a role. Some formats declare it. */
export function accountType(role: LineRole): 'asset' | 'liability' | 'income' | 'expense' {
  if (role === 'revenue') return 'income';
  if (role === 'rounding') return 'expense';
  return owed.has(role) || role.endsWith('_liability') ? 'liability' : 'asset';
}

/**
 * Replaces control characters, Unicode line ends and special spaces with plain spaces, so that a value stays on one
 * line.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
}
